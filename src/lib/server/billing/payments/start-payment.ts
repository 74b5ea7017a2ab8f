import { MAX_AMOUNT_MINOR, toMajor, toMinor } from '#lib/domain/money.ts';
import type { PaymentBody, PaymentStartBody } from '#lib/server/contract/schemas.ts';
import { LIMIT_CONCURRENCY, type Tx } from '#lib/server/db/database.ts';
import { retryUniqueViolation } from '#lib/server/db/first.ts';
import type { Caller } from '#lib/server/accounts/accounts.ts';
import { AppError, validationFailed } from '#lib/server/platform/errors.ts';
import { paymentReference } from '#lib/server/platform/ids.ts';
import { lacksNetworkPassword, offlineReason } from '#lib/server/routers/routers.ts';
import { operatorForPayment } from '../operators/operator-for-payment.ts';
import { mobileNumber, sessionNotFound, type RememberBody, type SessionRow } from '../sessions/sessions.ts';
import { paymentBody } from './body.ts';
import { RECONCILE_JOB, SUBMIT_JOB, type BillingContext } from '../context.ts';
import {
	checkPrompts,
	withSource,
	type PromptBuyer,
	type PromptSource,
	type PromptsContext
} from './prompt-limits.ts';
import * as store from './store.ts';

const MAX_START_ATTEMPTS = 5;

/**
 * Starts a payment for the caller's own session.
 * @param buyer for the limits of prompts
 * @throws AppError with a code of the API's reference
 */
export async function startPayment(
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
	{ clock, config, routers }: BillingContext,
	trx: Tx,
	{ router_id: routerId, access_kind: kind }: SessionRow
): Promise<void> {
	const router = await routers.findOrThrow(trx, routerId);
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
