/**
 * Before a number pays at a router, its buyer is shown an earlier order that is unpaid or was paid a moment ago: people
 * go back, open the page again or press Pay in two tabs, and a fresh form says nothing of the first one.
 *
 * Security: guests of a venue share its address, and people know each other's numbers. So an address alone tells only
 * that there is an order, and opens nothing. The page or captive session that made an order proves its buyer.
 */
import { toMajor } from '#lib/domain/money.ts';
import { parseMobile } from '#lib/domain/phone.ts';
import { HOUR_MS, MINUTE_MS } from '#lib/domain/time.ts';
import type { SessionBody } from '#lib/server/contract/session.ts';
import { LIMIT_CONCURRENCY, type Tx } from '#lib/server/db/database.ts';
import { ApiProblem, ApiUnavailable, type ApiClient } from './api-client.ts';
import {
	findRowById,
	findRowsOfNumber,
	openToken,
	readPart,
	type PurchasePart,
	type PurchaseRow,
	type Purchases
} from './purchases.ts';

/** Who orders. */
export interface Orderer {
	/** IP address, or /64 of IPv6. */
	network: string;
	/** Id of the captive session that orders. */
	captiveSession?: string | null;
	/** `mark` of the earlier order beside which the buyer wants another one; empty if none was shown. */
	another: string;
}

/** An earlier order, as its buyer is told of it. */
export interface EarlierOrder {
	/** Confirms an order beside this one and the ones before it. */
	mark: string;
	/** null unless the buyer is proven. */
	own: OwnOrder | null;
}

interface OwnOrder {
	/** Of the page that shows it. */
	token: string;
	/** `open`: the payer can approve it. `unknown`: the operator has not decided in time. */
	state: 'open' | 'unknown' | 'paid';
	amount: number;
	currency: string;
	session: Pick<SessionBody, 'duration' | 'offer'>;
	/** Whole minutes since it was paid. */
	minutesAgo: number;
}

/** An earlier order must be shown first. Nothing was ordered. */
export class OrderedBefore extends Error {
	readonly earlier: EarlierOrder;

	constructor(earlier: EarlierOrder) {
		super('An earlier order of this number is unpaid or was paid a moment ago');
		this.earlier = earlier;
	}
}

/** Columns of a purchase by which later orders find it. */
type OrderColumns = Pick<PurchaseRow, 'number_hash' | 'asked_from'>;

interface Order {
	routerId: number;
	phone: string;
	/** null asks nobody. */
	orderer: Orderer | null;
	/** What else only the buyer of an order has: its form, or the page that adds the time. */
	proofs: readonly string[];
	/** Ids of purchases of which the page speaks itself. */
	except: readonly (number | undefined)[];
}

/** "paid a moment ago" */
const JUST_PAID_MS = 10 * MINUTE_MS;
/** An order without a payment is completed by its page for this long (purchases.ts). */
const COMPLETED_MS = 2 * MINUTE_MS;
/** Longer than the time to pay. */
const LOOK_BACK_MS = HOUR_MS;
const MAX_TRIES = 8;

/**
 * Writes an order, unless an earlier one must be shown first. The transaction that writes decides, so of two orders at
 * the same moment one sees the other.
 * @param write gets the columns to store; returns null if it asks `isFirst` and is not
 * @throws OrderedBefore
 */
