import { type CountryCode, getCountryCallingCode } from 'libphonenumber-js/mobile';
import { z } from 'zod';
import { CURRENCIES, readAmountWith, toMajor } from '#lib/domain/money.ts';
import { ANY_AMOUNT } from '#lib/domain/payment-methods.ts';
import type { Setting } from '../../config/setting.ts';
import {
	type AuthorisedOutcome,
	type Client,
	NO_HINT,
	type OperatorResponse,
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
	unaccepted,
	unanswered,
	unavailable
} from './client.ts';
import {
	type CallbackHint,
	type FailureReason,
	type Installation,
	type MoneyTaken,
	type OperatorAdapter,
	type OperatorDependencies,
	type PaymentRequest,
	type PayoutRequest,
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

/** MTN MoMo: Collections (request to pay) for payments, Disbursements for refunds and payouts (momodeveloper.mtn.com). */

const SETTINGS = {
	MTN_BASE_URL: {
		schema: baseUrl,
		description:
			'Address of the API: `https://sandbox.momodeveloper.mtn.com`, or that of your market, e.g. `https://proxy.momoapi.mtn.com`.'
	},
	MTN_TARGET_ENVIRONMENT: {
		schema: z.string().regex(/^(sandbox|mtn[a-z]+)$/, 'Use "sandbox" or a market such as "mtnuganda".'),
		description: '`sandbox`, or your market: `mtnuganda`, `mtnghana`, `mtnrwanda` … (X-Target-Environment).'
	},
	MTN_API_USER: {
		schema: z.uuid('Use the UUID of the API user.'),
		description: 'API user of Collections, a UUID.'
	},
	MTN_API_KEY: { schema: credential, description: "That API user's key." },
	MTN_SUBSCRIPTION_KEY: {
		schema: credential,
		description: 'Subscription key of the product Collections.'
	},
	MTN_CURRENCY: {
		schema: z.enum(CURRENCIES).optional(),
		description:
			'Currency on the wire. Default: `CURRENCY`; `EUR` in the sandbox, which takes no other and whose money is not real.'
	},
	MTN_COUNTRY: {
		schema: countryCode.optional(),
		description: "Country of the payers. Default: the market's; the sandbox takes every number."
	},
	MTN_CALLBACKS: {
		schema: onOff,
		default: 'on',
		description:
			'`on`: MTN calls back, in its sandbox to `http:` addresses only, in a market to `https:` only. `off`: MTN is only asked.'
	},
	MTN_DISBURSEMENT_SUBSCRIPTION_KEY: {
		schema: credential.optional(),
		description:
			'Subscription key of the product Disbursements: refunds and payouts are possible when it is set.'
	},
	MTN_DISBURSEMENT_API_USER: {
		schema: z.uuid('Use the UUID of the API user.').optional(),
		description:
			'API user of Disbursements. Default: that of Collections, which works only if MTN made it for both products.'
	},
	MTN_DISBURSEMENT_API_KEY: {
		schema: credential.optional(),
		description: "That API user's key."
	},
	MTN_REFUND_VERSION: {
		schema: z.enum(['v1_0', 'v2_0'], 'Use "v1_0" or "v2_0".'),
		default: 'v1_0',
		description: 'Version of the refund call, `v1_0` or `v2_0`.'
	}
} as const satisfies Record<string, Setting>;

type MtnValues = ValuesOf<typeof SETTINGS>;

const SANDBOX = 'sandbox';

/** Markets that are not listed are not checked. */
const MARKETS: Readonly<Record<string, { country: string; currency: string | null }>> = {
	mtnuganda: { country: 'UG', currency: 'UGX' },
	mtnghana: { country: 'GH', currency: 'GHS' },
	mtnivorycoast: { country: 'CI', currency: 'XOF' },
	mtnzambia: { country: 'ZM', currency: 'ZMW' },
	mtncameroon: { country: 'CM', currency: 'XAF' },
	mtnbenin: { country: 'BJ', currency: 'XOF' },
	mtncongo: { country: 'CG', currency: 'XAF' },
	mtnswaziland: { country: 'SZ', currency: 'SZL' },
	mtnguineaconakry: { country: 'GN', currency: 'GNF' },
	mtnsouthafrica: { country: 'ZA', currency: 'ZAR' },
	// Two currencies are in use.
	mtnliberia: { country: 'LR', currency: null },
	mtnsouthsudan: { country: 'SS', currency: 'SSP' },
	mtnnigeria: { country: 'NG', currency: 'NGN' },
	mtnrwanda: { country: 'RW', currency: 'RWF' }
};

/** Currency code that MTN expects; amounts stay in the installation's currency. */
const wireCurrency = (values: MtnValues, currency: string): string =>
	values.MTN_CURRENCY ?? (values.MTN_TARGET_ENVIRONMENT === SANDBOX ? 'EUR' : currency);

/** ISO 3166; null if payers may be from any country. */
const payersCountry = (values: MtnValues): string | null =>
	values.MTN_COUNTRY ?? MARKETS[values.MTN_TARGET_ENVIRONMENT]?.country ?? null;

const HOSTS = { real: /(^|\.)momoapi\.mtn\.[a-z.]+$/i };

function checkSettings(values: MtnValues, installation: Installation) {
	const { mode, currency, callbackUrl } = installation;
	const { MTN_DISBURSEMENT_API_USER: user, MTN_DISBURSEMENT_API_KEY: key } = values;
	const target = values.MTN_TARGET_ENVIRONMENT;
	const isSandbox = target === SANDBOX;
	const wire = wireCurrency(values, currency);
	const taken = MARKETS[target]?.currency ?? wire;
	const callback = new URL(callbackUrl);
	const isReachable = callback.protocol === 'https:' && !/^[\d.]+$|^\[/.test(callback.hostname);
	return [
		isSandbox && mode === 'live' && 'MTN_TARGET_ENVIRONMENT: the sandbox is refused in live mode.',
		isSandbox && wire !== 'EUR' && 'MTN_CURRENCY: the sandbox of MTN MoMo takes EUR only.',
		!isSandbox &&
			wire !== currency &&
			`MTN_CURRENCY: must be the installation's currency (${currency}), except in the sandbox.`,
		!isSandbox &&
			wire === currency &&
			taken !== wire &&
			`MTN_TARGET_ENVIRONMENT: ${target} takes ${taken}, and CURRENCY is ${currency}.`,
		...checkAddress('MTN_BASE_URL', values.MTN_BASE_URL, installation, HOSTS),
		mode === 'live' &&
			values.MTN_CALLBACKS === 'on' &&
			!isReachable &&
			'MTN_CALLBACKS: MTN calls https addresses with a host name only: set CALLBACK_URL to one, or this to "off".',
		(user === undefined) !== (key === undefined) &&
			'MTN_DISBURSEMENT_API_USER and MTN_DISBURSEMENT_API_KEY: set both or neither.',
		user !== undefined &&
			values.MTN_DISBURSEMENT_SUBSCRIPTION_KEY === undefined &&
			'MTN_DISBURSEMENT_SUBSCRIPTION_KEY: is required with MTN_DISBURSEMENT_API_USER.'
	];
}

export const mtn = defineOperator({
	id: 'mtn',
	name: 'MTN MoMo',
	settings: SETTINGS,
	methods: () => ['mtn_momo'],
	check: checkSettings,
	create: createMtn,
	statement: {
		reference: ['External id', 'External Transaction Id'],
		providerReference: ['Id', 'Transaction ID', 'Financial Transaction Id'],
		amount: ['Amount'],
		status: { names: ['Status'], settled: ['Successful', 'Completed'] }
	}
});

/** MTN refuses longer notes and special characters. */
const MAX_NOTE_LENGTH = 160;
const FIRST_READ_SECONDS = 3;
/** Test numbers of the sandbox (Swedish country code), valid in every market. */
const TEST_NUMBER = /^\+467331234\d\d$/;

interface MtnContext {
	values: MtnValues;
	currency: string;
	/** MTN's currency code; EUR in the sandbox. */
	wire: string;
	/** Start of payers' numbers, e.g. `+256`. */
	prefix: string;
	collection: Client;
	disbursement: Client | null;
}

function createMtn(values: MtnValues, dependencies: OperatorDependencies): OperatorAdapter {
	const { currency } = dependencies;
	const country = payersCountry(values);
	const context: MtnContext = {
		values,
		currency,
		wire: wireCurrency(values, currency),
		prefix: country === null ? '+' : `+${getCountryCallingCode(country as CountryCode)}`,
		...createMtnClients(values, dependencies)
	};
	const { collection, disbursement } = context;
	const readMoney: ReadMoney = (body) => parseMoney(context, body);
	return {
		id: 'mtn',
		currency,
		capabilities: {
			minStatusDelaySeconds: FIRST_READ_SECONDS,
			// MTN answers a repeated request with 409 RESOURCE_ALREADY_EXIST.
			resubmitSameReferenceSafe: true
		},
		takesNumber: (phone) => takesNumber(context, phone),
		amounts: () => ANY_AMOUNT,
		submit: (request) => submit(context, request),
		readStatus: async ({ reference }) =>
			statusOutcome(await collection.get(`/v1_0/requesttopay/${reference}`), readMoney),
		parseCallback: async ({ body }) => parseCallback(body, readMoney),
		...(disbursement && {
			refund: (request) => refund(context, disbursement, request),
			readRefund: async ({ reference }) =>
				statusOutcome(await disbursement.get(`/v1_0/refund/${reference}`), readMoney),
			disburse: (request) => disburse(context, disbursement, request),
			readPayout: async ({ reference }) =>
				statusOutcome(await disbursement.get(`/v1_0/transfer/${reference}`), readMoney)
		}),
		health: () => healthProblem(context)
	};
}

const isSandbox = ({ values }: MtnContext) => values.MTN_TARGET_ENVIRONMENT === SANDBOX;

const takesNumber = (context: MtnContext, phone: string) =>
	/^\+\d{7,15}$/.test(phone) &&
	(phone.startsWith(context.prefix) || (isSandbox(context) && TEST_NUMBER.test(phone)));

/** Refunds use the currency that was taken, which may differ from ours. */
const money = ({ currency, wire }: MtnContext, amountMinor: number, code: string) => ({
	amount: String(toMajor(amountMinor, code)),
	currency: code === currency ? wire : code
});

function parseMoney({ currency, wire }: MtnContext, body: Record<string, unknown>): MoneyTaken | null {
	const code = readText(body, 'currency');
	const ours = code === wire ? currency : code;
	const amount = readText(body, 'amount');
	if (amount === null) return { amountMinor: null, currency: ours };
	const counted = ours ?? currency;
	const amountMinor = CURRENCIES.includes(counted) ? readAmountWith('.', amount, counted) : null;
	return typeof amountMinor === 'number' && amountMinor > 0 ? { amountMinor, currency: ours } : null;
}

async function submit(context: MtnContext, request: PaymentRequest): Promise<SubmitOutcome> {
	const { values, collection } = context;
	const { reference, callbackUrl, payerPhone } = request;
	const isCalled = !isSandbox(context) || callbackUrl.startsWith('http:');
	const body = {
		...money(context, request.amountMinor, request.currency),
		externalId: reference,
		payer: { partyIdType: 'MSISDN', partyId: payerPhone.slice(1) },
		payerMessage: simplifyText(request.description, MAX_NOTE_LENGTH) || 'Payment',
		payeeNote: reference
	};
	const headers = {
		'X-Reference-Id': reference,
		// MTN refuses an empty one.
		...(values.MTN_CALLBACKS === 'on' && isCalled && { 'X-Callback-Url': callbackUrl })
	};
	return submitOutcome(await collection.post('/v1_0/requesttopay', body, headers));
}

async function refund(
	context: MtnContext,
	disbursement: Client,
	{ reference, payment, amountMinor, currency }: RefundRequest
): Promise<SubmitOutcome> {
	if (!CURRENCIES.includes(currency) || !Number.isSafeInteger(amountMinor) || amountMinor <= 0) {
		return refused('merchant_error', `MTN MoMo cannot refund ${amountMinor} minor units of ${currency}.`);
	}
	const body = {
		...money(context, amountMinor, currency),
		externalId: reference,
		payerMessage: 'Refund',
		payeeNote: 'Refund',
		referenceIdToRefund: payment.reference
	};
	const path = `/${context.values.MTN_REFUND_VERSION}/refund`;
	return submitOutcome(await disbursement.post(path, body, { 'X-Reference-Id': reference }));
}

/** Without a callback address: MTN is asked. */
const disburse = async (
	context: MtnContext,
	disbursement: Client,
	{ reference, amountMinor, currency, phone }: PayoutRequest
): Promise<SubmitOutcome> =>
	submitOutcome(
		await disbursement.post(
			'/v1_0/transfer',
			{
				...money(context, amountMinor, currency),
				externalId: reference,
				payee: { partyIdType: 'MSISDN', partyId: phone.slice(1) },
				payerMessage: 'Payout',
				payeeNote: 'Wi-Fi payout'
			},
			{ 'X-Reference-Id': reference }
		)
	);

async function healthProblem({ values, wire, collection, disbursement }: MtnContext): Promise<string | null> {
	const noToken =
		(await collection.tokenProblem('MTN_API_USER, MTN_API_KEY and MTN_SUBSCRIPTION_KEY')) ??
		(await disbursement?.tokenProblem('the MTN_DISBURSEMENT_ credentials'));
	if (noToken) return noToken;
	// The token says nothing about market and currency. The balance does, but not every account may read it.
	const balance = await collection.get('/v1_0/account/balance');
	if (balance.kind !== 'response') return `${values.MTN_BASE_URL} does not answer: ${formatCause(balance)}.`;
	const body = parseObject(balance.text);
	if (readText(body, 'code') === 'NOT_ALLOWED_TARGET_ENVIRONMENT') {
		return `MTN_TARGET_ENVIRONMENT: MTN MoMo refuses ${values.MTN_TARGET_ENVIRONMENT}.`;
	}
	if (balance.status === 401) return `MTN_API_USER: ${refusedUser('Collections', balance)}`;
	const held = balance.status === 200 ? readText(body, 'currency') : null;
	if (held !== null && held !== wire) return `MTN_CURRENCY: the account's is ${held}, not ${wire}.`;
	// The user of another product also gets a token, but MTN refuses its refunds.
	const payouts = await disbursement?.get('/v1_0/account/balance');
	if (payouts === undefined || (payouts.kind === 'response' && payouts.status === 200)) return null;
	return payouts.kind === 'response'
		? `MTN_DISBURSEMENT_API_USER: ${refusedUser('Disbursements', payouts)}`
		: `${values.MTN_BASE_URL} does not answer: ${formatCause(payouts)}.`;
}

function refusedUser(product: string, { status, text }: OperatorResponse): string {
	const code = readText(parseObject(text), 'code');
	const answer = `HTTP ${status}${code === null ? '' : ` ${code}`}`;
	return `MTN MoMo refuses this user for ${product} (${answer}). Use one that was created with the subscription key of ${product}.`;
}

/** Used if MTN names no lifetime. */
const USUAL_TOKEN_SECONDS = 3_600;

/** Creates the client of each product, with its own subscription key, user and token (reference 1.3, 1.4). */
function createMtnClients(values: MtnValues, { http, clock, tokens }: OperatorDependencies) {
	function clientOf(name: 'collection' | 'disbursement', key: string, user: string, userKey: string) {
		const baseUrl = `${values.MTN_BASE_URL}/${name}`;
		const subscription = { 'Ocp-Apim-Subscription-Key': key };
		const basic = Buffer.from(`${user}:${userKey}`).toString('base64');
		return createClient({
			...{ http, clock, tokens },
			baseUrl,
			headers: { ...subscription, 'X-Target-Environment': values.MTN_TARGET_ENVIRONMENT },
			// MTN's path has a trailing slash, and MTN refuses a body.
			tokenRequest: {
				method: 'POST',
				url: `${baseUrl}/token/`,
				headers: { ...subscription, Authorization: `Basic ${basic}` }
			},
			usualTokenSeconds: USUAL_TOKEN_SECONDS
		});
	}
	const { MTN_API_USER: user, MTN_API_KEY: userKey, MTN_DISBURSEMENT_SUBSCRIPTION_KEY: refundKey } = values;
	const { MTN_DISBURSEMENT_API_USER: refundUser = user, MTN_DISBURSEMENT_API_KEY: refundUserKey = userKey } =
		values;
	return {
		collection: clientOf('collection', values.MTN_SUBSCRIPTION_KEY, user, userKey),
		disbursement:
			refundKey === undefined ? null : clientOf('disbursement', refundKey, refundUser, refundUserKey)
	};
}

/** Parses MTN's responses (momodeveloper.mtn.com, common errors). Payments and refunds share states and reasons. */

const REASONS: Readonly<Record<string, FailureReason>> = {
	APPROVAL_REJECTED: 'payer_rejected',
	REJECTED: 'payer_rejected',
	PAYMENT_NOT_APPROVED: 'payer_rejected',
	TRANSACTION_CANCELED: 'payer_rejected',
	EXPIRED: 'payer_timeout',
	// The five minutes for approval have passed.
	COULD_NOT_PERFORM_TRANSACTION: 'payer_timeout',
	NOT_ENOUGH_FUNDS: 'insufficient_funds',
	PAYER_LIMIT_REACHED: 'payer_limit_reached',
	PAYER_NOT_FOUND: 'payer_not_found',
	SENDER_ACCOUNT_NOT_ACTIVE: 'provider_error',
	PAYEE_NOT_ALLOWED_TO_RECEIVE: 'merchant_error',
	PAYEE_NOT_FOUND: 'merchant_error',
	NOT_ALLOWED: 'merchant_error',
	NOT_ALLOWED_TARGET_ENVIRONMENT: 'merchant_error',
	INVALID_CALLBACK_URL_HOST: 'merchant_error',
	INVALID_CURRENCY: 'merchant_error',
	TRANSFER_TYPE_UNKNOWN: 'merchant_error',
	INTERNAL_PROCESSING_ERROR: 'provider_error',
	SERVICE_UNAVAILABLE: 'provider_unavailable'
};

/** Listed among the failure reasons, but not final. */
const OPEN_REASONS = ['ONGOING', 'PENDING', 'DELAYED', 'PAYER_DELAYED'];

/** HTTP 500 errors about our configuration: nothing was queued. */
const CONFIGURATION_CODES = [
	'NOT_ALLOWED',
	'NOT_ALLOWED_TARGET_ENVIRONMENT',
	'INVALID_CALLBACK_URL_HOST',
	'INVALID_CURRENCY',
	'TRANSFER_TYPE_UNKNOWN'
];

/** They say only that MTN has not made the payment so far. */
const PASSING = [...OPEN_REASONS, 'INTERNAL_PROCESSING_ERROR', 'SERVICE_UNAVAILABLE'];

/** Reads the amount taken, in our currency; null if it cannot be parsed. */
type ReadMoney = (body: Record<string, unknown>) => MoneyTaken | null;

function submitOutcome(outcome: AuthorisedOutcome): SubmitOutcome {
	if (outcome.kind !== 'response') return unanswered('MTN MoMo', outcome);
	const { status, text } = outcome;
	const raw = formatHttp(status, text);
	// 409: MTN already has this reference, which no other request uses.
	if (status === 202 || status === 409) return { kind: 'accepted', operatorReference: null, raw };
	const body = parseObject(text);
	const code = readReason(body);
	const message = `MTN MoMo refused ${code ?? 'the request'} (HTTP ${status})`;
	// A refusal as a success of HTTP. Without a code that is final, the status read decides.
	const isTold = status >= 200 && status < 300 && Object.hasOwn(REASONS, code ?? '');
	if (isTold && !PASSING.includes(code ?? '') && (body === null || readState(body) !== 'succeeded')) {
		return refused(lookUpReason(REASONS, code, 'merchant_error'), message, raw);
	}
	if (status === 500 && CONFIGURATION_CODES.includes(code ?? '')) {
		return refused('merchant_error', message, raw);
	}
	const reason = status === 400 ? lookUpReason(REASONS, code, 'merchant_error') : 'merchant_error';
	return unaccepted(outcome, reason, message, raw);
}

/** Parses the response to a status read. Only `status` decides. */
function statusOutcome(outcome: AuthorisedOutcome, readMoney: ReadMoney): StatusOutcome {
	if (outcome.kind !== 'response') return unavailable(formatCause(outcome));
	const { status, headers, text } = outcome;
	const body = parseObject(text);
	if ((status === 404 || status === 200) && isUnknownReference(body))
		return { kind: 'not_found', raw: formatHttp(status, text) };
	if (status !== 200 || body === null) {
		return unavailable(status === 200 ? 'not JSON' : `HTTP ${status}`, readRetryAfter(headers));
	}
	const reason = readReason(body);
	switch (readState(body)) {
		case 'pending':
			return { kind: 'pending', raw: text };
		case 'failed':
			return {
				kind: 'failed',
				reason: lookUpReason(REASONS, reason, 'provider_error'),
				message: failureText(reason),
				raw: text
			};
		case 'succeeded': {
			const money = readMoney(body);
			if (money === null) {
				const message = 'MTN MoMo says SUCCESSFUL, with an amount that cannot be read.';
				return { kind: 'contradiction', message, raw: text };
			}
			return {
				kind: 'succeeded',
				providerReference: readText(body, 'financialTransactionId'),
				...money,
				raw: text
			};
		}
		case 'unknown':
			return unavailable('unknown status');
	}
}

function readState(body: Record<string, unknown>): CallbackHint['claimed'] {
	switch (readText(body, 'status')?.toUpperCase()) {
		case 'SUCCESSFUL':
			return 'succeeded';
		case 'CREATED':
		case 'PENDING':
			return 'pending';
		case 'FAILED':
			return OPEN_REASONS.includes(readReason(body) ?? '') ? 'pending' : 'failed';
		default:
			return 'unknown';
	}
}

/** `reason` is a string in most responses and an object in some; errors have a `code`. */
const readReason = (body: Record<string, unknown> | null): string | null =>
	readText(body, 'reason') ?? readText(member(body, 'reason'), 'code') ?? readText(body, 'code');

/** The gateway's own 404, with `statusCode`, is about its paths, not about the payment. */
const isUnknownReference = (body: Record<string, unknown> | null): boolean =>
	readText(body, 'statusCode') === null &&
	/resource.*not.found/i.test(`${readReason(body) ?? ''}\n${readText(body, 'message') ?? ''}`);

const failureText = (reason: string | null): string =>
	reason === 'INTERNAL_PROCESSING_ERROR'
		? 'INTERNAL_PROCESSING_ERROR: mostly missing funds'
		: (reason ?? 'no reason given');

/** A callback has the body of a status read but no X-Reference-Id; externalId holds our reference. */
function parseCallback(text: string, readMoney: ReadMoney): CallbackHint {
	const body = parseObject(text);
	if (body === null) return NO_HINT;
	return {
		...NO_HINT,
		claimed: readState(body),
		reference: readText(body, 'externalId'),
		providerReference: readText(body, 'financialTransactionId'),
		...readMoney(body)
	};
}
