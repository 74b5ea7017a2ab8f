import { toMajor, toMinor } from '#lib/domain/money.ts';
import type { Caller } from '#lib/server/developer/api-keys/api-keys.ts';
import type { PaymentBody, PaymentStartBody } from '#lib/server/api/contract/schemas.ts';
import type { Queries, Tx } from '#lib/server/db/database.ts';
import { AppError, validationFailed } from '#lib/server/platform/errors.ts';
import { operatorReference } from '#lib/server/platform/ids.ts';
import type { JobHandler } from '#lib/server/jobs/jobs.ts';
import { carrierOf } from '../operators/carriage.ts';
import type { Review } from '../reviews/reviews.ts';
import { isUnresponsive } from '#lib/server/routers/routers.ts';
import { mobileNumber, sessionNotFound, type RememberBody, type SessionRow } from '../sessions/sessions.ts';
import { paymentBody } from './body.ts';
import { portalCallbackUrl } from '../callbacks/callback-url.ts';
import { receiveCallback, type Callback, type CallbackAnswer } from '../callbacks/callbacks.ts';
import { RECONCILE_JOB, REFUND_JOB, SUBMIT_JOB, type PaymentsContext } from './context.ts';
import { decide, evidenceOf, type DecisionOrder, type Evidence } from '../reviews/decisions.ts';
import { reconcilePayment } from './reconcile.ts';
import { refundPayment } from '../refunds/refunds.ts';
import * as store from './store.ts';
import { checkStatement, type StatementFile, type StatementResult } from '../statements/statement.ts';
import { refundUnprovisioned } from './settlement.ts';
import { submitPayment } from './submission.ts';

/**
 * Payments by mobile money. A row is committed first; the outbox then calls the operator (submission.ts); the
 * reconciler asks for the status until it is final (reconcile.ts); settlement.ts applies the result; refunds.ts sends
 * money back.
 */
export interface Payments {
	/** Starts a payment for the caller's own session. @throws AppError with a code of the API's reference */
	start(caller: Caller, order: PaymentStartBody, remember?: RememberBody<PaymentBody>): Promise<PaymentBody>;
	/**
	 * Returns the payment now, or as soon as it leaves `pending` within `wait.seconds`.
	 * @throws AppError `payment_not_found`
	 */
	read(caller: Caller, id: number, wait?: { seconds: number; signal: AbortSignal }): Promise<PaymentBody>;
	/** Lists an account's newest payments, pending ones first, with our references at the operator. */
	newest(accountId: number, limit: number): Promise<{ reference: string; payment: PaymentBody }[]>;
	/**
	 * Stores a callback and makes the reconciler ask the operator. Changes nothing by itself.
	 * @returns the body of the response; null if Airtill did not issue the address
	 */
	receiveCallback(callback: Callback): Promise<CallbackAnswer>;
	/** The callback address to enter in the portal of an operator that takes none with a request. */
	portalCallbackUrl(operator: string): string;
	/** Reads everything about a payment for a review; null if it does not exist. */
	evidenceOf(id: number): Promise<Evidence | null>;
	/** Carries out a person's decision about a review. @throws DecisionRefused; nothing is changed then */
	decide(review: Review, order: DecisionOrder): Promise<void>;
	/** Compares an operator's list of settled payments with ours. @throws StatementError, CsvFileError */
	checkStatement(file: StatementFile): Promise<StatementResult>;
	/** True if the operator of a payment supports refunds. */
	canGoBack(queries: Queries, id: number): Promise<boolean>;
	/** Refunds a payment whose session no gateway activated. */
	refundUnprovisioned(trx: Tx, id: number): Promise<void>;
	/** Handlers of the durable jobs. */
	jobs: Record<string, JobHandler>;
}

const MAX_START_ATTEMPTS = 5;
const PROMPT_WINDOW_MS = 15 * 60 * 1000;
/** Requests that wait at a time. The next one is answered at once, and its client polls. */
const MAX_WAITING = 1_000;
/** How often a waiter reads the payment if another process may change it. */
const LOOK_SHARED_MS = 250;
const LOOK_MS = 2_000;

