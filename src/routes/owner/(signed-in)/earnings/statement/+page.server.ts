import { FIRST_DATE, monthsBeside } from '#lib/format/calendar.ts';
import { moment, money, periodName } from '#lib/format/text.ts';
import { numberText } from '#lib/i18n/intl.ts';
import { figureLines, isEmpty, paymentsHref, statementHref } from '#lib/server/web/owner/figures/figures.ts';
import { dayOf } from '#lib/server/web/owner/figures/period.ts';
import { requireOwner } from '#lib/server/web/owner/owner.ts';
import type { PageServerLoad } from './$types';

/** /owner/earnings/statement?day=: the month around a day, by router, to print. */
export const load: PageServerLoad = async (event) => {
	const { actor, owner } = await requireOwner(event);
	const { earnings, clock, config } = event.locals.app;
	const today = earnings.today();
	const of = { period: 'monthly', day: dayOf(event.url.searchParams, today) } as const;
	const { currency, start, end, total, data } = await earnings.byRouter(actor, of);
	const beside = monthsBeside(start);
	return {
		email: owner.email,
		created: moment(clock.now(), config.reportTimezone, { year: 'numeric' }),
		name: periodName('monthly', start, end),
		isOver: end < today,
		previous: start > FIRST_DATE ? statementHref(beside.previous) : null,
		next: end < today ? statementHref(beside.next) : null,
		payments: paymentsHref('monthly', start),
		any: !isEmpty(total),
		net: money(total.net, currency),
		lines: figureLines(total, currency),
		routers: data.map((one) => ({
			id: one.id,
			name: one.name,
			count: numberText(one.sessions),
			paid: money(one.gross, currency),
			refunds: one.refunds > 0 ? money(-one.refunds, currency) : '',
			fee: one.fees > 0 ? money(-one.fees, currency) : '',
			net: money(one.net, currency)
		}))
	};
};
