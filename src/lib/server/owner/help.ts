import { mayPersonRefund, takesRefundByHand } from '../billing/refunds.ts';
import { expireIfOver, findExtraTimeEnd } from '../billing/sessions.ts';
import { VOUCHER_METHOD } from '#lib/domain/payment-methods.ts';
import { DELETED_NUMBER, searchedDigits } from '#lib/domain/phone.ts';
import { parseId, plainText } from '#lib/domain/text.ts';
import type { Operators } from '../billing/operators/registry.ts';
import { movePurchase } from '#lib/server/access/access.ts';
import { isInUse } from '#lib/server/access/device-slots.ts';
import type { AccessContext } from '#lib/server/access/provisioning.ts';
import { isAllowedAt } from '#lib/server/access/admissions.ts';
import type { Audit, Author } from '#lib/server/audit.ts';
import type { Database, Queries, Tx } from '#lib/server/db/database.ts';
import type { Clock } from '#lib/server/platform/clock.ts';
import { sha256 } from '#lib/server/platform/secrets.ts';
import { readTyped, spellTransaction } from '#lib/server/portal/resume.ts';
import { type Purchases, findPurchasePage, findSessionsByCode } from '#lib/server/portal/purchases.ts';
import { type Selectable, sql } from 'kysely';
import { first } from '#lib/server/db/queries.ts';
import type { Row, Schema } from '#lib/server/db/schema.ts';

/**
 * Help of an owner for a customer: finds the purchases at the owner's routers, and tells what happened to one.
 * Another owner's purchase does not exist here.
 */

export type FoundPurchase = Awaited<ReturnType<typeof searchPurchases>>['data'][number];
export type PurchaseFacts = NonNullable<Awaited<ReturnType<typeof readPurchase>>>;

export interface Help {
	database: Database;
	clock: Clock;
	operators: Operators;
	audit: Audit;
	purchases: Purchases;
	access: AccessContext;
}

/**
 * Lists purchases, newest first.
 * @param typed a resume code, the last four digits or the whole number, a transaction id of the operator, the number
 * of a voucher, or a payment's number; '' for all purchases of the span
 */
export async function searchPurchases(
	context: Help,
	accountId: number,
	typed: string,
	span: TimeRange,
	limit: number
) {
	const { db } = context.database;
	const page = { accountId, span, limit: limit + 1 };
	const found = await (typed === ''
		? findNewestSessions(db, page)
		: searchSessionRows(db, await readClues(context, typed), page));
	return { data: await addPayments(context, found.slice(0, limit)), hasMore: found.length > limit };
}

async function addPayments({ database, clock }: Help, sessions: readonly FoundSession[]) {
	const ids = sessions.map(({ id }) => id);
	const payments = await findChildren(database.db, 'payments', 'session_id', ids);
	return sessions.map((session) => {
		const own = payments.filter(({ session_id: id }) => id === session.id);
		return { session: expireIfOver(session, clock.now()), payment: findDecisivePayment(session, own) };
	});
}

/** Lists the purchases at an owner's routers with an open review, the oldest first. */
export async function findUndecidedPurchases(context: Help, accountId: number, limit: number) {
	const found = await selectSessionsOfOwner(context.database.db, accountId)
		.where('sessions.id', 'in', (queries) =>
			queries
				.selectFrom('reviews')
				.innerJoin('payments', 'payments.id', 'reviews.payment_id')
				.select('payments.session_id')
				.where('reviews.resolved_at', 'is', null)
		)
		.orderBy('sessions.id')
		.limit(limit)
		.execute();
	return addPayments(context, found);
}

async function readClues({ operators, purchases }: Help, typed: string): Promise<Clues> {
	return {
		ending: readEnding(searchedDigits(typed)),
		paymentId: parseId(plainText(typed).replaceAll(' ', '')) ?? 0,
		sessionIds: await findSessionsByCode(purchases, readTyped(typed, true).code ?? typed),
		transactions: [...new Set([typed, ...spellTransaction(typed)])],
		operators: [...operators.all().map(({ id }) => id), VOUCHER_METHOD]
	};
}

const ENDING = 4;
/** Digits of the shortest mobile numbers, and the last ones of any number by which it is found. */
const [SHORTEST, LAST] = [8, 9];

