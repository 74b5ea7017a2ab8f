import type { Client } from '../client.ts';
import { defineOperator, type OperatorDependencies } from '../definition.ts';
import { httpText, jsonObject, retryAfterSeconds, textMember } from '../response.ts';
import type {
	AttemptReference,
	CallbackClaim,
	OperatorAdapter,
	RefundRequest,
	StatusOutcome,
	SubmitOutcome
} from '../operator.ts';
import { busy, causeOf, unavailable } from '../outcomes.ts';
import { parseCallback } from './callback.ts';
import { createMpesaClient } from './client.ts';
import { findTransaction } from './pull.ts';
import { credentialsRefusal, isBeingProcessed, reasonOf, submitOutcome } from './outcomes.ts';
import { checkSettings, MPESA_CURRENCY, SETTINGS, type MpesaValues } from './settings.ts';
import {
	initiator,
	pushBody,
	queryBody,
	AMOUNT_MARK,
	referenceStart,
	reversalBody,
	STATUS_MARK,
	statusBody,
	WHOLE_SHILLINGS,
	type Initiator
} from './requests.ts';

/**
 * Safaricom Daraja, M-Pesa Express (page of that name on developer.safaricom.co.ke). The id is not `mpesa`:
 * it is part of callback addresses, and Daraja advises against its own names there.
 */
export const mpesa = defineOperator({
	id: 'daraja',
	name: 'M-Pesa Express (Daraja)',
	settings: SETTINGS,
	methods: () => ['mpesa'],
	needsHttps: true,
	check: checkSettings,
	create: createMpesa,
	// Names of the organisation portal's statement, then of Pull Transactions.
	statement: {
		reference: ['A/C No.', 'Account No.', 'billreference'],
		referenceStart,
		providerReference: ['Receipt No.', 'transactionId'],
		amount: ['Paid In', 'Amount'],
		status: { names: ['Transaction Status'], settled: ['Completed'] }
	}
});

interface MpesaContext {
	values: MpesaValues;
	clock: OperatorDependencies['clock'];
	daraja: Client;
}

/**
 * M-Pesa Express (STK push). Daraja takes no reference of ours: the CheckoutRequestID of the response or
 * callback identifies a push. The status read has neither amount nor receipt; the callback has both. Only the
 * read, or the list of settled payments, decides whether the money moved.
 */
function createMpesa(values: MpesaValues, dependencies: OperatorDependencies): OperatorAdapter {
	const daraja = createMpesaClient(values, dependencies);
	const { clock } = dependencies;
	const context: MpesaContext = { values, clock, daraja };
	const by = initiator(values);
	return {
		id: 'daraja',
		currency: MPESA_CURRENCY,
		capabilities: {
			callbackAnswer: { ResultCode: 0, ResultDesc: 'Accepted' },
			minStatusDelaySeconds: 15,
			refundsReportedByCallback: true,
			refundsByTransaction: true,
			resubmitSameReferenceSafe: false
		},
		takesNumber: (phone) => /^\+254[17]\d{8}$/.test(phone),
		amounts: () => WHOLE_SHILLINGS,
		async submit(request) {
			const body = pushBody(values, request, clock.now());
			return submitOutcome(await daraja.post('/mpesa/stkpush/v1/processrequest', body), 'CheckoutRequestID');
		},
		readStatus: (attempt) => readStatus(context, attempt),
		readAmount: (attempt) => readAmount(context, by, attempt),
		parseCallback: async (raw) => parseCallback(raw),
		...(by && {
			refund: (request) => refund(context, by, request),
			readRefund: (request) => readRefund(context, by, request)
		}),
		health: () => healthProblem(context)
	};
}

/** An id of the right form that no push has. */
const INVENTED_PUSH = `ws_CO_${'0'.repeat(26)}`;

/** The token says nothing about shortcode and passkey, so this also queries a push that does not exist. */
async function healthProblem({ values, clock, daraja }: MpesaContext): Promise<string | null> {
	const noToken = await daraja.tokenProblem('MPESA_CONSUMER_KEY and MPESA_CONSUMER_SECRET');
	if (noToken !== null) return noToken;
	const { host } = new URL(values.MPESA_BASE_URL);
	const query = queryBody(values, INVENTED_PUSH, clock.now());
	const outcome = await daraja.post('/mpesa/stkpushquery/v1/query', query);
	if (outcome.kind !== 'response') return `${host} does not answer (${causeOf(outcome)}).`;
	const text = credentialsRefusal(outcome);
	return text === null ? null : `${host} refuses MPESA_SHORTCODE or MPESA_PASSKEY (${text}).`;
}

/** How long the list is searched for a push whose callback was lost. Later the daily statement shows it. */
const UNHEARD_MS = 60 * 60 * 1000;

async function readStatus(context: MpesaContext, attempt: AttemptReference): Promise<StatusOutcome> {
	const { claim } = attempt;
	const id = attempt.operatorReference ?? claim?.operatorReference ?? null;
	if (id === null) {
		// No status read is possible, but the list of settled payments may contain the push.
		const listed = await findPulled(context, attempt);
		if (!listed) return { kind: 'unreadable', cause: 'the CheckoutRequestID was lost with its answer' };
		return { kind: 'succeeded', ...listed };
	}
	// A callback of another push says nothing about this one.
	const own = claim !== null && (claim.operatorReference ?? id) === id ? claim : null;
	const receipt = own?.providerReference ?? null;
	const read = await readPush(context, id);
	if (read.kind === 'succeeded') {
		const paid = receipt === null ? await findPulled(context, attempt) : own;
		const amountMinor = paid?.amountMinor ?? own?.amountMinor ?? null;
		const currency = amountMinor === null ? null : MPESA_CURRENCY;
		const providerReference = paid?.providerReference ?? null;
		return { ...read, operatorReference: id, providerReference, amountMinor, currency };
	}
	if (own === null && claim?.claimed === 'succeeded') return readOther(context, claim, read);
	// The query can be down, or contradict a callback or a lost one, when the list shows the payment as settled.
	const isUnheard = own === null && read.kind === 'failed' && isYoung(context, attempt);
	const listed = receipt !== null || isUnheard ? await findPulled(context, attempt, receipt) : null;
	if (!listed) return read;
	return { kind: 'succeeded', ...listed, ...(receipt !== null && { operatorReference: id }) };
}

