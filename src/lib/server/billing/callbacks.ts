import { formatMinor } from '#lib/domain/money.ts';
import type {
	AttemptReference,
	CallbackClaim,
	CallbackHint,
	RawCallback,
	StatusOutcome,
	SubmitOutcome
} from './operators/operator.ts';
import { type BillingContext, type BillingJob, RECONCILE_JOB, REFUND_JOB } from './context.ts';
import { isOfAnotherRequest, requestName, reviewSecondCharge, reviewUsedTransaction } from './settlement.ts';
import * as store from './payment-store.ts';
import type { PaymentRow } from './payment-store.ts';
import { equalSecrets, hmac } from '../platform/secrets.ts';
import type { Queries, Reads } from '../db/database.ts';
import { sql } from 'kysely';
import { countRows, first } from '../db/queries.ts';
import type { OperatorMessagesTable } from '../db/schema.ts';

/**
 * Airtill stores each callback. One that says something new makes it ask the operator now; a callback never decides a payment,
 * and one that tells nothing wakes nothing: it may be the answer to our own question. Claims are kept for operators whose
 * status read contains less. Untrusted callbacks are only evidence.
 */
interface Callback extends RawCallback {
	operator: string;
	/** null for the portal address: the body names the payment. */
	reference: string | null;
	token: string;
	/** The caller's IP address in its one spelling; null if it is not known. */
	address: string | null;
}

/** The body of the response; null if Airtill did not issue the address. */
type CallbackAnswer = Readonly<Record<string, unknown>> | null;

const RECEIVED = { received: true };

/** The payer has paid, even if the money was refunded since. */
const isPaid = ({ status }: store.PaymentRow) =>
	status === 'success' || status === 'refund_pending' || status === 'refunded' || status === 'refund_failed';

export async function receiveCallback(context: BillingContext, callback: Callback): Promise<CallbackAnswer> {
	const adapter = context.operators.find(callback.operator);
	if (!adapter || !isOurs(context, callback)) return null;
	const isListed = context.config.callbackAddresses.get(adapter.id);
	const parsed = await adapter.parseCallback(callback);
	const reference = callback.reference ?? parsed.reference;
	const isOther = (parsed.reference ?? reference)?.toLowerCase() !== reference?.toLowerCase();
	const isUnlisted = isListed !== undefined && (callback.address === null || !isListed(callback.address));
	if (isUnlisted) {
		const { address } = callback;
		context.log.warn(
			{ operator: adapter.id, address },
			'callback ignored: CALLBACK_ADDRESSES lacks its address'
		);
	}
	const isForged = isOther || isUnlisted;
	const hint = isForged ? { ...parsed, authentic: 'invalid' as const } : parsed;
	const answer = adapter.capabilities.callbackAnswer ?? RECEIVED;
	if (reference === null) {
		context.log.warn({ operator: adapter.id }, 'callback names no payment');
		return answer;
	}
	const payment = await store.findByReference(context.database.db, adapter.id, reference);
	if (payment) {
		const isRepeated = await keepCallback(context, payment, outcomeOf(hint), callback.body);
		if (hint.authentic !== 'invalid') await applyHint(context, payment, hint, isRepeated);
	} else if (!(await ofRefund(context, reference, hint, callback.body))) {
		context.log.warn({ operator: adapter.id }, 'callback for an unknown payment');
		// Airtill never issued an address for a payment that does not exist.
		if (callback.reference !== null) return null;
	}
	return answer;
}

