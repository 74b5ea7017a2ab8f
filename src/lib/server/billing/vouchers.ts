import { type Insertable, sql } from 'kysely';
import { CODE_ALPHABET, VOUCHER_CODE_LENGTH, codeText, readCode } from '#lib/domain/codes.ts';
import { limitsOf } from '#lib/domain/offers.ts';
import { VOUCHER_METHOD, VOUCHER_RESTORED } from '#lib/domain/payment-methods.ts';
import { DELETED_NUMBER } from '#lib/domain/phone.ts';
import { parseId, plainText } from '#lib/domain/text.ts';
import { durationSeconds } from '#lib/domain/time.ts';
import { accountActor } from '../audit.ts';
import type { Caller } from '../accounts/accounts.ts';
import type { Base } from '../base.ts';
import type { VoucherBody } from '../contract/voucher.ts';
import type { Queries, Tx } from '../db/database.ts';
import { Outdated, hold, lockById } from '../db/locks.ts';
import { first, insertRow, retryUniqueViolation } from '../db/queries.ts';
import type { Row, Schema } from '../db/schema.ts';
import { sellsNowhere } from '../gateways/gateways.ts';
import { findPassOrThrow } from '../passes.ts';
import { isoTime } from '../platform/clock.ts';
import { NotFound, Refused } from '../platform/errors.ts';
import { type Secrets, hmac, paymentReference, randomCharacters, sha256 } from '../platform/secrets.ts';
import {
	type RouterRow,
	findChangeableRouter,
	findRouterOrThrow,
	listRouterOffers,
	sells
} from '../routers/routers.ts';
import { toMajor } from '#lib/domain/money.ts';
import {
	type BillingContext,
	type BillingServices,
	type PaymentRow,
	changePayment,
	recordPaymentEvent
} from './payments.ts';
import { findExtendedSession, readSession, requireFit } from './session-orders.ts';
import {
	type HeldSession,
	SESSION_END_JOB,
	activateSession,
	findHeldPass,
	findSessionOrThrow,
	lockSession,
	recordEvent
} from './sessions.ts';

/**
 * Vouchers: purchases that were paid in cash.
 *
 * States:
 *
 *   unsold -> sold       a person says that they took the cash, or it is shown on the phone of the person who sells it
 *   unsold -> redeemed   a seller outside of Airtill took the cash: counts as sold at that moment
 *   sold -> redeemed     its code bought the time of its batch, once
 *   redeemed -> sold     no gateway let the buyer in: the code is valid again
 *   unsold, sold -> void a person, or printing again
 *
 * Rules:
 * - Redeeming makes a session, a payment that succeeded and a pass in one transaction. From then on it is a purchase as
 *   any other: pages, reports, refunds by hand. Its price counts when it is redeemed.
 * - No operator holds the money of a voucher, so nothing can be refunded automatically. The buyer must not lose: if no
 *   gateway confirms the pass within ten minutes, the payment no longer counts and the voucher can be redeemed again.
 * - A batch keeps the terms of its offer. The owner may change the offer; cards in pockets stay what they were sold as.
 * - The platform takes no commission: it never holds this money.
 * - The session has no number of a payer; DELETED_NUMBER stands for it.
 * - Codes have 60 bits and are shown once. A keyed hash finds them, so the database alone opens none. After a second
 *   change of AIRTILL_SECRET older codes are unknown: print them again.
 */

export type VoucherRow = Row<'vouchers'>;
export type VoucherBatchRow = Row<'voucher_batches'>;

/** Who acts for an owner. */
export interface VoucherActor {
	accountId: number;
	personId: number;
}

export interface BatchOrder {
	routerId: number;
	offerId: number;
	size: number;
	seller: string | null;
	commissionBasisPoints: number;
	/** Names the form: sent twice, it makes one batch. */
	form: string | null;
}

/** A code, shown once, with the number on its card. */
export interface Card {
	id: number;
	code: string;
}

export const formatVoucherNumber = (id: number): string => `V${id}`;

export const parseVoucherNumber = (typed: string): number =>
	parseId(plainText(typed).replace(/^V ?/i, '')) ?? 0;

/** Two of many codes may be the same, and a form may arrive twice at once. */
const MAX_TRIES = 3;

