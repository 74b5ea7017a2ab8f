import { type RequestEvent, error } from '@sveltejs/kit';
import {
	DAY_MS,
	FIRST_DATE,
	LAST_DATE,
	type Period,
	formatDuration,
	isDate,
	monthsBeside,
	timeAt
} from '#lib/domain/time.ts';
import { dayName, moment, money, periodName } from '#lib/format/text.ts';
import { apart, numberText } from '#lib/i18n/intl.ts';
import { type OwnerVisitor, ownRouterOf } from './owner.ts';
import { link } from '#lib/i18n/current.ts';
import * as m from '#lib/i18n/messages.js';
import type { EarningsBody } from '#lib/server/contract/owner.ts';
import {
	type Filter,
	type LinePosition,
	findToday,
	listLines,
	sumBreakdown,
	sumHours,
	sumRouters
} from '#lib/server/billing/earnings.ts';
import { methodTitle } from '#lib/format/words.ts';
import { CSV_BATCH, type CsvCell, csvResponse } from '../csv.ts';
import { PAGE_SIZE, idOf, readPage } from '../page-links.ts';
import type { App } from '#lib/server/app.ts';
import type { OwnedRouter } from '#lib/server/routers/routers.ts';
import { type RouterUse, type SessionUse, classifyGateway, findRouterUses } from '#lib/server/owner/usage.ts';
import { routerState } from './router.ts';

