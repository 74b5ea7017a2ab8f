import { formatMinor } from '#lib/domain/money.ts';
import type { CallbackClaim, CallbackHint, RawCallback } from '../operators/operator.ts';
import { isOurs } from './callback-url.ts';
import { RECONCILE_JOB, REFUND_JOB, type BillingContext } from '../context.ts';
import { keepCallback } from './messages.ts';
import {
	isOfAnotherRequest,
	requestName,
	reviewSecondCharge,
	reviewUsedTransaction
} from '../payments/settlement.ts';
import { claimOf, reviewDeniedRefund, reviewFailedRefund } from './claims.ts';
import * as store from '../payments/store.ts';

/**
 * Airtill stores each callback and asks the operator now; a callback never decides a payment. Claims are kept
 * for operators whose status read contains less. Untrusted callbacks are only evidence.
 */
export interface Callback extends RawCallback {
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
		if (hint.authentic !== 'invalid') await applyHint(context, payment, hint);
		await keepCallback(context, payment, outcomeOf(hint), callback.body);
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
	hint: CallbackHint
): Promise<void> {
	const { database, jobs, reviews } = context;
	const { claimed } = hint;
	// A request that failed before the payment was sent again says nothing about the payment.
	if (claimed !== 'succeeded' && isOfAnotherRequest(before, hint)) return;
	await keepClaim(context, 'payments', before.id, hint);
	// Read after storing the claim: either the settlement saw the claim, or this sees the settlement.
	let payment = await store.findOrThrow(database.db, before.id);
	if (claimed === 'succeeded' && otherClaim(payment, hint)) {
		await reviewOtherClaim(context, payment.id, hint);
		payment = await store.findOrThrow(database.db, payment.id);
	}
	if (!isPaid(payment)) return jobs.wake(RECONCILE_JOB, payment.id);
	if (claimed === 'failed' && !isOfAnotherRequest(payment, hint)) {
		const detail = 'a callback says failed, the status read said paid';
		await reviews.open(database.db, payment.id, 'contradiction', detail);
	}
	if (claimed !== 'succeeded') return;
	if (isOfAnotherRequest(payment, hint)) await reviewSecondCharge(context, database.db, payment, hint);
	else await completeReceipt(context, payment, hint);
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
 * Adds a receipt that the status read did not name: a refund may need it. Opens a review if the callback's
 * amount differs from the settled one.
 */
async function completeReceipt(
	context: BillingContext,
	payment: store.PaymentRow,
	hint: CallbackHint
): Promise<void> {
	const { database, reviews } = context;
	const { providerReference, amountMinor } = hint;
	const known = payment.provider_reference;
	if (providerReference !== null && known !== null && providerReference !== known) {
		return reviewSecondCharge(context, database.db, payment, hint);
	}
	const isNews = providerReference && payment.provider_reference === null;
	if (isNews && !(await reviewUsedTransaction({ reviews }, database.db, payment, providerReference))) {
		await store.addReceipt(database.db, payment.id, providerReference);
	}
	const settled = payment.settled_minor ?? payment.amount_minor;
	if (amountMinor === null || amountMinor === settled) return;
	const money = (minor: number) => formatMinor(minor, payment.settled_currency ?? payment.currency, 'en');
	const detail = `a callback says ${money(amountMinor)}, settled as ${money(settled)}`;
	await reviews.open(database.db, payment.id, 'amount_mismatch', detail);
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
	if (hint.authentic !== 'invalid' && !isOfAnotherRequest(refund, hint)) {
		await keepClaim(context, 'refunds', refund.id, hint);
		// The callback to our own status read can say "pending"; another read at once would loop.
		const isNews = hint.claimed !== 'pending';
		if (refund.status === 'pending' && isNews) await jobs.wake(REFUND_JOB, refund.id);
		if (hint.claimed === 'succeeded') await reviewFailedRefund(context, database.db, refund.id);
		if (hint.claimed === 'failed') await reviewDeniedRefund(context, refund.id);
	}
	const payment = await store.find(database.db, refund.payment_id);
	if (payment) await keepCallback(context, payment, `refund ${outcomeOf(hint)}`, body);
	return true;
}

async function keepClaim(
	context: BillingContext,
	table: 'payments' | 'refunds',
	id: number,
	hint: CallbackHint
): Promise<void> {
	const { claimed, operatorReference, providerReference, amountMinor } = hint;
	if (claimed !== 'succeeded' && claimed !== 'failed') return;
	// Without these fields the status read says more.
	if (operatorReference === null && providerReference === null && amountMinor === null) return;
	const stored = { claim: claimFrom(claimed, hint), isSuccess: claimed === 'succeeded' };
	await store.setClaim(context.database.db, table, id, stored);
}

const claimFrom = (
	claimed: CallbackClaim['claimed'],
	{ operatorReference, providerReference, amountMinor, currency }: CallbackHint
): string => {
	const claim: CallbackClaim = { claimed, operatorReference, providerReference, amountMinor, currency };
	return JSON.stringify(claim);
};

const outcomeOf = ({ claimed, authentic }: CallbackHint) =>
	authentic === 'invalid' ? 'not authentic' : claimed;