const tryTransact = <T>({ database }: BillingContext, work: (trx: Tx) => Promise<T>): Promise<T> =>
	retryUniqueViolation(database, MAX_TRIES, () => database.transact(work));

/** Makes a batch without codes: `printVouchers` makes them. @throws Refused `router_not_found | not_router_owner | offer_not_available` */
export const createBatch = (
	context: BillingContext,
	actor: VoucherActor,
	order: BatchOrder
): Promise<VoucherBatchRow> =>
	tryTransact(context, async (trx) => {
		const known = await first(trx.selectFrom('voucher_batches').selectAll().where('form', '=', order.form));
		return known ? findBatchOfOwner(trx, actor.accountId, known.id) : insertBatch(context, trx, actor, order);
	});

/** Makes a batch and its codes, for the API. */
export const createPrintedBatch = (
	context: BillingContext,
	actor: VoucherActor,
	order: BatchOrder,
	remember?: (trx: Tx, made: { batch: VoucherBatchRow; cards: Card[] }) => Promise<void>
) =>
	tryTransact(context, async (trx) => {
		const made = await insertCards(context, trx, await insertBatch(context, trx, actor, order), order.size);
		await remember?.(trx, made);
		return made;
	});

async function insertBatch(context: BillingContext, trx: Tx, actor: VoucherActor, order: BatchOrder) {
	const { accountId, personId } = actor;
	const { size, seller, commissionBasisPoints: commission_basis_points, form } = order;
	const router = await findChangeableRouter(trx, { accountId, role: 'owner' }, order.routerId);
	const batch = await insertRow(trx, 'voucher_batches', {
		...{
			owner_account_id: accountId,
			router_id: router.id,
			...findOfferTerms(context, router, order.offerId)
		},
		...{ size, seller, commission_basis_points, account_id: personId, form, created_at: context.clock.now() }
	});
	const after = { batch: batch.id, size, seller, commission_basis_points };
	if (size > 0) await recordChange(context, trx, actor, 'vouchers.created', batch, after);
	return batch;
}

function findOfferTerms({ routers }: BillingContext, router: RouterRow, offerId: number) {
	const offer = listRouterOffers(routers, router).find((one) => one.offer.id === offerId)?.offer;
	if (!offer) throw new Refused('offer_not_available', 'The router has no active offer with this id.');
	return {
		offer_id: offer.id,
		offer_name: offer.name,
		duration: offer.duration,
		duration_seconds: durationSeconds(offer.duration),
		amount_minor: offer.price_minor,
		currency: router.currency,
		...limitsOf(offer),
		max_devices: offer.max_devices ?? router.max_devices
	};
}

/** A statement of SQLite has at most 32,766 values. */
const ROWS_PER_STATEMENT = 500;

/**
 * Makes the codes of a batch. Called again, it makes new ones for the vouchers that are not sold and voids the old ones.
 * @throws Refused `voucher_batch_not_found | nothing_to_print`
 */
export const printVouchers = (context: BillingContext, actor: VoucherActor, batchId: number) =>
	tryTransact(context, async (trx) => {
		// Of two prints at once the second voids what the first has made.
		const batch = await lockBatchOfOwner(trx, actor.accountId, batchId);
		const isFirst = batch.printed_at === null;
		const replaced = isFirst ? batch.size : await voidUnsold(context, trx, actor, batch.id);
		if (replaced === 0) throw new Refused<VoucherRefusal>('nothing_to_print');
		const made = await insertCards(context, trx, batch, replaced);
		const after = { batch: batch.id, vouchers: made.cards.length, isFirst };
		await recordChange(context, trx, actor, 'vouchers.printed', batch, after);
		return made;
	});