export async function earningsPage({ url, locals: { app } }: RequestEvent, { actor }: OwnerVisitor) {
	const period = periodOf(url.searchParams);
	const { currency, total, offers, data } = await sumBreakdown(app, actor, { period });
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
	const { clock, config } = app;
	const today = findToday(app);
	const day = dayOf(url.searchParams, today);
	const { currency, start, end, total, data } = await sumRouters(app, actor, { period: 'monthly', day });
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

type Sums = EarningsBody['total'];

/** Lines that add up: payments − refunds − fee. */
const figureLines = (
	sums: Sums,
	currency: string,
	hrefOf: (kind?: 'payment' | 'refund') => string | undefined = () => undefined
): (readonly [string, string, (string | undefined)?])[] => [
	[m.owner_paid(), money(sums.gross, currency), hrefOf('payment')],
	...(sums.refunds > 0
		? [[m.owner_refunded(), money(-sums.refunds, currency), hrefOf('refund')] as const]
		: []),
	...(sums.fees !== 0 ? [[m.owner_fee(), money(-sums.fees, currency), hrefOf()] as const] : []),
	[m.owner_payments_count(), numberText(sums.sessions), hrefOf('payment')]
];

const paymentsHref = (period: Period, day: string, filter: Filter = {}) =>
	link(`/owner/payments?${new URLSearchParams({ period, day, ...filterFields(filter) }).toString()}`);

const statementHref = (day: string) =>
	link(`/owner/earnings/statement?${new URLSearchParams({ day }).toString()}`);

const isEmpty = (sums: Sums) => sums.sessions === 0 && sums.refunds === 0;

const sumLine = (name: string, { sessions, net }: Sums, currency: string) => ({
	name,
	count: numberText(sessions),
	net: money(net, currency)
});

/** Lines that add up to the total: each offer, and time at the hourly price. Empty without sales of offers. */
const offerLines = (sums: readonly (Sums & { name: string | null })[], currency: string) =>
	sums.every(({ name }) => name === null)
		? []
		: sums.map((one) => ({
				...sumLine(one.name ?? m.owner_offers_by_hour(), one, currency),
				offer: one.name ?? ''
			}));

/** Names an hour of the day: "17:00–18:00". */
const hourName = (hour: number) => apart(`${hour}:00–${hour + 1}:00`);

/** Reads the period and the filter of an address. */
const askedOf = ({ url: { searchParams }, locals: { app } }: RequestEvent) => ({
	period: periodOf(searchParams),
	day: dayOf(searchParams, findToday(app)),
	filter: filterOf(searchParams)
});

export async function paymentsPage(event: RequestEvent, owner: OwnerVisitor) {
	const { app } = event.locals;
	const { config } = app;
	const asked = askedOf(event);
	const { period, day, filter } = asked;
	const router = filter.router == null ? null : await ownRouterOf(event, owner, filter.router);
	const filters = { period, day, ...filterFields(filter) };
	const [body, page] = await Promise.all([
		sumBreakdown(app, owner.actor, { period, from: day, to: day, filter }),
		readPage(event, { parameter: 'after', length: 3, filters }, (at) => {
			// PostgreSQL refuses a large number in place of 0 or 1.
			const after = at && ([at[0], at[1], Math.min(at[2], 1)] as const);
			return listLines(app, owner.actor, asked, { after, limit: PAGE_SIZE });
		})
	]);
	const { currency, start, end } = body;
	return {
		name: periodName(period, start, end),
		only: [
			router?.name,
			filter.offer === '' ? m.owner_offers_by_hour() : filter.offer,
			filter.method == null ? null : methodTitle(filter.method),
			filter.hour == null ? null : hourName(filter.hour),
			filter.kind && { payment: m.owner_payments_count(), refund: m.owner_refunded() }[filter.kind]
		].filter((name) => name != null),
		all: paymentsHref(period, start),
		net: money(body.total.net, currency),
		sums: figureLines(body.total, currency),
		offers: offerLines(body.offers, currency),
		rows: page.data.map((line) => ({
			title: (line.kind === 'refund' ? m.owner_refund_of : m.owner_payment)({ number: `${line.paymentId}` }),
			when: moment(line.at, config.reportTimezone),
			router: line.routerName,
			phone: line.phoneMasked,
			bought: line.offerName ?? formatDuration(line.duration),
			figures: [money(line.amount, currency), line.fee === 0 ? '' : money(-line.fee, currency)],
			net: money(line.net, currency)
		})),
		pages: page.pages,
		statement: period === 'monthly' ? statementHref(start) : null,
		download: link(`/owner/payments/export?${new URLSearchParams({ ...filters, day: start }).toString()}`)
	};
}

/** Not translated, so that one program reads the files of all owners. */
const columnsOf = (timeZone: string) => [
	...[`Time (${timeZone})`, 'Time (UTC)', 'Kind', 'Payment', 'Session', 'Router', 'Phone'],
	...['Duration', 'Offer', 'Amount', 'Fee', 'Net', 'Currency', 'Transaction ID']
];

function rowsOf({ data, currency }: Awaited<ReturnType<typeof listLines>>, timeZone: string): CsvCell[][] {
	return data.map((line) => {
		const { kind, paymentId, sessionId, routerName, phoneMasked, duration, offerName, transaction } = line;
		const sale = [kind, paymentId, sessionId, routerName, phoneMasked, duration, offerName ?? ''];
		const times = [timeAt(line.at, timeZone), new Date(line.at).toISOString()];
		return [...times, ...sale, line.amount, line.fee, line.net, currency, transaction ?? ''];
	});
}

export function paymentsFile(event: RequestEvent, { actor }: OwnerVisitor): Response {
	const { app } = event.locals;
	const zone = app.config.reportTimezone;
	const asked = askedOf(event);
	return csvResponse(
		`airtill-${asked.period}-${asked.day}.csv`,
		columnsOf(zone),
		(after: LinePosition | null) => listLines(app, actor, asked, { after, limit: CSV_BATCH }),
		(page) => rowsOf(page, zone)
	);
}

const PERIODS: readonly Period[] = ['daily', 'weekly', 'monthly'];

export const periodOf = (parameters: URLSearchParams): Period =>
	PERIODS.find((period) => period === parameters.get('period')) ?? 'daily';

/** Throws 404 for an invalid day. */
function dayOf(parameters: URLSearchParams, today: string): string {
	const day = parameters.get('day') ?? today;
	if (!isDate(day) || day < FIRST_DATE || day > LAST_DATE) error(404, m.owner_no_such_period());
	return day;
}

const KINDS = ['payment', 'refund'] as const;

/** Reads router, offer, method, kind and hour of an address. Throws 404 for an invalid value. */
function filterOf(parameters: URLSearchParams): Filter {
	const read = <Value>(name: string, valueOf: (text: string) => Value | undefined): Value | null => {
		const text = parameters.get(name);
		return text === null ? null : (valueOf(text) ?? error(404, m.common_error_not_found()));
	};
	return {
		router: read('router', (text) => idOf(text) || undefined),
		// PostgreSQL cannot compare with NUL.
		offer: read('offer', (text) => (text.includes('\0') ? undefined : text)),
		method: read('method', (text) => (/^\w{1,40}$/.test(text) ? text : undefined)),
		kind: read('kind', (text) => KINDS.find((kind) => kind === text)),
		hour: read('hour', (text) => (/^(1?\d|2[0-3])$/.test(text) ? Number(text) : undefined))
	};
}

const filterFields = (filter: Filter): Record<string, string> =>
	Object.fromEntries(
		Object.entries(filter).flatMap(([name, value]) => (value == null ? [] : [[name, `${value}`]]))
	);

const CHART_DAYS = 14;
/** Lines of a group. A month's statement has all routers, and the page of earnings all offers. */
const MOST = 50;

/** Reads the first page for a period: sums, charts and groups, each figure with the address of its payments. */
export async function salesOfPeriod(app: App, caller: { accountId: number }, period: Period) {
	const today = findToday(app);
	const of = { period, day: today };
	const [body, days, hours, routers] = await Promise.all([
		sumBreakdown(app, caller, { period, from: today, to: today }),
		sumBreakdown(app, caller, { period: 'daily', from: daysBefore(today, CHART_DAYS - 1), to: today }),
		sumHours(app, caller, of),
		sumRouters(app, caller, of, MOST + 1)
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
export async function sumOfToday(app: App, caller: { accountId: number }) {
	const today = findToday(app);
	const { currency, total } = await sumBreakdown(app, caller, { period: 'daily', from: today, to: today });
	return { net: money(total.net, currency), lines: figureLines(total, currency) };
}

const daysBefore = (day: string, count: number): string =>
	new Date(Date.parse(day) - count * DAY_MS).toISOString().slice(0, 10);

/** Smaller clock differences have no visible effect. */
const CLOCK_SHOWN_MS = 5_000;
const UNITS = ['B', 'kB', 'MB', 'GB', 'TB'] as const;

/** Formats bytes as "850 kB" or "1.2 GB", in thousands as phones do. */
function dataText(bytes: number): string {
	const power = bytes < 1 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log10(bytes) / 3));
	const value = bytes / 1000 ** power;
	const digits = power > 1 && value < 10 ? 1 : 0;
	return apart(`${numberText(value, { maximumFractionDigits: digits })}\u00a0${UNITS[power] ?? 'B'}`);
}

export async function routersOf(app: App, routers: readonly OwnedRouter[]) {
	const { clock, config } = app;
	const uses = await findRouterUses(
		app,
		routers.map(({ id }) => id)
	);
	const when = { now: clock.now(), timeZone: config.reportTimezone };
	return routers.map((router) => {
		const { id, name, price, currency, hourly, offers } = router;
		return {
			id,
			name,
			sells: hourly
				? m.owner_per_hour({ money: money(price, currency) })
				: offers.map((offer) => offer.name).join(' · '),
			state: routerState(router, when),
			use: useLine(uses.get(id))
		};
	});
}

function useLine(use: RouterUse | undefined): string | null {
	return use?.online == null ? null : m.usage_line_online({ count: numberText(use.online) });
}

function gatewayLine(gateway: RouterUse['gateways'][number], timeZone: string) {
	const { name, title, seenAt, unresponsiveSince, clockOffsetMs } = gateway;
	const state = classifyGateway(gateway);
	const seconds = String(Math.round(Math.abs(clockOffsetMs ?? 0) / 1000));
	const isOff = clockOffsetMs !== null && Math.abs(clockOffsetMs) >= CLOCK_SHOWN_MS;
	return {
		name,
		title,
		state: {
			responding: m.usage_responding(),
			new: m.usage_new(),
			unresponsive: m.usage_unresponsive({ time: moment(unresponsiveSince ?? 0, timeZone) }),
			unmonitored: m.usage_unmonitored()
		}[state],
		mark: state === 'responding' ? ('good' as const) : state === 'unmonitored' ? null : ('notice' as const),
		notes: [
			...(seenAt === null ? [] : [m.usage_last_response({ time: moment(seenAt, timeZone) })]),
			...(isOff
				? [clockOffsetMs > 0 ? m.usage_clock_ahead({ seconds }) : m.usage_clock_behind({ seconds })]
				: [])
		]
	};
}

export function routerUse(use: RouterUse | undefined, timeZone: string) {
	if (!use || use.gateways.length === 0) return null;
	const { online, gateways } = use;
	return {
		lines: [[m.usage_devices(), online === null ? m.usage_unknown() : numberText(online)]] as const,
		gateways: gateways.map((gateway) => gatewayLine(gateway, timeZone))
	};
}

export function sessionUse(use: SessionUse | undefined, isRunning: boolean): string | null {
	if (!use) return null;
	const connected = use.connected > 0 ? m.usage_connected() : m.usage_not_connected();
	const data = m.usage_data_used({ data: dataText(use.bytes) });
	return isRunning ? `${connected} · ${data}` : data;
}
