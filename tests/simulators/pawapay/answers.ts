/** pawaPay's responses and the shape of a payment in them. */
import type { SimulatedPayment } from '../books.ts';
import type { SimulatorAnswer } from '../frame/protocol.ts';
import type { CallbackScript } from '../script.ts';
import { metadataOf, type Body, type Refusal } from './fields.ts';
import { NETWORKS, type Wallet } from './market.ts';

/** Outcomes of a script that are states in which it stays. */
const STATES = ['IN_RECONCILIATION', 'ACCEPTED', 'PROCESSING', 'SUBMITTED', 'ENQUEUED'];

/** HTTP statuses of refusals that are not `REJECTED` in a 200. */
const STATUSES: Readonly<Record<string, number>> = {
	INVALID_INPUT: 400,
	MISSING_PARAMETER: 400,
	UNSUPPORTED_PARAMETER: 400,
	INVALID_PARAMETER: 400,
	DUPLICATE_METADATA_FIELD: 400,
	NO_AUTHENTICATION: 401,
	AUTHENTICATION_ERROR: 403,
	AUTHORISATION_ERROR: 403,
	HTTP_SIGNATURE_ERROR: 403,
	DEPOSITS_NOT_ALLOWED: 403,
	REFUNDS_NOT_ALLOWED: 403,
	UNKNOWN_ERROR: 500
};

export const ONCE: CallbackScript = { when: 'at_outcome', afterMs: 0, times: 1 };

export const ok = (body: unknown): SimulatorAnswer => ({ status: 200, body });
export const iso = (ms: number) => new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');
export const transactionId = (number: number) => String(12_000_000 + number);
export const isFinal = (outcome: string) => outcome !== 'pending' && !STATES.includes(outcome);
export const optional = (name: string, value: unknown): Body =>
	value === undefined ? {} : { [name]: value };

export const reason = (code: string, message: string) => ({
	failureReason: { failureCode: code, failureMessage: message }
});

export const refuse = (code: string, message: string): SimulatorAnswer => ({
	status: STATUSES[code] ?? 200,
	body: reason(code, message)
});

export const serverError = (): SimulatorAnswer =>
	refuse('UNKNOWN_ERROR', 'Unable to process the request due to an unknown problem.');

/** A request that was read and not taken. */
export function reject(
	{ code, message }: Refusal,
	body: Body,
	id: 'depositId' | 'refundId'
): SimulatorAnswer {
	const status = STATUSES[code] ?? 200;
	if (status >= 401) return refuse(code, message);
	return { status, body: { ...optional(id, body[id]), status: 'REJECTED', ...reason(code, message) } };
}

export function resend(
	name: 'depositId' | 'refundId',
	id: string,
	isKnown: boolean,
	isFinished: boolean,
	send: () => void
): SimulatorAnswer {
	const rejected = (code: string, message: string) =>
		ok({ [name]: id, status: 'REJECTED', ...reason(code, message) });
	if (!isKnown) return rejected('NOT_FOUND', `${id} not found`);
	if (!isFinished) return rejected('INVALID_STATE', `${id} has not finished processing`);
	send();
	return ok({ [name]: id, status: 'ACCEPTED' });
}

/** @param waiting the state while there is no outcome */
export function stateOf(outcome: string, waiting: string): Body {
	if (outcome === 'success') return { status: 'COMPLETED' };
	if (outcome === 'pending') return { status: waiting };
	if (STATES.includes(outcome)) return { status: outcome };
	return { status: 'FAILED', ...reason(outcome, `Simulated ${outcome}`) };
}

export function accountOf(body: Body): { phoneNumber: string; provider: string } {
	const details = ((body['payer'] ?? {}) as Body)['accountDetails'] as Body;
	return { phoneNumber: String(details['phoneNumber']), provider: String(details['provider']) };
}

export function walletOf(provider: string, currency: string): Wallet {
	const network = NETWORKS.find((candidate) => candidate.provider === provider);
	const wallet = network?.wallets.find((candidate) => candidate.currency === currency);
	if (!wallet) throw new Error(`${provider} has no wallet in ${currency}`);
	return wallet;
}

export function amountRefusal(amount: string, { decimals, min, max }: Wallet): Refusal | null {
	if (decimals === 'NONE' && amount.includes('.')) {
		return { code: 'INVALID_AMOUNT', message: 'The provider does not support decimals in amounts.' };
	}
	const value = Number(amount);
	if (value <= 0 || value < min || value > max) {
		return { code: 'AMOUNT_OUT_OF_BOUNDS', message: `The amount should be between ${min} and ${max}.` };
	}
	return null;
}

/** A deposit in a read and in a callback. */
export function depositData(payment: SimulatedPayment, outcome: string, isV1 = false): Body {
	const { request, currency, queuedAt } = payment;
	const account = accountOf(request);
	const usesSubmitted = isV1 || payment.script.otherForm;
	const taken = outcome === 'success' ? payment.amount * payment.script.amountFactor : payment.amount;
	const amount = walletOf(account.provider, currency).decimals === 'NONE' ? String(taken) : taken.toFixed(2);
	return {
		depositId: request['depositId'],
		...stateOf(outcome, payment.reads <= 1 ? 'ACCEPTED' : usesSubmitted ? 'SUBMITTED' : 'PROCESSING'),
		amount,
		currency,
		country: account.provider.slice(-3),
		payer: request['payer'],
		...optional('customerMessage', request['customerMessage']),
		...optional('clientReferenceId', request['clientReferenceId']),
		created: iso(queuedAt),
		...(outcome === 'success' ? { providerTransactionId: transactionId(payment.number) } : {}),
		...optional('metadata', metadataOf(request['metadata']))
	};
}
