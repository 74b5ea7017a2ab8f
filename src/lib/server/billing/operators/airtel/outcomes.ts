import type { OperatorResponse, AuthorisedOutcome } from '../client.ts';
import { isForeignRefusal, jsonObject, member, retryAfterSeconds, textMember } from '../response.ts';
import type { CallbackHint, FailureReason, StatusOutcome, SubmitOutcome } from '../operator.ts';
import { busy, causeOf, refused, unanswered, unavailable } from '../outcomes.ts';

/**
 * Parses Airtel's responses (developers.airtel.africa, Collection APIs). Only `data.transaction.status` decides a
 * payment's state. Codes only give the reason: they contradict the state even in Airtel's samples.
 */

interface Read {
	codes: ReadonlySet<string>;
	message: string;
	/** All its words, of which some say why. */
	said: string;
	success: boolean;
	transaction: Record<string, unknown>;
}

/** Collects the product code, the gateway code and its other form (`status_code`). */
function read({ text }: OperatorResponse): Read {
	const body = jsonObject(text);
	const status = member(body, 'status');
	const codes = [
		textMember(status, 'result_code'),
		textMember(status, 'response_code'),
		textMember(status, 'code'),
		textMember(body, 'status_code')
	];
	const transaction = member(member(body, 'data'), 'transaction');
	const message = textMember(status, 'message') ?? textMember(body, 'status_message') ?? '';
	return {
		codes: new Set(codes.flatMap((code) => (code === null ? [] : [code.toUpperCase()]))),
		message,
		said: `${message} ${textMember(transaction, 'message') ?? ''}`,
		success: String(status['success']) === 'true',
		transaction
	};
}

/** The states of a payment. */
export const CLAIMS: Readonly<Record<string, CallbackHint['claimed']>> = {
	TS: 'succeeded',
	TF: 'failed',
	TE: 'failed',
	TIP: 'pending',
	TI: 'pending',
	TA: 'pending'
};

const stateOf = (transaction: Record<string, unknown>) =>
	(textMember(transaction, 'status') ?? '').toUpperCase();

/** The payment may be queued: read its status. `0000900`: "transaction might be in ambiguous state". */
const AMBIGUOUS = /^(ESB000001|ESB000004|ESB000014|0000900|DP0080000(1000|1001|1006|1024))$/;
const DUPLICATE = 'ESB000041';
const NOT_FOUND = ['ESB000045', 'DP00800001025'];
/** Refused by the gateway: the wallet never received it, unless the gateway gave up waiting for it. */
const ROUTER = /^ROUTER\d+$/;
const ROUTER_TIMEOUT = 'ROUTER117';
const INVALID = /^ESB0000(08|33|34|35|36|39)$/;
/** The payer or Airtel has decided. */
const FINAL = /^(ESB000011|DP0080000(1002|1003|1004|1005|1007|1008|1009|1010|1026|1029))$/;
const SIGNATURE_MISMATCH = 'DP00800001026';

/** Named as in the Ugandan portal. */
const REASONS: Readonly<Record<string, FailureReason>> = {
	DP00800001002: 'payer_rejected',
	DP00800001003: 'payer_limit_reached',
	DP00800001004: 'merchant_error',
	DP00800001005: 'payer_timeout',
	DP00800001007: 'insufficient_funds',
	DP00800001008: 'payer_rejected',
	DP00800001009: 'provider_error',
	DP00800001010: 'merchant_error',
	DP00800001024: 'payer_timeout',
	DP00800001026: 'merchant_error',
	DP00800001029: 'payer_timeout',
	ESB000033: 'payer_not_found',
	ESB000036: 'payer_not_found'
};

/** Text comes before codes, which differ between markets (1005: "Msisdn Not Found" or "no PIN entered"). */
const WORDS: readonly (readonly [RegExp, FailureReason])[] = [
	[/insufficient|not enough|low balance/i, 'insufficient_funds'],
	[/(incorrect|invalid|wrong) pin/i, 'payer_rejected'],
	[
		/(msisdn|subscriber|user|payer|number) (is )?(not (found|registered)|invalid)|invalid msisdn/i,
		'payer_not_found'
	],
	[/expired|timed? ?out/i, 'payer_timeout'],
	[/declined|cancell?ed|rejected/i, 'payer_rejected'],
	[/\blimits?\b/i, 'payer_limit_reached']
];

function reasonOf({ codes, said }: Read, otherwise: FailureReason): FailureReason {
	const worded = WORDS.find(([pattern]) => pattern.test(said))?.[1];
	const coded = [...codes].flatMap((code) => REASONS[code] ?? [])[0];
	return worded ?? coded ?? otherwise;
}

