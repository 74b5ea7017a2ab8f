import { CODE_BYTES, codeOfBytes, codeText, readCode } from '#lib/domain/codes.ts';
import { isRefused } from '#lib/domain/payment-methods.ts';
import { hold } from '#lib/server/db/locks.ts';
import type { Base } from '#lib/server/base.ts';
import type { PaymentBody } from '#lib/server/contract/payment.ts';
import type { RouterBody } from '#lib/server/contract/router.ts';
import type { SessionBody } from '#lib/server/contract/session.ts';
import type { Database, Queries } from '#lib/server/db/database.ts';
import { first, retryUniqueViolation } from '#lib/server/db/queries.ts';
import type { Row } from '#lib/server/db/schema.ts';
import { isApiBuyer } from '#lib/server/passes.ts';
import { NotFound } from '#lib/server/platform/errors.ts';
import { PURCHASE_TOKEN_PATTERN, hmac, sha256, type Secrets } from '#lib/server/platform/secrets.ts';
import type { PassOutages } from '#lib/server/access/outages.ts';
import type { RateLimits } from '#lib/server/rate-limits.ts';
import { createHash, createHmac } from 'node:crypto';
import { z } from 'zod';
import type { ApiClient } from './api-client.ts';

/**
 * A purchase connects the unguessable token in `/s/{token}` with a session and its payments. Added time is a separate
 * purchase, shown on the page of the first one. ordering.ts writes them, resume.ts finds them by code or payment.
 */
export interface Purchases extends Pick<Base, 'database' | 'clock' | 'secrets'> {
	rateLimits: RateLimits;
	/** Country of numbers without a country code. */
	region: string;
	/** Reads a session during extra time after its end; null without such time. */
	readInExtraTime(id: number): Promise<SessionBody | null>;
	/** Outages of the Wi-Fi of a session's pass; null if none are known. */
	findOutages(id: number): Promise<PassOutages | null>;
	codeKeys: readonly CodeKeys[];
	/** Hashes what identifies orders. */
	hashOrder(text: string): string;
	/** Purchases that this process is completing: a second click waits for the first. */
	completing: Map<number, Promise<void>>;
}

export function createPurchases(
	dependencies: Omit<Purchases, 'codeKeys' | 'hashOrder' | 'completing'>
): Purchases {
	const { secrets } = dependencies;
	const key = secrets.derive('earlier orders', 32);
	return {
		...dependencies,
		codeKeys: deriveCodeKeys(secrets),
		hashOrder: (text) => createHmac('sha256', key).update(text).digest('base64url').slice(0, 32),
		completing: new Map()
	};
}

/** `isExtra`: its own time has ended, and extra time runs until `expires_at`. */
export type ShownSession = SessionBody & { isExtra?: boolean };

export interface PurchasePart {
	session: ShownSession;
	/** The payment that bought the session, otherwise the newest one that may still do so, otherwise the newest one. */
	payment: PaymentBody | null;
	/** Newest first; some may be refunded. */
	otherPayments: PaymentBody[];
}

export interface PurchaseView extends PurchasePart {
	router: RouterBody;
	/** Orders of added time with a payment, oldest first. */
	added: PurchasePart[];
	outages: PassOutages | null;
	/** Token of the purchase that replaced this one. */
	successor: string | null;
	code: string;
}

/** A wait ends with the result of the payment only: for a new order it is cut here, to tell that the operator is silent. */
const FIRST_WAIT_SECONDS = 6;
const NEW_ORDER_MS = 15_000;

/** Reads a purchase as soon as its payment leaves `pending`, or after `waitSeconds`. */
export async function awaitPurchase(
	purchases: Purchases,
	api: ApiClient,
	token: string,
	waitSeconds: number
): Promise<PurchaseView | null> {
	const row = await loadRow(purchases, token);
	return row && readAfterWait(purchases, api, token, row, waitSeconds);
}

