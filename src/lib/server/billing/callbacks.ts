import { sql } from 'kysely';
import type { Row } from '../db/schema.ts';
import { describeMessage, insertMessageIf, isOurCallback } from './operator-calls.ts';
import type { CallbackClaim, CallbackHint, RawCallback } from './operators/operator.ts';
import {
	type BillingContext,
	type PaymentRow,
	RECONCILE_JOB,
	lockPayment,
	REFUND_JOB,
	changePayment,
	claimsSuccess,
	findPayment,
	findPaymentByReference,
	findPaymentOrThrow,
	isOfAnotherRequest,
	parseClaim
} from './payments.ts';
import { wakePayout } from './payouts.ts';
import { findRefund, reviewFailedRefund } from './refunds.ts';
import { openReview } from './reviews.ts';
import { completeReceipt, formatRequest, reviewSecondCharge } from './settlement.ts';

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
const isPaid = ({ status }: PaymentRow) =>
	status === 'success' || status === 'refund_pending' || status === 'refunded' || status === 'refund_failed';

export async function receiveCallback(context: BillingContext, callback: Callback): Promise<CallbackAnswer> {
	const adapter = context.operators.find(callback.operator);
	if (!adapter || !isOurCallback(context, callback)) return null;
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
	const payment = await findPaymentByReference(context.database.db, adapter.id, reference);
	if (payment) {
		const isRepeated = await keepCallback(context, payment, formatOutcome(hint), callback.body);
		if (hint.authentic !== 'invalid') await applyHint(context, payment, hint, isRepeated);
	} else if (
		!(await receiveForRefund(context, reference, hint, callback.body)) &&
		(hint.authentic === 'invalid' || !(await wakePayout(context, reference)))
	) {
		context.log.warn({ operator: adapter.id }, 'callback for an unknown payment');
		// Airtill never issued an address for a payment that does not exist.
		if (callback.reference !== null) return null;
	}
	return answer;
}

async function applyHint(
	context: BillingContext,
	before: PaymentRow,
	hint: CallbackHint,
	isRepeated: boolean
): Promise<void> {
	const { database, jobs } = context;
	const { claimed } = hint;
	if (!isFinal(hint)) return;
	// A request that failed before the payment was sent again says nothing about the payment.
	if (claimed !== 'succeeded' && isOfAnotherRequest(before, hint)) return;
	if (claimed === 'succeeded' && !namesFacts(hint)) {
		// A settlement of this moment misses nothing.
		return isRepeated || isPaid(before) ? undefined : jobs.wake(RECONCILE_JOB, before.id);
	}
	const kept = await keepClaim(context, 'payments', before.id, hint);
	// As it is after storing the claim: either the settlement saw the claim, or this sees the settlement.
	let payment = kept ?? (await findPaymentOrThrow(database.db, before.id));
	if (claimed === 'succeeded' && otherClaim(payment, hint)) {
		await reviewOtherClaim(context, payment.id, hint);
		payment = await findPaymentOrThrow(database.db, payment.id);
	}
	if (!isPaid(payment)) return isRepeated ? undefined : jobs.wake(RECONCILE_JOB, payment.id);
	if (claimed === 'failed' && !isOfAnotherRequest(payment, hint)) {
		const detail = 'a callback says failed, the status read said paid';
		await openReview(context, database.db, payment.id, 'contradiction', detail);
	}
	if (claimed !== 'succeeded') return;
	if (isOfAnotherRequest(payment, hint)) await reviewSecondCharge(context, database.db, payment, hint);
	else await database.transact((trx) => completeReceipt(context, trx, before.id, hint));
}

/** Returns the claimed success of another request than the callback's. */
function otherClaim(payment: PaymentRow, hint: CallbackHint): CallbackClaim | null {
	const kept = parseClaim(payment);
	const isOther = kept && isOfAnotherRequest({ operator_reference: kept.operatorReference }, hint);
	return isOther && kept.claimed === 'succeeded' ? kept : null;
}

/**
 * Two requests of a payment can both be called paid before it is settled. Keeps the claim of the payment's own request
 * (the first one if its name was lost), and opens a review about the other.
 */
const reviewOtherClaim = (context: BillingContext, id: number, hint: CallbackHint) =>
	context.database.transact(async (trx) => {
		const payment = await lockPayment(trx, id);
		const kept = payment && otherClaim(payment, hint);
		// The settlement has compared them.
		if (!kept || isPaid(payment)) return;
		const isOwn = payment.operator_reference === hint.operatorReference;
		if (isOwn) await changePayment(trx, { id }, { claim: formatClaim('succeeded', hint) });
		const [one, other] = [kept, hint].map(formatRequest).sort();
		const detail = `callbacks say that the payer paid twice: ${one}, and ${other}; return the one that does not settle the payment`;
		await openReview(context, trx, id, 'contradiction', detail);
	});

