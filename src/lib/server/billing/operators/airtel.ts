import { type CountryCode, getCountryCallingCode } from 'libphonenumber-js/mobile';
import {
	constants,
	createCipheriv,
	createHmac,
	createPublicKey,
	publicEncrypt,
	randomBytes
} from 'node:crypto';
import { z } from 'zod';
import { toMajor } from '#lib/domain/money.ts';
import { ruleInMajor } from '#lib/domain/payment-methods.ts';
import type { Setting } from '../../config/setting.ts';
import { equalSecrets } from '../../platform/secrets.ts';
import {
	type AuthorisedOutcome,
	NO_HINT,
	type OperatorResponse,
	type TokenOutcome,
	busy,
	createClient,
	createTokens,
	formatCause,
	isForeignRefusal,
	member,
	parseObject,
	readRetryAfter,
	readText,
	refused,
	simplifyText,
	tokenResponse,
	unanswered,
	unavailable
} from './client.ts';
import {
	type AttemptReference,
	type CallbackHint,
	type FailureReason,
	type Installation,
	type OperatorAdapter,
	type OperatorDependencies,
	type PaymentRequest,
	type RefundRequest,
	type StatusOutcome,
	type SubmitOutcome,
	type ValuesOf,
	baseUrl,
	checkAddress,
	countryCode,
	credential,
	defineOperator,
	onOff
} from './operator.ts';

/** Airtel Money, Collection API ("USSD Push"). The portal holds one callback address for all payments. */

const version = z.enum(['v1', 'v2'], 'Use "v1" or "v2".');
const amount = z
	.string()
	.regex(/^\d{1,10}(\.\d{1,2})?$/, 'Use an amount such as "100".')
	.transform(Number)
	.optional();

const SETTINGS = {
	AIRTEL_BASE_URL: {
		schema: baseUrl,
		description:
			'Address of the API of your market, e.g. `https://openapi.airtel.ug`; Airtel’s test system is `https://openapiuat.airtel.ug`.'
	},
	AIRTEL_COUNTRY: {
		schema: countryCode,
		description: 'ISO 3166 country of the merchant account, e.g. `UG`. Only its numbers can pay.'
	},
	AIRTEL_CURRENCY: {
		schema: z.string().regex(/^[A-Z]{3}$/, 'Use an ISO 4217 code such as "UGX".'),
		description: 'ISO 4217 currency of the merchant account; the same as `CURRENCY`.'
	},
	AIRTEL_CLIENT_ID: {
		schema: credential,
		description: 'Client id of the application in Airtel’s portal.'
	},
	AIRTEL_CLIENT_SECRET: {
		schema: credential,
		description: 'Its client secret.'
	},
	AIRTEL_API_VERSION: {
		schema: version,
		default: 'v1',
		description: '`v2` where the market’s portal shows `/merchant/v2/payments/`.'
	},
	AIRTEL_REFUND_VERSION: {
		schema: version,
		default: 'v1',
		description: '`v2` where the portal shows `/standard/v2/payments/refund`.'
	},
	AIRTEL_MESSAGE_SIGNING: {
		schema: onOff,
		default: 'off',
		description: '`on` where the application has message signing (`x-signature`), as in Zambia.'
	},
	AIRTEL_ID_FORMAT: {
		schema: z.enum(['uuid', 'short'], 'Use "uuid" or "short".'),
		default: 'uuid',
		description:
			'How our reference is written as `transaction.id`: `uuid`, or `short` (25 letters and digits) where Airtel refuses dashes or long ids. Change it only while no payment is open.'
	},
	AIRTEL_LEADING_ZERO: {
		schema: onOff,
		default: 'off',
		description: '`on` where numbers are sent with the leading 0 (error `ESB000036` otherwise), as in Gabon.'
	},
	AIRTEL_DECIMALS: {
		schema: z.enum(['0', '2'], 'Use "0" or "2".').transform(Number),
		default: '2',
		description: 'Decimals that the market takes in an amount; `0` refuses prices with cents.'
	},
	AIRTEL_MIN_AMOUNT: {
		schema: amount,
		description:
			'Smallest payment that Airtel takes, e.g. `100`. Without it Airtel itself refuses smaller ones.'
	},
	AIRTEL_MAX_AMOUNT: {
		schema: amount,
		description: 'Largest payment that Airtel takes.'
	},
	AIRTEL_CALLBACK_KEY: {
		schema: credential.optional(),
		description:
			'Private key of callback authentication in Airtel’s portal. With it, callbacks without the right hash change nothing.'
	}
} as const satisfies Record<string, Setting>;