async function insertCards(context: BillingContext, trx: Tx, batch: VoucherBatchRow, count: number) {
	const now = context.clock.now();
	const codeOf = new Map(
		Array.from({ length: count }, () => {
			const code = makeCode();
			return [hashCode(context, code), code] as const;
		})
	);
	const rows = [...codeOf.keys()].map((code_hash) => ({
		...({ batch_id: batch.id, code_hash, status: 'unsold', created_at: now } as const)
	}));
	const cards: Card[] = [];
	for (let from = 0; from < rows.length; from += ROWS_PER_STATEMENT) {
		const inserted = trx.insertInto('vouchers').values(rows.slice(from, from + ROWS_PER_STATEMENT));
		for (const { id, code_hash } of await inserted.returning(['id', 'code_hash']).execute())
			cards.push({ id, code: codeText(codeOf.get(code_hash) ?? '') });
	}
	const printed = trx.updateTable('voucher_batches').set({ printed_at: now }).where('id', '=', batch.id);
	return {
		batch: await printed.returningAll().executeTakeFirstOrThrow(),
		cards: cards.sort((one, other) => one.id - other.id)
	};
}

const makeCode = () => randomCharacters(CODE_ALPHABET, VOUCHER_CODE_LENGTH);

const hashesOf = ({ secrets }: { secrets: Secrets }, code: string) =>
	secrets.deriveAll('voucher code hash', 32).map((key) => hmac(key, code));

const hashCode = (context: { secrets: Secrets }, code: string): string => hashesOf(context, code)[0] ?? '';

/**
 * Derives the code of a sale from its form, which only the browser has: a page that is loaded again shows the code that
 * the customer may have copied already.
 */
const codeOfSale = (context: { secrets: Secrets }, form: string): string =>
	[...Buffer.from(hashCode(context, `sale ${form}`), 'base64url').subarray(0, VOUCHER_CODE_LENGTH)]
		.map((byte) => CODE_ALPHABET.charAt(byte % CODE_ALPHABET.length))
		.join('');

/**
 * Sells one voucher now: it is shown on the phone of the person who takes the cash. The same form with the same offer shows
 * the same code again, until it is redeemed.
 * @throws Refused as `createBatch`; `already_redeemed | voided | unknown_voucher`
 */
export const sellVoucher = (
	context: BillingContext,
	actor: VoucherActor,
	{ routerId, offerId, form: typed }: { routerId: number; offerId: number; form: string }
): Promise<{ batch: VoucherBatchRow; card: Card }> =>
	tryTransact(context, async (trx) => {
		const now = context.clock.now();
		// After "Back" the same page can sell another offer.
		const given = `${typed} ${routerId}:${offerId}`;
		const form = sha256(given);
		const code = codeOfSale(context, given);
		const code_hash = hashCode(context, code);
		const known = await first(trx.selectFrom('vouchers').selectAll().where('form', '=', form));
		if (known && known.sold_by !== actor.personId) throw new Refused<VoucherRefusal>('unknown_voucher');
		if (known?.status === 'void') throw new Refused<VoucherRefusal>('voided');
		const batch = known
			? await findBatchOfOwner(trx, actor.accountId, known.batch_id)
			: await findOrMakeCounter(context, trx, actor, { routerId, offerId });
		if (known && !(await changeVoucher(trx, known.id, ['sold'], { code_hash })))
			throw new Refused<VoucherRefusal>('already_redeemed');
		const { id } =
			known ??
			(await insertRow(trx, 'vouchers', {
				...{ batch_id: batch.id, code_hash, form, created_at: now },
				...{ status: 'sold', sold_at: now, sold_by: actor.personId }
			}));
		return { batch, card: { id, code: codeText(code) } };
	});

/** Vouchers that are sold one at a time share a batch as long as the terms of the offer are the same. */
async function findOrMakeCounter(
	context: BillingContext,
	trx: Tx,
	actor: VoucherActor,
	{ routerId, offerId }: { routerId: number; offerId: number }
): Promise<VoucherBatchRow> {
	const { accountId } = actor;
	const router = await findChangeableRouter(trx, { accountId, role: 'owner' }, routerId);
	const terms = findOfferTerms(context, router, offerId);
	const ofOffer = selectBatches(trx, accountId).where(({ and }) =>
		and({ router_id: routerId, size: 0, offer_id: offerId })
	);
	const same = await first(ofOffer.orderBy('id', 'desc'));
	const isSame = Object.entries(terms).every(([name, value]) => same?.[name as keyof typeof terms] === value);
	if (same && isSame) return same;
	const order = { routerId, offerId, size: 0, seller: null, commissionBasisPoints: 0, form: null };
	return insertBatch(context, trx, actor, order);
}

