import type { RequestEvent } from '@sveltejs/kit';
import { formatDuration } from '#lib/domain/duration.ts';
import { formatMinor } from '#lib/domain/money.ts';
import { maskPhone } from '#lib/domain/phone.ts';
import { FIRST_DATE, isDate, LAST_DATE, spanOfDates } from '#lib/domain/time/calendar.ts';
import { pastMoment } from '#lib/format/text.ts';
import * as m from '#lib/i18n/messages.js';
import type { App } from '#lib/server/app.ts';
import type { FoundPurchase } from '#lib/server/owner/help/help.ts';
import type { OwnerVisitor } from '../owner.ts';
import { helpState, stateMark } from './state.ts';

const MAX_FOUND = 20;
const MIN_TYPED = 4;
const MAX_TYPED = 64;

/** /owner/help?q=&day= finds purchases; without both it lists those of today. Cashiers need `q` for another day. */
export async function searchPage({ url, locals: { app } }: RequestEvent, { actor, role }: OwnerVisitor) {
	const typed = (url.searchParams.get('q') ?? '').trim();
	const day = (url.searchParams.get('day') ?? '').trim();
	// A list of a past day would be that day's sales, which cashiers do not see.
	const needsText = role === 'cashier' && day !== '';
	const isWrong = typed === '' ? needsText : !canBeFound(typed);
	const isWrongDay = day !== '' && (!isDate(day) || day < FIRST_DATE || day > LAST_DATE);
	const problems = {
		q: isWrong ? m.help_wrong({ min: String(MIN_TYPED), max: String(MAX_TYPED) }) : undefined,
		day: isWrongDay ? m.help_wrong_day() : undefined
	};
	const asked = { typed, day, problems, isToday: typed === '' && day === '' };
	if (isWrong || isWrongDay) return { ...asked, purchases: null, more: null };
	const { reportTimezone: timeZone } = app.config;
	const wanted = asked.isToday ? app.earnings.today() : day;
	const span = spanOfDates(wanted || FIRST_DATE, wanted || LAST_DATE, timeZone);
	const { data, hasMore } = await app.help.search(actor.accountId, typed, span, MAX_FOUND);
	return {
		...asked,
		purchases: data.map((found) => summaryOf(found, app)),
		more: hasMore ? m.help_more({ count: String(MAX_FOUND) }) : null
	};
}

/** Numbers of payments may be shorter. PostgreSQL refuses NUL in text. */
const canBeFound = (typed: string): boolean =>
	typed.length <= MAX_TYPED && !/\p{Cc}/u.test(typed) && (typed.length >= MIN_TYPED || /^\d+$/.test(typed));

export function summaryOf(found: Parameters<typeof helpState>[0], { clock, config }: App) {
	const { session, payment } = found;
	return {
		id: session.id,
		phone: maskPhone((payment ?? session).phone),
		router: session.router_name,
		bought: boughtText(session),
		when: pastMoment(session.created_at, { now: clock.now(), timeZone: config.reportTimezone }),
		mark: stateMark(helpState(found))
	};
}

export const boughtText = ({ duration, amount_minor, currency }: FoundPurchase['session']): string =>
	m.owner_bought({
		duration: formatDuration(duration),
		money: formatMinor(amount_minor, currency)
	});