/** Airtel also refuses with HTTP 200 and `success: false`. It is final if the state, a code or the words say why. */
function isFinalRefusal(status: number, { codes, said, success, transaction }: Read): boolean {
	const state = stateOf(transaction);
	if (status < 200 || status >= 300 || success || state === 'SUCCESS') return false;
	const isTold = WORDS.some(([pattern, reason]) => reason !== 'payer_timeout' && pattern.test(said));
	return isTold || CLAIMS[state] === 'failed' || [...codes].some((code) => FINAL.test(code));
}

function outcomeOf(
	sent: AuthorisedOutcome,
	accepted: (read: Read) => { operatorReference: string } | null
): SubmitOutcome {
	if (sent.kind !== 'response') return unanswered('Airtel', sent);
	const { status, headers, text: raw } = sent;
	const answer = read(sent);
	const { codes, message } = answer;
	const some = (pattern: RegExp) => [...codes].some((code) => pattern.test(code));
	const words = message || textMember(answer.transaction, 'message') || `HTTP ${status}`;
	const uncertain: SubmitOutcome = { kind: 'uncertain', raw };

	if (codes.has(DUPLICATE) || status === 409) return uncertain;
	const good = status >= 200 && status < 300 ? accepted(answer) : null;
	if (good) return { kind: 'accepted', ...good, raw };
	if (codes.has(ROUTER_TIMEOUT) || status === 408) return uncertain;
	if (some(ROUTER)) return refused('merchant_error', words, raw);
	if (status >= 500 || some(AMBIGUOUS)) return uncertain;
	if (status === 429) return busy(words, raw, retryAfterSeconds(headers) ?? 0);
	// About our credentials, whatever the text says ("token expired").
	if (status === 401 || status === 403) return refused('merchant_error', words, raw);
	const isRefusal = some(INVALID) || (status >= 400 && status < 500) || isFinalRefusal(status, answer);
	if (isForeignRefusal(sent) || !isRefusal) return uncertain;
	return refused(reasonOf(answer, 'merchant_error'), words, raw);
}

export const refusesSignature = (answer: OperatorResponse): boolean =>
	read(answer).codes.has(SIGNATURE_MISMATCH) && outcomeOf(answer, () => null).kind === 'refused';

/** Parses the response to a payment. `ESB000010` and success only mean that the payer was prompted. */
export const paymentOutcome = (sent: AuthorisedOutcome, id: string): SubmitOutcome =>
	outcomeOf(sent, ({ codes, success, transaction }) => {
		const isSaid = success || stateOf(transaction) === 'SUCCESS';
		const isQueued = codes.has('ESB000010') || codes.has('DP00800001006');
		return isSaid && isQueued && !codes.has('DP00800001000') ? { operatorReference: id } : null;
	});

/** Parses the response to a refund. `SUCCESS` is final, even with `success: false` (Airtel's sample). */
export const refundOutcome = (sent: AuthorisedOutcome, airtelMoneyId: string): SubmitOutcome =>
	outcomeOf(sent, ({ transaction }) =>
		/^(SUCCESS|TS|TR)$/.test(stateOf(transaction))
			? { operatorReference: textMember(transaction, 'airtel_money_id') ?? airtelMoneyId }
			: null
	);

export function statusOutcome(sent: AuthorisedOutcome, id: string): StatusOutcome {
	if (sent.kind !== 'response') return unavailable(causeOf(sent));
	const { status, text: raw } = sent;
	const answer = read(sent);
	const { codes, message, transaction } = answer;
	const state = stateOf(transaction);
	const isFine = status >= 200 && status < 300;
	if (isFine && state !== '') {
		const named = transaction['id'];
		// Some of Airtel's samples have `false` as the id.
		if (typeof named === 'string' && named !== '' && named.toLowerCase() !== id.toLowerCase()) {
			return unavailable('the answer is about another transaction');
		}
		switch (CLAIMS[state]) {
			case 'succeeded': {
				const providerReference = textMember(transaction, 'airtel_money_id');
				return { kind: 'succeeded', providerReference, amountMinor: null, currency: null, raw };
			}
			case 'failed': {
				const words = textMember(transaction, 'message') ?? message;
				const reason = state === 'TE' ? 'payer_timeout' : reasonOf(answer, 'provider_error');
				return { kind: 'failed', reason, message: words === '' ? state : words, raw };
			}
			case 'pending':
				return { kind: 'pending', raw };
			default:
				return unavailable(`unknown state ${state.slice(0, 20)}`);
		}
	}
	if (status < 500 && NOT_FOUND.some((code) => codes.has(code))) return { kind: 'not_found', raw };
	const said = [...codes].join(' ');
	return unavailable(`HTTP ${status} ${said}`.trim(), retryAfterSeconds(sent.headers));
}
