/** M-Pesa by Safaricom's Daraja API. Its id is `daraja`, because other operators of M-Pesa have other APIs. */
import { z } from 'zod';
import { readAmountWith, toMajor } from '#lib/domain/money.ts';
import type { AmountRule } from '#lib/domain/payment-methods.ts';
import type { Setting } from '../../config/setting.ts';
import {
	type AuthorisedOutcome,
	type Client,
	NO_HINT,
	type OperatorResponse,
	busy,
	createClient,
	formatCause,
	formatHttp,
	lookUpReason,
	member,
	parseObject,
	readRetryAfter,
	readText,
	refused,
	simplifyText,
	unanswered,
	unavailable
} from './client.ts';
import {
	type AttemptReference,
	type CallbackClaim,
	type CallbackHint,
	type FailureReason,
	type Installation,
	type MoneyTaken,
	type OperatorAdapter,
	type OperatorDependencies,
	type Paid,
	type PaymentRequest,
	type RawCallback,
	type RefundRequest,
	type StatusOutcome,
	type SubmitOutcome,
	type ValuesOf,
	baseUrl,
	checkAddress,
	credential,
	defineOperator,
	onOff
} from './operator.ts';

const shortcode = z.string().regex(/^[1-9]\d{4,6}$/, 'Use five to seven digits.');

const SETTINGS = {
	MPESA_BASE_URL: {
		schema: baseUrl,
		description: '`https://sandbox.safaricom.co.ke` or `https://api.safaricom.co.ke`.'
	},
	MPESA_CONSUMER_KEY: {
		schema: credential,
		description: "The app's consumer key, from Daraja's portal."
	},
	MPESA_CONSUMER_SECRET: {
		schema: credential,
		description: "The app's consumer secret."
	},
	MPESA_SHORTCODE: {
		schema: shortcode,
		description: 'PayBill number, or the store (head office) number of a till.'
	},
	MPESA_PASSKEY: {
		schema: credential,
		description: "The shortcode's passkey for M-Pesa Express."
	},
	MPESA_TILL: {
		schema: shortcode.optional(),
		description: 'Till number. Set: payers buy goods at this till. Not set: they pay the PayBill number.'
	},
	MPESA_PULL: {
		schema: onOff,
		default: 'off',
		description:
			"`on`: what a lost callback did not tell is searched in Daraja's list of settled payments. Register the shortcode for Pull Transactions first."
	},
	MPESA_INITIATOR: {
		schema: credential.optional(),
		description:
			'Name of the API operator that may reverse payments and ask for amounts. Without it there are no refunds.'
	},
	MPESA_SECURITY_CREDENTIAL: {
		schema: credential.regex(/^[A-Za-z0-9+/]+={0,2}$/, 'Use the Base64 text of the portal.').optional(),
		description: "The initiator's password, encrypted by Daraja's portal."
	}
} as const satisfies Record<string, Setting>;

type MpesaValues = ValuesOf<typeof SETTINGS>;

/** Daraja supports no other currency. */
const MPESA_CURRENCY = 'KES';

const HOSTS = { real: /^api\.safaricom\.co\.ke$/, test: /^sandbox\./ };

/** Daraja asks not to use these in addresses (page "Customer To Business Register URL"). */
const UNWANTED = /m-?pesa|safaricom|exec?|cmd|sql|query/i;

function checkSettings(values: MpesaValues, installation: Installation) {
	const { mode, currency, callbackUrl } = installation;
	const word = mode === 'live' ? UNWANTED.exec(callbackUrl)?.[0] : undefined;
	const { MPESA_INITIATOR: initiator, MPESA_SECURITY_CREDENTIAL: credential } = values;
	return [
		currency !== MPESA_CURRENCY && `CURRENCY: must be ${MPESA_CURRENCY} with M-Pesa.`,
		...checkAddress('MPESA_BASE_URL', values.MPESA_BASE_URL, installation, HOSTS),
		word !== undefined &&
			`CALLBACK_URL: must not contain "${word}", which M-Pesa refuses in callback addresses.`,
		initiator === undefined && credential !== undefined && 'MPESA_INITIATOR: is required for refunds.',
		initiator !== undefined &&
			credential === undefined &&
			"MPESA_SECURITY_CREDENTIAL: is required with MPESA_INITIATOR; Daraja's portal makes it from the initiator's password."
	];
}

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
	if (outcome.kind !== 'response') return `${host} does not answer (${formatCause(outcome)}).`;
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
async function readOther(context: MpesaContext, claim: CallbackClaim, own: StatusOutcome) {
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
	const request = push && 'raw' in push ? readText(parseObject(push.raw ?? ''), 'MerchantRequestID') : null;
	if (by === null || (receipt === null && request === null)) {
		return { kind: 'unreadable', cause: 'only a callback names the amount' };
	}
	const about = receipt !== null ? { TransactionID: receipt } : { OriginalConversationID: request ?? '' };
	const body = statusBody(values, by, about, { callbackUrl, mark: AMOUNT_MARK });
	const outcome = await daraja.post('/mpesa/transactionstatus/v1/query', body);
	return outcome.kind === 'response'
		? { kind: 'pending', raw: outcome.text }
		: unavailable(formatCause(outcome));
}