async function applyHint(
	context: BillingContext,
	before: store.PaymentRow,
	hint: CallbackHint,
	isRepeated: boolean
): Promise<void> {
	const { database, jobs, reviews } = context;
	const { claimed } = hint;
	if (!isFinal(hint)) return;
	// A request that failed before the payment was sent again says nothing about the payment.
	if (claimed !== 'succeeded' && isOfAnotherRequest(before, hint)) return;
	await keepClaim(context, 'payments', before.id, hint);
	// Read after storing the claim: either the settlement saw the claim, or this sees the settlement.
	let payment = await store.findOrThrow(database.db, before.id);
	if (claimed === 'succeeded' && otherClaim(payment, hint)) {
		await reviewOtherClaim(context, payment.id, hint);
		payment = await store.findOrThrow(database.db, payment.id);
	}
	if (!isPaid(payment)) return isRepeated ? undefined : jobs.wake(RECONCILE_JOB, payment.id);
	if (claimed === 'failed' && !isOfAnotherRequest(payment, hint)) {
		const detail = 'a callback says failed, the status read said paid';
		await reviews.open(database.db, payment.id, 'contradiction', detail);
	}
	if (claimed !== 'succeeded') return;
	if (isOfAnotherRequest(payment, hint)) await reviewSecondCharge(context, database.db, payment, hint);
	else await completeReceipt(context, database.db, payment, hint);
}

/** Returns the claimed success of another request than the callback's. */
function otherClaim(payment: store.PaymentRow, hint: CallbackHint): CallbackClaim | null {
	const kept = claimOf(payment);
	const isOther = kept && isOfAnotherRequest({ operator_reference: kept.operatorReference }, hint);
	return isOther && kept.claimed === 'succeeded' ? kept : null;
}

/**
 * Two requests of a payment can both be called paid before it is settled. Keeps the claim of the payment's own request
 * (the first one if its name was lost), and opens a review about the other.
 */
const reviewOtherClaim = ({ database, reviews }: BillingContext, id: number, hint: CallbackHint) =>
	database.transact(async (trx) => {
		const payment = await store.findOrThrow(trx, id);
		const kept = otherClaim(payment, hint);
		// The settlement has compared them.
		if (!kept || isPaid(payment)) return;
		const isOwn = payment.operator_reference === hint.operatorReference;
		if (isOwn) await store.change(trx, { id }, { claim: claimFrom('succeeded', hint) });
		const [one, other] = [kept, hint].map(requestName).sort();
		const detail = `callbacks say that the payer paid twice: ${one}, and ${other}; return the one that does not settle the payment`;
		await reviews.open(trx, id, 'contradiction', detail);
	});

/**
 * Adds the receipt and the amount that the status read did not name: a refund may need them. Opens a review if the amount
 * differs from the settled one.
 */
export async function completeReceipt(
	{ reviews }: Pick<BillingContext, 'reviews'>,
	queries: Queries,
	payment: store.PaymentRow,
	hint: Omit<CallbackClaim, 'claimed'>
): Promise<void> {
	const { providerReference, amountMinor } = hint;
	const known = payment.provider_reference;
	if (providerReference !== null && known !== null && providerReference !== known) {
		return reviewSecondCharge({ reviews }, queries, payment, hint);
	}
	const isNews = providerReference && payment.provider_reference === null;
	if (isNews && !(await reviewUsedTransaction({ reviews }, queries, payment, providerReference))) {
		await store.addReceipt(queries, payment.id, providerReference);
	}
	const settled = payment.settled_minor ?? payment.amount_minor;
	if (amountMinor === null) return;
	await reviews.closeAmountUnknown(queries, payment.id);
	if (amountMinor === settled) {
		if (amountMinor === payment.amount_minor) await store.confirmAmount(queries, payment);
		return;
	}
	const money = (minor: number) => formatMinor(minor, payment.settled_currency ?? payment.currency, 'en');
	const detail = `a callback says ${money(amountMinor)}, settled as ${money(settled)}`;
	await reviews.open(queries, payment.id, 'amount_mismatch', detail);
}

