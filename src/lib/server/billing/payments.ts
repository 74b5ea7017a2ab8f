import { lockById, lockName } from '../db/locks.ts';
import { type SqlBool, type UpdateObject, sql } from 'kysely';
import { EventEmitter, once } from 'node:events';
import { CURRENCIES, MAX_AMOUNT_MINOR, toMajor, toMinor } from '#lib/domain/money.ts';
import type { Caller } from '../accounts/accounts.ts';
import { type PaymentBody, type PaymentStartBody, failureCode } from '../contract/payment.ts';
import { type Database, type Queries, type Reads, type Tx, afterCommit } from '../db/database.ts';
import {
	type NewestFirst,
	findById,
	findNewestFirst,
	insertRow,
	retryUniqueViolation,
	withoutNulls
} from '../db/queries.ts';
import type { Row, Schema } from '../db/schema.ts';
import type { EventType } from '../events.ts';
import { waitOutside } from '../http/turns.ts';
import type { Fenced } from '../jobs.ts';
import { isoTime } from '../platform/clock.ts';
import { Refused, validationFailed } from '../platform/errors.ts';
import { paymentReference } from '../platform/secrets.ts';
import { findRouterOrThrow, lacksNetworkPassword, offlineReason } from '../routers/routers.ts';
import type { CallbackClaim } from './operators/operator.ts';
import { operatorForPayment } from './operators/registry.ts';
import {
	type PromptBuyer,
	type PromptQueues,
	type PromptSource,
	checkPrompts,
	withSource
} from './prompt-limits.ts';
import { parsePayerNumber } from './session-orders.ts';
import {
	type RememberBody,
	type SessionRow,
	type SessionsContext,
	changeSession,
	lockOwnSession,
	findSessionOrThrow
} from './sessions.ts';

/**
 * Mobile-money payments. A payment is committed first, then sent from the outbox, and its status read until it is final
 * (at-operator.ts). settlement.ts applies the result, and refunds.ts sends money back.
 */

export type PaymentRow = Row<'payments'>;
type PaymentStatus = PaymentRow['status'];
export type RefundRow = Row<'refunds'>;

export interface BillingContext extends SessionsContext {
	changes: Changes;
	promptQueues: PromptQueues;
}

export type BillingServices = Omit<BillingContext, 'database'>;

export type BillingJob = Fenced<BillingContext>;

export const SUBMIT_JOB = 'payment.submit';
export const RECONCILE_JOB = 'payment.reconcile';
/** Its subject is the refund, not the payment. */
export const REFUND_JOB = 'payment.refund';

const MAX_START_ATTEMPTS = 5;

/**
 * Starts a payment for the caller's own session.
 * @param buyer for the limits of prompts
 * @throws Refused with a code of the API's reference
 */