/** A form that comes twice in this time was touched twice. Later it is a mistyped number. */
const REPEATED_MS = 20_000;

/**
 * Marks a printed voucher as sold by a person, who has its cash.
 * @param withoutSellers none of a seller, who has its cash
 * @throws Refused `unknown_voucher | not_unsold | of_seller`
 */
export const markSold = (
	context: BillingContext,
	actor: VoucherActor,
	id: number,
	{ withoutSellers }: { withoutSellers: boolean }
): Promise<void> =>
	context.database.transact(async (trx) => {
		const { batch, voucher } = await lockVoucherOfOwner(trx, actor.accountId, id);
		const isRepeated = (voucher.sold_at ?? 0) > context.clock.now() - REPEATED_MS;
		if (voucher.status === 'sold' && voucher.sold_by === actor.personId && isRepeated) return;
		if (withoutSellers && batch.seller !== null) throw new Refused<VoucherRefusal>('of_seller');
		const sold = { status: 'sold', sold_at: context.clock.now(), sold_by: actor.personId } as const;
		if (!(await changeVoucher(trx, id, ['unsold'], sold))) throw new Refused<VoucherRefusal>('not_unsold');
		const after = { voucher: id, amount_minor: batch.amount_minor };
		await recordChange(context, trx, actor, 'voucher.sold', batch, after);
	});

/**
 * Voids a voucher that is not redeemed.
 * @param ownOnly only one that this person sold on the phone, and whose cash is not counted yet. A printed one may be in the
 *   pocket of a customer.
 * @throws Refused `unknown_voucher | already_redeemed`
 */
export const voidVoucher = (
	context: BillingContext,
	actor: VoucherActor,
	id: number,
	{ ownOnly }: { ownOnly: boolean }
): Promise<void> =>
	context.database.transact(async (trx) => {
		const { batch, voucher } = await lockVoucherOfOwner(trx, actor.accountId, id);
		const isOwn = voucher.sold_by === actor.personId && voucher.form !== null && voucher.closing_id === null;
		if (ownOnly && !isOwn) throw new Refused<VoucherRefusal>('unknown_voucher');
		if (voucher.status === 'void') return;
		const to = { status: 'void', void_at: context.clock.now(), void_by: actor.personId } as const;
		if (!(await changeVoucher(trx, id, ['unsold', 'sold'], to)))
			throw new Refused<VoucherRefusal>('already_redeemed');
		const after = { voucher: id, amount_minor: batch.amount_minor };
		await recordChange(context, trx, actor, 'voucher.void', batch, after);
	});

/** Voids the unsold vouchers of a batch. Returns their number. @throws Refused `voucher_batch_not_found` */
export const voidBatch = (context: BillingContext, actor: VoucherActor, batchId: number): Promise<number> =>
	context.database.transact(async (trx) => {
		const batch = await lockBatchOfOwner(trx, actor.accountId, batchId);
		const vouchers = await voidUnsold(context, trx, actor, batchId);
		const after = { batch: batchId, vouchers };
		if (vouchers > 0) await recordChange(context, trx, actor, 'vouchers.void', batch, after);
		return vouchers;
	});

async function voidUnsold({ clock }: BillingContext, trx: Tx, { personId }: VoucherActor, batchId: number) {
	const voided = await trx
		.updateTable('vouchers')
		.set({ status: 'void', void_at: clock.now(), void_by: personId })
		.where('batch_id', '=', batchId)
		.where('status', '=', 'unsold')
		.executeTakeFirst();
	return Number(voided.numUpdatedRows);
}

const recordChange = (
	{ audit }: BillingContext,
	trx: Tx,
	{ personId }: VoucherActor,
	action: string,
	{ router_id }: VoucherBatchRow,
	after: Readonly<Record<string, unknown>>
) => audit.record(trx, { actor: accountActor(personId), action, after: { router_id, ...after } });

/** Why a person's wish about vouchers is refused, beside the codes of the API. */
export type VoucherRefusal =
	'nothing_to_print' | 'unknown_voucher' | 'not_unsold' | 'of_seller' | 'already_redeemed' | 'voided';

