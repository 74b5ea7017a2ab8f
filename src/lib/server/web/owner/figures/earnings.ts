import type { RequestEvent } from '@sveltejs/kit';
import { FIRST_DATE, monthsBeside } from '#lib/domain/time/calendar.ts';
import { moment, money, periodName } from '#lib/format/text.ts';
import { numberText } from '#lib/i18n/intl.ts';
import type { OwnerVisitor } from '../owner.ts';
import { figureLines, isEmpty, offerLines, paymentsHref, statementHref } from './figures.ts';
import { dayOf, periodOf } from './period.ts';

export async function earningsPage({ url, locals: { app } }: RequestEvent, { actor }: OwnerVisitor) {
	const period = periodOf(url.searchParams);
	const { currency, total, offers, data } = await app.earnings.breakdown(actor, { period });
	return {
		period,
		net: money(total.net, currency),
		lines: figureLines(total, currency),
		any: !isEmpty(total),
		offers: offerLines(offers, currency),
		rows: data
			.filter((bucket) => !isEmpty(bucket))
			.map(({ start, end, net }) => ({
				name: periodName(period, start, end),
				net: money(net, currency),
				href: paymentsHref(period, start)
			}))
			.reverse()
	};
}

export async function statementPage({ url, locals: { app } }: RequestEvent, { actor, owner }: OwnerVisitor) {
	const { earnings, clock, config } = app;
	const today = earnings.today();
	const day = dayOf(url.searchParams, today);
	const { currency, start, end, total, data } = await earnings.byRouter(actor, { period: 'monthly', day });
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
		routers: data.map(({ name, sessions, gross, refunds, fees, net }) => {
			const less = [refunds, fees].map((sum) => (sum !== 0 ? money(-sum, currency) : ''));
			const figures = [numberText(sessions), money(gross, currency), ...less];
			return { name, figures, net: money(net, currency) };
		})
	};
}