export async function readAfterWait(
	purchases: Purchases,
	api: ApiClient,
	token: string,
	row: PurchaseRow,
	waitSeconds: number
): Promise<PurchaseView | null> {
	if (waitSeconds > 0) {
		const [newest] = await findAddedRows(purchases.database.db, row.id, 1);
		const latest = (newest && parsePaymentIds(newest).at(-1)) ?? parsePaymentIds(row).at(-1);
		if (latest === undefined) return readView(purchases, api, token, row);
		const isNew = purchases.clock.now() - (newest ?? row).created_at < NEW_ORDER_MS;
		const soon = isNew ? Math.min(waitSeconds, FIRST_WAIT_SECONDS) : waitSeconds;
		const { status, operator_request: request } = await api.getPayment(latest, soon);
		const isAnswered = request !== 'unsent' && request !== 'unanswered';
		if (status === 'pending' && isAnswered && waitSeconds > soon)
			await api.getPayment(latest, waitSeconds - soon);
	}
	return readView(purchases, api, token, row);
}

/** Finds only purchases with a page of their own. */
export async function loadRow(purchases: Purchases, token: string): Promise<PurchaseRow | null> {
	const { db } = purchases.database;
	const row = PURCHASE_TOKEN_PATTERN.test(token) ? await findRow(db, sha256(token)) : null;
	return !row || row.extends_purchase_id !== null || isApiBuyer(purchases.secrets, row) ? null : row;
}

export async function readView(
	purchases: Purchases,
	api: ApiClient,
	token: string,
	row: PurchaseRow
): Promise<PurchaseView | null> {
	const { db } = purchases.database;
	if (row.session_id === null) return null;
	const next = deriveSuccessorToken(token, row.session_id);
	const [part, router, added, successor, code] = await Promise.all([
		readPart(db, api, row),
		api.getRouter(row.router_id),
		readAddedParts(db, api, row),
		findRow(db, sha256(next)),
		readOrMakeCode(purchases, token, row)
	]);
	if (!part) return null;
	const [first = part, ...others] = await Promise.all(
		[part, ...added].map(async (one): Promise<PurchasePart> => ({
			...one,
			session: await readShownSession(purchases, one.session)
		}))
	);
	const started = [first, ...others].findLast(({ session }) => session.starts_at !== null);
	const outages = started ? await purchases.findOutages(started.session.id) : null;
	return {
		...first,
		router,
		added: others,
		outages,
		successor: successor?.session_id == null ? null : next,
		code
	};
}

const MAX_REPLACED = 5;
const MAX_ADDED = 12;

export async function readPart(db: Queries, api: ApiClient, row: PurchaseRow): Promise<PurchasePart | null> {
	if (row.session_id === null) return null;
	const earlier = await findReplacedPayments(db, row);
	const noted = [...new Set([...parsePaymentIds(row), ...earlier])];
	// Payments first, so that the session is at least as new: a payment changes it.
	const payments = await Promise.all(noted.map((id) => api.getPayment(id)));
	const session = await readPaidInstead(api, await api.getSession(row.session_id), payments);
	const bought = session.payment_id;
	if (bought !== null && !noted.includes(bought)) payments.push(await api.getPayment(bought));
	const own = [...parsePaymentIds(row), bought];
	payments.sort((a, b) => b.id - a.id);
	const newest =
		payments.find(({ id }) => id === session.payment_id) ??
		payments.find(({ id }) => own.includes(id)) ??
		null;
	// After a refused one, an earlier one without an answer may still take the money.
	const undecided = payments.find((one) => own.includes(one.id) && isUndecided(one));
	const payment = newest !== null && isRefused(newest) ? (undecided ?? newest) : newest;
	return { session, payment, otherPayments: payments.filter((other) => other !== payment) };
}

/** Whether a payment may still take money. */
export const isUndecided = (payment: PaymentBody): boolean =>
	payment.status === 'pending' || (payment.status === 'expired' && !isRefused(payment));

