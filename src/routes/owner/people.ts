import { timeLeftText } from '#lib/format/when.ts';
import * as m from '#lib/i18n/messages.js';
import type { OwnerUserBody } from '#lib/server/api/contract/schemas.ts';
import { sessionUse } from './usage.ts';
import { duration, moment, money } from './words.ts';

/** A customer as an owner sees them: without the full phone number and the password. */
export interface Person {
	id: number;
	phone: string;
	router: string;
	bought: string;
	when: string;
	isOnline: boolean;
	/** Connection state and data used; null if unknown. */
	use: string | null;
}

export function personOf(
	user: OwnerUserBody,
	timeZone: string,
	use?: Parameters<typeof sessionUse>[0]
): Person {
	const over = user.ended_at ?? user.expires_at;
	const isOnline = user.group === 'active';
	return {
		id: user.session_id,
		phone: user.phone_masked,
		router: user.router_name,
		bought: m.owner_bought({
			duration: duration(user.duration),
			money: money(user.amount, user.currency)
		}),
		when: isOnline
			? m.owner_left({ time: timeLeftText(user.remaining_seconds) })
			: user.status === 'ended'
				? m.owner_ended_early({ time: moment(Date.parse(over), timeZone) })
				: m.owner_over_since({ time: moment(Date.parse(over), timeZone) }),
		isOnline,
		use: sessionUse(use, isOnline)
	};
}