type AirtelValues = ValuesOf<typeof SETTINGS>;

const HOSTS = { real: /^openapi\.airtel\./, test: /^openapiuat\.airtel\./ };

function checkSettings(values: AirtelValues, installation: Installation) {
	const { AIRTEL_CURRENCY: taken, AIRTEL_MIN_AMOUNT: min = 0, AIRTEL_MAX_AMOUNT: max = Infinity } = values;
	const { currency } = installation;
	return [
		taken !== currency && `AIRTEL_CURRENCY: is ${taken}, but CURRENCY is ${currency}.`,
		min > max && 'AIRTEL_MIN_AMOUNT: is more than AIRTEL_MAX_AMOUNT.',
		...checkAddress('AIRTEL_BASE_URL', values.AIRTEL_BASE_URL, installation, HOSTS)
	];
}

export const airtel = defineOperator({
	id: 'airtel',
	name: 'Airtel Money',
	settings: SETTINGS,
	methods: () => ['airtel_money'],
	needsHttps: true,
	check: checkSettings,
	create: createAirtel,
	statement: {
		reference: ['External ID', 'External Transaction ID', 'Partner Transaction ID', 'Reference ID'],
		referenceStart: parseReference,
		providerReference: ['Airtel Money ID', 'Transaction ID', 'Txn ID'],
		amount: ['Transaction Amount', 'Amount'],
		status: {
			names: ['Transaction Status', 'Status'],
			settled: ['TS', 'Transaction Success', 'Success', 'Successful']
		}
	}
});

/** From one client's documentation; Airtel names no limit. */
const MAX_REFERENCE_LENGTH = 25;

interface AirtelContext {
	values: AirtelValues;
	client: AirtelClient;
	/** Digits, without `+`. */
	callingCode: string;
}

/**
 * Airtel Money collections (developers.airtel.africa, Collection APIs). `SUCCESS` for a payment only means that the
 * payer was prompted. The status read names no amount. A refund has neither our reference nor a readable state.
 */
function createAirtel(values: AirtelValues, dependencies: OperatorDependencies): OperatorAdapter {
	const client = createAirtelClient(values, dependencies);
	const callingCode = getCountryCallingCode(values.AIRTEL_COUNTRY as CountryCode);
	const context: AirtelContext = { values, client, callingCode };
	return {
		id: 'airtel',
		currency: values.AIRTEL_CURRENCY,
		capabilities: {
			usesPortalCallback: true,
			// Airtel recommends three minutes, but the buyer's page needs an earlier read.
			minStatusDelaySeconds: 20,
			// A status read may not know a queued payment for minutes.
			notFoundFinalSeconds: 300,
			// Airtel refuses a second request (ESB000041), but does not document from which moment on.
			refundsByTransaction: true,
			resubmitSameReferenceSafe: false
		},
		takesNumber: (phone) => phone.startsWith(`+${callingCode}`),
		amounts: () =>
			ruleInMajor(values.AIRTEL_CURRENCY, {
				decimals: values.AIRTEL_DECIMALS,
				min: values.AIRTEL_MIN_AMOUNT,
				max: values.AIRTEL_MAX_AMOUNT
			}),
		submit: (request) => submit(context, request),
		readStatus: (attempt) => readStatus(context, attempt),
		parseCallback: async ({ body }) => parseCallback(body, values.AIRTEL_CALLBACK_KEY),
		refund: (request) => refund(context, request),
		readRefund: (request) => readRefund(context, request),
		health: client.check
	};
}

async function submit(context: AirtelContext, request: PaymentRequest): Promise<SubmitOutcome> {
	const { values, client, callingCode } = context;
	const id = formatId(request.reference, values.AIRTEL_ID_FORMAT);
	const number = request.payerPhone.slice(1 + callingCode.length);
	const msisdn = values.AIRTEL_LEADING_ZERO === 'on' && !number.startsWith('0') ? `0${number}` : number;
	const market = { country: values.AIRTEL_COUNTRY, currency: values.AIRTEL_CURRENCY };
	const sent = await client.post(`/merchant/${values.AIRTEL_API_VERSION}/payments/`, {
		reference: textFor(request),
		subscriber: { ...market, msisdn },
		transaction: { amount: toMajor(request.amountMinor, request.currency), ...market, id }
	});
	return paymentOutcome(sent, id);
}