/**
 * Redeems a code: buys the time of its batch for the calling account. Of two calls at once one redeems; the other gets the
 * same session if its account is the same.
 * @param routerId refuses the voucher of another router, whose time would run unused
 * @param extendsSessionId an active session of the account, to whose pass the time is added; otherwise a pass begins
 * @returns `isNew: false` if the account has redeemed it before
 * @throws Refused `voucher_not_found | voucher_redeemed | voucher_void | voucher_of_other_router | router_unavailable |
 *   session_not_found | session_not_extendable | offer_not_available`
 */
export async function redeemVoucher(
	context: BillingContext,
	caller: Caller,
	{
		code: typed,
		routerId,
		extendsSessionId
	}: { code: string; routerId: number | null; extendsSessionId?: number | undefined }
) {
	const code = readCode(typed, VOUCHER_CODE_LENGTH);
	if (code === null) throw voucherNotFound();
	const { sessionId, isNew } = await context.database.transact(async (trx) => {
		const voucher = await findByCode(context, trx, code);
		const ofVoucher = trx.selectFrom('voucher_batches').selectAll().where('id', '=', voucher.batch_id);
		const batch = await ofVoucher.executeTakeFirstOrThrow();
		if (routerId !== null && routerId !== batch.router_id) {
			const { name } = await findRouterOrThrow(trx, batch.router_id);
			const extensions = { router_id: batch.router_id, router_name: name };
			throw new Refused('voucher_of_other_router', `The voucher is for ${name}.`, { extensions });
		}
		const now = context.clock.now();
		const order = { router_id: batch.router_id, extends_session_id: extendsSessionId };
		// Held before the voucher, as when an addition is taken back.
		const extended =
			voucher.status === 'redeemed' ? undefined : await findExtendedSession(context, trx, caller, order);
		const claimed = await changeVoucher(trx, voucher.id, ['unsold', 'sold'], {
			...{ status: 'redeemed', redeemed_at: now, sold_at: voucher.sold_at ?? now }
		});
		if (claimed) {
			return { sessionId: await buyWith(context, trx, caller, claimed, batch, extended), isNew: true };
		}
		return { sessionId: await findOwnRedeemed(context, trx, caller, code), isNew: false };
	});
	return { body: await readSession(context, caller, sessionId), isNew };
}

const voucherNotFound = () => new NotFound('voucher_not_found', 'There is no voucher with this code.');

async function findByCode(
	context: { secrets: Secrets },
	queries: Queries,
	code: string
): Promise<VoucherRow> {
	const found = queries.selectFrom('vouchers').selectAll().where('code_hash', 'in', hashesOf(context, code));
	return (await first(found)) ?? Promise.reject(voucherNotFound());
}

/** Read after another call was faster. */
async function findOwnRedeemed(context: BillingContext, trx: Tx, { accountId }: Caller, code: string) {
	const { status, redeemed_at, void_at, session_id } = await findByCode(context, trx, code);
	if (status === 'void') {
		throw new Refused('voucher_void', undefined, { extensions: { void_at: isoTime(void_at) } });
	}
	// Restored between the two reads.
	if (status !== 'redeemed') throw new Outdated('The voucher is valid again');
	const session = session_id === null ? null : await findSessionOrThrow(trx, session_id);
	if (session?.account_id === accountId) return session.id;
	throw new Refused('voucher_redeemed', undefined, { extensions: { redeemed_at: isoTime(redeemed_at) } });
}