/** @returns false if the refund does not exist */
async function ofRefund(
	context: BillingContext,
	reference: string,
	hint: CallbackHint,
	body: string
): Promise<boolean> {
	const { database, jobs } = context;
	const refund = await store.findRefundByReference(database.db, reference);
	if (!refund) return false;
	const payment = await store.find(database.db, refund.payment_id);
	const isRepeated =
		payment !== undefined && (await keepCallback(context, payment, `refund ${outcomeOf(hint)}`, body));
	if (hint.authentic !== 'invalid' && !isOfAnotherRequest(refund, hint) && isFinal(hint)) {
		await keepClaim(context, 'refunds', refund.id, hint);
		if (refund.status === 'pending' && !isRepeated) await jobs.wake(REFUND_JOB, refund.id);
		if (hint.claimed === 'succeeded') await reviewFailedRefund(context, database.db, refund.id);
		if (hint.claimed === 'failed') await reviewDeniedRefund(context, refund.id);
	}
	return true;
}

async function keepClaim(
	context: BillingContext,
	table: 'payments' | 'refunds',
	id: number,
	hint: CallbackClaim
): Promise<void> {
	const { claimed, operatorReference, providerReference, amountMinor } = hint;
	// Without these fields the status read says more.
	if (operatorReference === null && providerReference === null && amountMinor === null) return;
	const stored = { claim: claimFrom(claimed, hint), isSuccess: claimed === 'succeeded' };
	await store.setClaim(context.database.db, table, id, stored);
}

const claimFrom = (
	claimed: CallbackClaim['claimed'],
	{ operatorReference, providerReference, amountMinor, currency }: Omit<CallbackClaim, 'claimed'>
): string => {
	const claim: CallbackClaim = { claimed, operatorReference, providerReference, amountMinor, currency };
	return JSON.stringify(claim);
};

/** `pending` and `unknown` tell nothing that the schedule of reads does not find. */
const isFinal = (hint: CallbackHint): hint is CallbackHint & CallbackClaim =>
	hint.claimed === 'succeeded' || hint.claimed === 'failed';

const outcomeOf = ({ claimed, authentic }: CallbackHint) =>
	authentic === 'invalid' ? 'not authentic' : claimed;

/**
 * Callback addresses: one per payment and refund, or one per operator that takes the address in its portal.
 * The token is derived from the secret: nobody can guess it, and it needs no column.
 */
type AddressContext = Pick<BillingContext, 'secrets' | 'config'>;

/** Hex: base64url could spell words that Daraja asks to avoid in addresses (`exe`, `sql`). */
const tokenWith = (key: Buffer, subject: string): string =>
	Buffer.from(hmac(key, subject), 'base64url').toString('hex');

const token = ({ secrets }: AddressContext, subject: string): string =>
	tokenWith(secrets.derive('callback', 32), subject);

/** Token subject for all payments of an operator; no reference has this form. */
const ofOperator = (operator: string) => `operator:${operator}`;

export const callbackUrl = (context: AddressContext, operator: string, reference: string): string =>
	`${context.config.callbackUrl}/callbacks/${operator}/${reference}/${token(context, reference)}`;

export const portalCallbackUrl = (context: AddressContext, operator: string): string =>
	`${context.config.callbackUrl}/callbacks/${operator}/${token(context, ofOperator(operator))}`;

/** Checks that Airtill issued an address. A null `reference` means the operator's portal address. */
const isOurs = (
	{ secrets }: AddressContext,
	{ operator, reference, token: given }: { operator: string; reference: string | null; token: string }
): boolean =>
	secrets
		.deriveAll('callback', 32)
		.some((key) => equalSecrets(given, tokenWith(key, reference ?? ofOperator(operator))));

export const claimOf = (row: { claim: string | null }): CallbackClaim | null =>
	row.claim === null ? null : (JSON.parse(row.claim) as CallbackClaim);

export const claimsSuccess = (row: { claim: string | null }): boolean =>
	claimOf(row)?.claimed === 'succeeded';

/** For the status read of a payment or a refund. */
export const attemptOf = (row: store.PaymentRow | store.RefundRow): AttemptReference => ({
	reference: row.reference,
	operatorReference: row.operator_reference,
	submittedAt: row.submitted_at,
	claim: claimOf(row)
});