async function readStatus(
	{ values, client }: AirtelContext,
	{ reference, operatorReference }: Pick<AttemptReference, 'reference' | 'operatorReference'>
): Promise<StatusOutcome> {
	const id = operatorReference ?? formatId(reference, values.AIRTEL_ID_FORMAT);
	return statusOutcome(await client.get(`/standard/v1/payments/${encodeURIComponent(id)}`), id);
}

/**
 * Refunds the whole amount. Airtel takes no refund reference, so callers must send it at most once. Reads the
 * status first, so that an unpaid or refunded payment is not refunded.
 */
async function refund(context: AirtelContext, { payment }: RefundRequest): Promise<SubmitOutcome> {
	const before = await readStatus(context, payment);
	const raw = 'raw' in before ? before.raw : before.cause;
	const refuse = (message: string) => refused('merchant_error', message, `${message} ${raw}`);
	if (before.kind === 'unavailable' || before.kind === 'pending') {
		return busy('The payment could not be looked up before its refund.', raw);
	}
	if (before.kind !== 'succeeded' && before.kind !== 'not_found') {
		return refuse('Airtel no longer says that the payment is paid.');
	}
	const named = before.kind === 'succeeded' ? before.providerReference : null;
	const airtelMoneyId = payment.providerReference ?? named;
	if (airtelMoneyId === null) return refuse('The payment has no airtel_money_id.');
	if ((named ?? airtelMoneyId) !== airtelMoneyId) {
		return refuse(`Airtel names transaction ${named}, not ${airtelMoneyId}.`);
	}
	const path = `/standard/${context.values.AIRTEL_REFUND_VERSION}/payments/refund`;
	const sent = await context.client.post(path, { transaction: { airtel_money_id: airtelMoneyId } });
	return refundOutcome(sent, airtelMoneyId);
}

/**
 * `SUCCESS` is final: Airtel has no other confirmation. A lost response looks like a lost request, because
 * the payment reads `TS` before and after the refund.
 */
async function readRefund(
	context: AirtelContext,
	{ operatorReference, payment }: RefundRequest
): Promise<StatusOutcome> {
	if (operatorReference !== null) {
		const raw = JSON.stringify({ airtel_money_id: operatorReference, status: 'SUCCESS' });
		const paid = { providerReference: operatorReference, amountMinor: null, currency: null };
		return { kind: 'succeeded', ...paid, raw };
	}
	const now = await readStatus(context, payment);
	if (now.kind === 'unavailable') return now;
	const cause = `Airtel has not confirmed the refund, and has no state of refunds; it calls the payment ${now.kind.replace('_', ' ')}`;
	return { kind: 'unreadable', cause, ...('raw' in now && { raw: now.raw }) };
}

/**
 * The payer's text: the description and the start of our reference. It differs per payment, because Airtel
 * may detect duplicates by it (one client's documentation).
 */