export async function requestPayment(
	context: BillingContext,
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
				const body = describePayment(await checkAndInsert(context, trx, caller, order, source));
				await remember?.(trx, body);
				return body;
			})
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
	const { clock, config, jobs, operators } = context;
	const session = await lockOwnSession(context, trx, caller, order.session_id);
	const { amount_minor: amountMinor, currency, payment_method: method } = session;
	await checkPayable(context, trx, session, toMinor(order.amount, currency));
	await checkOnline(context, trx, session);
	const phone = parsePayerNumber(order.phone, config.defaultRegion);
	const now = clock.now();
	await checkPrompts(context, trx, phone, source);
	const operator = operatorForPayment(operators, { method, phone, amountMinor, currency });
	const payment = await insertRow(trx, 'payments', {
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
	await changeSession(
		trx,
		session,
		{ status: 'pending_payment' },
		{ payment_id: payment.id, updated_at: now }
	);
	const firstRead = now + operator.capabilities.minStatusDelaySeconds * 1000;
	await jobs.scheduleAll(trx, [
		{ kind: SUBMIT_JOB, subjectId: payment.id, runAt: now },
		{ kind: RECONCILE_JOB, subjectId: payment.id, runAt: firstRead }
	]);
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
		throw new Refused('amount_mismatch', `The session costs ${session.currency} ${expected}.`, {
			extensions: { expected_amount: expected, currency: session.currency }
		});
	}
	const payments = trx.selectFrom('payments').selectAll().where('session_id', '=', session.id);
	const earlier = await payments.orderBy('id').execute();
	const pending = earlier.find(({ status }) => status === 'pending');
	if (pending && session.status === 'pending_payment') {
		throw new Refused('payment_in_progress', 'A payment for this session is pending. Wait until it ends.', {
			extensions: { payment_id: pending.id }
		});
	}
	if (session.status === 'active' || session.status === 'activating') {
		throw new Refused('session_already_paid', 'The session is already paid.');
	}
	if (session.status !== 'pending_payment') {
		throw new Refused('session_not_payable', `The session is ${session.status}. Create a new one.`, {
			extensions: { session_status: session.status }
		});
	}
	if (earlier.length >= config.maxPaymentAttempts) {
		throw new Refused('payment_attempts_exceeded', 'Create a new session to try again.');
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
		throw new Refused(
			'router_unavailable',
			'The router sells another kind of access now. Create a new session.'
		);
	}
	if (offlineReason(router, config, clock.now()) === null) return;
	throw new Refused(
		'router_unavailable',
		'The router is offline. The order stays open: pay when the router is online again.'
	);
}

/** Waiting requests at a time; further ones get their response at once, and the client polls. */
const MAX_WAITING = 1_000;
/** How often `Changes` reads on PostgreSQL, where other processes may change a payment. */
const READ_SHARED_MS = 250;
const READ_MS = 2_000;

async function findVisiblePayment({ database }: BillingContext, caller: Caller, id: number) {
	const row = await findPayment(database.db, id);
	if (!row || (row.account_id !== caller.accountId && caller.role !== 'admin')) {
		throw new Refused('payment_not_found', 'There is no payment with this id.');
	}
	return row;
}

/** Returns the payment, or waits up to `wait.seconds` while it is pending. @throws `payment_not_found` */
export async function readPayment(
	context: BillingContext,
	caller: Caller,
	id: number,
	wait?: { seconds: number; signal: AbortSignal }
): Promise<PaymentBody> {
	const { changes } = context;
	let row = await findVisiblePayment(context, caller, id);
	if (!wait || changes.waiting >= MAX_WAITING) return describePayment(row);
	const until = performance.now() + wait.seconds * 1000;
	while (row.status === 'pending' && !wait.signal.aborted && !changes.stopped) {
		const left = until - performance.now();
		if (left <= 0) break;
		await changes.next(id, left, wait.signal);
		row = await findVisiblePayment(context, caller, id);
	}
	return describePayment(row);
}

export async function listOwnPayments(
	{ database }: BillingContext,
	{ accountId }: Pick<Caller, 'accountId'>,
	search: Parameters<typeof findPaymentsOfAccount>[2]
) {
	const { rows, next } = await findPaymentsOfAccount(database.db, accountId, search);
	return { data: rows.map(describePayment), next };
}

/** Created once: the OpenAPI registry keeps every schema that derives from a named one, so one per call would leak. */
const failureCodeOrNull = failureCode.nullable();

/** A refund returns what the operator took (`startRefund`). */
function describeRefund(row: PaymentRow): Pick<PaymentBody, 'refund_amount' | 'refund_currency'> {
	if (row.refund_reason === null) return { refund_amount: null, refund_currency: null };
	const currency = row.settled_currency ?? row.currency;
	return {
		refund_amount: CURRENCIES.includes(currency)
			? toMajor(row.settled_minor ?? row.amount_minor, currency)
			: null,
		refund_currency: currency
	};
}

/** A row that is sent again has an earlier request, which may have arrived. */
function describeRequest({
	submit_state: state,
	submitted_at,
	paid_at
}: PaymentRow): PaymentBody['operator_request'] {
	if (state === 'accepted' || paid_at !== null) return 'accepted';
	if (state === 'refused') return 'refused';
	return state === 'created' && submitted_at === null ? 'unsent' : 'unanswered';
}

