import { type RequestEvent, error } from '@sveltejs/kit';
import {
	DAY_MS,
	FIRST_DATE,
	LAST_DATE,
	type Period,
	buckets,
	formatDuration,
	isDate,
	spanOfDates,
	timeAt
} from '#lib/domain/time.ts';
import { dayName, moment, money, periodName } from '#lib/format/text.ts';
import { apart, numberText } from '#lib/i18n/intl.ts';
import { type OwnerVisitor, ownRouterOf } from './owner.ts';
import { link } from '#lib/i18n/current.ts';
import * as m from '#lib/i18n/messages.js';
import { toMajor } from '#lib/domain/money.ts';
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
import { listPaid } from '#lib/server/billing/payouts.ts';
import { createSigner, signLine } from '#lib/server/billing/signed-statement.ts';
import { qrSvg } from '#lib/server/portal/qr-svg.ts';
import { methodTitle } from '#lib/format/words.ts';
import { nameOffer } from '#lib/purchase/quote.ts';
import { CSV_BATCH, type CsvCell, csvResponse } from '../csv.ts';
import { idOf, readPage } from '../page-links.ts';
import type { App } from '#lib/server/app.ts';
import type { OwnedRouter } from '#lib/server/routers/routers.ts';
import { type RouterUse, type SessionUse, classifyGateway, findRouterUses } from '#lib/server/owner/usage.ts';
import { describePayout } from './payouts.ts';
import { routerState } from './router.ts';

/** The owner's pages of money: today, one period with its payments and refunds, and the statement of a month. */

export async function statementPage({ url, locals: { app } }: RequestEvent, { actor, owner }: OwnerVisitor) {
	const { clock, config } = app;
	const today = findToday(app);
	const day = dayOf(url.searchParams, today);
	const { currency, start, end, total, data } = await sumRouters(app, actor, { period: 'monthly', day });
	const zone = config.reportTimezone;
	const payouts = await listPaid(app, actor.accountId, spanOfDates(start, end, zone));
	const hasSales = url.searchParams.has('lines');
	const asked = { period: 'monthly', day, filter: {} } as const;
	const sales = hasSales ? await listLines(app, actor, asked, { after: null, limit: MOST_PRINTED }) : null;
	const subject = describeSubject(app, owner, [start, end]);
	return {
		sales: sales && {
			rows: sales.data.map((line) => ({
				...describeLine(line, currency),
				about: [moment(line.at, zone), methodTitle(line.method), line.transaction].filter(
					(part) => part !== null
				)
			})),
			note: sales.next === null ? null : m.owner_statement_most({ count: numberText(MOST_PRINTED) })
		},
		withSales: hasSales ? null : `${statementHref(start)}&lines`,
		code: qrSvg(signLine(app.secrets, [...subject, ...formatSums(total, payouts, currency)])),
		payouts: payouts.map((payout) => ({
			...describePayout(payout, zone),
			when: moment(payout.at, zone),
			state: payout.isReturn ? m.payouts_failed() : m.payouts_paid()
		})),
		email: owner.email,
		created: moment(clock.now(), config.reportTimezone, { year: 'numeric' }),
		name: periodName('monthly', start, end),
		isOver: end < today,
		...daysBeside({ start, end }, today, statementHref),
		payments: moneyHref('monthly', start),
		file: `${link('/owner/money/export')}?period=monthly&day=${start}&signed`,
		any: !isEmpty(total),
		net: money(total.net, currency),
		lines: figureLines(total, currency),
		where: whereLines(total, currency),
		routers: data.map(({ name, sessions, gross, refunds, fees, net }) => {
			const less = [refunds, fees].map((sum) => (sum !== 0 ? money(-sum, currency) : ''));
			const figures = [numberText(sessions), money(gross, currency), ...less];
			return { name, figures, net: money(net, currency) };
		})
	};
}

type SalesLine = Awaited<ReturnType<typeof listLines>>['data'][number];

/** Of a month with more, the file has all. */
const MOST_PRINTED = 1_000;