/**
 * Opens a review if a callback called a failed refund successful: a person may return the money, too. Called
 * after the failure and after the claim is stored, so that one of the two sees the other.
 */
export async function reviewFailedRefund(
	{ reviews }: Pick<BillingContext, 'reviews'>,
	queries: Queries,
	refundId: number
): Promise<void> {
	const refund = await store.findRefund(queries, refundId);
	if (refund?.status !== 'failed' || !claimsSuccess(refund)) return;
	const detail = `a callback says that refund ${refund.reference} succeeded; here it failed`;
	await reviews.open(queries, refund.payment_id, 'contradiction', detail);
}

/** Opens a review if a callback calls a refund failed that an earlier answer or callback called successful. */
async function reviewDeniedRefund(
	{ database, reviews }: Pick<BillingContext, 'database' | 'reviews'>,
	refundId: number
): Promise<void> {
	const refund = await store.findRefund(database.db, refundId);
	if (!refund || refund.status === 'failed') return;
	if (refund.status === 'pending' && !claimsSuccess(refund)) return;
	const detail = `a callback says that refund ${refund.reference} failed, after it was called successful`;
	await reviews.open(database.db, refund.payment_id, 'contradiction', detail);
}

/** Keeps evidence: every submission and callback, and each status read with a new outcome. */

/** Characters: enough for every operator's response, and a hostile caller cannot fill the disk. */
const MAX_RAW_LENGTH = 4_096;
const MAX_CALLBACKS = 50;
/** The same callback brings a read forward again after this time: a person may have asked the operator to repeat it. */
const REPEATED_MS = 60_000;
/** Characters of an unreadable callback in the log. */
const LOGGED_LENGTH = 200;

type Payment = Pick<PaymentRow, 'id' | 'phone'>;

type Kind = OperatorMessagesTable['kind'];

interface Message {
	kind: Kind;
	outcome: string;
	raw: string;
}

/**
 * Masks the payer's number in any spelling and other possible numbers, except for the last four digits. Keeps
 * the operator's ids, because reviews need them. Removes NUL, which PostgreSQL cannot store.
 */
export function redactMessage(raw: string, phone: string): string {
	const last = phone.slice(-8);
	const country = phone.slice(1, 4);
	const isNumber = (digits: string) =>
		digits.includes(last) || (digits.startsWith(country) && Math.abs(digits.length - phone.length) <= 2);
	return raw
		.slice(0, MAX_RAW_LENGTH)
		.replaceAll('\0', '')
		.replace(/\d{8,}/g, (digits) => (isNumber(digits) ? `…${digits.slice(-4)}` : digits));
}

const rowOf = (
	{ clock }: Pick<BillingContext, 'clock'>,
	{ id, phone }: Payment,
	{ raw, ...message }: Message
) => ({
	...message,
	payment_id: id,
	raw: redactMessage(raw, phone),
	received_at: clock.now()
});

/**
 * Keeps a message: it is evidence, so also the answer to a run that has lost its lease.
 * @param onlyNews not if the last message of this kind had the same outcome
 * @returns whether it was kept
 */
export async function keepMessage(
	context: BillingJob,
	payment: Payment,
	message: Message,
	onlyNews = false
): Promise<boolean> {
	const { db, unfenced } = context.database;
	const last = onlyNews ? await first(newestOfKind(db, payment.id, message.kind)) : null;
	if (last?.outcome === message.outcome) return false;
	await unfenced.unsynced
		.insertInto('operator_messages')
		.values(rowOf(context, payment, message))
		.execute();
	return true;
}

/** Returns what the operator answered, or why it did not. */
export function rawOf(answer: SubmitOutcome | StatusOutcome): string {
	if (!('cause' in answer)) return answer.raw;
	return ('raw' in answer && answer.raw) || answer.cause;
}

/** Our account or settings are wrong: payments fail until a person corrects them. */
export const MERCHANT_ERROR = 'merchant_error';

