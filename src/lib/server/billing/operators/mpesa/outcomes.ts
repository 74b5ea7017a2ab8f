import type { OperatorResponse, AuthorisedOutcome } from '../client.ts';
import { jsonObject, member, retryAfterSeconds, textMember } from '../response.ts';
import type { FailureReason, SubmitOutcome } from '../operator.ts';
import { busy, reasonIn, refused, unanswered } from '../outcomes.ts';

/** Daraja's codes (developer.safaricom.co.ke, "M-Pesa Express"), and those that integrators report. */

/** By ResultCode. Some are not numbers; zero is success. */
const REASONS: Readonly<Record<string, FailureReason>> = {
	'1': 'insufficient_funds',
	// Limits of a transaction or a day; 8 is the limit of the receiving account.
	'2': 'payer_limit_reached',
	'3': 'payer_limit_reached',
	'4': 'payer_limit_reached',
	'8': 'merchant_error',
	'1001': 'provider_unavailable',
	'1019': 'payer_timeout',
	'1032': 'payer_rejected',
	'1037': 'payer_timeout',
	'2001': 'payer_rejected',
	'2028': 'merchant_error',
	SFC_IC0003: 'merchant_error'
};

export const reasonOf = (resultCode: string): FailureReason =>
	reasonIn(REASONS, resultCode, 'provider_error');

/** The payer has not decided yet: never a failure. */
export const isBeingProcessed = (code: string | null, text: string | null): boolean =>
	code === '4999' || /being processed|still (under|in) process/i.test(text ?? '');

/** The token is invalid and the request was ignored: in practice HTTP 404 with the first of these codes. */
export const isTokenRefusal = (answer: OperatorResponse): boolean =>
	answer.status === 401 || namesToken(jsonObject(answer.text));

function namesToken(body: Record<string, unknown> | null): boolean {
	const code = textMember(body, 'errorCode') ?? '';
	const text = textMember(body, 'errorMessage') ?? '';
	return /^(404\.001\.03$|400\.003\.01$|401\.)/.test(code) || /invalid access token/i.test(text);
}

/** Wait after a refusal: a prompt is open for about a minute. */
const LOCK_SECONDS = 60;
const BUSY_SECONDS = 10;

/** Parses the response to a push or reversal. @param reference member that holds the operator's reference */
export function submitOutcome(outcome: AuthorisedOutcome, reference: string): SubmitOutcome {
	if (outcome.kind !== 'response') return unanswered('M-Pesa', outcome);
	const { status, text: raw } = outcome;
	const body = jsonObject(raw);
	const answered = status === 200 ? textMember(body, 'ResponseCode') : null;
	if (answered === '0') {
		return { kind: 'accepted', operatorReference: textMember(body, reference), raw };
	}
	if (answered) return refused('provider_error', textMember(body, 'ResponseDescription') ?? answered, raw);
	return refusalOf(outcome) ?? { kind: 'uncertain', raw };
}

/** Returns Daraja's words if it refuses the shortcode or its password; otherwise null. */
export function credentialsRefusal({ text }: OperatorResponse): string | null {
	const message = textMember(jsonObject(text), 'errorMessage') ?? '';
	return REFUSED_CREDENTIALS.test(message) ? message : null;
}

const REFUSED_CREDENTIALS =
	/merchant does not exist|wrong credentials|invalid (password|passkey|(business)?shortcode)/i;

/** Daraja's gateway (Apigee) also answers in its own form, which integrators report. */
const RATE_FAULT = /^policies\.ratelimit\./;

/** Returns the refusal if certainly nothing was queued; otherwise null. */
function refusalOf({ status, headers, text: raw }: OperatorResponse): SubmitOutcome | null {
	const body = jsonObject(raw);
	const code = textMember(body, 'errorCode') ?? '';
	const text = textMember(body, 'errorMessage') ?? '';
	const fault = textMember(member(member(body, 'fault'), 'detail'), 'errorcode') ?? '';
	const message = text || code || fault;
	// Another process's token ended ours twice in a row: wrong credentials get no token.
	if (code === '500.003.02' || status === 429 || RATE_FAULT.test(fault) || namesToken(body))
		return busy(message, raw, retryAfterSeconds(headers) ?? BUSY_SECONDS);
	if (code === '500.001.1001') {
		// One code has several meanings; only the text differs.
		if (/lock subscriber/i.test(text)) return busy(message, raw, LOCK_SECONDS);
		return REFUSED_CREDENTIALS.test(text) ? refused('merchant_error', message, raw) : null;
	}
	if (code === '500.003.03') return busy(message, raw, LOCK_SECONDS);
	if (/^400\./.test(code) && /phone ?number|partya|msisdn/i.test(text)) {
		return refused('payer_not_found', message, raw);
	}
	const isRefusal = /^(400|403|404|405)\./.test(code) || (code === '' && (status === 401 || status === 403));
	return isRefusal ? refused('merchant_error', message || `HTTP ${status}`, raw) : null;
}
