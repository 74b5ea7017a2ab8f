import { createPass, setPassTime } from '#lib/server/passes.ts';
import { findToday } from '#lib/server/billing/earnings.ts';
import { openApp } from '../../src/cli/services.ts';
import { limitsOf } from '#lib/domain/offers.ts';
import type { App } from '#lib/server/app.ts';
import { SESSION_END_JOB } from '#lib/server/billing/sessions.ts';
import { loadConfig } from '#lib/server/config/config.ts';
import type { Queries, Tx } from '#lib/server/db/database.ts';
import { demoAccounts } from '#lib/server/demo/accounts.ts';
import { HOUR_MS, MAX_DURATION, MIN_DURATION, buckets } from '#lib/domain/time.ts';
import { type Insertable, sql } from 'kysely';
import type { RoutersTable, Schema } from '#lib/server/db/schema.ts';
import { sha256 } from '#lib/server/platform/secrets.ts';

/** Adds a year of synthetic trade to an installation, to measure pages with. */

/** Sales whose rows are written together. */
const SALES_AT_ONCE = 5_000;

interface Size {
	routers: number;
	sessions: number;
}

/**
 * Adds the year for the demo owner of a new database, the same for the same clock.
 * @param settings environment variables of the installation, which does not run
 */
export async function addYear(settings: Record<string, string>, size: Size): Promise<void> {
	const app = await openApp(loadConfig(settings));
	try {
		await addTrade(app, size);
	} finally {
		await app.stop();
	}
}

async function addTrade(app: App, size: Size): Promise<void> {
	const { config, clock, database } = app;
	const signIns = await demoAccounts(app);
	const idOf = (wanted: string) => signIns.find(({ role }) => role === wanted)?.id ?? 0;
	const { currency, paymentMethods, commissionBasisPoints, reportTimezone: timeZone } = config;
	const now = clock.now();
	const facts = {
		...{ ownerId: idOf('owner'), buyerId: idOf('app'), now },
		...{ currency, paymentMethods, commissionBasisPoints }
	};
	const sales = salesOf(size.routers, size.sessions, { today: findToday(app), now, timeZone });
	await database.transact(async (trx) => {
		const routerIds = await insertAll(trx, 'routers', routerRows(size.routers, facts));
		for (let done = 0; done < sales.length; done += SALES_AT_ONCE) {
			const batch = { sales: sales.slice(done, done + SALES_AT_ONCE), first: done, routerIds };
			await addSales(app, trx, batch, facts);
		}
	});
}

interface Batch {
	sales: readonly Sale[];
	/** Number of sales before it. */
	first: number;
	routerIds: readonly number[];
}

async function addSales(app: App, trx: Tx, batch: Batch, facts: YearFacts): Promise<void> {
	const { sales, first, routerIds } = batch;
	const made = sales.map((sale, index) => rowsOf(sale, first + index, routerIds[sale.router] ?? 0, facts));
	const sessionIds = await insertAll(
		trx,
		'sessions',
		made.map(({ session }) => session)
	);
	const idAt = (index: number) => sessionIds[index] ?? 0;
	const paid = made.flatMap((one, index) => (one.payment.applied ? [{ ...one, id: idAt(index) }] : []));
	await insertAll(
		trx,
		'passes',
		paid.flatMap(({ id, pass, isRunning }) => (isRunning ? [] : [{ id, ...pass }]))
	);
	for (const { id, session, pass } of paid.filter(({ isRunning }) => isRunning)) {
		const { starts_at: startsAt, ends_at: endsAt, access_kind, max_devices } = pass;
		const bought = { id, router_id: session.router_id, access_kind, ...limitsOf({}), max_devices };
		await createPass(app, trx, bought);
		await setPassTime(app, trx, id, { startsAt, endsAt });
		await app.jobs.schedule(trx, SESSION_END_JOB, id, endsAt);
	}
	const payments = made.map(({ payment }, index) => ({ ...payment, session_id: idAt(index) }));
	const paymentIds = await insertAll(trx, 'payments', payments);
	await linkSessions(trx, { from: idAt(0), to: idAt(made.length - 1) });
	const ofPayments = payments.map((payment, index) => ({ payment, id: paymentIds[index] ?? 0 }));
	const refunded = ofPayments.filter(({ payment }) => payment.refunded_at !== null);
	await insertAll(
		trx,
		'refunds',
		refunded.map(({ payment, id }) => refundRow(payment, id))
	);
	await insertAll(
		trx,
		'audit_log',
		ofPayments.flatMap(({ payment, id }) => (payment.paid_at === null ? [] : [auditRow(id, payment.paid_at)]))
	);
	await insertAll(
		trx,
		'purchases',
		made.map(({ purchase }, index) => ({
			...purchase,
			session_id: idAt(index),
			payment_ids: JSON.stringify([paymentIds[index]])
		}))
	);
}