/** Each read of the list takes calls from a quota that payments share. */
const isYoung = ({ clock }: MpesaContext, { submittedAt }: AttemptReference): boolean =>
	submittedAt !== null && clock.now() - submittedAt < UNHEARD_MS;

/** A push was sent again although Daraja had queued the first one, and the payer approved that one. */
async function readOther(
	context: MpesaContext,
	claim: CallbackClaim,
	own: StatusOutcome
): Promise<StatusOutcome> {
	const { operatorReference, providerReference, amountMinor, currency } = claim;
	if (operatorReference === null) return own;
	const other = await readPush(context, operatorReference);
	if (other.kind === 'succeeded') {
		return { ...other, operatorReference, providerReference, amountMinor, currency };
	}
	return own.kind === 'failed' ? other : own;
}

/** The list of settled payments tells the amount at once; a query, by a callback. */
async function readAmount(
	context: MpesaContext,
	by: Initiator | null,
	attempt: AttemptReference & { callbackUrl: string }
): Promise<StatusOutcome> {
	const { values, daraja } = context;
	const { claim, operatorReference, callbackUrl } = attempt;
	const listed = await findPulled(context, attempt);
	if (listed) return { kind: 'succeeded', ...listed };
	const receipt = claim?.providerReference ?? null;
	const push = operatorReference === null ? null : await readPush(context, operatorReference);
	const request = push && 'raw' in push ? textMember(jsonObject(push.raw ?? ''), 'MerchantRequestID') : null;
	if (by === null || (receipt === null && request === null)) {
		return { kind: 'unreadable', cause: 'only a callback names the amount' };
	}
	const about = receipt !== null ? { TransactionID: receipt } : { OriginalConversationID: request ?? '' };
	const body = statusBody(values, by, about, { callbackUrl, mark: AMOUNT_MARK });
	const outcome = await daraja.post('/mpesa/transactionstatus/v1/query', body);
	return outcome.kind === 'response' ? { kind: 'pending', raw: outcome.text } : unavailable(causeOf(outcome));
}

/** The query names neither receipt nor amount. */
async function readPush({ values, clock, daraja }: MpesaContext, id: string): Promise<StatusOutcome> {
	const outcome = await daraja.post('/mpesa/stkpushquery/v1/query', queryBody(values, id, clock.now()));
	if (outcome.kind !== 'response') return unavailable(causeOf(outcome));
	const { status, headers, text: raw } = outcome;
	const body = jsonObject(raw);
	const code = textMember(body, 'ResultCode') ?? '';
	const message = textMember(body, 'ResultDesc') ?? textMember(body, 'errorMessage');
	if (isBeingProcessed(code, message)) return { kind: 'pending', raw };
	const isOther = (textMember(body, 'CheckoutRequestID') ?? id) !== id;
	if (status !== 200 || code === '' || isOther) {
		return unavailable(httpText(status, message ?? ''), retryAfterSeconds(headers));
	}
	if (code !== '0') return { kind: 'failed', reason: reasonOf(code), message: message ?? code, raw };
	return { kind: 'succeeded', providerReference: null, amountMinor: null, currency: null, raw };
}

const findPulled = async (
	{ values, clock, daraja }: MpesaContext,
	payment: { reference: string; submittedAt: number | null },
	receipt: string | null = null
) => (values.MPESA_PULL === 'on' ? findTransaction(daraja, values, payment, receipt, clock.now()) : null);

async function refund(context: MpesaContext, by: Initiator, request: RefundRequest): Promise<SubmitOutcome> {
	const { reference, providerReference } = request.payment;
	const receipt =
		providerReference ?? (await findPulled(context, { reference, submittedAt: null }))?.providerReference;
	if (receipt == null) return busy('The receipt is not known yet: it comes with the callback.');
	const body = reversalBody(context.values, by, { ...request, receipt });
	const outcome = await context.daraja.post('/mpesa/reversal/v1/request', body);
	return submitOutcome(outcome, 'OriginatorConversationID');
}

/** Daraja sends a reversal's result only by callback. Until it arrives, this asks for it again. */
async function readRefund(
	{ values, daraja }: MpesaContext,
	by: Initiator,
	{ claim, operatorReference, callbackUrl }: RefundRequest
): Promise<StatusOutcome> {
	if (claim) {
		const { claimed, providerReference, amountMinor, currency } = claim;
		const raw = JSON.stringify({ claimed, receipt: providerReference });
		if (claimed === 'failed') {
			return { kind: 'failed', reason: 'merchant_error', message: 'The reversal was refused.', raw };
		}
		return { kind: 'succeeded', providerReference, amountMinor, currency, raw };
	}
	if (operatorReference === null) {
		return { kind: 'unreadable', cause: 'the id of the reversal was lost with its answer' };
	}
	const about = { OriginalConversationID: operatorReference };
	const body = statusBody(values, by, about, { callbackUrl, mark: STATUS_MARK });
	const outcome = await daraja.post('/mpesa/transactionstatus/v1/query', body);
	return outcome.kind === 'response' ? { kind: 'pending', raw: outcome.text } : unavailable(causeOf(outcome));
}
