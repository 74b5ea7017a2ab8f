import type { OperatorDependencies } from '../definition.ts';
import { jsonObject, retryAfterSeconds, textMember } from '../http.ts';
import type {
	AttemptReference,
	OperatorAdapter,
	RefundReference,
	RefundRequest,
	StatusOutcome,
	SubmitOutcome
} from '../operator.ts';
import { readCallback } from './callback.ts';
import { createDaraja } from './daraja.ts';
import { findSettled } from './pull.ts';
import { isBeingProcessed, reasonOf, submitOutcome } from './results.ts';
import { MPESA_CURRENCY, type MpesaValues } from './values.ts';
import { initiator, MAX_SHILLINGS, pushBody, queryBody, reversalBody, statusBody } from './wire.ts';

/**
 * M-Pesa Express (STK push). Daraja accepts no reference of ours: a push is identified by the CheckoutRequestID of its
 * response or, if that was lost, of its callback. The status read has neither amount nor receipt; both come from the
 * callback, while only the read decides whether the money moved.
 */
export function createMpesa(values: MpesaValues, dependencies: OperatorDependencies): OperatorAdapter {
	const { clock } = dependencies;
	const daraja = createDaraja(values, dependencies);
	const asking = initiator(values);

	function validate({
		amountMinor,
		currency,
		payerPhone
	}: Parameters<OperatorAdapter['validate']>[0]): string[] {
		const problems: string[] = [];
		if (currency !== MPESA_CURRENCY) problems.push('M-Pesa carries Kenyan shillings only.');
		else if (amountMinor <= 0 || amountMinor % 100 !== 0)
			problems.push('M-Pesa carries whole shillings only.');
		else if (amountMinor > MAX_SHILLINGS * 100) {
			problems.push(`M-Pesa carries at most KES ${MAX_SHILLINGS.toLocaleString('en')} at once.`);
		}
		if (!takesNumber(payerPhone)) problems.push('M-Pesa takes Kenyan mobile numbers only.');
		return problems;
	}

	async function readStatus(attempt: AttemptReference): Promise<StatusOutcome> {
		const { claim } = attempt;
		const id = attempt.operatorReference ?? claim?.operatorReference ?? null;
		if (id === null) return searchSettled(attempt);
		// A callback of another push says nothing about this one.
		const own = claim !== null && (claim.operatorReference ?? id) === id ? claim : null;

		const outcome = await daraja.post('/mpesa/stkpushquery/v1/query', queryBody(values, id, clock.now()));
		if (outcome.kind === 'refused') return unavailable(`credentials refused (HTTP ${outcome.status})`);
		if (outcome.kind !== 'answer') return unavailable(outcome.cause);
		const { status, headers, text } = outcome;
		const body = jsonObject(text);
		const code = textMember(body, 'ResultCode') ?? '';
		const message = textMember(body, 'ResultDesc') ?? textMember(body, 'errorMessage');
		if (isBeingProcessed(code, message)) return { kind: 'pending', raw: text };
		const isOther = (textMember(body, 'CheckoutRequestID') || id) !== id;
		if (status !== 200 || code === '' || isOther) {
			return unavailable(`HTTP ${status} ${message ?? ''}`.trim(), retryAfterSeconds(headers));
		}
		if (code === '0') {
			const told = own?.providerReference ? own : await settledRow(attempt);
			const amountMinor = told?.amountMinor ?? own?.amountMinor ?? null;
			return {
				kind: 'succeeded',
				providerReference: told?.providerReference ?? null,
				amountMinor,
				currency: amountMinor === null ? null : MPESA_CURRENCY,
				at: null,
				raw: text
			};
		}
		if (claim?.claimed === 'succeeded' && claim.providerReference !== null) {
			const told = `The callback told of receipt ${claim.providerReference}, the query of failure ${code}.`;
			return { kind: 'contradiction', message: told, raw: text };
		}
		return { kind: 'failed', reason: reasonOf(code), message: message ?? code, raw: text };
	}

	/** No status read is possible; the list of settled payments may contain the push. */
	async function searchSettled(attempt: AttemptReference): Promise<StatusOutcome> {
		const found = await settledRow(attempt);
		if (!found) return { kind: 'unreadable', cause: 'the CheckoutRequestID was lost with its answer' };
		return { kind: 'succeeded', ...found, currency: MPESA_CURRENCY, at: null };
	}

	const settledRow = async (payment: { reference: string; submittedAt: number | null }) =>
		values.MPESA_PULL === 'on' ? findSettled(daraja, values, payment, clock.now()) : null;

	async function refund(request: RefundRequest): Promise<SubmitOutcome> {
		const { payment } = request;
		const { reference } = payment;
		const receipt =
			payment.providerReference ?? (await settledRow({ reference, submittedAt: null }))?.providerReference;
		if (asking === null) {
			const message = 'MPESA_INITIATOR is not set.';
			return { kind: 'refused', reason: 'merchant_error', message, retryable: false, raw: message };
		}
		if (receipt === undefined) {
			const message = 'The receipt is not known yet: it comes with the callback.';
			return { kind: 'refused', reason: 'provider_busy', message, retryable: true, raw: message };
		}
		const body = reversalBody(values, asking, { ...request, receipt });
		const outcome = await daraja.post('/mpesa/reversal/v1/request', body);
		return submitOutcome(outcome, 'OriginatorConversationID');
	}

	/**
	 * The result of a reversal is only sent to its callback address. Until it arrives, Daraja is asked to send it again.
	 */
	async function readRefund(refund: RefundReference): Promise<StatusOutcome> {
		const { claim, operatorReference, callbackUrl } = refund;
		if (claim) {
			const raw = JSON.stringify({ claimed: claim.claimed, receipt: claim.providerReference });
			if (claim.claimed === 'failed') {
				return { kind: 'failed', reason: 'merchant_error', message: 'The reversal was refused.', raw };
			}
			const { providerReference, amountMinor, currency } = claim;
			return { kind: 'succeeded', providerReference, amountMinor, currency, at: null, raw };
		}
		if (operatorReference === null) {
			return { kind: 'unreadable', cause: 'the id of the reversal was lost with its answer' };
		}
		if (asking !== null && callbackUrl !== undefined) {
			const body = statusBody(values, asking, { conversation: operatorReference, callbackUrl });
			const outcome = await daraja.post('/mpesa/transactionstatus/v1/query', body);
			if (outcome.kind !== 'answer') {
				return unavailable(outcome.kind === 'refused' ? 'credentials refused' : outcome.cause);
			}
			return { kind: 'pending', raw: outcome.text };
		}
		return { kind: 'pending', raw: 'waiting for the result' };
	}

	return {
		id: 'daraja',
		capabilities: {
			clientReference: 'none',
			statusByOurReference: false,
			statusReturnsAmount: false,
			callback: {
				methods: ['POST'],
				authenticity: 'none',
				perRequestUrl: true,
				answer: { ResultCode: 0, ResultDesc: 'Accepted' }
			},
			refund: asking === null ? 'none' : 'full',
			payerCheck: false,
			// The prompt is open for about a minute; code 17 and the subscriber's lock last up to two minutes.
			approvalWindowSeconds: 2 * 60,
			minStatusDelaySeconds: 15,
			resubmitSameReferenceSafe: false
		},
		takesNumber,
		validate,
		async submit(request) {
			const outcome = await daraja.post(
				'/mpesa/stkpush/v1/processrequest',
				pushBody(values, request, clock.now())
			);
			return submitOutcome(outcome, 'CheckoutRequestID');
		},
		readStatus,
		parseCallback: async (raw) => readCallback(raw),
		...(asking === null ? {} : { refund, readRefund }),
		health: () => daraja.health()
	};
}

const takesNumber = (phone: string): boolean => /^\+254[17]\d{8}$/.test(phone);

const unavailable = (cause: string, retryAfter: number | null = null): StatusOutcome => ({
	kind: 'unavailable',
	cause,
	retryAfterSeconds: retryAfter
});