/** The end of a number by which it is found: pages mask it, so a whole number must not find another with its end. */
function readEnding(digits: string): string | null {
	if (digits.length === ENDING) return digits;
	return digits.length >= SHORTEST ? digits.replace(/^0+/, '').slice(-LAST) : null;
}

/** The payment that bought the session, otherwise the newest one. */
const findDecisivePayment = (
	{ payment_id: id }: Pick<FoundSession, 'payment_id'>,
	payments: readonly FoundPayment[]
) => payments.find((one) => one.id === id) ?? payments.at(-1) ?? null;

/** Returns a purchase that has a page, with the audit record of help for it; null if there is none. */
async function helped(
	{ database, audit, purchases }: Help,
	accountId: number,
	sessionId: number,
	{ by, note, action }: Author & { action: string }
) {
	const found = await findSessionOfOwner(database.db, accountId, sessionId);
	const page = found ? await findPurchasePage(purchases, sessionId) : null;
	if (!found || !page) return null;
	const after = { router_id: found.router_id, session: sessionId };
	const decision = { actor: by, action, paymentId: found.payment_id, reason: note, after };
	return { page, record: (trx: Tx) => audit.record(trx, decision) };
}

/** Returns the code and the page's token, and logs who saw them. Returns null for a purchase without a page. */
export async function showPurchaseCode(context: Help, accountId: number, sessionId: number, author: Author) {
	const found = await helped(context, accountId, sessionId, { ...author, action: 'purchase.code_shown' });
	if (!found) return null;
	await context.database.transact(found.record);
	return found.page;
}

/** Moves the purchase to the device that opened it last, and logs who did it. */
export async function movePurchaseDevice(
	context: Help,
	accountId: number,
	sessionId: number,
	author: Author
) {
	const found = await helped(context, accountId, sessionId, { ...author, action: 'purchase.moved' });
	return found ? movePurchase(context.access, sha256(found.page.token), found.record) : 'no_device';
}

/** The ends to which decisions moved the time of a session, by the audit log. */
const findEnds = (decisions: Awaited<ReturnType<Audit['ofPayment']>>, wanted: string, sessionId: number) =>
	decisions
		.filter(({ action }) => action === wanted)
		.map(({ after }) => JSON.parse(after) as { session: number; expires_at: number })
		.filter(({ session }) => session === sessionId)
		.map(({ expires_at }) => expires_at);

/** Returns null for an unknown session and for one at another owner's router. */
export async function readPurchase(context: Help, accountId: number, sessionId: number) {
	const { audit, clock, purchases } = context;
	const { db } = context.database;
	const found = await findSessionOfOwner(db, accountId, sessionId);
	if (!found) return null;
	const now = clock.now();
	const passId = found.pass_id ?? 0;
	const payments = await findChildren(db, 'payments', 'session_id', [sessionId]);
	const ids = payments.map(({ id }) => id);
	const [refunds, reviews, extraTime, slots, allAdmissions, decisions] = await Promise.all([
		findChildren(db, 'refunds', 'payment_id', ids),
		findChildren(db, 'reviews', 'payment_id', ids),
		findChildren(db, 'extra_time', 'session_id', [sessionId]),
		findChildren(db, 'device_slots', 'pass_id', [passId]),
		findChildren(db, 'admissions', 'pass_id', [passId]),
		audit.ofPayment(db, found.payment_id ?? 0)
	]);
	/** Of devices. */
	const admissions = allAdmissions.filter(({ mac }) => mac !== null);
	const isConnected =
		slots.some((slot) => slot.released_at === null && isInUse(slot, now)) ||
		admissions.some((row) => row.released_at === null && isAllowedAt(row, now));
	const session = expireIfOver(found, now);
	const payment = findDecisivePayment(found, payments);
	const extraUntil = await findExtraTimeEnd(context, db, session);
	const pass = await findPassLimits(db, passId);
	const hasPage = (await findPurchasePage(purchases, sessionId)) !== null;
	const isPaidTime = ['active', 'expired', 'ended'].includes(session.status);
	const mayRefund = isPaidTime && payment !== null && mayPersonRefund(context, payment);
	/** The payment whose refund by hand can be recorded. A failed refund may be of another payment than the one for the time. */
	const failed = payments.find(({ status }) => status === 'refund_failed');
	const owed = failed ?? (isPaidTime ? payment : null);
	const toRefundByHand = owed && takesRefundByHand(context, owed) ? owed : null;
	const ends = (action: string) => findEnds(decisions, action, sessionId);
	const added = ends('session.extra_time');
	return {
		...{ now, session, payment, payments, refunds, reviews, slots, admissions, isConnected },
		activatingUntil: pass?.activating_until ?? null,
		passEndsAt: pass?.ends_at ?? null,
		limitMb: pass?.data_limit_mb ?? null,
		extraTime: extraTime.map((given, index) => ({ ...given, until: added[index] })),
		extraEndedAt: ends('session.ended'),
		...{ extraUntil, hasPage, isRefundable: mayRefund, toRefundByHand }
	};
}