function textFor({ description, reference }: Pick<PaymentRequest, 'description' | 'reference'>): string {
	const code = reference.slice(0, 8);
	const unquoted = description.replace(/['\u2019]/g, '');
	const words = simplifyText(unquoted, MAX_REFERENCE_LENGTH - code.length - 1, /[^A-Za-z0-9 -]+/g);
	return `${words} ${code}`.trim();
}

/** Default if the response names none: documented for most markets; others live longer. */
const USUAL_TOKEN_SECONDS = 180;
/** The key's expiry (`valid_upto`) has no time zone, so the key is fetched again after this time. */
const KEY_SECONDS = 600;

type AirtelClient = ReturnType<typeof createAirtelClient>;

/** Adds the token, the market and, if configured, a signature to requests. */
function createAirtelClient(values: AirtelValues, { http, clock, tokens }: OperatorDependencies) {
	const { AIRTEL_BASE_URL: baseUrl } = values;
	const client = createClient({
		...{ http, clock, tokens },
		baseUrl,
		headers: { accept: '*/*', 'x-country': values.AIRTEL_COUNTRY, 'x-currency': values.AIRTEL_CURRENCY },
		tokenRequest: {
			method: 'POST',
			url: `${baseUrl}/auth/oauth2/token`,
			headers: { accept: '*/*', 'content-type': 'application/json' },
			body: JSON.stringify({
				client_id: values.AIRTEL_CLIENT_ID,
				client_secret: values.AIRTEL_CLIENT_SECRET,
				grant_type: 'client_credentials'
			})
		},
		usualTokenSeconds: USUAL_TOKEN_SECONDS
	});
	const isSigned = values.AIRTEL_MESSAGE_SIGNING === 'on';
	const keys = createTokens(clock, async () => signingKey(await client.get('/v1/rsa/encryption-keys')));

	/** Sends once more only after a refused signature, because the key may be old: Airtel did nothing then. */
	async function post(path: string, body: object): Promise<AuthorisedOutcome> {
		if (!isSigned) return client.post(path, body);
		for (let attempt = 1; ; attempt += 1) {
			const key = await keys.get();
			if (key.kind !== 'token') return key;
			const sent = await client.post(path, body, signatureHeaders(JSON.stringify(body), key.value));
			if (sent.kind !== 'response' || !refusesSignature(sent)) return sent;
			keys.drop(key.value);
			if (attempt === 2) return sent;
		}
	}

	async function check(): Promise<string | null> {
		const noToken = await client.tokenProblem('AIRTEL_CLIENT_ID and AIRTEL_CLIENT_SECRET');
		if (noToken !== null || !isSigned) return noToken;
		const key = await keys.get();
		return key.kind === 'token'
			? null
			: `AIRTEL_MESSAGE_SIGNING: Airtel gives no signing key: ${formatCause(key)}.`;
	}

	return { get: client.get, post, check };
}

function signingKey(outcome: AuthorisedOutcome): TokenOutcome {
	const answer = tokenResponse(outcome);
	if (answer.kind !== 'response') return answer;
	const value = readText(member(parseObject(answer.text), 'data'), 'key') ?? '';
	return isKey(value)
		? { kind: 'token', value, expiresInSeconds: KEY_SECONDS }
		: { kind: 'unavailable', cause: 'the response has no signing key' };
}

function isKey(value: string): boolean {
	try {
		return rsaKey(value).asymmetricKeyType === 'rsa';
	} catch {
		return false;
	}
}

/**
 * Signs a message: the body is sent in clear, and again encrypted under an AES key that only Airtel can
 * decrypt. Source: Airtel's portal, Encryption (RSA/ECB/PKCS1Padding, AES/CBC/PKCS5Padding).
 * @param body the exact bytes sent
 * @param publicKey base64 of an SPKI structure, from `/v1/rsa/encryption-keys`
 */
function signatureHeaders(body: string, publicKey: string): Record<string, string> {
	const key = randomBytes(32);
	const iv = randomBytes(16);
	const cipher = createCipheriv('aes-256-cbc', key, iv);
	const signature = Buffer.concat([cipher.update(body, 'utf8'), cipher.final()]).toString('base64');
	const wrapped = publicEncrypt(
		{ key: rsaKey(publicKey), padding: constants.RSA_PKCS1_PADDING },
		Buffer.from(`${key.toString('base64')}:${iv.toString('base64')}`)
	);
	return { 'x-signature': signature, 'x-key': wrapped.toString('base64') };
}

/** @throws Error if it is not a key */
const rsaKey = (publicKey: string) =>
	createPublicKey({ key: Buffer.from(publicKey, 'base64'), format: 'der', type: 'spki' });

/**
 * Converts our reference to Airtel's `transaction.id` and back. `short` is for markets that refuse dashes or
 * more than 25 characters: the same 128 bits in base 36. The way back works for both formats.
 */
type IdFormat = 'uuid' | 'short';

const SHORT_LENGTH = 25;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const UUID_V4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

export function formatId(reference: string, format: IdFormat): string {
	if (format === 'uuid') return reference;
	return BigInt(`0x${reference.replaceAll('-', '')}`)
		.toString(36)
		.padStart(SHORT_LENGTH, '0');
}

/** Returns our reference; null if `idOf` did not create the id. */
function parseReference(id: string): string | null {
	const text = id.trim().toLowerCase();
	if (UUID.test(text)) return text;
	if (text.length !== SHORT_LENGTH || !/^[0-9a-z]+$/.test(text)) return null;
	const digits = [...text].reduce((sum, digit) => sum * 36n + BigInt(parseInt(digit, 36)), 0n);
	const hex = digits.toString(16).padStart(32, '0');
	const uuid = hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
	return UUID_V4.test(uuid) ? uuid : null;
}

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
	const body = parseObject(text);
	const status = member(body, 'status');
	const codes = [
		readText(status, 'result_code'),
		readText(status, 'response_code'),
		readText(status, 'code'),
		readText(body, 'status_code')
	];
	const transaction = member(member(body, 'data'), 'transaction');
	const message = readText(status, 'message') ?? readText(body, 'status_message') ?? '';
	return {
		codes: new Set(codes.flatMap((code) => (code === null ? [] : [code.toUpperCase()]))),
		message,
		said: `${message} ${readText(transaction, 'message') ?? ''}`,
		success: String(status['success']) === 'true',
		transaction
	};
}

/** The states of a payment. */
const CLAIMS: Readonly<Record<string, CallbackHint['claimed']>> = {
	TS: 'succeeded',
	TF: 'failed',
	TE: 'failed',
	TIP: 'pending',
	TI: 'pending',
	TA: 'pending'
};

const readState = (transaction: Record<string, unknown>) =>
	(readText(transaction, 'status') ?? '').toUpperCase();

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

function findReason({ codes, said }: Read, otherwise: FailureReason): FailureReason {
	const worded = WORDS.find(([pattern]) => pattern.test(said))?.[1];
	const coded = [...codes].flatMap((code) => REASONS[code] ?? [])[0];
	return worded ?? coded ?? otherwise;
}

/** Airtel also refuses with HTTP 200 and `success: false`. It is final if the state, a code or the words say why. */
function isFinalRefusal(status: number, { codes, said, success, transaction }: Read): boolean {
	const state = readState(transaction);
	if (status < 200 || status >= 300 || success || state === 'SUCCESS') return false;
	const isTold = WORDS.some(([pattern, reason]) => reason !== 'payer_timeout' && pattern.test(said));
	return isTold || CLAIMS[state] === 'failed' || [...codes].some((code) => FINAL.test(code));
}

function readOutcome(
	sent: AuthorisedOutcome,
	accepted: (read: Read) => { operatorReference: string } | null
): SubmitOutcome {
	if (sent.kind !== 'response') return unanswered('Airtel', sent);
	const { status, headers, text: raw } = sent;
	const answer = read(sent);
	const { codes, message } = answer;
	const some = (pattern: RegExp) => [...codes].some((code) => pattern.test(code));
	const words = message || readText(answer.transaction, 'message') || `HTTP ${status}`;
	const uncertain: SubmitOutcome = { kind: 'uncertain', raw };

	if (codes.has(DUPLICATE) || status === 409) return uncertain;
	const good = status >= 200 && status < 300 ? accepted(answer) : null;
	if (good) return { kind: 'accepted', ...good, raw };
	if (codes.has(ROUTER_TIMEOUT) || status === 408) return uncertain;
	if (some(ROUTER)) return refused('merchant_error', words, raw);
	if (status >= 500 || some(AMBIGUOUS)) return uncertain;
	if (status === 429) return busy(words, raw, readRetryAfter(headers) ?? 0);
	// About our credentials, whatever the text says ("token expired").
	if (status === 401 || status === 403) return refused('merchant_error', words, raw);
	const isRefusal = some(INVALID) || (status >= 400 && status < 500) || isFinalRefusal(status, answer);
	if (isForeignRefusal(sent) || !isRefusal) return uncertain;
	return refused(findReason(answer, 'merchant_error'), words, raw);
}

const refusesSignature = (answer: OperatorResponse): boolean =>
	read(answer).codes.has(SIGNATURE_MISMATCH) && readOutcome(answer, () => null).kind === 'refused';

/** Parses the response to a payment. `ESB000010` and success only mean that the payer was prompted. */
const paymentOutcome = (sent: AuthorisedOutcome, id: string): SubmitOutcome =>
	readOutcome(sent, ({ codes, success, transaction }) => {
		const isSaid = success || readState(transaction) === 'SUCCESS';
		const isQueued = codes.has('ESB000010') || codes.has('DP00800001006');
		return isSaid && isQueued && !codes.has('DP00800001000') ? { operatorReference: id } : null;
	});

/** Parses the response to a refund. `SUCCESS` is final, even with `success: false` (Airtel's sample). */
const refundOutcome = (sent: AuthorisedOutcome, airtelMoneyId: string): SubmitOutcome =>
	readOutcome(sent, ({ transaction }) =>
		/^(SUCCESS|TS|TR)$/.test(readState(transaction))
			? { operatorReference: readText(transaction, 'airtel_money_id') ?? airtelMoneyId }
			: null
	);

function statusOutcome(sent: AuthorisedOutcome, id: string): StatusOutcome {
	if (sent.kind !== 'response') return unavailable(formatCause(sent));
	const { status, text: raw } = sent;
	const answer = read(sent);
	const { codes, message, transaction } = answer;
	const state = readState(transaction);
	const isFine = status >= 200 && status < 300;
	if (isFine && state !== '') {
		const named = transaction['id'];
		// Some of Airtel's samples have `false` as the id.
		if (typeof named === 'string' && named !== '' && named.toLowerCase() !== id.toLowerCase()) {
			return unavailable('the answer is about another transaction');
		}
		switch (CLAIMS[state]) {
			case 'succeeded': {
				const providerReference = readText(transaction, 'airtel_money_id');
				return { kind: 'succeeded', providerReference, amountMinor: null, currency: null, raw };
			}
			case 'failed': {
				const words = readText(transaction, 'message') ?? message;
				const reason = state === 'TE' ? 'payer_timeout' : findReason(answer, 'provider_error');
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
	return unavailable(`HTTP ${status} ${said}`.trim(), readRetryAfter(sent.headers));
}

/** @param key of the portal, for authenticated callbacks; undefined if the portal has none */
function parseCallback(body: string, key: string | undefined): CallbackHint {
	const transaction = member(parseObject(body), 'transaction');
	const id = readText(transaction, 'id');
	const reference = id === null ? null : parseReference(id);
	const state = readText(transaction, 'status_code') ?? readText(transaction, 'status') ?? '';
	const hint: CallbackHint = {
		...NO_HINT,
		claimed: CLAIMS[state.toUpperCase()] ?? 'unknown',
		reference,
		operatorReference: reference === null || id === null ? null : id.toLowerCase(),
		providerReference: readText(transaction, 'airtel_money_id')
	};
	if (key === undefined) return hint;
	return { ...hint, authentic: isAuthentic(body, key) ? 'verified' : 'invalid' };
}

/** A transaction has no nested objects; its strings may contain braces. */
const TRANSACTION = /"transaction"\s*:\s*(\{(?:"(?:[^"\\]|\\.)*"|[^{}"])*\})/;
/** With a repeated member, the signed bytes and the parsed value could differ. */
const SIGNED_MEMBERS = /"(transaction|hash)"\s*:/g;
const HASH = /,\s*"hash"\s*:\s*"[^"]*"|"hash"\s*:\s*"[^"]*"\s*,\s*/;

/**
 * Checks the `hash` of an authenticated callback: Base64(HMAC-SHA256(payload, private key of the portal)).
 * Published clients define the payload differently, so each definition is tried.
 */
function isAuthentic(body: string, key: string): boolean {
	const { hash, ...others } = parseObject(body) ?? {};
	if (typeof hash !== 'string' || (body.match(SIGNED_MEMBERS)?.length ?? 0) > 2) return false;
	try {
		const { transaction } = others;
		const bytes = TRANSACTION.exec(body)?.[1];
		const payloads = [
			...(bytes !== undefined && isSame(bytes, transaction) ? [bytes] : []),
			...(transaction === undefined ? [] : [JSON.stringify(transaction)]),
			...[body.replace(HASH, ''), JSON.stringify(others)].filter((text) => isSame(text, others))
		];
		return payloads.some((payload) =>
			equalSecrets(createHmac('sha256', key).update(payload).digest('base64'), hash)
		);
	} catch {
		// Too deeply nested to serialise, so not from Airtel.
		return false;
	}
}

/** Signed bytes count only if they equal the parsed value. */
const isSame = (bytes: string, value: unknown): boolean =>
	JSON.stringify(parseObject(bytes)) === JSON.stringify(value);