export function describePayment(row: PaymentRow): PaymentBody {
	return {
		id: row.id,
		session_id: row.session_id,
		status: row.status,
		amount: toMajor(row.amount_minor, row.currency),
		currency: row.currency,
		phone: row.phone,
		payment_method: row.payment_method,
		operator_request: describeRequest(row),
		applied: row.applied === 1,
		failure_code: failureCodeOrNull.parse(row.failure_code),
		failure_message: row.failure_message,
		provider_reference: row.provider_reference,
		refund_reason: row.refund_reason,
		...describeRefund(row),
		expires_at: isoTime(row.expires_at),
		paid_at: isoTime(row.paid_at),
		refunded_at: isoTime(row.refunded_at),
		created_at: isoTime(row.created_at),
		updated_at: isoTime(row.updated_at)
	};
}

/**
 * Records an event, and after the commit wakes the requests that wait for the payment.
 * @param known its session, if it was read
 */
export async function recordPaymentEvent(
	context: BillingServices,
	trx: Tx,
	type: EventType,
	row: PaymentRow,
	known?: SessionRow
): Promise<void> {
	const session = known ?? (await findSessionOrThrow(trx, row.session_id));
	const { id, session_id, ...rest } = describePayment(row);
	await context.events.record(trx, {
		type,
		accountId: row.account_id,
		routerId: session.router_id,
		sessionId: row.session_id,
		paymentId: row.id,
		data: { id, session_id, router_id: session.router_id, ...rest }
	});
	afterCommit(trx, () => context.changes.announce(row.id));
}

/** Wakes requests that wait for a payment: at once if this process changes it, else at the next read of all of them. */
export type Changes = ReturnType<typeof createChanges>;

const formatEventName = (paymentId: number) => `payment ${paymentId}`;

export function createChanges({ kind, db }: Pick<Database, 'kind' | 'db'>) {
	const emitter = new EventEmitter().setMaxListeners(0);
	const waiting = new Set<{ paymentId: number }>();
	let stopped = false;
	/** Call it after the commit. */
	const announce = (paymentId: number) => void emitter.emit(formatEventName(paymentId));

	let isReading = false;

	async function readWaiting(): Promise<void> {
		if (waiting.size === 0) return;
		const ids = [...new Set([...waiting].map(({ paymentId }) => paymentId))];
		// Few lengths, because each is a statement with a name of its own (db/named-statements.ts).
		const size = 2 ** Math.ceil(Math.log2(ids.length));
		const asked = Array.from({ length: size }, (_, index) => ids[index] ?? (ids[0] as number));
		const decided = db.selectFrom('payments').select('id').where('id', 'in', asked);
		for (const { id } of await decided.where('status', '<>', 'pending').execute()) announce(id);
	}
	// After an error, the next read finds the same.
	async function read(): Promise<void> {
		if (isReading) return;
		isReading = true;
		await readWaiting().catch(() => {});
		isReading = false;
	}
	const timer = setInterval(() => void read(), kind === 'postgres' ? READ_SHARED_MS : READ_MS).unref();

	return {
		announce,
		/** Resolves once the payment is no longer pending, after `timeoutMs`, or when `signal` aborts. */
		async next(paymentId: number, timeoutMs: number, signal: AbortSignal): Promise<void> {
			if (stopped) return;
			const ended = AbortSignal.any([signal, AbortSignal.timeout(Math.ceil(timeoutMs))]);
			const entry = { paymentId };
			waiting.add(entry);
			await waitOutside(once(emitter, formatEventName(paymentId), { signal: ended })).catch(() => {});
			waiting.delete(entry);
		},
		get waiting() {
			return waiting.size;
		},
		/** True once the process stops: nothing may wait. */
		get stopped() {
			return stopped;
		},
		/** Releases all waiters, also future ones. */
		stop(): void {
			stopped = true;
			clearInterval(timer);
			// `once` also listens for errors, which nothing emits here.
			for (const name of emitter.eventNames()) if (name !== 'error') emitter.emit(name);
		}
	};
}