/** @returns false if the refund does not exist */
async function receiveForRefund(
	context: BillingContext,
	reference: string,
	hint: CallbackHint,
	body: string
): Promise<boolean> {
	const { database, jobs } = context;
	const refunds = database.db.selectFrom('refunds').selectAll();
	const refund = await refunds.where('reference', '=', reference).executeTakeFirst();
	if (!refund) return false;
	const payment = await findPayment(database.db, refund.payment_id);
	const isRepeated =
		payment !== undefined && (await keepCallback(context, payment, `refund ${formatOutcome(hint)}`, body));
	if (hint.authentic !== 'invalid' && !isOfAnotherRequest(refund, hint) && isFinal(hint)) {
		await keepClaim(context, 'refunds', refund.id, hint);
		if (refund.status === 'pending' && !isRepeated) await jobs.wake(REFUND_JOB, refund.id);
		if (hint.claimed === 'succeeded') await reviewFailedRefund(context, database.db, refund.id);
		if (hint.claimed === 'failed') await reviewDeniedRefund(context, refund.id);
	}
	return true;
}

/** Without these facts the status read says more. */
const namesFacts = ({ operatorReference, providerReference, amountMinor }: CallbackClaim): boolean =>
	operatorReference !== null || providerReference !== null || amountMinor !== null;

/** @returns the row with the claim, if it was kept */
async function keepClaim<Table extends 'payments' | 'refunds'>(
	context: BillingContext,
	table: Table,
	id: number,
	hint: CallbackClaim
): Promise<Row<Table> | undefined> {
	if (!namesFacts(hint)) return undefined;
	const { claimed } = hint;
	// Late or unordered callbacks never overwrite a claimed success.
	const kept = await context.database.db
		.updateTable(table as 'payments')
		.set({ claim: formatClaim(claimed, hint) })
		.where('id', '=', id)
		.where(({ eb, or }) =>
			or([
				eb('claim', 'is', null),
				...(claimed === 'succeeded' ? [eb('claim', 'not like', CLAIMED_SUCCESS)] : [])
			])
		)
		.returningAll()
		.executeTakeFirst();
	return kept as Row<Table> | undefined;
}

const formatClaim = (
	claimed: CallbackClaim['claimed'],
	{ operatorReference, providerReference, amountMinor, currency }: Omit<CallbackClaim, 'claimed'>
): string => {
	const claim: CallbackClaim = { claimed, operatorReference, providerReference, amountMinor, currency };
	return JSON.stringify(claim);
};

/** `pending` and `unknown` tell nothing that the schedule of reads does not find. */
const isFinal = (hint: CallbackHint): hint is CallbackHint & CallbackClaim =>
	hint.claimed === 'succeeded' || hint.claimed === 'failed';

const formatOutcome = ({ claimed, authentic }: CallbackHint) =>
	authentic === 'invalid' ? 'not authentic' : claimed;

/** Opens a review if a callback calls a refund failed that an earlier answer or callback called successful. */
async function reviewDeniedRefund(context: BillingContext, refundId: number): Promise<void> {
	const { database } = context;
	const refund = await findRefund(database.db, refundId);
	if (!refund || refund.status === 'failed') return;
	if (refund.status === 'pending' && !claimsSuccess(refund)) return;
	const detail = `a callback says that refund ${refund.reference} failed, after it was called successful`;
	await openReview(context, database.db, refund.payment_id, 'contradiction', detail);
}

const MAX_CALLBACKS = 50;
/** The same callback brings a read forward again after this time: a person may have asked the operator to repeat it. */
const REPEATED_MS = 60_000;
/** Characters of an unreadable callback in the log. */
const LOGGED_LENGTH = 200;

/**
 * Stores about MAX_CALLBACKS per payment (each of those that come at once may be one more); a failure is only logged. Warns of the first one that says nothing we can read.
 * @returns whether the same has come a moment ago
 */
async function keepCallback(
	context: BillingContext,
	payment: Pick<PaymentRow, 'id' | 'phone'>,
	outcome: string,
	raw: string
): Promise<boolean> {
	const { database, log } = context;
	const message = describeMessage(context, payment, { kind: 'callback', outcome, raw });
	const { payment_id, kind, received_at } = message;
	const before = database.db.selectFrom('operator_messages').where(({ and }) => and({ payment_id, kind }));
	try {
		const alike = await before
			.select('received_at')
			.select((row) => row.case().when('raw', '=', message.raw).then(1).else(0).end().as('is_same'))
			.where('outcome', '=', outcome)
			.execute();
		const count = before.select(({ fn }) => fn.countAll().as('count'));
		const isKept = await insertMessageIf(database.db, message, sql`${count} < ${MAX_CALLBACKS}`);
		if (isKept && alike.length === 0 && outcome.endsWith('unknown')) {
			const fields = { payment: payment.id, outcome, body: message.raw.slice(0, LOGGED_LENGTH) };
			log.warn(fields, 'callback cannot be read; reads of the status go on as planned');
		}
		return alike.some((one) => one.is_same === 1 && received_at - one.received_at < REPEATED_MS);
	} catch (error) {
		log.warn({ err: error, payment: payment.id }, 'callback not stored');
		return false;
	}
}

const CLAIMED_SUCCESS = '%"claimed":"succeeded"%';
