import { LIMIT_CONCURRENCY, type Queries, type Tx } from '../db/database.ts';
import { binder } from '../platform/bind.ts';
import { MERCHANT_ERROR, newestMessages, portalCallbackUrl, receiveCallback } from './callbacks.ts';
import {
	isRefundable,
	recordRefundForOwner,
	refundForOwner,
	refundPayment,
	refundUnprovisioned,
	takesRefundByHand
} from './refunds.ts';
import { decide, evidenceOf, openRefundByHand } from './reviews.ts';
import { checkStatement } from './statement.ts';
import { type BillingContext, RECONCILE_JOB, REFUND_JOB, SUBMIT_JOB } from './context.ts';
import {
	type PromptBuyer,
	type PromptSource,
	type PromptsContext,
	checkPrompts,
	crowdedPools,
	withSource
} from './prompt-limits.ts';
import { runReconcileJob, submitPayment } from './reconcile.ts';
import * as store from './payment-store.ts';
import type { PaymentRow } from './payment-store.ts';
import { CURRENCIES, MAX_AMOUNT_MINOR, toMajor, toMinor } from '#lib/domain/money.ts';
import { type PaymentBody, type PaymentStartBody, failureCode } from '../contract/payment.ts';
import { retryUniqueViolation } from '../db/queries.ts';
import type { Caller } from '../accounts/accounts.ts';
import { AppError, validationFailed } from '../platform/errors.ts';
import { paymentReference } from '../platform/ids.ts';
import { findRouterOrThrow, lacksNetworkPassword, offlineReason } from '../routers/routers.ts';
import { operatorForPayment } from './operators/registry.ts';
import { type RememberBody, type SessionRow, mobileNumber, sessionNotFound } from './sessions.ts';
import { DAY_MS } from '#lib/domain/time.ts';
import { fenceHandlers } from '../jobs.ts';
import { isoTime } from '../platform/clock.ts';
import { EventEmitter, once } from 'node:events';
import { waitOutside } from '../http/turns.ts';

/**
 * Mobile-money payments. A payment is committed first, then sent from the outbox (submission.ts).
 * reconcile.ts reads its status until it is final, settlement.ts applies it, and refunds.ts sends money back.
 */
export type Payments = ReturnType<typeof createPayments>;

export function createPayments(context: BillingContext) {
	const bind = binder(context);
	return {
		start: binder({ ...context, queues: new Map() })(startPayment),
		read: bind(readPayment),
		list: bind(listPayments),
		merchantErrors: bind(merchantErrors),
		crowdedPools: bind(crowdedPools),
		receiveCallback: bind(receiveCallback),
		/** For the portal of an operator that takes no callback address with a request. */
		portalCallbackUrl: bind(portalCallbackUrl),
		evidenceOf: bind(evidenceOf),
		decide: bind(decide),
		openRefundByHand: bind(openRefundByHand),
		checkStatement: bind(checkStatement),
		async operatorRefunds(queries: Queries, id: number): Promise<boolean> {
			const { operator } = await store.findOrThrow(queries, id);
			return context.operators.find(operator)?.refund !== undefined;
		},
		isRefundable: bind(isRefundable),
		takesRefundByHand: bind(takesRefundByHand),
		refundForOwner: bind(refundForOwner),
		recordRefundForOwner: bind(recordRefundForOwner),
		refundUnprovisioned: bind(refundUnprovisioned),
		jobs: fenceHandlers(context, {
			[SUBMIT_JOB]: submitPayment,
			[RECONCILE_JOB]: runReconcileJob,
			[REFUND_JOB]: refundPayment
		})
	};
}

const MAX_START_ATTEMPTS = 5;

/**
 * Starts a payment for the caller's own session.
 * @param buyer for the limits of prompts
 * @throws AppError with a code of the API's reference
 */
async function startPayment(
	context: PromptsContext,
	caller: Caller,
	order: PaymentStartBody,
	buyer: PromptBuyer,
	remember?: RememberBody<PaymentBody>
): Promise<PaymentBody> {
	const { config, database } = context;
	if (toMinor(order.amount, config.currency) === null) {
		const most = toMajor(MAX_AMOUNT_MINOR, config.currency);
		const code = order.amount > most ? 'out_of_range' : 'invalid_format';
		const detail = `Use a positive amount of at most ${config.currency} ${most} without superfluous decimals.`;
		throw validationFailed([{ in: 'body', pointer: '/amount', code, detail }]);
	}
	return withSource(context, buyer, (source) =>
		retryUniqueViolation(database, MAX_START_ATTEMPTS, () =>
			database.transact(async (trx) => {
				const body = paymentBody(await checkAndInsert(context, trx, caller, order, source));
				await remember?.(trx, body);
				return body;
			}, LIMIT_CONCURRENCY)
		)
	);
}