/** Makes the session and the payment of a redeemed voucher, and starts the time. Returns the session's id. */
async function buyWith(
	context: BillingContext,
	trx: Tx,
	caller: Caller,
	voucher: VoucherRow,
	batch: VoucherBatchRow,
	extended: HeldSession | undefined
) {
	const { audit, clock, config, events, gateways, jobs } = context;
	const router = await findRouterOrThrow(trx, batch.router_id);
	if (!sells(router, config, clock.now())) throw offline();
	if (!extended && (await sellsNowhere(gateways, trx, router.id))) throw offline();
	const pass = extended && findHeldPass(extended);
	if (pass) requireFit(batch, await findPassOrThrow(trx, pass));
	const now = clock.now();
	const { offer_id, offer_name, duration, duration_seconds, amount_minor, currency, max_devices } = batch;
	const { speed_down_kbps, speed_up_kbps, data_limit_mb } = batch;
	const price = { payment_method: VOUCHER_METHOD, phone: DELETED_NUMBER, amount_minor, currency };
	const session = await insertRow(trx, 'sessions', {
		...{ account_id: caller.accountId, router_id: router.id, status: 'pending_payment', ...price },
		...{ offer_id, offer_name, duration, duration_seconds, max_devices },
		...{ speed_down_kbps, speed_up_kbps, data_limit_mb },
		...{ ssid: router.ssid, access_kind: router.access_kind },
		...(extended && { extends_session_id: extended.id, pass_id: extended.pass_id }),
		...{ payment_due_at: now + config.sessionPaymentMs, created_at: now, updated_at: now }
	});
	await jobs.schedule(trx, SESSION_END_JOB, session.id, session.payment_due_at);
	await recordEvent(context, trx, 'session.created', session);
	const payment = await insertRow(trx, 'payments', {
		...{ session_id: session.id, account_id: caller.accountId, operator: VOUCHER_METHOD, ...price },
		...{ reference: paymentReference(), provider_reference: formatVoucherNumber(voucher.id) },
		...{ status: 'success', submit_state: 'accepted', applied: 1, commission_basis_points: 0 },
		...{ settled_minor: amount_minor, settled_currency: currency, submitted_at: now },
		...{ expires_at: now, paid_at: now, created_at: now, updated_at: now }
	});
	const held = await lockSession(trx, session.id);
	if (!held || (await activateSession(context, trx, held, payment.id)) !== null) throw offline();
	await recordPaymentEvent(context, trx, 'payment.success', payment);
	const redeemed = await trx
		.updateTable('vouchers')
		.set({ session_id: session.id })
		.where('id', '=', voucher.id)
		.returningAll()
		.executeTakeFirstOrThrow();
	await events.record(trx, {
		...{ type: 'voucher.redeemed', accountId: caller.accountId, routerId: router.id },
		...{ sessionId: session.id, paymentId: payment.id, data: describeVoucher(redeemed, batch) }
	});
	await audit.record(trx, {
		// Nobody decided; the session has the account of the key.
		...{ actor: 'airtill', action: 'voucher.redeemed', paymentId: payment.id },
		before: { status: voucher.sold_at === voucher.redeemed_at ? 'unsold' : 'sold' },
		after: { router_id: router.id, voucher: voucher.id, session: session.id, amount_minor }
	});
	return session.id;
}

const offline = () =>
	new Refused(
		'router_unavailable',
		'The router is offline. The voucher stays valid: redeem it when it is online.'
	);

/** Whether a payment was made with a voucher. */
export const isOfVoucher = ({ operator }: Pick<PaymentRow, 'operator'>): boolean =>
	operator === VOUCHER_METHOD;

/**
 * Makes a voucher valid again whose session was cancelled because no gateway let the buyer in.
 * @param payment no longer applied
 */
export async function restoreVoucher(context: BillingServices, trx: Tx, payment: PaymentRow): Promise<void> {
	const now = context.clock.now();
	const to = {
		status: 'refunded',
		refund_reason: VOUCHER_RESTORED,
		refunded_at: now,
		updated_at: now
	} as const;
	const returned = await changePayment(trx, { id: payment.id, status: ['success'] }, to);
	if (!returned) throw new Error(`Payment ${payment.id} changed inside its own transaction`);
	await recordPaymentEvent(context, trx, 'payment.refunded', returned);
	const restored = await trx
		.updateTable('vouchers')
		.set({ status: 'sold', redeemed_at: null, session_id: null })
		.where('session_id', '=', payment.session_id)
		.where('status', '=', 'redeemed')
		.returning('id')
		.executeTakeFirstOrThrow();
	await context.audit.record(trx, {
		...{ actor: 'access', action: 'voucher.restored', paymentId: payment.id },
		reason: 'no gateway let the buyer in: provisioning_failed',
		before: { voucher: restored.id, status: 'redeemed', session: payment.session_id },
		after: { voucher: restored.id, status: 'sold' }
	});
}