/** The query names neither receipt nor amount. */
async function readPush({ values, clock, daraja }: MpesaContext, id: string): Promise<StatusOutcome> {
	const outcome = await daraja.post('/mpesa/stkpushquery/v1/query', queryBody(values, id, clock.now()));
	if (outcome.kind !== 'response') return unavailable(formatCause(outcome));
	const { status, headers, text: raw } = outcome;
	const body = parseObject(raw);
	const code = readText(body, 'ResultCode') ?? '';
	const message = readText(body, 'ResultDesc') ?? readText(body, 'errorMessage');
	if (isBeingProcessed(code, message)) return { kind: 'pending', raw };
	const isOther = (readText(body, 'CheckoutRequestID') ?? id) !== id;
	if (status !== 200 || code === '' || isOther) {
		return unavailable(formatHttp(status, message ?? ''), readRetryAfter(headers));
	}
	if (code !== '0') return { kind: 'failed', reason: findReason(code), message: message ?? code, raw };
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
	return outcome.kind === 'response'
		? { kind: 'pending', raw: outcome.text }
		: unavailable(formatCause(outcome));
}

/**
 * Request bodies for Daraja (pages "M-Pesa Express", "Reversals", "Transaction Status", "Pull Transactions").
 * Field names are Daraja's, including "Reciever".
 */

/** Kenya has no daylight saving time. */
const NAIROBI_MS = 3 * 60 * 60 * 1000;
const MAX_DESCRIPTION = 13;
const MAX_REMARKS = 100;

/** In cents, which Daraja has no field for. */
const WHOLE_SHILLINGS: AmountRule = { stepMinor: 100, minMinor: 100, maxMinor: 250_000_00 };

/** `YYYY-MM-DD HH:mm:ss` in Nairobi. */
const dateTime = (epochMs: number): string =>
	new Date(epochMs + NAIROBI_MS).toISOString().slice(0, 19).replace('T', ' ');

function credentials(values: MpesaValues, now: number) {
	const time = dateTime(now).replace(/\D/g, '');
	const { MPESA_SHORTCODE, MPESA_PASSKEY } = values;
	return {
		BusinessShortCode: Number(MPESA_SHORTCODE),
		Password: Buffer.from(MPESA_SHORTCODE + MPESA_PASSKEY + time).toString('base64'),
		Timestamp: time
	};
}

/** For payers and statements: 12 hex digits of our reference (48 random bits), the field's maximum. */
const accountReference = (reference: string): string =>
	reference.replaceAll('-', '').slice(0, 12).toUpperCase();

/** Returns the start of our reference from an account reference; null if it is not ours. */
function referenceStart(account: string): string | null {
	const [, first, second] = /^([0-9a-f]{8})([0-9a-f]{4})$/.exec(account.trim().toLowerCase()) ?? [];
	return first === undefined || second === undefined ? null : `${first}-${second}`;
}

const shillings = (amountMinor: number): string => String(toMajor(amountMinor, MPESA_CURRENCY));

/** A shop's till, otherwise the PayBill number. */
const receiver = (values: MpesaValues): string => values.MPESA_TILL ?? values.MPESA_SHORTCODE;

const pushBody = (values: MpesaValues, request: PaymentRequest, now: number) => ({
	...credentials(values, now),
	TransactionType: values.MPESA_TILL === undefined ? 'CustomerPayBillOnline' : 'CustomerBuyGoodsOnline',
	Amount: shillings(request.amountMinor),
	PartyA: request.payerPhone.slice(1),
	PartyB: receiver(values),
	PhoneNumber: request.payerPhone.slice(1),
	CallBackURL: request.callbackUrl,
	AccountReference: accountReference(request.reference),
	TransactionDesc: simplifyText(request.description, MAX_DESCRIPTION) || 'Payment'
});