async function checkAndInsert(
	context: BillingContext,
	trx: Tx,
	caller: Caller,
	order: PaymentStartBody,
	source: PromptSource
) {
	const { clock, config, jobs, operators, sessions } = context;
	const session = await sessions.ownCurrent(trx, caller, order.session_id);
	if (!session) throw sessionNotFound();
	const { amount_minor: amountMinor, currency, payment_method: method } = session;
	await checkPayable(context, trx, session, toMinor(order.amount, currency));
	await checkOnline(context, trx, session);
	const phone = mobileNumber(order.phone, config.defaultRegion);
	const now = clock.now();
	await checkPrompts(context, trx, phone, source);
	const operator = operatorForPayment(operators, { method, phone, amountMinor, currency });
	const payment = await store.insert(trx, {
		session_id: session.id,
		account_id: caller.accountId,
		operator: operator.id,
		payment_method: method,
		reference: paymentReference(),
		amount_minor: amountMinor,
		currency,
		phone,
		...source.columns,
		status: 'pending',
		submit_state: 'created',
		commission_basis_points: config.commissionBasisPoints,
		expires_at: now + config.paymentTimeoutMs,
		created_at: now,
		updated_at: now
	});
	await sessions.notePayment(trx, session.id, payment.id);
	await jobs.schedule(trx, SUBMIT_JOB, payment.id, now);
	const firstRead = now + operator.capabilities.minStatusDelaySeconds * 1000;
	await jobs.schedule(trx, RECONCILE_JOB, payment.id, firstRead);
	return payment;
}

/** The order of the checks decides which problem is reported. */
async function checkPayable(
	{ config }: BillingContext,
	trx: Tx,
	session: SessionRow,
	amountMinor: number | null
): Promise<void> {
	if (amountMinor !== session.amount_minor) {
		const expected = toMajor(session.amount_minor, session.currency);
		throw new AppError('amount_mismatch', `The session costs ${session.currency} ${expected}.`, {
			extensions: { expected_amount: expected, currency: session.currency }
		});
	}
	const earlier = await store.ofSession(trx, session.id);
	const pending = earlier.find(({ status }) => status === 'pending');
	if (pending && session.status === 'pending_payment') {
		throw new AppError('payment_in_progress', 'A payment for this session is pending. Wait until it ends.', {
			extensions: { payment_id: pending.id }
		});
	}
	if (session.status === 'active' || session.status === 'activating') {
		throw new AppError('session_already_paid', 'The session is already paid.');
	}
	if (session.status !== 'pending_payment') {
		throw new AppError('session_not_payable', `The session is ${session.status}. Create a new one.`, {
			extensions: { session_status: session.status }
		});
	}
	if (earlier.length >= config.maxPaymentAttempts) {
		throw new AppError('payment_attempts_exceeded', 'Create a new session to try again.');
	}
}

/** Refuses to charge for a router that no longer sells this access: see the reasons of `offlineReason`. */
async function checkOnline(
	{ clock, config }: BillingContext,
	trx: Tx,
	{ router_id: routerId, access_kind: kind }: SessionRow
): Promise<void> {
	const router = await findRouterOrThrow(trx, routerId);
	if (lacksNetworkPassword(router, kind)) {
		throw new AppError(
			'router_unavailable',
			'The router sells another kind of access now. Create a new session.'
		);
	}
	if (offlineReason(router, config, clock.now()) === null) return;
	throw new AppError(
		'router_unavailable',
		'The router is offline. The order stays open: pay when the router is online again.'
	);
}

/** Waiting requests at a time; further ones get their response at once, and the client polls. */
const MAX_WAITING = 1_000;
/** Poll interval on PostgreSQL, where other processes may change the payment. */
const READ_SHARED_MS = 250;
const READ_MS = 2_000;

async function find({ database }: BillingContext, caller: Caller, id: number): Promise<store.PaymentRow> {
	const row = await store.find(database.db, id);
	if (!row || (row.account_id !== caller.accountId && caller.role !== 'admin')) {
		throw new AppError('payment_not_found', 'There is no payment with this id.');
	}
	return row;
}

