import { sql } from 'kysely';
import { DAY_MS, HOUR_MS, MINUTE_MS, dateAt, durationSeconds, spanOfDates } from '#lib/domain/time.ts';
import type { App } from '../app.ts';
import type { Tx } from '../db/database.ts';
import { parseOffers } from '../routers/offer-list.ts';
import type { RouterRow } from '../routers/routers.ts';

/** So that the pages of a demo owner show what an owner sees after a month: the same sales at each first start. */

const DAYS = 30;
const SALES_A_DAY = 16;
const SEED = 20_261_129;
const ROWS_AT_ONCE = 200;
/** Of a router in the list: the first ones sell most. */
const ROUTERS = [8, 6, 5, 4, 3, 2, 2, 1];
/** Sales by the hour of the day, from 0. */
const HOURS = [1, 0, 0, 0, 0, 0, 1, 2, 3, 4, 4, 5, 8, 7, 5, 4, 5, 7, 9, 10, 9, 6, 4, 2];
const HOURLY = { '30m': 4, '1h': 8, '2h': 4, '3h': 2 };
const MTN_SHARE = 0.65;
const REFUND_SHARE = 0.015;
const REFUND_MS = 10 * MINUTE_MS;

interface Sale {
	router: RouterRow;
	at: number;
	duration: string;
	offer: { id: number; name: string } | null;
	amountMinor: number;
	phone: string;
	method: 'mtn_momo' | 'airtel_money';
	reference: string;
	isRefunded: boolean;
}

/** Writes a month of settled sales. Another process that does the same writes none: their references are the same. */
export async function addDemoSales(app: App, buyerAccountId: number, routers: readonly RouterRow[]) {
	const sales = listSales(app, routers);
	try {
		await app.database.transact(async (trx) => {
			for (let from = 0; from < sales.length; from += ROWS_AT_ONCE) {
				await insertSales(trx, app, buyerAccountId, sales.slice(from, from + ROWS_AT_ONCE), from);
			}
		});
	} catch (error) {
		if (!app.database.isUniqueViolation(error)) throw error;
	}
}

/** Lists the sales of the last days whose time has ended, oldest first. */
function listSales({ clock, config }: App, routers: readonly RouterRow[]): Sale[] {
	let state = SEED;
	/** A fixed sequence of numbers from 0 to below 1. */
	const random = () => (state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32) / 2 ** 32;
	const below = (limit: number) => Math.floor(random() * limit);
	const pick = <Value>(choices: readonly (readonly [Value, number])[]): Value => {
		let left = random() * choices.reduce((sum, [, weight]) => sum + weight, 0);
		const found = choices.find(([, weight]) => (left -= weight) < 0) ?? choices[0];
		return (found as readonly [Value, number])[0];
	};
	const now = clock.now();
	const sellers = routers.slice(0, ROUTERS.length).map((one, index) => [one, ROUTERS[index] ?? 1] as const);
	const hours = HOURS.map((weight, hour) => [hour, weight] as const);
	const sales: Sale[] = [];
	for (let day = DAYS; day >= 0; day -= 1) {
		const date = dateAt(now - day * DAY_MS, config.reportTimezone);
		const midnight = spanOfDates(date, date, config.reportTimezone).from;
		// More at the end of the week, and a little more each week.
		const weekend = [0, 5, 6].includes(new Date(date).getUTCDay()) ? 1.4 : 1;
		const count = Math.round(SALES_A_DAY * weekend * (1.2 - day / 100) * (0.8 + random() * 0.4));
		for (let sale = 0; sale < count; sale += 1) {
			const router = pick(sellers);
			const bought = pick(choicesAt(router));
			const method = random() < MTN_SHARE ? 'mtn_momo' : 'airtel_money';
			sales.push({
				...{ router, ...bought, method, isRefunded: random() < REFUND_SHARE },
				at: midnight + pick(hours) * HOUR_MS + below(HOUR_MS / 1000) * 1000,
				// Regulars come back: 150 numbers.
				phone: `${method === 'mtn_momo' ? '+25677' : '+25675'}${String(2_000_000 + below(150) * 4_177).slice(0, 7)}`,
				reference: formatReference(below(2 ** 32), below(2 ** 32))
			});
		}
	}
	const isOver = ({ at, duration }: Sale) => at + durationSeconds(duration) * 1000 < now - MINUTE_MS;
	return sales.filter(isOver).sort((one, other) => one.at - other.at);
}

/** What buyers choose at a router, and how often. */
function choicesAt(router: RouterRow): [Pick<Sale, 'duration' | 'amountMinor' | 'offer'>, number][] {
	const offers = parseOffers(router.offers);
	if (offers.length > 0) {
		return offers.map(({ id, name, duration, price_minor: amountMinor }) => [
			{ duration, amountMinor, offer: { id, name } },
			1
		]);
	}
	return Object.entries(HOURLY).map(([duration, weight]) => {
		const amountMinor = Math.ceil((router.price_minor * durationSeconds(duration)) / 3600);
		return [{ duration, amountMinor, offer: null }, weight];
	});
}