const queryBody = (values: MpesaValues, checkoutRequestId: string, now: number) => ({
	...credentials(values, now),
	CheckoutRequestID: checkoutRequestId
});

/** Marks in our callback address distinguish messages that look alike. */
const TIMEOUT_MARK = 'notice=timeout';
const STATUS_MARK = 'notice=status';
const AMOUNT_MARK = 'notice=amount';

const marked = (url: string, mark: string): string => `${url}${url.includes('?') ? '&' : '?'}${mark}`;

interface Initiator {
	Initiator: string;
	SecurityCredential: string;
}

function initiator(values: MpesaValues): Initiator | null {
	const { MPESA_INITIATOR: name, MPESA_SECURITY_CREDENTIAL: credential } = values;
	if (name === undefined || credential === undefined) return null;
	return { Initiator: name, SecurityCredential: credential };
}

const reversalBody = (
	values: MpesaValues,
	asking: Initiator,
	request: Pick<RefundRequest, 'reference' | 'amountMinor'> & { receipt: string; callbackUrl: string }
) => ({
	...asking,
	CommandID: 'TransactionReversal',
	TransactionID: request.receipt,
	Amount: shillings(request.amountMinor),
	ReceiverParty: receiver(values),
	RecieverIdentifierType: '11',
	ResultURL: request.callbackUrl,
	QueueTimeOutURL: marked(request.callbackUrl, TIMEOUT_MARK),
	Remarks: simplifyText(`Refund ${accountReference(request.reference)}`, MAX_REMARKS),
	Occasion: accountReference(request.reference)
});

/**
 * Queries a reversal, or a payment. Daraja sends the result to the callback address.
 * @param about what is known of it: its receipt, or the id that Daraja gave its request
 */
const statusBody = (
	values: MpesaValues,
	asking: Initiator,
	about: { TransactionID: string } | { OriginalConversationID: string },
	{ callbackUrl, mark }: { callbackUrl: string; mark: string }
) => ({
	...asking,
	CommandID: 'TransactionStatusQuery',
	...about,
	PartyA: receiver(values),
	IdentifierType: values.MPESA_TILL === undefined ? '4' : '2',
	ResultURL: marked(callbackUrl, mark),
	QueueTimeOutURL: marked(callbackUrl, TIMEOUT_MARK),
	Remarks: mark === STATUS_MARK ? 'Refund status' : 'Amount paid',
	Occasion: mark === STATUS_MARK ? 'Refund' : 'Payment'
});

const pullBody = (values: MpesaValues, from: number, to: number, offset: number) => ({
	ShortCode: receiver(values),
	StartDate: dateTime(from),
	EndDate: dateTime(to),
	OffSetValue: String(offset)
});

/** Default if the response names none (Daraja's page). */
const USUAL_TOKEN_SECONDS = 3_599;

function createMpesaClient(values: MpesaValues, { http, clock, tokens }: OperatorDependencies): Client {
	const { MPESA_BASE_URL: baseUrl, MPESA_CONSUMER_KEY: key, MPESA_CONSUMER_SECRET: secret } = values;
	const basic = Buffer.from(`${key}:${secret}`).toString('base64');
	const accept = 'application/json';
	return createClient({
		...{ http, clock, tokens },
		baseUrl,
		headers: { accept },
		tokenRequest: {
			method: 'GET',
			url: `${baseUrl}/oauth/v1/generate?grant_type=client_credentials`,
			headers: { accept, authorization: `Basic ${basic}` }
		},
		usualTokenSeconds: USUAL_TOKEN_SECONDS,
		isTokenRefusal
	});
}

/** Daraja keeps its list of settled payments for 48 hours. */
const KEPT_MS = 48 * 60 * 60 * 1000;
/** Tolerance for clock differences. */
const MARGIN_MS = 10 * 60 * 1000;
const MAX_PAGES = 20;

/**
 * Searches the settled payments ("Pull Transactions", for registered shortcodes) for the account reference, which payments
 * at a till lack: there it finds only the receipt of a callback. Returns null if it is not there with an amount, or the
 * list cannot be read.
 * @param receipt of a callback; null for any
 */