/** Returns the payment, or waits up to `wait.seconds` while it is pending. @throws `payment_not_found` */
async function readPayment(
	context: BillingContext,
	caller: Caller,
	id: number,
	wait?: { seconds: number; signal: AbortSignal }
): Promise<PaymentBody> {
	const { database, changes } = context;
	let row = await find(context, caller, id);
	if (!wait || changes.waiting >= MAX_WAITING) return paymentBody(row);
	const until = performance.now() + wait.seconds * 1000;
	const interval = database.kind === 'postgres' ? READ_SHARED_MS : READ_MS;
	while (row.status === 'pending' && !wait.signal.aborted && !changes.stopped) {
		const left = until - performance.now();
		if (left <= 0) break;
		await changes.next(id, Math.min(left, interval), wait.signal);
		row = await find(context, caller, id);
	}
	return paymentBody(row);
}

async function listPayments(
	{ database }: BillingContext,
	{ accountId }: Pick<Caller, 'accountId'>,
	search: Parameters<typeof store.ofAccount>[2]
) {
	const { rows, next } = await store.ofAccount(database.db, accountId, search);
	return { data: rows.map(paymentBody), next };
}

/** Limits the count, because messages have no index by time. */
const COUNTED_PAYMENTS = 5_000;

/** Returns what operators said of our accounts in the last 24 hours, newest first. */
const merchantErrors = ({ database, clock }: BillingContext) =>
	newestMessages(database.db, {
		outcome: MERCHANT_ERROR,
		since: clock.now() - DAY_MS,
		most: COUNTED_PAYMENTS
	});

/** Created once: the OpenAPI registry keeps every schema that derives from a named one, so one per call would leak. */
const failureCodeOrNull = failureCode.nullable();

/** A refund returns what the operator took (refunds/start-refund.ts). */
function refundOf(row: PaymentRow): Pick<PaymentBody, 'refund_amount' | 'refund_currency'> {
	if (row.refund_reason === null) return { refund_amount: null, refund_currency: null };
	const currency = row.settled_currency ?? row.currency;
	return {
		refund_amount: CURRENCIES.includes(currency)
			? toMajor(row.settled_minor ?? row.amount_minor, currency)
			: null,
		refund_currency: currency
	};
}

export function paymentBody(row: PaymentRow): PaymentBody {
	return {
		id: row.id,
		session_id: row.session_id,
		status: row.status,
		amount: toMajor(row.amount_minor, row.currency),
		currency: row.currency,
		phone: row.phone,
		payment_method: row.payment_method,
		applied: row.applied === 1,
		failure_code: failureCodeOrNull.parse(row.failure_code),
		failure_message: row.failure_message,
		provider_reference: row.provider_reference,
		refund_reason: row.refund_reason,
		...refundOf(row),
		expires_at: isoTime(row.expires_at),
		paid_at: isoTime(row.paid_at),
		refunded_at: isoTime(row.refunded_at),
		created_at: isoTime(row.created_at),
		updated_at: isoTime(row.updated_at)
	};
}

/** Wakes requests that wait for a payment. Other processes announce nothing here, so waiters also poll. */
export type Changes = ReturnType<typeof createChanges>;

const nameOf = (paymentId: number) => `payment ${paymentId}`;

export function createChanges() {
	const emitter = new EventEmitter().setMaxListeners(0);
	let waiting = 0;
	let stopped = false;

	return {
		/** Call it after the commit. */
		announce(paymentId: number): void {
			emitter.emit(nameOf(paymentId));
		},
		/** Resolves on the next announcement, after `timeoutMs`, or when `signal` aborts. */
		async next(paymentId: number, timeoutMs: number, signal: AbortSignal): Promise<void> {
			if (stopped) return;
			const ended = AbortSignal.any([signal, AbortSignal.timeout(Math.ceil(timeoutMs))]);
			waiting += 1;
			await waitOutside(once(emitter, nameOf(paymentId), { signal: ended })).catch(() => {});
			waiting -= 1;
		},
		get waiting() {
			return waiting;
		},
		/** True once the process stops: nothing may wait. */
		get stopped() {
			return stopped;
		},
		/** Releases all waiters, also future ones. */
		stop(): void {
			stopped = true;
			// `once` also listens for errors, which nothing emits here.
			for (const name of emitter.eventNames()) if (name !== 'error') emitter.emit(name);
		}
	};
}