export const parseClaim = (row: { claim: string | null }): CallbackClaim | null =>
	row.claim === null ? null : (JSON.parse(row.claim) as CallbackClaim);

export const claimsSuccess = (row: { claim: string | null }): boolean =>
	parseClaim(row)?.claimed === 'succeeded';

/** A payment that was sent twice has two requests at an operator that names them itself. */
export const isOfAnotherRequest = (
	{ operator_reference: own }: Pick<PaymentRow, 'operator_reference'>,
	{ operatorReference: named }: Pick<CallbackClaim, 'operatorReference'>
): boolean => own !== null && named !== null && named !== own;

export const findPayment = (queries: Reads, id: number) => findById(queries, 'payments', id);

export async function findPaymentOrThrow(queries: Reads, id: number): Promise<PaymentRow> {
	const payment = await findPayment(queries, id);
	if (!payment) throw new Error(`Payment ${id} is gone`);
	return payment;
}

export const selectOfOperator = (queries: Reads, operator: string) =>
	queries.selectFrom('payments').selectAll().where('operator', '=', operator);

export const findPaymentByReference = (queries: Queries, operator: string, reference: string) =>
	selectOfOperator(queries, operator).where('reference', '=', reference).executeTakeFirst();

export function findPaymentsOfAccount(
	queries: Queries,
	accountId: number,
	{
		status,
		transaction,
		...page
	}: NewestFirst & { status?: PaymentStatus | undefined; transaction?: string | undefined }
) {
	// The sign keeps SQLite, which has no statistics, from reading all payments of the account.
	const account = transaction === undefined ? sql.ref('account_id') : sql`+account_id`;
	return findNewestFirst(
		queries
			.selectFrom('payments')
			.selectAll()
			.where(sql<SqlBool>`${account} = ${accountId}`)
			.where(({ and }) => and(withoutNulls({ status, provider_reference: transaction }))),
		page
	);
}

/** Changes a payment that is in one of the given states. Returns undefined if another change was faster. */
export const changePayment = (
	queries: Queries,
	from: {
		id: number;
		status?: readonly PaymentStatus[];
		submit_state?: readonly PaymentRow['submit_state'][];
	},
	to: UpdateObject<Schema, 'payments'>
): Promise<PaymentRow | undefined> =>
	queries
		.updateTable('payments')
		.set(to)
		.where('id', '=', from.id)
		.where(({ and, eb }) =>
			and([
				...(from.status ? [eb('status', 'in', from.status)] : []),
				...(from.submit_state ? [eb('submit_state', 'in', from.submit_state)] : [])
			])
		)
		.returningAll()
		.executeTakeFirst();

/** The same in a transaction of its own. */
export const writePayment = (
	{ database }: BillingJob,
	from: Parameters<typeof changePayment>[1],
	to: Parameters<typeof changePayment>[2]
): Promise<PaymentRow | undefined> => database.transact((trx) => changePayment(trx, from, to));

type Known = Pick<PaymentRow, 'id' | 'operator'>;

const selectOthers = (queries: Reads, { id, operator }: Known) =>
	selectOfOperator(queries, operator).where('id', '<>', id).limit(1);

/** Holds a payment. Who also needs its session holds that first. */
export const lockPayment = (trx: Tx, id: number) => lockById(trx, 'payments', id);

/** Holds an operator's transaction, and returns as `findPaidBefore`: of two payments that it pays, one sees the other. */
export async function lockTransaction(trx: Tx, payment: Known, transaction: string) {
	await lockName(trx, `transaction ${payment.operator} ${transaction}`);
	return findPaidBefore(trx, payment, transaction);
}

/** Returns another payment of the same operator that a transaction has already paid. */
export const findPaidBefore = (queries: Reads, payment: Known, transaction: string) =>
	selectOthers(queries, payment).where('provider_reference', '=', transaction).executeTakeFirst();

/** Returns another payment of the same operator that was sent with a request. */
export const findSentAs = (queries: Reads, payment: Known, request: string) =>
	selectOthers(queries, payment).where('operator_reference', '=', request).executeTakeFirst();