/** Decides what a synthetic year sells. The same request gives the same trade. */
interface Sale {
	router: number;
	/** Index in PACKAGES; null for time at the hourly price. */
	offer: number | null;
	/** For numbers that a sale needs, from 0 to below 1. */
	chance: number;
	outcome: 'paid' | 'refunded' | 'failed';
	/** ms since the epoch */
	at: number;
}

interface Year {
	/** YYYY-MM-DD, the last day. */
	today: string;
	now: number;
	timeZone: string;
}

/** Offers of each router; prices in minor units. `weight` is the share of sales. */
const PACKAGES = [
	{ id: 1, name: '30 minutes', duration: '30m', seconds: 1_800, price_minor: 200, active: true, weight: 30 },
	{ id: 2, name: '2 hours', duration: '2h', seconds: 7_200, price_minor: 800, active: true, weight: 25 },
	{ id: 3, name: 'Day', duration: '1d', seconds: 86_400, price_minor: 1_500, active: true, weight: 20 },
	{ id: 4, name: 'Week', duration: '1w', seconds: 604_800, price_minor: 6_000, active: true, weight: 5 }
] as const;

const HOURLY_WEIGHT = 20;
/** Sales by hour of the day: few at night, most in the evening. */
const HOUR_WEIGHTS = [2, 1, 1, 1, 1, 2, 4, 7, 9, 8, 8, 9, 11, 11, 9, 8, 9, 11, 13, 15, 14, 11, 7, 4];
const WEEKEND_WEIGHT = 1.3;
/** Of the last day, if the first has 1. */
const GROWTH = 1.6;
const FAILED_SHARE = 0.06;
const REFUNDED_SHARE = 0.01;
const DAYS = 365;

function createRandom(seed: number): () => number {
	let state = seed;
	// Mulberry32, by Tommy Ettinger (public domain).
	return () => {
		state = (state + 0x6d2b79f5) | 0;
		let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
		mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
		return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
	};
}

function createPicker(weights: readonly number[], random: () => number): () => number {
	let sum = 0;
	const ends = weights.map((weight) => (sum += weight));
	return () => {
		const wanted = random() * sum;
		return ends.findIndex((end) => end > wanted);
	};
}

/** Returns the sales of the year before `now`, ascending. */
function salesOf(routers: number, sales: number, { today, now, timeZone }: Year): Sale[] {
	const random = createRandom(2);
	const from = new Date(Date.parse(`${today}T00:00:00Z`) - (DAYS - 1) * 24 * HOUR_MS).toISOString();
	const days = buckets('daily', { from: from.slice(0, 10), to: today }, today, timeZone) ?? [];
	const isWeekend = (start: string) => [0, 6].includes(new Date(`${start}T00:00:00Z`).getUTCDay());
	const dayOf = createPicker(
		days.map(
			({ start }, index) => (1 + (GROWTH - 1) * (index / DAYS)) * (isWeekend(start) ? WEEKEND_WEIGHT : 1)
		),
		random
	);
	const hourOf = createPicker(HOUR_WEIGHTS, random);
	// A few routers sell most.
	const routerOf = createPicker(
		Array.from({ length: routers }, (_, index) => 1 / (index + 5)),
		random
	);
	const offerOf = createPicker([...PACKAGES.map(({ weight }) => weight), HOURLY_WEIGHT], random);
	const timeOf = (): number => {
		const at = (days[dayOf()]?.from ?? now) + Math.floor((hourOf() + random()) * HOUR_MS);
		return at < now ? at : timeOf();
	};
	const times = Array.from({ length: sales }, timeOf).sort((one, other) => one - other);
	return times.map((at) => {
		const [offer, luck] = [offerOf(), random()];
		return {
			at,
			router: routerOf(),
			offer: offer < PACKAGES.length ? offer : null,
			chance: random(),
			outcome: luck < FAILED_SHARE ? 'failed' : luck < FAILED_SHARE + REFUNDED_SHARE ? 'refunded' : 'paid'
		};
	});
}

