import { findToday } from '#lib/server/billing/earnings.ts';
import { countSessionsForOwner, listSessionsForOwner } from '#lib/server/billing/owner-sessions.ts';
import { FIRST_DATE, isDate, LAST_DATE, spanOfDates } from '#lib/domain/time.ts';
import { numberText } from '#lib/i18n/intl.ts';
import * as m from '#lib/i18n/messages.js';
import { describeOrder, describeUsers } from '#lib/server/web/owner/customers.ts';
import { ownerPage } from '#lib/server/web/owner/owner.ts';
import { PAGE_SIZE, readPage } from '#lib/server/web/page-links.ts';
import { searchPurchases } from '#lib/server/owner/help.ts';

const MAX_FOUND = 20;
const MIN_TYPED = 4;
/** A pasted message of an operator. */
const MAX_TYPED = 1_000;

/**
 * /owner/customers?q=&day= finds purchases; ?group=active|expired lists those whose time runs or has ended; without any
 * of them it lists the purchases of today. Cashiers need `q` for another day, and get no group: it would be the sales of
 * other days, which they do not see.
 */
export const load = ownerPage(async ({ url, locals: { app } }, { actor, role }) => {
	const parameter = (name: string) => (url.searchParams.get(name) ?? '').trim();
	const [typed, day] = [parameter('q'), parameter('day')];
	const isCashier = role === 'cashier';
	const group = isCashier || typed !== '' || day !== '' ? null : groupOf(parameter('group'));
	const isWrong = typed === '' ? isCashier && day !== '' : !canBeFound(typed);
	const isWrongDay = day !== '' && (!isDate(day) || day < FIRST_DATE || day > LAST_DATE);
	const problems = {
		q: isWrong ? m.help_wrong({ min: String(MIN_TYPED), max: numberText(MAX_TYPED) }) : undefined,
		day: isWrongDay ? m.help_wrong_day() : undefined
	};
	const isSearch = typed !== '' || day !== '';
	const asked = { typed, day, problems, isSearch, group, mayList: !isCashier };
	const nothing = { count: null, customers: null, more: null, pages: null };
	if (isWrong || isWrongDay) return { ...asked, ...nothing };
	if (group !== null) {
		const list = { parameter: 'after', length: 2, filters: { group } } as const;
		const [{ data, pages }, count] = await Promise.all([
			readPage({ url }, list, (after) =>
				listSessionsForOwner(app, actor, { group, limit: PAGE_SIZE, after })
			),
			// The count of the history would be slow.
			group === 'active' ? countSessionsForOwner(app, actor, group) : null
		]);
		return {
			...{ ...asked, ...nothing, pages },
			count: count === null ? null : numberText(count),
			customers: await describeUsers(app, data)
		};
	}
	const wanted = isSearch ? day : findToday(app);
	const span = spanOfDates(wanted || FIRST_DATE, wanted || LAST_DATE, app.config.reportTimezone);
	const { data, hasMore } = await searchPurchases(app.help, actor.accountId, typed, span, MAX_FOUND);
	return {
		...{ ...asked, ...nothing },
		customers: data.map((found) => describeOrder(found, app)),
		more: hasMore ? m.help_more({ count: String(MAX_FOUND) }) : null
	};
});

const groupOf = (text: string) => (text === 'active' || text === 'expired' ? text : null);

/** Numbers of payments and vouchers may be shorter. PostgreSQL refuses NUL in text. */
const canBeFound = (typed: string): boolean =>
	typed.length <= MAX_TYPED &&
	!/\p{Cc}/u.test(typed) &&
	(typed.length >= MIN_TYPED || /^V?\d+$/i.test(typed));