export function createPayments(context: PaymentsContext): Payments {
	const { database, clock, config, jobs, sessions, routers, operators, changes } = context;

	/** Checks the session and its earlier payments, in the order in which problems are reported. */
	async function checkPayable(trx: Tx, session: SessionRow, amountMinor: number | null): Promise<void> {
		if (amountMinor !== session.amount_minor) {
			const expected = toMajor(session.amount_minor, session.currency);
			throw new AppError('amount_mismatch', `The session costs ${session.currency} ${expected}.`, {
				extensions: { expected_amount: expected, currency: session.currency }
			});
		}
		const earlier = await store.ofSession(trx, session.id);
		const pending = earlier.find(({ status }) => status === 'pending');
		if (pending && session.status === 'pending_payment') throw paymentInProgress(pending.id);
		if (earlier.some(({ applied }) => applied === 1)) {
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

	/** Refuses to charge for a router that went offline after the order. */
	async function checkOnline(trx: Tx, { router_id: routerId }: SessionRow): Promise<void> {
		if (!isUnresponsive(await routers.known(trx, routerId))) return;
		throw new AppError(
			'router_unavailable',
			'The router is offline. The order stays open: pay when the router is online again.'
		);
	}

	async function checkPrompts(trx: Tx, phone: string, now: number): Promise<void> {
		const prompts = await store.countPromptsSince(trx, phone, now - PROMPT_WINDOW_MS);
		if (prompts >= config.maxPayerPrompts) {
			throw new AppError(
				'payer_prompt_limit',
				`This number got ${prompts} payment requests in the last 15 minutes. Try again later.`
			);
		}
	}

	async function insert(trx: Tx, caller: Caller, order: PaymentStartBody): Promise<store.PaymentRow> {
		const session = await sessions.ownCurrent(trx, caller, order.session_id);
		if (!session) throw sessionNotFound();
		await checkPayable(trx, session, toMinor(order.amount, session.currency));
		await checkOnline(trx, session);
		const phone = mobileNumber(order.phone, config.defaultRegion);
		const now = clock.now();
		await checkPrompts(trx, phone, now);
		const operator = carrierOf(operators, {
			method: session.payment_method,
			phone,
			amountMinor: session.amount_minor,
			currency: session.currency
		});
		const payment = await store.insert(trx, {
			session_id: session.id,
			account_id: caller.accountId,
			operator: operator.id,
			payment_method: session.payment_method,
			reference: operatorReference(),
			amount_minor: session.amount_minor,
			currency: session.currency,
			phone,
			status: 'pending',
			submit_state: 'created',
			commission_basis_points: config.commissionBasisPoints,
			expires_at: now + config.paymentTimeoutMs,
			created_at: now,
			updated_at: now
		});
		await sessions.notePayment(trx, session.id, payment.id);
		await jobs.schedule(trx, SUBMIT_JOB, payment.id, now);
		const firstLook = now + operator.capabilities.minStatusDelaySeconds * 1000;
		await jobs.schedule(trx, RECONCILE_JOB, payment.id, firstLook);
		return payment;
	}

	async function find(caller: Caller, id: number): Promise<store.PaymentRow> {
		const row = await store.find(database.db, id);
		if (!row || (row.account_id !== caller.accountId && caller.role !== 'admin')) {
			throw new AppError('payment_not_found', 'There is no payment with this id.');
		}
		return row;
	}

	return {
		async start(caller, order, remember) {
			if (toMinor(order.amount, config.currency) === null) {
				throw validationFailed([
					{
						in: 'body',
						pointer: '/amount',
						code: 'invalid_format',
						detail: `Use a positive amount of ${config.currency} without superfluous decimals.`
					}
				]);
			}
			for (let attempt = 1; ; attempt += 1) {
				try {
					const answer = await database.transact(async (trx) => {
						const body = paymentBody(await insert(trx, caller, order));
						await remember?.(trx, body);
						return body;
					});
					jobs.nudge();
					return answer;
				} catch (error) {
					// Two starts at once: the index admitted one, and the checks of the next try report it.
					if (!database.isUniqueViolation(error) || attempt === MAX_START_ATTEMPTS) throw error;
				}
			}
		},
		async read(caller, id, wait) {
			let row = await find(caller, id);
			if (!wait || changes.waiting >= MAX_WAITING) return paymentBody(row);
			const until = performance.now() + wait.seconds * 1000;
			const look = database.shared ? LOOK_SHARED_MS : LOOK_MS;
			while (row.status === 'pending' && !wait.signal.aborted && !changes.stopped) {
				const left = until - performance.now();
				if (left <= 0) break;
				await changes.next(id, Math.min(left, look), wait.signal);
				row = await find(caller, id);
			}
			return paymentBody(row);
		},
		async newest(accountId, limit) {
			const [open, all] = await Promise.all(
				(['pending', null] as const).map((status) =>
					store.newestOfAccount(database.db, accountId, { status, limit })
				)
			);
			const rows = new Map([...(open ?? []), ...(all ?? [])].map((row) => [row.id, row]));
			return [...rows.values()]
				.slice(0, limit)
				.map((row) => ({ reference: row.reference, payment: paymentBody(row) }));
		},
		receiveCallback: (callback) => receiveCallback(context, callback),
		evidenceOf: (id) => evidenceOf(context, id),
		decide: (review, order) => decide(context, review, order),
		checkStatement: (file) => checkStatement(context, file),
		async canGoBack(queries, id) {
			const payment = await store.find(queries, id);
			const adapter = context.operators.all().find((one) => one.id === payment?.operator);
			return adapter?.refund !== undefined;
		},
		refundUnprovisioned: (trx, id) => refundUnprovisioned(context, trx, id),
		portalCallbackUrl: (operator) => portalCallbackUrl(context, operator),
		jobs: {
			[SUBMIT_JOB]: (id) => submitPayment(context, id),
			[RECONCILE_JOB]: (id) => reconcilePayment(context, id),
			[REFUND_JOB]: (id) => refundPayment(context, id)
		}
	};
}

function paymentInProgress(paymentId: number): AppError {
	return new AppError('payment_in_progress', 'A payment for this session is pending. Wait until it ends.', {
		extensions: { payment_id: paymentId }
	});
}