async function findTransaction(
	daraja: Client,
	values: MpesaValues,
	{ reference, submittedAt }: { reference: string; submittedAt: number | null },
	receipt: string | null,
	now: number
): Promise<(Paid & { raw: string }) | null> {
	const wanted = accountReference(reference);
	const from = Math.max(now - KEPT_MS, (submittedAt ?? 0) - MARGIN_MS);
	let offset = 0;
	for (let page = 0; page < MAX_PAGES; page += 1) {
		const outcome = await daraja.post(
			'/pulltransactions/v1/query',
			pullBody(values, from, now + MARGIN_MS, offset)
		);
		if (outcome.kind !== 'response' || outcome.status !== 200) return null;
		const list = parseObject(outcome.text)?.['Response'];
		const rows: unknown[] = Array.isArray(list) ? list.flat() : [];
		for (const row of rows) {
			const providerReference = readText(row, 'transactionId');
			const amountMinor = readAmountWith('.', readText(row, 'amount') ?? '', MPESA_CURRENCY);
			const account = readText(row, 'billreference')?.toUpperCase() ?? '';
			const isWanted = account === wanted || (account === '' && receipt !== null);
			if (!isWanted || !providerReference) continue;
			if (typeof amountMinor === 'string' || amountMinor <= 0) continue;
			// Somebody can also pay by hand with this reference.
			if (receipt !== null && providerReference !== receipt) continue;
			return { providerReference, amountMinor, currency: MPESA_CURRENCY, raw: JSON.stringify(row) };
		}
		if (rows.length === 0) return null;
		offset += rows.length;
	}
	return null;
}

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

const findReason = (resultCode: string): FailureReason => lookUpReason(REASONS, resultCode, 'provider_error');

/** The payer has not decided yet: never a failure. */
const isBeingProcessed = (code: string | null, text: string | null): boolean =>
	code === '4999' || /being processed|still (under|in) process/i.test(text ?? '');

/** The token is invalid and the request was ignored: in practice HTTP 404 with the first of these codes. */
const isTokenRefusal = (answer: OperatorResponse): boolean =>
	answer.status === 401 || namesToken(parseObject(answer.text));

function namesToken(body: Record<string, unknown> | null): boolean {
	const code = readText(body, 'errorCode') ?? '';
	const text = readText(body, 'errorMessage') ?? '';
	return /^(404\.001\.03$|400\.003\.01$|401\.)/.test(code) || /invalid access token/i.test(text);
}

/** Wait after a refusal: a prompt is open for about a minute. */
const LOCK_SECONDS = 60;
const BUSY_SECONDS = 10;

/** Parses the response to a push or reversal. @param reference member that holds the operator's reference */
export function submitOutcome(outcome: AuthorisedOutcome, reference: string): SubmitOutcome {
	if (outcome.kind !== 'response') return unanswered('M-Pesa', outcome);
	const { status, text: raw } = outcome;
	const body = parseObject(raw);
	const answered = status === 200 ? readText(body, 'ResponseCode') : null;
	if (answered === '0') {
		return { kind: 'accepted', operatorReference: readText(body, reference), raw };
	}
	if (answered) return refused('provider_error', readText(body, 'ResponseDescription') ?? answered, raw);
	return readRefusal(outcome) ?? { kind: 'uncertain', raw };
}

/** Returns Daraja's words if it refuses the shortcode or its password; otherwise null. */
function credentialsRefusal({ text }: OperatorResponse): string | null {
	const message = readText(parseObject(text), 'errorMessage') ?? '';
	return REFUSED_CREDENTIALS.test(message) ? message : null;
}

const REFUSED_CREDENTIALS =
	/merchant does not exist|wrong credentials|invalid (password|passkey|(business)?shortcode)/i;

/** Daraja's gateway (Apigee) also answers in its own form, which integrators report. */
const RATE_FAULT = /^policies\.ratelimit\./;