export async function writeOrder<T>(
	purchases: Purchases,
	api: ApiClient,
	order: Order,
	write: (trx: Tx, columns: OrderColumns, isFirst: () => Promise<boolean>) => Promise<T | null>
): Promise<T> {
	const { database, clock, hashOrder, region } = purchases;
	const { orderer, except } = order;
	// Another notation is the same number. The API refuses what is no number.
	const number = parseMobile(order.phone, region) ?? order.phone;
	const numberHash = hashOrder(`${order.routerId} ${number}`);
	const inOrder = (text: string) => hashOrder(`${numberHash} ${text}`);
	const proofs = [
		...(orderer?.captiveSession ? [`captive session ${orderer.captiveSession}`] : []),
		...order.proofs
	].map(inOrder);
	const from = [...(orderer ? [inOrder(`network ${orderer.network}`)] : []), ...proofs];
	const columns = { number_hash: numberHash, asked_from: JSON.stringify(from) };
	const markOf = ({ id }: PurchaseRow) => inOrder(`purchase ${id}`);
	const passed = new Set<number | undefined>(except);

	for (let tries = 0; tries < MAX_TRIES; tries += 1) {
		let found: PurchaseRow[] = [];
		const written = await database.transact(async (trx) => {
			const isFirst = async () => {
				if (orderer === null) return true;
				const recent = await findRowsOfNumber(trx, numberHash, clock.now() - LOOK_BACK_MS);
				const confirmed = recent.find((row) => markOf(row) === orderer.another)?.id ?? 0;
				found = recent.filter((row) => row.id > confirmed && !passed.has(row.id) && isFrom(row, from));
				return found.length === 0;
			};
			return write(trx, columns, isFirst);
		}, LIMIT_CONCURRENCY);
		if (written !== null) return written;
		for (const row of found) {
			const part = await readEarlier(purchases, api, row);
			if (part === null) passed.add(row.id);
			else
				throw new OrderedBefore(await describeEarlier(purchases, row, part, { mark: markOf(row), proofs }));
		}
	}
	throw new ApiUnavailable('the orders of a number change too fast');
}

const isFrom = (row: PurchaseRow, from: readonly string[]): boolean =>
	parseAskedFrom(row).some((hash) => from.includes(hash));

const parseAskedFrom = ({ asked_from }: PurchaseRow): string[] =>
	asked_from === null ? [] : (JSON.parse(asked_from) as string[]);

/** Reads an order that is open or was paid a moment ago, once its own request has ended; null for any other. */
async function readEarlier(
	{ database: { db }, clock, completing }: Purchases,
	api: ApiClient,
	{ id }: PurchaseRow
): Promise<Read | null> {
	await completing.get(id)?.catch(() => undefined);
	const row = await findRowById(db, id);
	// It was refused.
	if (row === null) return null;
	const now = clock.now();
	const part = await readPart(db, api, row).catch((problem: unknown) => {
		if (problem instanceof ApiProblem) return null;
		throw problem;
	});
	if (!part?.payment) {
		const isUnpaid = part === null ? row.session_id === null : part.session.status === 'pending_payment';
		return isUnpaid && now - row.created_at < COMPLETED_MS ? { state: 'open', part, agoMs: 0 } : null;
	}
	const { session, payment } = part;
	if (payment.status === 'pending' || payment.status === 'expired') {
		const state = payment.status === 'pending' ? 'open' : 'unknown';
		return session.status === 'pending_payment' ? { state, part, agoMs: 0 } : null;
	}
	const agoMs = now - Date.parse(payment.paid_at ?? payment.updated_at);
	const isHad = payment.status === 'success' && !OVER.includes(session.status);
	return isHad && agoMs < JUST_PAID_MS ? { state: 'paid', part, agoMs } : null;
}

/** An order after these is none by mistake. */
const OVER: readonly string[] = ['cancelled', 'ended', 'expired'];

interface Read {
	state: OwnOrder['state'];
	/** null until the API has the order. */
	part: PurchasePart | null;
	agoMs: number;
}

async function describeEarlier(
	purchases: Purchases,
	row: PurchaseRow,
	{ state, part, agoMs }: Read,
	{ mark, proofs }: { mark: string; proofs: readonly string[] }
): Promise<EarlierOrder> {
	if (!isFrom(row, proofs)) return { mark, own: null };
	// The page of the purchase shows its added time.
	const shownBy =
		row.extends_purchase_id === null
			? row
			: await findRowById(purchases.database.db, row.extends_purchase_id);
	const token = shownBy && openToken(purchases, shownBy);
	if (token === null) return { mark, own: null };
	const amount = toMajor(row.amount_minor, row.currency);
	return {
		mark,
		own: {
			...{ token, state, amount, currency: row.currency },
			session: part?.session ?? { duration: row.duration, offer: null },
			minutesAgo: Math.max(0, Math.floor(agoMs / MINUTE_MS))
		}
	};
}