/** Returns the replaced session if it was paid before it could be cancelled, otherwise `session`. */
async function readPaidInstead(
	read: Pick<ApiClient, 'getSession'>,
	session: SessionBody,
	payments: readonly PaymentBody[]
): Promise<SessionBody> {
	if (session.status !== 'pending_payment' && session.status !== 'cancelled') return session;
	const paid = payments.find(({ applied, session_id }) => applied && session_id !== session.id);
	return paid ? read.getSession(paid.session_id) : session;
}

/** Reads the newest orders and all that have not ended, oldest first: the active one may be the oldest. */
export async function readAddedParts(db: Queries, api: ApiClient, row: PurchaseRow): Promise<PurchasePart[]> {
	const orders = await findAddedRows(db, row.id);
	const parts: PurchasePart[] = [];
	for (let from = 0; from < orders.length; from += MAX_ADDED) {
		const read = await Promise.all(orders.slice(from, from + MAX_ADDED).map((one) => readPart(db, api, one)));
		parts.push(...read.filter((part) => part !== null).filter(({ payment }) => payment !== null));
		// Passes follow each other, so nothing before an expired one is active.
		if (read.some((part) => part?.session.status === 'expired')) break;
	}
	return parts.reverse();
}

async function findReplacedPayments(db: Queries, row: PurchaseRow): Promise<number[]> {
	const ids: number[] = [];
	let replaced = row.replaces_session_id;
	for (let steps = 0; replaced !== null && steps < MAX_REPLACED; steps += 1) {
		const before = await findRowOfSession(db, replaced);
		if (!before) break;
		ids.push(...parsePaymentIds(before));
		replaced = before.replaces_session_id;
	}
	return ids;
}

export function findLastActive(parts: readonly PurchasePart[]): SessionBody | null {
	const active = parts.map(({ session }) => session).filter(({ status }) => status === 'active');
	return active.sort((a, b) => parseEnd(b) - parseEnd(a))[0] ?? null;
}

/** Reads a session as pages show it. */
async function readShownSession({ readInExtraTime }: Purchases, session: SessionBody): Promise<ShownSession> {
	const extended = session.status === 'expired' ? await readInExtraTime(session.id) : null;
	return extended ? { ...extended, isExtra: true } : session;
}

const parseEnd = ({ expires_at }: SessionBody) => Date.parse(expires_at ?? '');

/** A purchase has one successor for all forms, so that parallel tries meet in it. */
export const deriveSuccessorToken = (token: string, sessionId: number) =>
	deriveToken(`${token}:${sessionId}`);

/** Derives a token that only a holder of the first one can compute. A double click derives the same one. */
export const deriveToken = (text: string) =>
	createHash('sha256').update(text).digest('base64url').slice(0, 24);

/**
 * Reads the sessions of a purchase, with those of added time, as its page shows them; without those that the API no longer
 * has.
 * @param tokenHash SHA-256 of the purchase's token, hex
 */
export async function readSessions(purchases: Purchases, api: ApiClient, tokenHash: string) {
	const ids = await findSessionIds(purchases, tokenHash);
	const read = async (id: number): Promise<ShownSession[]> => {
		try {
			return [await readShownSession(purchases, await api.getSession(id))];
		} catch (problem) {
			if (problem instanceof NotFound) return [];
			throw problem;
		}
	};
	return (await Promise.all(ids.map(read))).flat();
}

async function findSessionIds({ database: { db } }: Purchases, tokenHash: string): Promise<number[]> {
	const row = await findRow(db, tokenHash);
	const added = row ? await findAddedRows(db, row.id, MAX_ADDED) : [];
	return [row, ...added].flatMap((one) => one?.session_id ?? []);
}

/** Finds the sessions of a typed code, for signed-in people: it reveals neither the token nor the code. */
export async function findSessionsByCode(purchases: Purchases, typed: string): Promise<number[]> {
	const code = readCode(typed);
	const row = code === null ? null : await findRowByCode(purchases, code);
	return row ? findSessionIds(purchases, row.token_hash) : [];
}