export const describeVoucher = (row: VoucherRow, batch: VoucherBatchRow): VoucherBody => ({
	id: row.id,
	number: formatVoucherNumber(row.id),
	batch_id: row.batch_id,
	router_id: batch.router_id,
	status: row.status,
	amount: toMajor(batch.amount_minor, batch.currency),
	currency: batch.currency,
	seller: batch.seller,
	session_id: row.session_id,
	created_at: isoTime(row.created_at),
	sold_at: isoTime(row.sold_at),
	redeemed_at: isoTime(row.redeemed_at),
	void_at: isoTime(row.void_at)
});

const changeVoucher = (
	queries: Queries,
	id: number,
	from: readonly VoucherRow['status'][],
	to: Partial<Insertable<Schema['vouchers']>>
) =>
	queries
		.updateTable('vouchers')
		.set(to)
		.where('id', '=', id)
		.where('status', 'in', from)
		.returningAll()
		.executeTakeFirst();

const selectBatches = (queries: Queries, accountId: number) =>
	queries.selectFrom('voucher_batches').selectAll().where('owner_account_id', '=', accountId);

/** @throws Refused `voucher_batch_not_found` */
const findBatchOfOwner = (queries: Queries, accountId: number, id: number) =>
	requireBatch(selectBatches(queries, accountId), id);

/** Holds the batch. @throws Refused `voucher_batch_not_found` */
const lockBatchOfOwner = (trx: Tx, accountId: number, id: number) =>
	requireBatch(hold(trx, selectBatches(trx, accountId)), id);

async function requireBatch(own: ReturnType<typeof selectBatches>, id: number): Promise<VoucherBatchRow> {
	// PostgreSQL refuses larger numbers with an error.
	const batch = Number.isSafeInteger(id) ? await first(own.where('id', '=', id)) : null;
	if (!batch) throw new NotFound('voucher_batch_not_found', 'There is no batch of vouchers with this id.');
	return batch;
}

/** Holds the voucher. @throws Refused `unknown_voucher` */
async function lockVoucherOfOwner(trx: Tx, accountId: number, id: number) {
	const voucher = await lockById(trx, 'vouchers', id);
	const batch = voucher && (await first(selectBatches(trx, accountId).where('id', '=', voucher.batch_id)));
	if (!batch) throw new Refused<VoucherRefusal>('unknown_voucher');
	return { voucher, batch };
}

/** Of some sessions, those that a voucher paid. */
export async function findVoucherSessions(
	{ database: { db } }: Pick<Base, 'database'>,
	ids: readonly number[]
): Promise<ReadonlySet<number>> {
	if (ids.length === 0) return new Set();
	const paid = db.selectFrom('sessions').select('id').where('id', 'in', ids);
	const rows = await paid.where('payment_method', '=', VOUCHER_METHOD).execute();
	return new Set(rows.map(({ id }) => id));
}

/** Counts of the vouchers of a batch by state. */
export type VoucherCounts = Record<VoucherRow['status'], number>;

export type CountedBatch = Awaited<ReturnType<typeof listBatches>>[number];

/** Lists batches, newest first, without those of vouchers that are sold one at a time. */
export async function listBatches(
	{ database: { db } }: Pick<Base, 'database'>,
	accountId: number,
	{ before, limit }: { before: number | null; limit: number }
) {
	const batches = await db
		.selectFrom('voucher_batches')
		.innerJoin('routers', 'routers.id', 'voucher_batches.router_id')
		.selectAll('voucher_batches')
		.select('routers.name as router_name')
		.where('voucher_batches.owner_account_id', '=', accountId)
		.where('voucher_batches.id', '<', before ?? Number.MAX_SAFE_INTEGER)
		.where('voucher_batches.size', '>', 0)
		.orderBy('voucher_batches.id', 'desc')
		.limit(limit)
		.execute();
	const ids = batches.map(({ id }) => id);
	const countsOf = await countByStatus(db, ids);
	return batches.map((batch) => ({ ...batch, counts: countsOf(batch.id) }));
}