/** Keeps a submission, or a status read with a new outcome. Warns of a MERCHANT_ERROR, which is its own outcome. */
export async function keepAnswer(
	context: BillingJob,
	payment: Payment & { operator: string },
	kind: 'submit' | 'status',
	answer: SubmitOutcome | StatusOutcome
): Promise<void> {
	const isOurs = 'reason' in answer && answer.reason === MERCHANT_ERROR;
	const outcome = isOurs ? MERCHANT_ERROR : answer.kind;
	const message = { kind, outcome, raw: rawOf(answer) };
	const isKept = await keepMessage(context, payment, message, kind === 'status');
	if (!isKept || !isOurs) return;
	const { id, operator, phone } = payment;
	const fields = { operator, payment: id, answer: redactMessage(answer.message, phone) };
	context.log.warn(fields, 'the operator refuses our account or settings: run "doctor"');
}

/**
 * Stores up to MAX_CALLBACKS per payment; a failure is only logged. Warns of the first one that says nothing we can read.
 * @returns whether the same has come a moment ago
 */
async function keepCallback(
	context: BillingContext,
	payment: Payment,
	outcome: string,
	raw: string
): Promise<boolean> {
	const { database, log } = context;
	const message = rowOf(context, payment, { kind: 'callback', outcome, raw });
	const { payment_id, kind, received_at } = message;
	try {
		// Not serializable: its counts would make purchases fail and run again.
		const { alike, isKept } = await database.db.transaction().execute(async (trx) => {
			// The next callback of this payment counts after this commit.
			await database.lock(trx, -payment.id);
			const kept = trx.selectFrom('operator_messages').where(({ and }) => and({ payment_id, kind }));
			const alike = await kept.select(['raw', 'received_at']).where('outcome', '=', outcome).execute();
			const isKept = (await countRows(kept)) < MAX_CALLBACKS;
			if (isKept) await trx.insertInto('operator_messages').values(message).execute();
			return { alike, isKept };
		});
		if (isKept && alike.length === 0 && outcome.endsWith('unknown')) {
			const fields = { payment: payment.id, outcome, body: message.raw.slice(0, LOGGED_LENGTH) };
			log.warn(fields, 'callback cannot be read; reads of the status go on as planned');
		}
		return alike.some((one) => one.raw === message.raw && received_at - one.received_at < REPEATED_MS);
	} catch (error) {
		log.warn({ err: error, payment: payment.id }, 'callback not stored');
		return false;
	}
}

export const messagesOf = (queries: Queries, paymentId: number) =>
	queries
		.selectFrom('operator_messages')
		.selectAll()
		.where('payment_id', '=', paymentId)
		.orderBy('id')
		.execute();

/** Messages with an outcome about the newest `most` payments, newest first. */
export const newestMessages = (
	queries: Queries,
	{ outcome, since, most }: { outcome: string; since: number; most: number }
) =>
	queries
		.selectFrom('operator_messages as message')
		.innerJoin('payments as payment', 'payment.id', 'message.payment_id')
		.select(['payment.operator', 'message.received_at', 'message.raw'])
		.where('payment.id', '>', (where) =>
			where
				.selectFrom('payments')
				.select(({ fn }) => sql<number>`${fn.coalesce(fn.max('id'), sql`0`)} - ${most}`.as('first'))
		)
		.where('message.outcome', '=', outcome)
		.where('message.received_at', '>', since)
		.orderBy('message.id', 'desc')
		.execute();

const newestOfKind = (queries: Reads, payment_id: number, kind: Kind) =>
	queries
		.selectFrom('operator_messages')
		.select('outcome')
		.where(({ and }) => and({ payment_id, kind }))
		.orderBy('id', 'desc');

/** Returns the outcome of the last status read that the operator answered. */
export const lastStatusAnswer = (queries: Reads, paymentId: number) =>
	first(newestOfKind(queries, paymentId, 'status').where('outcome', '<>', 'unavailable'));