/** Finds the purchase with the page of a session. Returns null for a purchase of the API, and if the code is too old. */
export async function findPageRow({ database: { db }, clock, secrets }: Purchases, sessionId: number) {
	const own = await findRowOfSession(db, sessionId);
	const row = own?.extends_purchase_id == null ? own : await findRowById(db, own.extends_purchase_id);
	return !row || isApiBuyer(secrets, row) || row.updated_at < clock.now() - CODE_MS ? null : row;
}

/**
 * Finds the page of a session's purchase and its code, or returns null.
 * Security: both open the purchase, so the caller checks the person and logs it.
 */
export async function findPurchasePage(purchases: Purchases, sessionId: number) {
	const row = await findPageRow(purchases, sessionId);
	if (!row) return null;
	const token = openToken(purchases, row);
	return token === null ? null : { token, code: await readOrMakeCode(purchases, token, row) };
}

/** Includes the purchases of API buyers. */
export const isPurchase = async ({ database }: Purchases, token: string): Promise<boolean> =>
	PURCHASE_TOKEN_PATTERN.test(token) && (await findRow(database.db, sha256(token))) !== null;

/*
 * Security: a code is derived from the purchase's token and not stored. Its keyed hash finds the purchase,
 * whose token is sealed. So the database alone opens no purchase. resume.ts limits guesses.
 * A change of the secret seals the code with the token, so that a code on paper stays valid.
 */

/** Lifetime of a code after the last change: the longest pass and a month. The page address never expires. */
const CODE_MS = 60 * 24 * 60 * 60 * 1000;

/** Codes to try: two of a million purchases may derive the same one. */
export const CODE_ATTEMPTS = 8;

/** Of one accepted secret. */
interface CodeKeys {
	derive(token: string, attempt: number): string;
	hash(code: string): string;
}

/** By accepted secret, the current one first. */
function deriveCodeKeys(secrets: Secrets): CodeKeys[] {
	const hashKeys = secrets.deriveAll('purchase code hash', 32);
	return secrets.deriveAll('purchase code', 32).map((codeKey, index) => ({
		derive: (token, attempt) =>
			codeOfBytes(
				createHmac('sha256', codeKey).update(`${attempt}:${token}`).digest().subarray(0, CODE_BYTES)
			),
		hash: (code) => hmac(hashKeys[index] ?? codeKey, code)
	}));
}

/**
 * Makes the code of a token, with the columns that store it.
 * @param attempt number of codes of this token that other purchases have taken
 */
export function makeCode({ codeKeys: [current], secrets }: Purchases, token: string, attempt: number) {
	if (!current) throw new Error('There is no key for codes');
	const code = current.derive(token, attempt);
	const code_hash = current.hash(code);
	return { code, columns: { code_hash, token_sealed: secrets.encrypt(token, sealLabel(code_hash)) } };
}

const sealLabel = (hash: string) => `purchase:${hash}`;

/** Returns the code, e.g. "K7MQ-29XT". Creates it if it is missing or belongs to an earlier secret. */
async function readOrMakeCode(purchases: Purchases, token: string, row: PurchaseRow): Promise<string> {
	const { database, codeKeys } = purchases;
	for (const { derive, hash } of codeKeys) {
		for (let attempt = 0; attempt < CODE_ATTEMPTS; attempt += 1) {
			const code = derive(token, attempt);
			if (hash(code) === row.code_hash) return codeText(code);
		}
	}
	return retryUniqueViolation(database, CODE_ATTEMPTS, async (attempt) => {
		const { code, columns } = makeCode(purchases, token, attempt);
		await updateRow(database.db, row.id, columns);
		return codeText(code);
	});
}

/** Finds the purchase of a typed code, without its token. Returns null if the code is too old. */
export async function findRowByCode({ database: { db }, clock, codeKeys }: Purchases, code: string) {
	const hashes = codeKeys.map(({ hash }) => hash(code));
	return first(
		selectRows(db)
			.where('code_hash', 'in', hashes)
			.where('updated_at', '>=', clock.now() - CODE_MS)
	);
}

/** Returns null without a code (added time), and if no accepted secret opens it. */
export function openToken({ secrets }: Purchases, { token_sealed: sealed, code_hash: hash }: PurchaseRow) {
	if (sealed === null || hash === null) return null;
	try {
		return secrets.decrypt(sealed, sealLabel(hash));
	} catch {
		return null;
	}
}

