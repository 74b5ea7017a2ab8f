import { durationSeconds } from '#lib/domain/duration.ts';
import { findPaymentMethod } from '#lib/domain/payment-methods/payment-method-guess.ts';
import { parseMobile } from '#lib/domain/phone.ts';
import type { SessionBody, SessionCreationBody } from '#lib/server/contract/schemas.ts';
import { LIMIT_CONCURRENCY, type Tx } from '#lib/server/db/database.ts';
import type { Caller } from '#lib/server/accounts/accounts.ts';
import { AppError } from '#lib/server/platform/errors.ts';
import { sells, type RouterRow } from '#lib/server/routers/routers.ts';
import { operatorForPayment } from '../operators/operator-for-payment.ts';
import { asOfNow, sessionBody } from './body.ts';
import { SESSION_END_JOB, type SessionsContext } from './context.ts';
import { sessionNotFound } from './read-session.ts';
import * as store from './store.ts';
import { agreedTerms } from './price.ts';
import { recordEvent } from './transition.ts';

/** Stores a response in the transaction of its effect. `status` replaces the route's own. */
export type RememberBody<T> = (trx: Tx, body: T, status?: 200 | 201) => Promise<void>;

/** Orders time; charges nothing. @throws AppError, see api/routes/sessions.ts */
export const createSession = (
	context: SessionsContext,
	caller: Caller,
	order: SessionCreationBody,
	remember?: RememberBody<SessionBody>
): Promise<SessionBody> =>
	context.database.transact(async (trx) => {
		const { clock, config, gateways, jobs, routers, operators, passes } = context;
		const router = await routers.visible(trx, caller, order.router_id);
		const extended = await extendedSession(context, trx, caller, order);
		const methods = routers.paymentMethods(router);
		const { phone, method } = checkOrder(context, order, router, methods);
		if (!extended && (await gateways.sellsNowhere(trx, router.id))) {
			throw new AppError(
				'router_unavailable',
				'The access points of the router are claimed by two accounts.'
			);
		}
		const pass = extended?.pass_id ? await passes.findOrThrow(trx, extended.pass_id) : null;
		const terms = agreedTerms(routers, router, order, pass);
		const { currency } = router;
		const amountMinor = terms.amount_minor;
		operatorForPayment(operators, { method, phone, amountMinor, currency }, methods);
		const now = clock.now();
		const created = await store.insert(trx, {
			account_id: caller.accountId,
			router_id: router.id,
			status: 'pending_payment',
			duration: order.duration,
			duration_seconds: durationSeconds(order.duration),
			payment_method: method,
			phone,
			...terms,
			currency,
			ssid: router.ssid,
			access_kind: router.access_kind,
			...(extended && { extends_session_id: extended.id, pass_id: extended.pass_id }),
			payment_due_at: now + config.sessionPaymentMs,
			created_at: now,
			updated_at: now
		});
		await jobs.schedule(trx, SESSION_END_JOB, created.id, created.payment_due_at);
		await recordEvent(context, trx, 'session.created', created);
		const body = sessionBody(created, pass, now, null);
		await remember?.(trx, body);
		return body;
	}, LIMIT_CONCURRENCY);

/** Only the buyer may extend a session: added time has the same password. */
async function extendedSession(
	{ clock }: SessionsContext,
	trx: Tx,
	caller: Caller,
	{ extends_session_id: id, router_id: routerId }: SessionCreationBody
): Promise<store.SessionRow | undefined> {
	if (id === undefined) return undefined;
	const row = await store.find(trx, id);
	if (!row || row.account_id !== caller.accountId) throw sessionNotFound();
	const { status } = asOfNow(row, clock.now());
	if (status === 'active' && row.router_id === routerId) return row;
	const why =
		status === 'active'
			? `The session is on router ${row.router_id}.`
			: `The session is ${status}; order time without extends_session_id.`;
	throw new AppError('session_not_extendable', why, { extensions: { session_status: status } });
}

/** Checks an order; reports the first problem. Returns the payer's number in E.164, and the method. @throws AppError */
function checkOrder(
	{ clock, config }: SessionsContext,
	order: SessionCreationBody,
	router: RouterRow,
	paymentMethods: string[]
): { phone: string; method: string } {
	if (!sells(router, config, clock.now())) {
		throw new AppError('router_unavailable', 'The router is offline and cannot be sold now.');
	}
	const method = findPaymentMethod(order.payment_method, paymentMethods);
	if (method === null) {
		throw new AppError('payment_method_not_supported', `The router accepts ${paymentMethods.join(', ')}.`, {
			extensions: { payment_methods: paymentMethods }
		});
	}
	return { phone: mobileNumber(order.phone, config.defaultRegion), method };
}

/** @throws AppError `invalid_phone` */
export function mobileNumber(text: string, region: string): string {
	const phone = parseMobile(text, region);
	if (phone === null) {
		throw new AppError('invalid_phone', 'Use a mobile number with its country code, e.g. "+256772123456".');
	}
	return phone;
}
