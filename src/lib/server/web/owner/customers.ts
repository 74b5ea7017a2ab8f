import { findSessionUses } from '#lib/server/owner/usage.ts';
import { formatDuration } from '#lib/domain/time.ts';
import { formatMinor } from '#lib/domain/money.ts';
import { maskPhone } from '#lib/domain/phone.ts';
import { money, pastMoment } from '#lib/format/text.ts';
import { timeLeftText } from '#lib/format/words.ts';
import * as m from '#lib/i18n/messages.js';
import type { App } from '#lib/server/app.ts';
import type { OwnerUserBody } from '#lib/server/contract/owner.ts';
import type { FoundPurchase } from '#lib/server/owner/help.ts';
import { sessionUse } from './figures.ts';
import { helpState, stateMark } from './help.ts';

/** A line of a list of customers, without the full phone number and the password. */
interface CustomerLine {
	/** Of the session. */
	id: number;
	phone: string;
	router: string;
	bought: string;
	/** When it was ordered; null if the mark has the time. */
	when: string | null;
	/** Whether a device is connected, and its data; null if unknown. */
	use: string | null;
	mark: { label: string; tone: 'good' | 'notice' | 'bad' | null };
}

/** Lists customers by the time that they have left. */
export async function describeUsers(app: App, users: readonly OwnerUserBody[]): Promise<CustomerLine[]> {
	const { clock, config } = app;
	const uses = await findSessionUses(
		app,
		users.map((user) => user.session_id)
	);
	return users.map((user) => {
		const isActive = user.group === 'active';
		const when = { now: clock.now(), timeZone: config.reportTimezone };
		const time = pastMoment(Date.parse(user.ended_at ?? user.expires_at), when);
		const ended = user.status === 'ended' ? m.owner_ended_early({ time }) : m.owner_over_since({ time });
		return {
			id: user.session_id,
			phone: user.phone_masked,
			router: user.router_name,
			bought: m.owner_bought({
				duration: formatDuration(user.duration),
				money: money(user.amount, user.currency)
			}),
			when: null,
			use: sessionUse(uses.get(user.session_id), isActive),
			mark: {
				label: isActive ? m.owner_left({ time: timeLeftText(user.remaining_seconds) }) : ended,
				tone: isActive ? 'good' : null
			}
		};
	});
}

/** Describes an order by its state, also before it is paid. */
export function describePurchase(
	found: Parameters<typeof helpState>[0],
	{ clock, config }: App
): CustomerLine & { when: string } {
	const { session, payment } = found;
	return {
		id: session.id,
		phone: maskPhone((payment ?? session).phone),
		router: session.router_name,
		bought: boughtText(session),
		when: pastMoment(session.created_at, { now: clock.now(), timeZone: config.reportTimezone }),
		use: null,
		mark: stateMark(helpState(found))
	};
}

export const boughtText = ({ duration, amount_minor, currency }: FoundPurchase['session']): string =>
	m.owner_bought({
		duration: formatDuration(duration),
		money: formatMinor(amount_minor, currency)
	});