export type PurchaseRow = Row<'purchases'>;

const selectRows = (queries: Queries) => queries.selectFrom('purchases').selectAll();

const idList = z.array(z.int());

/** Ids of the started payments, oldest first. */
export const parsePaymentIds = (row: PurchaseRow): number[] => idList.parse(JSON.parse(row.payment_ids));

export const findRow = (queries: Queries, tokenHash: string) =>
	first(selectRows(queries).where('token_hash', '=', tokenHash));

/** Finds the first: a buyer who signs in with a username adds another (passes.ts). */
export const findRowOfSession = (queries: Queries, sessionId: number) =>
	first(selectRows(queries).where('session_id', '=', sessionId).orderBy('id'));

export const findRowById = (queries: Queries, id: number) => first(selectRows(queries).where('id', '=', id));

/** Lists the orders of a number at a router that changed since, newest first. */
export const findRowsOfNumber = (queries: Queries, numberHash: string, since: number) =>
	selectRows(queries)
		.where('number_hash', '=', numberHash)
		.where('updated_at', '>=', since)
		.orderBy('id', 'desc')
		.execute();

const MAX_ROWS = 200;
/** Orders to read without a known payment, because an answer may have been lost. */
const MAX_UNASKED = 3;

/** Lists orders of added time that were not replaced, newest first. Reads up to `limit` with a payment. */
async function findAddedRows(queries: Queries, id: number, limit = MAX_ROWS): Promise<PurchaseRow[]> {
	const rows = await selectRows(queries)
		.where('extends_purchase_id', '=', id)
		.orderBy('id', 'desc')
		.limit(MAX_ROWS)
		.execute();
	const replaced = new Set(rows.map(({ replaces_session_id }) => replaces_session_id));
	const left = { asked: limit, unasked: MAX_UNASKED };
	return rows.filter((row) => {
		if (row.session_id === null || replaced.has(row.session_id)) return false;
		const kind = parsePaymentIds(row).length > 0 ? 'asked' : 'unasked';
		left[kind] -= 1;
		return left[kind] >= 0;
	});
}

/** @throws a unique violation when another purchase has the code */
export async function updateRow(
	queries: Queries,
	id: number,
	changes: Partial<
		Pick<PurchaseRow, 'code_hash' | 'token_sealed' | 'number_hash' | 'asked_from' | 'updated_at'>
	>
): Promise<void> {
	await queries.updateTable('purchases').set(changes).where('id', '=', id).execute();
}

/** Sets the session unless one is set. Returns the row afterwards. */
export async function storeSession(queries: Queries, id: number, sessionId: number, now: number) {
	await queries
		.updateTable('purchases')
		.set({ session_id: sessionId, updated_at: now })
		.where('id', '=', id)
		.where('session_id', 'is', null)
		.execute();
	return selectRows(queries).where('id', '=', id).executeTakeFirstOrThrow();
}

export async function storePayment(database: Database, id: number, paymentId: number, now: number) {
	return database.transact(async (trx) => {
		const row = await hold(trx, selectRows(trx).where('id', '=', id)).executeTakeFirstOrThrow();
		const ids = parsePaymentIds(row);
		if (ids.includes(paymentId)) return row;
		return trx
			.updateTable('purchases')
			.set({ payment_ids: JSON.stringify([...ids, paymentId]), updated_at: now })
			.where('id', '=', id)
			.returningAll()
			.executeTakeFirstOrThrow();
	});
}

/** Deletes a purchase without payments, unless another process has set its session meanwhile. */
export async function deleteUnpaidRow(
	queries: Queries,
	{ id, session_id }: Pick<PurchaseRow, 'id' | 'session_id'>
): Promise<void> {
	await queries
		.deleteFrom('purchases')
		.where('id', '=', id)
		.where('payment_ids', '=', '[]')
		.where('session_id', session_id === null ? 'is' : '=', session_id)
		.execute();
}