/** A UUID v4. */
function formatReference(high: number, low: number): string {
	const hex = high.toString(16).padStart(8, '0') + low.toString(16).padStart(8, '0');
	return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13)}-8000-${hex.slice(0, 12)}`;
}

async function insertSales(trx: Tx, { config }: App, account: number, sales: readonly Sale[], from: number) {
	const shared = ({ at, amountMinor, phone, method, router }: Sale) => ({
		...{ account_id: account, amount_minor: amountMinor, currency: router.currency, phone },
		...{ payment_method: method, created_at: at - MINUTE_MS }
	});
	const endOf = ({ at, duration }: Sale) => at + durationSeconds(duration) * 1000;
	/** The customer could not connect, and the owner gave the money back. */
	const refundedAt = (sale: Sale) => (sale.isRefunded ? sale.at + REFUND_MS : null);
	const sessions = await trx
		.insertInto('sessions')
		.values(
			sales.map((sale) => ({
				...shared(sale),
				...{ router_id: sale.router.id, ssid: sale.router.ssid, access_kind: sale.router.access_kind },
				...{ duration: sale.duration, duration_seconds: durationSeconds(sale.duration) },
				...{ offer_id: sale.offer?.id ?? null, offer_name: sale.offer?.name ?? null },
				...(sale.isRefunded
					? { status: 'ended' as const, status_reason: 'admin_ended' }
					: { status: 'expired' as const, status_reason: null }),
				...{ payment_id: null, payment_due_at: sale.at + 10 * MINUTE_MS },
				...{ starts_at: sale.at, expires_at: endOf(sale), ended_at: refundedAt(sale) ?? endOf(sale) },
				updated_at: endOf(sale)
			}))
		)
		.returning('id')
		.execute();
	// Both databases number the rows of one insert in its order.
	const ids = sessions.map(({ id }) => id).sort((one, other) => one - other);
	const idOf = (index: number) => ids[index] ?? 0;
	await trx
		.insertInto('passes')
		.values(
			sales.map((sale, index) => ({
				...{ id: idOf(index), router_id: sale.router.id, access_kind: sale.router.access_kind },
				...{ max_devices: 1, starts_at: sale.at, ends_at: refundedAt(sale) ?? endOf(sale) },
				...{ activating_until: null, password_sealed: null },
				...{ created_at: sale.at, updated_at: sale.at }
			}))
		)
		.execute();
	const payments = await trx
		.insertInto('payments')
		.values(
			sales.map((sale, index) => ({
				...shared(sale),
				...{ session_id: idOf(index), operator: 'sandbox', reference: sale.reference },
				...{ operator_reference: null, provider_reference: `DEMO-${from + index + 1}` },
				...{ submit_state: 'accepted' as const, submitted_at: sale.at - MINUTE_MS, applied: 1 },
				...{ failure_code: null, failure_message: null, claim: null, statement_at: null },
				...{ settled_minor: sale.amountMinor, settled_currency: sale.router.currency },
				commission_basis_points: config.commissionBasisPoints,
				...{ status: 'success' as const, paid_at: sale.at, expires_at: sale.at + 10 * MINUTE_MS },
				updated_at: sale.at
			}))
		)
		.returning(['id', 'session_id'])
		.execute();
	await trx
		.updateTable('sessions')
		.set(({ selectFrom, ref }) => ({
			pass_id: ref('sessions.id'),
			payment_id: selectFrom('payments')
				.select('payments.id')
				.whereRef('payments.session_id', '=', 'sessions.id')
		}))
		.where('id', 'in', ids)
		.execute();
	const refunds = payments.flatMap(({ id, session_id: sessionId }) => {
		const sale = sales[ids.indexOf(sessionId)];
		const at = sale && refundedAt(sale);
		if (!sale || !at) return [];
		return {
			...{ payment_id: id, reference: sale.reference.replace('-8000-', '-9000-'), reason: 'admin' },
			...{ amount_minor: sale.amountMinor, currency: sale.router.currency },
			...{ status: 'succeeded' as const, submit_state: 'accepted' as const, submitted_at: at },
			...{ operator_reference: null, claim: null, created_at: at, updated_at: at }
		};
	});
	if (refunds.length > 0) {
		await trx.insertInto('refunds').values(refunds).execute();
		const at = sql<number>`paid_at + ${REFUND_MS}`;
		const refunded = { status: 'refunded' as const, refund_reason: 'admin', refunded_at: at, updated_at: at };
		const ids = refunds.map((refund) => refund.payment_id);
		await trx.updateTable('payments').set(refunded).where('id', 'in', ids).execute();
	}
	// A refund asks the sandbox for the charge.
	await trx
		.insertInto('sandbox_charges')
		.values(
			sales.map((sale) => ({
				...{ reference: sale.reference, phone: sale.phone, amount_minor: sale.amountMinor },
				...{ currency: sale.router.currency, callback_url: '', payment_expires_at: sale.at },
				...{ first_seen_at: sale.at - MINUTE_MS, queued_at: sale.at - MINUTE_MS }
			}))
		)
		.execute();
}