const describeLine = (line: SalesLine, currency: string) => ({
	title: (line.kind === 'refund' ? m.owner_refund_of : m.owner_payment)({ number: `${line.paymentId}` }),
	figures: [money(line.amount, currency), line.fee === 0 ? '' : money(-line.fee, currency)],
	net: money(line.net, currency)
});

const describeSubject = (app: App, owner: { email: string }, span: readonly string[]) => {
	return ['Statement', owner.email, ...span, new Date(app.clock.now()).toISOString()];
};

/** Not translated, as the columns of the file. */
function formatSums(
	sums: Sums,
	payouts: readonly { amount_minor: number; currency: string; isReturn: boolean }[],
	currency: string
): string[] {
	const { sessions, gross, refunds, fees, net, owed, cash, commission } = sums;
	const paidOut = payouts
		.filter((one) => one.currency === currency)
		.reduce((sum, one) => sum + (one.isReturn ? -1 : 1) * one.amount_minor, 0);
	const figures = {
		gross,
		refunds,
		fees,
		net,
		owed,
		cash,
		commission,
		'paid out': toMajor(paidOut, currency)
	};
	const named = Object.entries(figures).map(([name, amount]) => `${name} ${amount}`);
	return [currency, `payments ${sessions}`, ...named];
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

/** Where the money of a period is; empty without vouchers, because then the platform owes all of it. */
const whereLines = (
	{ owed, cash, commission, net }: Sums,
	currency: string
): (readonly [string, string])[] =>
	cash === 0 && commission === 0 && owed === net
		? []
		: [
				[m.owner_owed(), money(owed, currency)],
				[m.owner_cash(), money(cash, currency)],
				...(commission !== 0 ? [[m.owner_commission_due(), money(commission, currency)] as const] : [])
			];

const moneyHref = (period: Period, day: string, filter: Filter = {}) =>
	`${link('/owner/money')}?${new URLSearchParams({ period, day, ...filterFields(filter) })}`;

const statementHref = (day: string) => `${link('/owner/money/statement')}?day=${day}`;

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

/** Links to the periods before and after one; null if there can be no payments. */
const daysBeside = (
	{ start, end }: { start: string; end: string },
	today: string,
	hrefOf: (day: string) => string
) => ({
	previous: start > FIRST_DATE ? hrefOf(daysBefore(start, 1)) : null,
	next: end < today ? hrefOf(daysBefore(end, -1)) : null
});

/** Reads the page of a period: its sums, the payments and refunds that add up to them, and sums of groups of them. */
export async function moneyPage(event: RequestEvent, owner: OwnerVisitor) {
	const { app } = event.locals;
	const { actor } = owner;
	const asked = askedOf(event);
	const { period, day, filter } = asked;
	const filters = { period, day, ...filterFields(filter) };
	const isFiltered = Object.keys(filters).length > 2;
	const today = findToday(app);
	const [router, body, page, groups] = await Promise.all([
		filter.router == null ? null : ownRouterOf(event, owner, filter.router),
		sumBreakdown(app, actor, { period, from: day, to: day, filter }),
		readPage(event, { parameter: 'after', length: 3, filters }, (at) => {
			// PostgreSQL refuses a large number in place of 0 or 1.
			const after = at && ([at[0], at[1], Math.min(at[2], 1)] as const);
			return listLines(app, actor, asked, { after, limit: PAYMENTS_ON_PAGE });
		}),
		isFiltered ? null : readGroups(app, actor, { period, day })
	]);
	const { currency, start, end, total } = body;
	const name = periodName(period, start, end);
	const hrefOf = (one: Filter) => moneyHref(period, start, { ...filter, ...one });
	return {
		...{ period, name, any: !isEmpty(total) },
		isNow: start <= today && today <= end,
		...daysBeside(body, today, (beside) => moneyHref(period, beside)),
		only: [
			router?.name,
			filter.offer === '' ? m.owner_offers_by_hour() : filter.offer,
			filter.method == null ? null : methodTitle(filter.method),
			filter.hour == null ? null : hourName(filter.hour),
			filter.kind && { payment: m.owner_payments_count(), refund: m.owner_refunded() }[filter.kind]
		].filter((one) => one != null),
		all: moneyHref(period, start),
		net: money(total.net, currency),
		lines: figureLines(total, currency, (kind) => hrefOf(kind ? { kind } : {})),
		where: isFiltered ? [] : whereLines(total, currency),
		groups,
		offers: group(
			offerLines(body.offers, currency).map(({ offer, ...line }) => ({ ...line, href: hrefOf({ offer }) }))
		),
		methods: group(
			body.methods.map((one) => {
				return { ...sumLine(methodTitle(one.name), one, currency), href: hrefOf({ method: one.name }) };
			})
		),
		rows: page.data.map((line) => ({
			...describeLine(line, currency),
			href: link(`/owner/customers/${line.sessionId}`),
			when: moment(line.at, app.config.reportTimezone),
			router: line.routerName,
			phone: line.phoneMasked ?? methodTitle(line.method),
			bought:
				line.offerName === null
					? formatDuration(line.duration)
					: nameOffer({ name: line.offerName, duration: line.duration })
		})),
		pages: page.pages,
		statement: statementHref(day),
		download: `${link('/owner/money/export')}?${new URLSearchParams({ ...filters, day: start })}`
	};
}

const PAYMENTS_ON_PAGE = 25;
/** Lines of a group. A month's statement has all routers. */
const MOST = 50;

const group = <Line>(lines: readonly Line[]) => ({
	lines: lines.slice(0, MOST),
	note: lines.length > MOST ? m.owner_most_sales({ count: numberText(MOST) }) : null
});

/** Reads the sums of a period by day, hour and router, and those of the periods up to today, with their payments. */
async function readGroups(app: App, caller: { accountId: number }, of: { period: Period; day: string }) {
	const today = findToday(app);
	const [hours, routers, periods] = await Promise.all([
		sumHours(app, caller, of),
		sumRouters(app, caller, of, MOST + 1),
		sumBreakdown(app, caller, { period: of.period })
	]);
	const { currency, start, end } = routers;
	const to = end < today ? end : today;
	const hasDays = of.period !== 'daily' && start < to && routers.data.length > 0;
	const days = hasDays ? await sumBreakdown(app, caller, { period: 'daily', from: start, to }) : null;
	const busiest = hours.reduce((most, one) => (one.sessions > most.sessions ? one : most));
	return {
		days: days && barsOf(days),
		hours: {
			highest: hourName(busiest.hour),
			bars: hours.map((one) => ({
				...sumLine(hourName(one.hour), one, currency),
				value: one.sessions,
				href: moneyHref(of.period, start, { hour: one.hour })
			}))
		},
		routers: group(
			routers.data.map((one) => ({
				...sumLine(one.name, one, currency),
				href: moneyHref(of.period, start, { router: one.id })
			}))
		),
		periods: periods.data
			.filter((one) => !isEmpty(one))
			.map((one) => ({
				...sumLine(periodName(of.period, one.start, one.end), one, currency),
				href: moneyHref(of.period, one.start)
			}))
			.toReversed()
	};
}

/** Of days. */
const barsOf = ({ data, currency }: Awaited<ReturnType<typeof sumBreakdown>>) => ({
	highest: money(Math.max(...data.map(({ net }) => net)), currency),
	bars: data.map((one) => ({
		...sumLine(dayName(one.start), one, currency),
		value: one.net,
		href: moneyHref('daily', one.start)
	}))
});

/** Not translated, so that one program reads the files of all owners. */
const columnsOf = (timeZone: string) => [
	...[`Time (${timeZone})`, 'Time (UTC)', 'Kind', 'Payment', 'Session', 'Router', 'Phone'],
	...['Duration', 'Offer', 'Amount', 'Fee', 'Net', 'Currency', 'Transaction ID', 'Method', 'Held by']
];

function rowsOf({ data, currency }: Awaited<ReturnType<typeof listLines>>, timeZone: string): CsvCell[][] {
	return data.map((line) => {
		const { kind, paymentId, sessionId, routerName, phoneMasked, duration, offerName, transaction } = line;
		const sale = [kind, paymentId, sessionId, routerName, phoneMasked ?? '', duration, offerName ?? ''];
		const times = [timeAt(line.at, timeZone), new Date(line.at).toISOString()];
		const { amount, fee, net, method, isCash } = line;
		const money = [amount, fee, net, currency, transaction ?? '', method, isCash ? 'owner' : 'platform'];
		return [...times, ...sale, ...money];
	});
}

/** After the sales: what the owner was paid. It is no income, so it has no net. The payout's own number is in its kind. */
async function payoutRows(app: App, accountId: number, { start, end }: { start: string; end: string }) {
	const zone = app.config.reportTimezone;
	const payouts = await listPaid(app, accountId, spanOfDates(start, end, zone));
	return payouts.map((payout): CsvCell[] => {
		const {
			id,
			at,
			isReturn,
			amount_minor: minor,
			currency,
			provider_reference: transaction,
			method
		} = payout;
		const kind = `payout${isReturn ? ' returned' : ''} ${id}`;
		const times = [timeAt(at, zone), new Date(at).toISOString()];
		const amount = toMajor(isReturn ? minor : -minor, currency);
		const held = isReturn ? 'platform' : 'owner';
		return [
			...times,
			kind,
			'',
			'',
			'',
			'',
			'',
			'',
			amount,
			'',
			'',
			currency,
			transaction ?? '',
			method,
			held
		];
	});
}

/** The payments and refunds of a period; with `signed` the whole statement, which nobody can change unseen. */
export function paymentsFile(event: RequestEvent, { actor, owner }: OwnerVisitor): Response {
	const { app } = event.locals;
	const zone = app.config.reportTimezone;
	const isSigned = event.url.searchParams.has('signed');
	const asked = { ...askedOf(event), ...(isSigned && { filter: {} }) };
	const [bucket] = buckets(asked.period, { from: asked.day, to: asked.day }, findToday(app), zone) ?? [];
	const span = [bucket?.start ?? asked.day, bucket?.end ?? asked.day];
	const subject = describeSubject(app, owner, span);
	return csvResponse(
		`airtill-${asked.period}-${asked.day}.csv`,
		columnsOf(zone),
		(after: LinePosition | null) => listLines(app, actor, asked, { after, limit: CSV_BATCH }),
		async (page) => [
			...rowsOf(page, zone),
			...(page.next === null && Object.values(asked.filter).every((one) => one == null)
				? await payoutRows(app, actor.accountId, { start: span[0] ?? '', end: span[1] ?? '' })
				: [])
		],
		isSigned ? createSigner(app.secrets, subject) : null
	);
}

const PERIODS: readonly Period[] = ['daily', 'weekly', 'monthly'];

const periodOf = (parameters: URLSearchParams): Period =>
	PERIODS.find((period) => period === parameters.get('period')) ?? 'monthly';

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

/** Reads the figures of today, with links to their payments for people who may see them, and the last days. */
export async function salesOfToday(app: App, caller: { accountId: number }, maySee: boolean) {
	const today = findToday(app);
	const from = maySee ? daysBefore(today, CHART_DAYS - 1) : today;
	const days = await sumBreakdown(app, caller, { period: 'daily', from, to: today });
	const sums = days.data.at(-1) ?? days.total;
	const hrefOf = (kind?: Filter['kind']) =>
		maySee ? moneyHref('daily', today, kind ? { kind } : {}) : undefined;
	return {
		any: !isEmpty(sums),
		net: money(sums.net, days.currency),
		href: hrefOf(),
		lines: figureLines(sums, days.currency, hrefOf),
		where: whereLines(sums, days.currency),
		days: maySee && !isEmpty(days.total) ? barsOf(days) : null
	};
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
