import { methodTitle } from '#lib/domain/payment-methods/payment-methods.ts';
import type { Period } from '#lib/domain/time/calendar.ts';
import { dayName, money } from '#lib/format/text.ts';
import { DAY_MS } from '#lib/domain/time/time.ts';
import { numberText } from '#lib/i18n/intl.ts';
import * as m from '#lib/i18n/messages.js';
import type { App } from '#lib/server/app.ts';
import {
	figureLines,
	hourName,
	isEmpty,
	offerLines,
	paymentsHref,
	statementHref,
	sumLine
} from './figures.ts';

const CHART_DAYS = 14;
/** Lines of a group. A month's statement has all routers, and the page of earnings all offers. */
const MOST = 50;

/** Reads the first page for a period: sums, charts and groups, each figure with the address of its payments. */
export async function salesOfPeriod({ earnings }: App, caller: { accountId: number }, period: Period) {
	const today = earnings.today();
	const of = { period, day: today };
	const [body, days, hours, routers] = await Promise.all([
		earnings.breakdown(caller, { period, from: today, to: today }),
		earnings.breakdown(caller, { period: 'daily', from: daysBefore(today, CHART_DAYS - 1), to: today }),
		earnings.hours(caller, of),
		earnings.byRouter(caller, of, MOST + 1)
	]);
	const { currency, total, start } = body;
	const hrefOf = (filter: Parameters<typeof paymentsHref>[2]) => paymentsHref(period, start, filter);
	// Last week is among the days of the chart.
	const sinceMonday = (new Date(today).getUTCDay() + 6) % 7;
	const lastWeek = days.data.slice(-sinceMonday - 8, -sinceMonday - 1).reduce((sum, { net }) => sum + net, 0);
	const busiest = hours.reduce((most, one) => (one.sessions > most.sessions ? one : most));
	const group = <Line>(lines: readonly Line[]) => ({
		lines: lines.slice(0, MOST),
		note: lines.length > MOST ? m.owner_most_sales({ count: numberText(MOST) }) : null
	});
	return {
		period,
		any: !isEmpty(total),
		net: money(total.net, currency),
		href: hrefOf({}),
		lastWeek: isEmpty(days.total)
			? null
			: {
					net: money(lastWeek, currency),
					href: paymentsHref('weekly', daysBefore(today, sinceMonday + 7))
				},
		statement: period === 'monthly' && !isEmpty(total) ? statementHref(start) : null,
		lines: figureLines(total, currency, (kind) => hrefOf(kind ? { kind } : {})),
		days: isEmpty(days.total)
			? null
			: {
					highest: money(Math.max(...days.data.map(({ net }) => net)), currency),
					bars: days.data.map((one) => ({
						...sumLine(dayName(one.start), one, currency),
						value: one.net,
						href: paymentsHref('daily', one.start)
					}))
				},
		hours: {
			highest: hourName(busiest.hour),
			bars: hours.map((one) => ({
				...sumLine(hourName(one.hour), one, currency),
				value: one.sessions,
				href: hrefOf({ hour: one.hour })
			}))
		},
		routers: group(
			routers.data.map((one) => ({ ...sumLine(one.name, one, currency), href: hrefOf({ router: one.id }) }))
		),
		offers: group(
			offerLines(body.offers, currency).map(({ offer, ...line }) => ({ ...line, href: hrefOf({ offer }) }))
		),
		methods: group(
			body.methods.map((one) => {
				return { ...sumLine(methodTitle(one.name), one, currency), href: hrefOf({ method: one.name }) };
			})
		)
	};
}

/** Returns the sum of today for cashiers, without the payments behind it. */
export async function sumOfToday({ earnings }: App, caller: { accountId: number }) {
	const today = earnings.today();
	const { currency, total } = await earnings.breakdown(caller, { period: 'daily', from: today, to: today });
	return { net: money(total.net, currency), lines: figureLines(total, currency) };
}

const daysBefore = (day: string, count: number): string =>
	new Date(Date.parse(day) - count * DAY_MS).toISOString().slice(0, 10);