/** Returns the refusal if certainly nothing was queued; otherwise null. */
function readRefusal({ status, headers, text: raw }: OperatorResponse): SubmitOutcome | null {
	const body = parseObject(raw);
	const code = readText(body, 'errorCode') ?? '';
	const text = readText(body, 'errorMessage') ?? '';
	const fault = readText(member(member(body, 'fault'), 'detail'), 'errorcode') ?? '';
	const message = text || code || fault;
	// Another process's token ended ours twice in a row: wrong credentials get no token.
	if (code === '500.003.02' || status === 429 || RATE_FAULT.test(fault) || namesToken(body))
		return busy(message, raw, readRetryAfter(headers) ?? BUSY_SECONDS);
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

/**
 * Parses Daraja's callbacks: `Body.stkCallback` for a push, `Result` for a reversal or a query about one or about a payment
 * (marked in the address). Only the address authenticates the sender.
 */
function parseCallback(raw: RawCallback): CallbackHint {
	const body = parseObject(raw.body);
	const push = member(member(body, 'Body'), 'stkCallback');
	if (Object.keys(push).length > 0) return pushResult(push);
	const result = member(body, 'Result');
	// The queue timed out; the transaction may still happen.
	if (raw.path.includes(TIMEOUT_MARK)) return { ...NO_HINT, claimed: 'pending' };
	if (Object.keys(result).length === 0) return NO_HINT;
	// Names the request by the id of its response, which is not the one of its callback.
	if (raw.path.includes(AMOUNT_MARK)) return { ...statusResult(result), operatorReference: null };
	const hint = raw.path.includes(STATUS_MARK) ? statusResult(result) : reversalResult(result);
	return hint.claimed === 'pending' || namesSomething(hint) ? hint : NO_HINT;
}

/** A result without any name is no claim that could be kept, so it would be asked for again at once, and again. */
const namesSomething = ({ operatorReference, providerReference, amountMinor }: CallbackHint): boolean =>
	(operatorReference ?? providerReference ?? amountMinor) !== null;

function named(list: unknown, name: 'Name' | 'Key'): ReadonlyMap<string, string> {
	const entries = Array.isArray(list) ? list : [list];
	return new Map(
		entries.flatMap((entry) => {
			const key = readText(entry, name);
			const value = readText(entry, 'Value');
			return key === null || value === null ? [] : [[key.replaceAll(' ', ''), value] as const];
		})
	);
}

function money(text = ''): MoneyTaken {
	const amountMinor = readAmountWith('.', text, MPESA_CURRENCY);
	const isRead = typeof amountMinor === 'number' && amountMinor > 0;
	return isRead ? { amountMinor, currency: MPESA_CURRENCY } : { amountMinor: null, currency: null };
}

function claimed(code: string | null, text: string | null): CallbackHint['claimed'] {
	if (code === null) return 'unknown';
	if (code === '0') return 'succeeded';
	return isBeingProcessed(code, text) ? 'pending' : 'failed';
}

function pushResult(push: Record<string, unknown>): CallbackHint {
	const items = named(member(push, 'CallbackMetadata')['Item'], 'Name');
	return {
		...NO_HINT,
		claimed: claimed(readText(push, 'ResultCode'), readText(push, 'ResultDesc')),
		operatorReference: readText(push, 'CheckoutRequestID'),
		providerReference: items.get('MpesaReceiptNumber') ?? null,
		...money(items.get('Amount'))
	};
}

const parameters = (result: Record<string, unknown>): ReadonlyMap<string, string> =>
	named(member(result, 'ResultParameters')['ResultParameter'], 'Key');

/** The payment was already reversed, by a request whose answer was lost or by a person. */
const ALREADY_REVERSED = 'R000001';

function reversalResult(result: Record<string, unknown>): CallbackHint {
	const code = readText(result, 'ResultCode');
	return {
		...NO_HINT,
		claimed: code === ALREADY_REVERSED ? 'succeeded' : claimed(code, readText(result, 'ResultDesc')),
		operatorReference: readText(result, 'OriginatorConversationID'),
		providerReference: readText(result, 'TransactionID'),
		...money(parameters(result).get('Amount'))
	};
}

/** ResultCode is that of the query; the result of the reversal or payment is a parameter. */
function statusResult(result: Record<string, unknown>): CallbackHint {
	if (readText(result, 'ResultCode') !== '0') return { ...NO_HINT, claimed: 'pending' };
	const items = parameters(result);
	const status = items.get('TransactionStatus') ?? '';
	const isFailure = /^(failed|declined|cancelled|expired)$/i.test(status);
	return {
		...NO_HINT,
		claimed: /^completed$/i.test(status) ? 'succeeded' : isFailure ? 'failed' : 'pending',
		operatorReference: items.get('OriginatorConversationID') ?? null,
		providerReference: items.get('ReceiptNo') ?? null,
		...money(items.get('Amount'))
	};
}