/** Values that all rows of a year share. */
interface YearFacts {
	ownerId: number;
	buyerId: number;
	currency: string;
	paymentMethods: readonly string[];
	commissionBasisPoints: number;
	now: number;
}

const CENTRE = { lat: 0.3476, lon: 32.5825 };
const SPREAD_DEGREES = 0.6;
const HOURLY_MINOR = 500;
const HOUR_SECONDS = 3_600;
const KINDS = ['Café', 'Hostel', 'Market', 'Salon', 'Lodge', 'Kiosk', 'Library', 'Canteen'];
const STREETS = ['Acacia', 'Lake', 'Station', 'Hill', 'Mango', 'Mosque', 'Bridge', 'Old Port', 'Stadium'];
/** Of the buyers of the year. */
const NUMBERS = 40_000;

const PAID_AFTER_MS = 20_000;
const REFUNDED_AFTER_MS = 6 * 60 * 60 * 1000;
const DUE_AFTER_MS = 10 * 60 * 1000;

function routerRows(count: number, facts: YearFacts): Insertable<RoutersTable>[] {
	const random = createRandom(1);
	const near = (middle: number) => middle + (random() * 2 - 1) * SPREAD_DEGREES;
	const offers = JSON.stringify(PACKAGES, ['id', 'name', 'duration', 'price_minor', 'active']);
	return Array.from({ length: count }, (_, index) => {
		const street = STREETS[Math.floor(random() * STREETS.length)] ?? '';
		const name = `${street} ${KINDS[Math.floor(random() * KINDS.length)] ?? ''} ${index + 1}`;
		return {
			...{ owner_account_id: facts.ownerId, external_id: `year-${index + 1}` },
			...{ name, address: `${street} Road`, ssid: name, security: 'wpa', status: 'online' },
			...{ lat: near(CENTRE.lat), lon: near(CENTRE.lon) },
			...{ price_minor: HOURLY_MINOR, currency: facts.currency, offers, last_offer_id: PACKAGES.length },
			...{ payment_methods: JSON.stringify(facts.paymentMethods) },
			...{ min_duration: MIN_DURATION, max_duration: MAX_DURATION },
			...{ created_at: facts.now, updated_at: facts.now, access_confirmed_at: facts.now }
		};
	});
}

/** The rows of a sale, without the ids that the database gives. */
function rowsOf(sale: Sale, index: number, routerId: number, facts: YearFacts) {
	const offer = sale.offer === null ? null : (PACKAGES[sale.offer] ?? null);
	const hours = 1 + Math.floor(sale.chance * 4);
	const duration = offer?.duration ?? `${hours}h`;
	const seconds = offer?.seconds ?? hours * HOUR_SECONDS;
	const methods = facts.paymentMethods;
	const common = {
		account_id: facts.buyerId,
		payment_method: methods[Math.floor(sale.chance * 7) % methods.length] ?? 'mobile_money',
		phone: `+25677${String(1_000_000 + Math.floor(sale.chance * NUMBERS)).padStart(7, '0')}`,
		amount_minor: offer?.price_minor ?? hours * HOURLY_MINOR,
		currency: facts.currency,
		created_at: sale.at,
		updated_at: sale.at
	};
	const paidAt = Math.min(facts.now, sale.at + PAID_AFTER_MS);
	const isPaid = sale.outcome !== 'failed';
	const endsAt = paidAt + seconds * 1000;
	const refundedAt = sale.outcome === 'refunded' ? Math.min(facts.now, paidAt + REFUNDED_AFTER_MS) : null;
	const reference = `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`;
	return {
		isRunning: sale.outcome === 'paid' && endsAt > facts.now,
		session: {
			...{ ...common, router_id: routerId, duration, duration_seconds: seconds, ssid: 'Wi-Fi' },
			...{ offer_id: offer?.id ?? null, offer_name: offer?.name ?? null },
			...{ payment_due_at: sale.at + DUE_AFTER_MS },
			...stateOf(sale, { paidAt, endsAt, refundedAt, now: facts.now })
		},
		pass: {
			...{ router_id: routerId, access_kind: 'wpa_personal_per_client' as const, max_devices: 1 },
			...{ starts_at: paidAt, ends_at: endsAt, activating_until: null },
			...{ password_sealed: null, password_session_id: null, created_at: paidAt, updated_at: paidAt }
		},
		payment: {
			...{
				...common,
				operator: 'sandbox',
				reference,
				submitted_at: sale.at,
				submit_state: 'accepted' as const
			},
			...{ applied: isPaid ? 1 : 0, commission_basis_points: facts.commissionBasisPoints },
			...({ status: isPaid ? (refundedAt === null ? 'success' : 'refunded') : 'failed' } as const),
			...{ failure_code: isPaid ? null : 'insufficient_funds' },
			...{
				provider_reference: isPaid ? `Y${index}` : null,
				refund_reason: refundedAt === null ? null : 'provisioning_failed'
			},
			...{ expires_at: sale.at + DUE_AFTER_MS, paid_at: isPaid ? paidAt : null, refunded_at: refundedAt }
		},
		purchase: {
			...{ token_hash: sha256(`year ${index}`), router_id: routerId, duration, offer_id: offer?.id ?? null },
			...{ payment_method: common.payment_method, phone: common.phone, amount_minor: common.amount_minor },
			...{ currency: facts.currency, created_at: sale.at, updated_at: sale.at }
		}
	};
}