type FoundSession = Awaited<ReturnType<ReturnType<typeof selectSessionsOfOwner>['execute']>>[number];
type FoundPayment = Row<'payments'>;

/** Security: every read of a purchase begins here, so another owner's purchase is never found. */
const selectSessionsOfOwner = (queries: Queries, accountId: number) =>
	queries
		.selectFrom('sessions')
		.innerJoin('routers', 'routers.id', 'sessions.router_id')
		.selectAll('sessions')
		.select(['routers.name as router_name', 'routers.ssid as router_ssid', 'routers.unresponsive_since'])
		.where('routers.owner_account_id', '=', accountId);

/** Ways to identify a purchase; it matches if any of them does. */
interface Clues {
	/** Last digits of the payer's number, four or more. */
	ending: string | null;
	paymentId: number;
	sessionIds: readonly number[];
	/** Spellings of the operator's transaction id. */
	transactions: readonly string[];
	/** All operators, because the index of transactions begins with them. */
	operators: readonly string[];
}

/** In ms since the epoch. */
interface TimeRange {
	from: number;
	/** Exclusive. */
	to: number;
}

interface Page {
	accountId: number;
	span: TimeRange;
	limit: number;
}

export const searchSessionRows = (
	queries: Queries,
	{ ending, paymentId, sessionIds, transactions, operators }: Clues,
	page: Page
): Promise<FoundSession[]> => {
	const { span } = page;
	const matches = sql`
		select session_id from payments where substr(phone, length(phone) - 3) = ${ending?.slice(-4) ?? null}
			and phone like ${`%${ending ?? ''}`} and phone <> ${sql.lit(DELETED_NUMBER)} and created_at >= ${span.from} and created_at < ${span.to}
		union select session_id from payments where id = ${paymentId}
		union select session_id from payments where operator in (${sql.join(operators)})
			and provider_reference in (${sql.join(transactions)})
		union select id from sessions where id in (${sql.join([0, ...sessionIds])})`;
	return selectSpan(queries, page)
		.where(sql<boolean>`sessions.id in (${matches})`)
		.execute();
};

export const findNewestSessions = (queries: Queries, page: Page): Promise<FoundSession[]> =>
	selectSpan(queries, page).execute();

const selectSpan = (queries: Queries, { accountId, span, limit }: Page) =>
	selectSessionsOfOwner(queries, accountId)
		.where('sessions.created_at', '>=', span.from)
		.where('sessions.created_at', '<', span.to)
		.orderBy('sessions.created_at', 'desc')
		.orderBy('sessions.id', 'desc')
		.limit(limit);

export const findSessionOfOwner = (queries: Queries, accountId: number, id: number) =>
	selectSessionsOfOwner(queries, accountId).where('sessions.id', '=', id).executeTakeFirst();

type Child = 'payments' | 'refunds' | 'reviews' | 'extra_time' | 'device_slots' | 'admissions';

export const findChildren = <Table extends Child>(
	queries: Queries,
	table: Table,
	column: keyof Schema[Table] & string,
	ids: readonly number[]
) =>
	queries
		.selectFrom(table as Child)
		.selectAll()
		.where(sql.ref(column), 'in', [0, ...ids])
		.orderBy('id')
		.execute() as Promise<unknown> as Promise<Selectable<Schema[Table]>[]>;

const findPassLimits = (queries: Queries, passId: number) =>
	first(
		queries
			.selectFrom('passes')
			.select(['activating_until', 'ends_at', 'data_limit_mb'])
			.where('id', '=', passId)
	);
