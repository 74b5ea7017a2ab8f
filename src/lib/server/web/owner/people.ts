import type { RequestEvent } from '@sveltejs/kit';
import { formatDuration } from '#lib/domain/duration.ts';
import { money, pastMoment } from '#lib/format/text.ts';
import { timeLeftText } from '#lib/format/when.ts';
import { numberText } from '#lib/i18n/intl.ts';
import * as m from '#lib/i18n/messages.js';
import type { App } from '#lib/server/app.ts';
import type { OwnerUserBody } from '#lib/server/contract/owner.ts';
import { PAGE_SIZE, readPage } from '../page-links.ts';
import { sessionUse } from './figures/usage.ts';
import type { OwnerVisitor } from './owner.ts';

export async function peoplePage({ url, locals: { app } }: RequestEvent, { actor }: OwnerVisitor) {
	const { sessions } = app;
	const group = url.searchParams.get('group') === 'expired' ? 'expired' : 'active';
	const list = { parameter: 'after', length: 2, filters: { group } } as const;
	const [{ data, pages }, count] = await Promise.all([
		readPage({ url }, list, (after) => sessions.listForOwner(actor, { group, limit: PAGE_SIZE, after })),
		// The count of the history would be slow.
		group === 'active' ? sessions.countForOwner(actor, group) : null
	]);
	return {
		group,
		count: count === null ? null : numberText(count),
		people: await peopleOf(app, data),
		pages
	};
}

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
