import { timeLeftText } from '#lib/format/when.ts';
import { formatDuration } from '#lib/domain/duration.ts';
import { money, pastMoment } from '#lib/format/text.ts';
import * as m from '#lib/i18n/messages.js';
import type { App } from '#lib/server/app.ts';
import type { OwnerUserBody } from '#lib/server/api/contract/schemas.ts';
import { sessionUse } from './figures/usage.ts';

/** Describes customers to an owner, without full phone numbers and passwords. */
export async function peopleOf({ usage, clock, config }: App, users: readonly OwnerUserBody[]) {
	const uses = await usage.ofSessions(users.map((user) => user.session_id));
	return users.map((user) => {
		const isOnline = user.group === 'active';
		const end = pastMoment(Date.parse(user.ended_at ?? user.expires_at), {
			now: clock.now(),
			timeZone: config.reportTimezone
		});
		return {
			id: user.session_id,
			phone: user.phone_masked,
			router: user.router_name,
			bought: m.owner_bought({
				duration: formatDuration(user.duration),
				money: money(user.amount, user.currency)
			}),
			when: isOnline
				? m.owner_left({ time: timeLeftText(user.remaining_seconds) })
				: user.status === 'ended'
					? m.owner_ended_early({ time: end })
					: m.owner_over_since({ time: end }),
			isOnline,
			use: sessionUse(uses.get(user.session_id), isOnline)
		};
	});
}