async function countByStatus(
	queries: Queries,
	ids: readonly number[]
): Promise<(id: number) => VoucherCounts> {
	const rows = await queries
		.selectFrom('vouchers')
		.select(({ fn }) => ['batch_id', 'status', fn.countAll<number>().as('count')])
		.where('batch_id', 'in', [0, ...ids])
		.groupBy(['batch_id', 'status'])
		.execute();
	return (id) => {
		const counts = rows.filter((row) => row.batch_id === id).map((row) => [row.status, row.count]);
		return { unsold: 0, sold: 0, redeemed: 0, void: 0, ...Object.fromEntries(counts) };
	};
}

/** Reads a batch with a page of its vouchers, newest first. @throws Refused `voucher_batch_not_found` */
export async function findBatchWithVouchers(
	context: Pick<Base, 'database'>,
	accountId: number,
	id: number,
	page: { before: number | null; limit: number }
) {
	const { db } = context.database;
	const batch = await findBatchOfOwner(db, accountId, id);
	return {
		batch,
		counts: (await countByStatus(db, [id]))(id),
		vouchers: await listVouchers(context, accountId, { batchId: id, ...page })
	};
}

/** Lists vouchers of an owner, newest first, with the terms of their batches and the people who changed them. */
export const listVouchers = (
	{ database: { db } }: Pick<Base, 'database'>,
	accountId: number,
	{ batchId, soldBy, isInHand = false, before, limit }: VoucherSearch
) =>
	db
		.selectFrom('vouchers')
		.innerJoin('voucher_batches as batch', 'batch.id', 'vouchers.batch_id')
		.innerJoin('routers', 'routers.id', 'batch.router_id')
		.leftJoin('accounts as seller', 'seller.id', 'vouchers.sold_by')
		.leftJoin('accounts as voider', 'voider.id', 'vouchers.void_by')
		.selectAll('vouchers')
		.select([
			'batch.router_id',
			'batch.offer_name',
			'batch.duration',
			'batch.amount_minor',
			'batch.currency',
			'batch.max_devices',
			'batch.seller',
			'batch.commission_basis_points',
			'routers.name as router_name',
			'seller.email as sold_by_email',
			'voider.email as void_by_email'
		])
		.where('batch.owner_account_id', '=', accountId)
		.where('vouchers.id', '<', before ?? Number.MAX_SAFE_INTEGER)
		.$if(batchId !== undefined, (query) => query.where('vouchers.batch_id', '=', batchId ?? 0))
		.$if(soldBy !== undefined, (query) => query.where('vouchers.sold_by', '=', soldBy ?? 0))
		.$if(isInHand, (query) =>
			query.where('vouchers.closing_id', 'is', null).where('vouchers.status', '<>', 'void')
		)
		.orderBy('vouchers.id', 'desc')
		.limit(limit)
		.execute();

interface VoucherSearch {
	batchId?: number;
	/** A person. */
	soldBy?: number;
	/** Only those whose cash the person still has. */
	isInHand?: boolean;
	before: number | null;
	limit: number;
}

/** Sums what was sold in a span, by seller, in minor units; the largest first. */
export async function sumSellers(
	{ config, database: { db } }: Pick<Base, 'config' | 'database'>,
	accountId: number,
	{ from, until }: { from: number; until: number }
) {
	const redeemed = sql<number>`sum(case when vouchers.status = 'redeemed' then 1 else 0 end)`;
	// What a manager sold of a seller's batch is the seller's, too.
	const name = sql<string | null>`coalesce(batch.seller, accounts.email)`;
	const commission = sql<number>`sum((batch.amount_minor * batch.commission_basis_points + 5000) / 10000)`;
	return db
		.selectFrom('vouchers')
		.innerJoin('voucher_batches as batch', 'batch.id', 'vouchers.batch_id')
		.leftJoin('accounts', 'accounts.id', 'vouchers.sold_by')
		.select(({ fn }) => [
			name.as('name'),
			fn.countAll<number>().as('sold'),
			redeemed.as('redeemed'),
			fn.sum<number>('batch.amount_minor').as('cash'),
			commission.as('commission')
		])
		.where('batch.owner_account_id', '=', accountId)
		.where('batch.currency', '=', config.currency)
		.where('vouchers.status', 'in', ['sold', 'redeemed'])
		.where('vouchers.sold_at', '>=', from)
		.where('vouchers.sold_at', '<', until)
		.groupBy(name)
		.orderBy('cash', 'desc')
		.execute();
}