type Times = { paidAt: number; endsAt: number; refundedAt: number | null; now: number };

/** A running session is `activating` until it has its pass. */
function stateOf({ outcome, at }: Sale, { paidAt, endsAt, refundedAt, now }: Times) {
	if (outcome === 'failed') {
		const endedAt = Math.min(now, at + DUE_AFTER_MS);
		return { status: 'cancelled', status_reason: 'client_cancelled', ended_at: endedAt } as const;
	}
	if (refundedAt !== null) {
		return { status: 'cancelled', status_reason: 'provisioning_failed', ended_at: refundedAt } as const;
	}
	const time = { starts_at: paidAt, expires_at: endsAt };
	return endsAt > now
		? ({ ...time, status: 'activating', ended_at: null } as const)
		: ({ ...time, status: 'expired', ended_at: endsAt } as const);
}

const auditRow = (paymentId: number, at: number): Insertable<Schema['audit_log']> => ({
	...{ at, actor: 'reconciler', action: 'payment.success', payment_id: paymentId, refund_id: null },
	...{ reason: 'the operator says that the payer paid', before: '{}', after: '{"status":"success"}' }
});

const refundRow = (
	payment: ReturnType<typeof rowsOf>['payment'],
	paymentId: number
): Insertable<Schema['refunds']> => ({
	...{ payment_id: paymentId, reference: `${payment.reference}-refund`, reason: 'provisioning_failed' },
	...{ amount_minor: payment.amount_minor, currency: payment.currency, status: 'succeeded' },
	...{ submit_state: 'accepted', created_at: payment.refunded_at ?? 0, updated_at: payment.refunded_at ?? 0 }
});

/** Far below the limit of parameters of both databases. */
const ROWS_AT_ONCE = 500;

type Filled =
	'routers' | 'sessions' | 'passes' | 'payments' | 'refunds' | 'purchases' | 'reviews' | 'audit_log';

/** Inserts rows in few statements and returns their ids, ascending. */
async function insertAll<Table extends Filled>(
	queries: Queries,
	table: Table,
	rows: readonly Insertable<Schema[Table]>[]
): Promise<number[]> {
	const ids: number[] = [];
	for (let done = 0; done < rows.length; done += ROWS_AT_ONCE) {
		// The types of one table stand for those of all.
		const some = rows.slice(done, done + ROWS_AT_ONCE) as unknown as Insertable<Schema['sessions']>[];
		const insert = queries.insertInto(table as 'sessions').values(some);
		const added = await insert.returning('id').execute();
		ids.push(...added.map(({ id }) => id));
	}
	return ids.sort((one, other) => one - other);
}

/** Gives sessions their passes and the payments that bought them, and starts those that run. */
const linkSessions = (queries: Queries, { from, to }: { from: number; to: number }) =>
	sql`update sessions set
			status = case when status = 'activating' then 'active' else status end,
			pass_id = (select passes.id from passes where passes.id = sessions.id),
			payment_id = (select payments.id from payments where payments.session_id = sessions.id)
		where sessions.id between ${from} and ${to}`.execute(queries);
