import type { KeyObject } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { CURRENCIES, currencyExponent, toMajor, toMinor } from '#lib/domain/money.ts';
import {
	ANY_PAYMENT_METHOD,
	type AmountRule,
	NAMED_METHODS,
	guessPaymentMethod,
	loosest,
	ruleInMajor,
	strictest
} from '#lib/domain/payment-methods.ts';
import type { Setting } from '../../config/setting.ts';
import type { Clock } from '../../platform/clock.ts';
import type { HttpOutcome } from '../../platform/http-client.ts';
import {
	NO_HINT,
	lookUpReason,
	member,
	parseJson,
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
	type OperatorAdapter,
	type OperatorDependencies,
	type Paid,
	type PaymentRequest,
	type PayoutRequest,
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
import { isSigned, privateKey, publicKey, signedHeaders } from './pawapay-signatures.ts';

/**
 * pawaPay, Merchant API version 2 (docs.pawapay.io/v2). Each payment method is a provider. Our reference is the
 * depositId: a status read resolves a lost answer, and a request may be repeated.
 */

/** A pawaPay provider, e.g. `MTN_MOMO_RWA`, for one of our payment methods. */
interface Provider {
	method: string;
	code: string;
}

interface Market {
	/** Calling code. */
	prefix: string;
	currencies: readonly string[];
}

/** Keyed by the ISO 3166 alpha-3 code at the end of a provider's name (docs.pawapay.io/v2/docs/providers). */
const MARKETS: Readonly<Record<string, Market>> = {
	BEN: { prefix: '229', currencies: ['XOF'] },
	BFA: { prefix: '226', currencies: ['XOF'] },
	CIV: { prefix: '225', currencies: ['XOF'] },
	CMR: { prefix: '237', currencies: ['XAF'] },
	COD: { prefix: '243', currencies: ['CDF', 'USD'] },
	COG: { prefix: '242', currencies: ['XAF'] },
	ETH: { prefix: '251', currencies: ['ETB'] },
	GAB: { prefix: '241', currencies: ['XAF'] },
	GHA: { prefix: '233', currencies: ['GHS'] },
	KEN: { prefix: '254', currencies: ['KES'] },
	LSO: { prefix: '266', currencies: ['LSL'] },
	MOZ: { prefix: '258', currencies: ['MZN'] },
	MWI: { prefix: '265', currencies: ['MWK'] },
	NGA: { prefix: '234', currencies: ['NGN'] },
	RWA: { prefix: '250', currencies: ['RWF'] },
	SEN: { prefix: '221', currencies: ['XOF'] },
	SLE: { prefix: '232', currencies: ['SLE'] },
	TZA: { prefix: '255', currencies: ['TZS'] },
	UGA: { prefix: '256', currencies: ['UGX'] },
	ZMB: { prefix: '260', currencies: ['ZMW'] }
};

const findMarket = ({ code }: Provider): Market | undefined => MARKETS[code.slice(-3)];

const FORM = `Write it as "mtn_momo=MTN_MOMO_RWA,airtel_money=AIRTEL_RWA"`;

const providerList = z.string().transform((text, context): Provider[] => {
	const providers: Provider[] = [];
	const wrong = (problem: string) => {
		context.addIssue({ code: 'custom', message: `${problem} ${FORM}.` });
		return z.NEVER;
	};
	for (const pair of text.split(',').map((part) => part.trim())) {
		const [, method = '', code = ''] = /^([a-z_]+)\s*=\s*([A-Z0-9_]+_[A-Z]{3})$/.exec(pair) ?? [];
		if (code === '') return wrong(`"${pair}" is no method and provider.`);
		if (!NAMED_METHODS.some((name) => name === method)) {
			return wrong(`"${method}" is not a payment method (they are ${NAMED_METHODS.join(', ')}).`);
		}
		if (providers.some((known) => known.method === method)) return wrong(`"${method}" is there twice.`);
		providers.push({ method, code });
	}
	return providers;
});

/** Returns providers whose wallets do not hold the currency, with the currencies that they hold. */
const inOtherCurrency = (providers: readonly Provider[], currency: string) =>
	providers.flatMap((provider) => {
		const currencies = findMarket(provider)?.currencies ?? [currency];
		return currencies.includes(currency) ? [] : [{ code: provider.code, currencies }];
	});

/** True if a number (E.164) is from the provider's country; an unknown market accepts any. */
const isInMarket = (provider: Provider, phone: string): boolean =>
	phone.startsWith(`+${findMarket(provider)?.prefix ?? ''}`);

/** Guesses the provider by the number's first digits; otherwise takes the first one of its country. */
function likelyProvider(providers: readonly Provider[], phone: string): Provider | undefined {
	const near = providers.filter((provider) => isInMarket(provider, phone));
	const guess = guessPaymentMethod(phone);
	return near.find(({ method }) => method === guess) ?? near[0] ?? providers[0];
}

const SETTINGS = {
	PAWAPAY_BASE_URL: {
		schema: baseUrl,
		description:
			'Address of the Merchant API, without `/v2`: `https://api.sandbox.pawapay.io` or `https://api.pawapay.io`.'
	},
	PAWAPAY_API_TOKEN: {
		schema: credential,
		description: 'API token from the dashboard (System configuration, API tokens).'
	},
	PAWAPAY_PROVIDERS: {
		schema: providerList,
		description:
			'The provider for each payment method, e.g. `mtn_momo=MTN_MOMO_RWA,airtel_money=AIRTEL_RWA`. Method `mobile_money` takes the one that pawaPay predicts for the number.'
	},
	PAWAPAY_VERIFY_CALLBACKS: {
		schema: onOff,
		default: 'off',
		description:
			'`on`: callbacks count only when signed (RFC 9421). Turn on signed callbacks in the dashboard first.'
	},
	PAWAPAY_SIGNING_KEY: {
		schema: privateKey.optional(),
		description:
			'ECDSA P-256 private key (PEM, line breaks as `\\n`) that signs requests which move money. With PAWAPAY_SIGNING_KEY_ID.'
	},
	PAWAPAY_SIGNING_KEY_ID: {
		schema: credential.optional(),
		description: 'Name under which its public key is in the dashboard.'
	}
} as const satisfies Record<string, Setting>;

type PawapayValues = ValuesOf<typeof SETTINGS>;

const HOSTS = { real: /^api\.pawapay\./, test: /(^|\.)sandbox\.pawapay\./ };

function checkSettings(values: PawapayValues, installation: Installation) {
	const { currency } = installation;
	const { PAWAPAY_SIGNING_KEY: key, PAWAPAY_SIGNING_KEY_ID: id } = values;
	return [
		...inOtherCurrency(values.PAWAPAY_PROVIDERS, currency).map(
			({ code, currencies }) =>
				`PAWAPAY_PROVIDERS: ${code} takes ${currencies.join(' and ')}, but prices are in ${currency} (CURRENCY).`
		),
		...checkAddress('PAWAPAY_BASE_URL', values.PAWAPAY_BASE_URL, installation, HOSTS),
		key === undefined &&
			id !== undefined &&
			'PAWAPAY_SIGNING_KEY: is required when PAWAPAY_SIGNING_KEY_ID is set.',
		id === undefined &&
			key !== undefined &&
			'PAWAPAY_SIGNING_KEY_ID: is required when PAWAPAY_SIGNING_KEY is set.'
	];
}

export const pawapay = defineOperator({
	id: 'pawapay',
	name: 'pawaPay',
	settings: SETTINGS,
	methods: ({ PAWAPAY_PROVIDERS }) => PAWAPAY_PROVIDERS.map(({ method }) => method),
	needsHttps: true,
	check: checkSettings,
	create: createPawapay,
	statement: {
		reference: ['Deposit ID', 'Transaction ID', 'Payment ID', 'ID'],
		providerReference: ['Provider transaction ID', 'Provider ID', 'Correspondent ID'],
		amount: ['Amount', 'Deposited amount'],
		status: { names: ['Status'], settled: ['Completed'] }
	}
});

/** The configuration changes when an account manager edits it or a network goes down. */
const CONFIGURATION_TIMES = { freshMs: 10 * 60 * 1000, pauseMs: 30 * 1000 };
/** Limit for optional requests while a buyer waits for the prompt. */
const OPTIONAL_MS = 3_000;

interface PawapayContext extends OperatorDependencies, CallbackContext {
	client: PawapayClient;
	configuration: Cache<ActiveConfiguration>;
}

function createPawapay(values: PawapayValues, dependencies: OperatorDependencies): OperatorAdapter {
	const { clock } = dependencies;
	const client = createPawapayClient(values, dependencies);
	const context: PawapayContext = {
		...dependencies,
		values,
		client,
		configuration: createCache(
			clock,
			async () => readConfiguration(await client.get(CONFIGURATION_PATH)),
			CONFIGURATION_TIMES
		),
		callbackKeys: createCallbackKeys(client, clock)
	};
	return {
		id: 'pawapay',
		currency: dependencies.currency,
		capabilities: { usesPortalCallback: true, minStatusDelaySeconds: 0, resubmitSameReferenceSafe: true },
		takesNumber: (phone) => values.PAWAPAY_PROVIDERS.some((provider) => isInMarket(provider, phone)),
		amounts: (method, isPayout) => amounts(context, method, isPayout === true ? 'PAYOUT' : 'DEPOSIT'),
		submit: (request) => submit(context, request),
		readStatus: async ({ reference }) =>
			statusOutcome(await client.get(`/v2/deposits/${reference}`), 'depositId', reference),
		parseCallback: (raw) => parseCallback(context, raw),
		refund: (request) => refund(context, request),
		readRefund: async ({ reference }) =>
			statusOutcome(await client.get(`/v2/refunds/${reference}`), 'refundId', reference),
		disburse: (request) => disburse(context, request),
		readPayout: async ({ reference }) =>
			statusOutcome(await client.get(`/v2/payouts/${reference}`), 'payoutId', reference),
		async health() {
			const problems = healthProblems(await client.get(CONFIGURATION_PATH), values, dependencies);
			return problems.join('; ') || null;
		}
	};
}

/** Fetches the configuration for the next call, if it is not fresh. */
function amounts(
	{ values, currency, configuration }: PawapayContext,
	method: string,
	operation: Operation
): AmountRule {
	void configuration.get();
	const providers = values.PAWAPAY_PROVIDERS.filter(
		(provider) => provider.method === method || method === ANY_PAYMENT_METHOD
	);
	const known = configuration.held();
	const rules = providers.map(({ code }) => {
		const own = known?.rulesOf(code, currency, operation);
		const decimals = own?.decimals ?? usualDecimals(currency);
		return ruleInMajor(currency, { decimals, min: own?.min, max: own?.max });
	});
	// The number decides which of them pays, so refuse only what none takes.
	return method === ANY_PAYMENT_METHOD ? loosest(rules) : strictest(rules);
}

async function submit(context: PawapayContext, request: PaymentRequest): Promise<SubmitOutcome> {
	const { client, configuration } = context;
	const { reference, currency, payerPhone } = request;
	const [provider, known] = await Promise.all([
		choose(context, request),
		briefly(configuration.get(), configuration.held())
	]);
	const code = provider?.code ?? '';
	const decimals = known?.rulesOf(code, currency)?.decimals ?? usualDecimals(currency);
	const amount = wireAmount(request.amountMinor, currency, decimals);
	if (amount === null) return refused('merchant_error', `${code} takes whole amounts only.`);
	const outcome = await client.post(
		'/v2/deposits',
		{
			depositId: reference,
			amount,
			currency,
			payer: { type: 'MMO', accountDetails: { phoneNumber: payerPhone.slice(1), provider: code } },
			customerMessage: customerMessage(request.description)
		},
		true
	);
	// A network stays down for a while: the buyer sees it now and can choose another one.
	return submitOutcome(outcome, 'depositId', reference, []);
}

/** Finds the provider: the buyer's choice, pawaPay's prediction (wrong for one number in 800), or a guess. */
async function choose(
	{ client, values: { PAWAPAY_PROVIDERS: providers } }: PawapayContext,
	{ paymentMethod, payerPhone }: Pick<PaymentRequest, 'paymentMethod' | 'payerPhone'>
): Promise<Provider | undefined> {
	const chosen = providers.find(({ method }) => method === paymentMethod);
	if (chosen) return chosen;
	const outcome = await briefly(
		client.post('/v2/predict-provider', { phoneNumber: payerPhone.slice(1) }),
		null
	);
	const isAnswer = outcome?.kind === 'response' && outcome.status === 200;
	const prediction = isAnswer ? readText(parseObject(outcome.text), 'provider') : null;
	return providers.find(({ code }) => code === prediction) ?? likelyProvider(providers, payerPhone);
}

async function briefly<T>(work: Promise<T>, otherwise: T): Promise<T> {
	const limit = new AbortController();
	const late = sleep(OPTIONAL_MS, otherwise, { signal: limit.signal }).catch(() => otherwise);
	return Promise.race([work, late]).finally(() => limit.abort());
}

/** They end when the network is up or the wallet is refilled. */
const PASSING = ['PROVIDER_TEMPORARILY_UNAVAILABLE', 'REFUND_IN_PROGRESS', 'PAWAPAY_WALLET_OUT_OF_FUNDS'];

async function refund(
	{ client }: PawapayContext,
	{ reference, payment, amountMinor, currency }: RefundRequest
): Promise<SubmitOutcome> {
	const outcome = await client.post(
		'/v2/refunds',
		{
			refundId: reference,
			depositId: payment.reference,
			// The provider took this amount, so its decimals are valid.
			amount: wireAmount(amountMinor, currency, 2),
			currency
		},
		true
	);
	return submitOutcome(outcome, 'refundId', reference, PASSING);
}

async function disburse(
	context: PawapayContext,
	{ reference, amountMinor, currency, phone, paymentMethod }: PayoutRequest
): Promise<SubmitOutcome> {
	const provider = await choose(context, { paymentMethod, payerPhone: phone });
	const code = provider?.code ?? '';
	const known = context.configuration.held()?.rulesOf(code, currency, 'PAYOUT');
	const amount = wireAmount(amountMinor, currency, known?.decimals ?? usualDecimals(currency));
	if (amount === null) return refused('merchant_error', `${code} takes whole amounts only.`);
	const outcome = await context.client.post(
		'/v2/payouts',
		{
			payoutId: reference,
			amount,
			currency,
			recipient: { type: 'MMO', accountDetails: { phoneNumber: phone.slice(1), provider: code } },
			customerMessage: 'WiFi payout'
		},
		true
	);
	return submitOutcome(outcome, 'payoutId', reference, PASSING);
}

const MESSAGE = { min: 4, max: 22 };

/** Writes the payer's text: 4 to 22 letters, digits and spaces. */
export function customerMessage(description: string): string {
	const plain = simplifyText(description.replace(/[-'\u2019]/g, ''), MESSAGE.max, /[^A-Za-z0-9]+/g);
	return plain.length < MESSAGE.min ? `WiFi ${plain}`.trim() : plain;
}

type PawapayClient = ReturnType<typeof createPawapayClient>;

/** The API token does not expire (docs.pawapay.io/v2/docs). */
function createPawapayClient(values: PawapayValues, { http, clock }: OperatorDependencies) {
	const { PAWAPAY_BASE_URL: baseUrl, PAWAPAY_SIGNING_KEY: key, PAWAPAY_SIGNING_KEY_ID: id } = values;
	const common = { accept: 'application/json', authorization: `Bearer ${values.PAWAPAY_API_TOKEN}` };

	return {
		get: (path: string) => http.send({ method: 'GET', url: baseUrl + path, headers: common }),
		/** @param isFinancial the request moves money: it is signed if a key is configured */
		post(path: string, body: object, isFinancial = false) {
			const url = baseUrl + path;
			const text = JSON.stringify(body);
			const isSigned = isFinancial && key !== undefined && id !== undefined;
			const signed = isSigned && signedHeaders({ key: { key, id }, url, body: text, now: clock.now() });
			const headers = { 'content-type': 'application/json', ...common, ...signed };
			return http.send({ method: 'POST', url, headers, body: text });
		}
	};
}

type Cache<T> = ReturnType<typeof createCache<T>>;

/**
 * Caches data that the operator rarely changes. Callers share one request; a failure keeps the old value.
 * @param fetch returns null if it fails
 */
function createCache<T>(
	clock: Clock,
	fetch: () => Promise<T | null>,
	times: { freshMs: number; pauseMs: number }
) {
	let held: { value: T; at: number } | null = null;
	let triedAt: number | null = null;
	let fetching: Promise<void> | null = null;

	const within = (since: number, ms: number) => clock.now() - since < ms;

	async function fetchOnce(): Promise<void> {
		triedAt = clock.now();
		const value = await fetch();
		if (value !== null) held = { value, at: clock.now() };
	}

	/** Fetches now, unless the last attempt was within `pauseMs`. */
	async function renewed(): Promise<T | null> {
		if (fetching === null) {
			if (triedAt !== null && within(triedAt, times.pauseMs)) return held?.value ?? null;
			fetching = fetchOnce().finally(() => (fetching = null));
		}
		await fetching;
		return held?.value ?? null;
	}

	return {
		/** Returns the last value, however old, without a request. */
		held: () => held?.value ?? null,
		/** Returns a fresh value if possible; null if none was ever fetched. */
		get: async () => (held && within(held.at, times.freshMs) ? held.value : renewed()),
		renewed
	};
}

/** An account's configuration for a provider, from GET /v2/active-conf (docs.pawapay.io, toolkit). */
interface ProviderRules {
	decimals: 0 | 2 | null;
	/** In major units. */
	min: number | null;
	max: number | null;
	/** `OPERATIONAL`, `DELAYED` or `CLOSED`. */
	status: string | null;
	/** `PROVIDER_AUTH` is the prompt on the phone, the only method that Airtill supports. */
	authType: string | null;
	callbackUrl: string | null;
}

const OPERATIONS = ['DEPOSIT', 'PAYOUT'] as const;
type Operation = (typeof OPERATIONS)[number];

interface ActiveConfiguration {
	rulesOf(provider: Provider['code'], currency: string, operation?: Operation): ProviderRules | null;
	signedRequestsOnly: boolean;
	signedCallbacks: boolean;
}

const CONFIGURATION_PATH = '/v2/active-conf';

function readConfiguration(outcome: HttpOutcome): ActiveConfiguration | null {
	if (outcome.kind === 'failure' || outcome.status !== 200) return null;
	const body = parseObject(outcome.text);
	if (body === null || !Array.isArray(body['countries'])) return null;
	const rules = new Map<string, ProviderRules>();
	for (const country of readList(body, 'countries')) {
		for (const provider of readList(country, 'providers')) {
			for (const currency of readList(provider, 'currencies')) {
				const names = [readText(provider, 'provider') ?? '', readText(currency, 'currency') ?? ''] as const;
				for (const name of OPERATIONS) {
					const operation = findOperation(currency, name);
					if (operation) rules.set(formatKey(...names, name), readRules(operation));
				}
			}
		}
	}
	const signatures = member(body, 'signatureConfiguration');
	return {
		rulesOf: (provider, currency, operation = 'DEPOSIT') =>
			rules.get(formatKey(provider, currency, operation)) ?? null,
		signedRequestsOnly: signatures['signedRequestsOnly'] === true,
		signedCallbacks: signatures['signedCallbacks'] === true
	};
}

const formatKey = (...names: [provider: string, currency: string, operation: Operation]) => names.join(' ');

const readList = (object: unknown, name: string): unknown[] => {
	const list = member(object, name);
	return Array.isArray(list) ? list : [];
};

/** pawaPay documents an object by name, a list of such objects, and a list with the name inside. */
function findOperation(currency: unknown, name: string): Record<string, unknown> | null {
	const operations = member(currency, 'operationTypes');
	for (const candidate of Array.isArray(operations) ? (operations as unknown[]) : [operations]) {
		if (readText(candidate, 'operationType') === name) return candidate as Record<string, unknown>;
		const named = member(candidate, name);
		if (Object.keys(named).length > 0) return named;
	}
	return null;
}

function readRules(operation: Record<string, unknown>): ProviderRules {
	const decimals = readText(operation, 'decimalsInAmount');
	return {
		decimals: decimals === 'NONE' ? 0 : decimals === 'TWO_PLACES' ? 2 : null,
		min: readNumber(operation, 'minAmount', 'minTransactionLimit'),
		max: readNumber(operation, 'maxAmount', 'maxTransactionLimit'),
		status: readText(operation, 'status'),
		authType: readText(operation, 'authType'),
		callbackUrl: readText(operation, 'callbackUrl')
	};
}

/** pawaPay documents two names for each limit. */
function readNumber(object: unknown, name: string, otherName: string): number | null {
	const text = readText(object, name) ?? readText(object, otherName);
	const value = text === null ? NaN : Number(text);
	return Number.isFinite(value) ? value : null;
}

/** Compares the account's configuration with our settings. Returns problems as sentences. */
function healthProblems(outcome: HttpOutcome, values: PawapayValues, installation: Installation): string[] {
	const known = readConfiguration(outcome);
	if (known === null) return [formatAnswer(outcome)];
	const problems = values.PAWAPAY_PROVIDERS.flatMap(({ code }) =>
		providerProblems(code, known.rulesOf(code, installation.currency), installation)
	);
	if (known.signedRequestsOnly && values.PAWAPAY_SIGNING_KEY === undefined) {
		problems.push('the account takes signed requests only: set PAWAPAY_SIGNING_KEY');
	}
	if (values.PAWAPAY_VERIFY_CALLBACKS === 'on' && !known.signedCallbacks) {
		problems.push('PAWAPAY_VERIFY_CALLBACKS is on, but the account does not sign callbacks');
	}
	return problems;
}

function providerProblems(code: string, rules: ProviderRules | null, installation: Installation): string[] {
	if (!rules) return [`${code} does not take deposits in ${installation.currency} for this account`];
	const problems: string[] = [];
	// pawaPay rejects deposits while a provider is DELAYED or CLOSED.
	if (rules.status !== null && rules.status !== 'OPERATIONAL') problems.push(`${code} is ${rules.status}`);
	if (rules.authType !== null && rules.authType !== 'PROVIDER_AUTH') {
		problems.push(`${code} does not ask the payer on the phone (${rules.authType})`);
	}
	if (
		rules.callbackUrl !== null &&
		!rules.callbackUrl.startsWith(`${installation.callbackUrl}/callbacks/pawapay/`)
	) {
		problems.push(`callbacks of ${code} go elsewhere: set the address in the dashboard`);
	}
	return problems;
}

/** pawaPay's amounts: major units without leading zeros, with two decimals or none. */

/** Currencies with decimals in ISO 4217, but not in mobile money. */
const WHOLE_ONLY = ['TZS'];

/** Used until the provider's configuration is known. */
const usualDecimals = (currency: string): 0 | 2 =>
	currencyExponent(currency) === 0 || WHOLE_ONLY.includes(currency) ? 0 : 2;

/** Returns null for a fraction if the provider accepts none. */
function wireAmount(amountMinor: number, currency: string, decimals: 0 | 2): string | null {
	const major = toMajor(amountMinor, currency);
	if (Number.isInteger(major)) return String(major);
	return decimals === 0 ? null : major.toFixed(2);
}

function parseAmount(text: string | null, currency: string | null): number | null {
	if (text === null || !/^\d{1,15}(\.\d{1,6})?$/.test(text)) return null;
	if (currency === null || !CURRENCIES.includes(currency)) return null;
	// Round up a fraction that the currency does not have: the amount then differs from the one requested.
	return toMinor(Number(text), currency) ?? Math.ceil(Number(text) * 10 ** currencyExponent(currency));
}

/**
 * Parses pawaPay's responses (docs.pawapay.io/v2/docs/failure_codes). Deposits
 * and refunds have the same form. Undocumented values decide nothing.
 */

/** Codes of both versions of the API. */
const REASONS: Readonly<Record<string, FailureReason>> = {
	PAYER_NOT_FOUND: 'payer_not_found',
	RECIPIENT_NOT_FOUND: 'payer_not_found',
	INVALID_PHONE_NUMBER: 'payer_not_found',
	PAYMENT_NOT_APPROVED: 'payer_rejected',
	PAYER_LIMIT_REACHED: 'payer_limit_reached',
	WALLET_LIMIT_REACHED: 'payer_limit_reached',
	INSUFFICIENT_BALANCE: 'insufficient_funds',
	BALANCE_INSUFFICIENT: 'insufficient_funds',
	PAYMENT_IN_PROGRESS: 'provider_unavailable',
	TRANSACTION_ALREADY_IN_PROCESS: 'provider_unavailable',
	PROVIDER_TEMPORARILY_UNAVAILABLE: 'provider_unavailable',
	UNSPECIFIED_FAILURE: 'provider_error',
	OTHER_ERROR: 'provider_error',
	UNKNOWN_ERROR: 'provider_error'
};

const readState = (body: unknown): string | null => readText(body, 'status')?.toUpperCase() ?? null;

/** Codes that refuse a request, also without a state. The unspecific ones may hide one that was queued. */
const REFUSALS = new Set([
	...Object.keys(REASONS).filter((code) => REASONS[code] !== 'provider_error'),
	...['INVALID_CURRENCY', 'INVALID_AMOUNT', 'AMOUNT_OUT_OF_BOUNDS', 'INVALID_PROVIDER', 'INVALID_INPUT'],
	...['MISSING_PARAMETER', 'UNSUPPORTED_PARAMETER', 'INVALID_PARAMETER', 'DUPLICATE_METADATA_FIELD'],
	...['NO_AUTHENTICATION', 'AUTHENTICATION_ERROR', 'AUTHORISATION_ERROR', 'HTTP_SIGNATURE_ERROR'],
	...['DEPOSITS_NOT_ALLOWED', 'REFUNDS_NOT_ALLOWED', 'PAYOUTS_NOT_ALLOWED', 'PAWAPAY_WALLET_OUT_OF_FUNDS']
]);

function readFailure(body: unknown, unnamed: string) {
	const failure = member(body, 'failureReason');
	const code = readText(failure, 'failureCode');
	return { code, message: readText(failure, 'failureMessage') ?? code ?? unnamed };
}

/** The name of our reference. */
type Subject = 'depositId' | 'refundId' | 'payoutId';

/** Parses the response to a deposit, refund or payout. `passing`: codes after which it may be sent again. */
function submitOutcome(
	outcome: HttpOutcome,
	id: Subject,
	reference: string,
	passing: readonly string[]
): SubmitOutcome {
	if (outcome.kind === 'failure') return unanswered('pawaPay', outcome);
	const { status, text: raw } = outcome;
	const body = parseObject(raw);
	const { code, message } = readFailure(body, `HTTP ${status}`);
	const reason = lookUpReason(REASONS, code, 'merchant_error');
	const isOurs = (readText(body, id) ?? reference) === reference;
	const isFine = status >= 200 && status < 300 && isOurs;
	const refusal = REFUSALS.has(code ?? '') ? 'REJECTED' : null;
	switch (isFine ? (readState(body) ?? refusal) : null) {
		case 'ACCEPTED':
		case 'DUPLICATE_IGNORED':
			return { kind: 'accepted', operatorReference: null, raw };
		case 'REJECTED':
		case 'FAILED':
			return { ...refused(reason, message, raw), retryable: passing.includes(code ?? '') };
		default:
			return unaccepted(outcome, reason, message, raw);
	}
}

/** Parses `FOUND` or `NOT_FOUND`. Only the states COMPLETED and FAILED are final; all others are pending. */
function statusOutcome(outcome: HttpOutcome, id: Subject, reference: string): StatusOutcome {
	if (outcome.kind === 'failure') return unavailable(outcome.cause);
	const { status, text: raw, headers } = outcome;
	const body = parseObject(raw);
	const unknown = (cause: string) => unavailable(cause, readRetryAfter(headers));
	const found = readState(body);
	if (found === 'NOT_FOUND' && (status === 200 || status === 404)) return { kind: 'not_found', raw };
	if (status !== 200) return unknown(formatAnswer(outcome));
	if (found !== 'FOUND') return unknown('an answer that is not documented');

	const data = member(body, 'data');
	const named = readText(data, id);
	if (named !== null && named !== reference) return unknown('an answer about something else');
	const { code, message } = readFailure(data, 'No reason given.');
	switch (readState(data)) {
		case 'COMPLETED':
			return { kind: 'succeeded', ...readPaid(data), raw };
		case 'FAILED':
			return { kind: 'failed', reason: lookUpReason(REASONS, code, 'provider_error'), message, raw };
		default:
			return { kind: 'pending', raw };
	}
}

/** Version 1 of the API, whose callbacks some accounts still get, calls the amount depositedAmount. */
function readPaid(data: unknown): Paid {
	const currency = readText(data, 'currency');
	const amount = readText(data, 'depositedAmount') ?? readText(data, 'amount');
	return {
		providerReference: readText(data, 'providerTransactionId'),
		amountMinor: parseAmount(amount, currency),
		currency
	};
}

function formatAnswer(outcome: HttpOutcome): string {
	if (outcome.kind === 'failure') {
		if (outcome.cause === 'timeout') return 'the address does not answer in time';
		return outcome.sent ? 'the connection broke' : 'the address cannot be reached';
	}
	const { code } = readFailure(parseObject(outcome.text), '');
	const said = code === null ? `HTTP ${outcome.status}` : `HTTP ${outcome.status}, ${code}`;
	const isRefusal = outcome.status === 401 || outcome.status === 403;
	return isRefusal ? `pawaPay refuses the API token or signature (${said})` : `pawaPay answered ${said}`;
}

interface CallbackContext extends Pick<OperatorDependencies, 'callbackUrl' | 'clock'> {
	values: PawapayValues;
	callbackKeys: ReturnType<typeof createCallbackKeys>;
}

const CLAIMS: Readonly<Record<string, CallbackHint['claimed']>> = {
	COMPLETED: 'succeeded',
	FAILED: 'failed',
	ACCEPTED: 'pending',
	SUBMITTED: 'pending',
	PROCESSING: 'pending',
	ENQUEUED: 'pending',
	IN_RECONCILIATION: 'pending'
};

async function parseCallback(context: CallbackContext, raw: RawCallback): Promise<CallbackHint> {
	const body = parseObject(raw.body);
	const isVerified = context.values.PAWAPAY_VERIFY_CALLBACKS === 'on';
	return {
		...NO_HINT,
		claimed: CLAIMS[readText(body, 'status')?.toUpperCase() ?? ''] ?? 'unknown',
		authentic: !isVerified ? 'absent' : (await isAuthentic(context, raw)) ? 'verified' : 'invalid',
		// A refund's callback is about the refund, even if it names the deposit.
		reference: readText(body, 'payoutId') ?? readText(body, 'refundId') ?? readText(body, 'depositId'),
		...readPaid(body)
	};
}

function isAuthentic(
	{ callbackUrl, clock, callbackKeys }: CallbackContext,
	{ method, headers, bytes, authority, path }: RawCallback
): Promise<boolean> {
	const published = new URL(callbackUrl);
	const targets = [
		{ authority, path },
		{ authority: published.host, path: published.pathname.replace(/\/$/, '') + path }
	];
	return isSigned({ method, headers, body: bytes, targets, now: clock.now() }, callbackKeys);
}

/** An unknown key causes a fetch, but forged callbacks cause at most one a minute. */
const KEY_TIMES = { freshMs: 24 * 60 * 60 * 1000, pauseMs: 60 * 1000 };

/** Finds pawaPay's key for signed callbacks by exact id (GET /v2/public-key/http). */
function createCallbackKeys(client: PawapayClient, clock: Clock): (id: string) => Promise<KeyObject | null> {
	const keys = createCache<ReadonlyMap<string, KeyObject>>(
		clock,
		async () => {
			const outcome = await client.get('/v2/public-key/http');
			return outcome.kind === 'response' && outcome.status === 200 ? readKeys(outcome.text) : null;
		},
		KEY_TIMES
	);
	return async (id) => (await keys.get())?.get(id) ?? (await keys.renewed())?.get(id) ?? null;
}

function readKeys(text: string): ReadonlyMap<string, KeyObject> | null {
	const list = parseJson(text);
	if (!Array.isArray(list)) return null;
	const keys = new Map<string, KeyObject>();
	for (const entry of list as unknown[]) {
		const id = readText(entry, 'id');
		const key = publicKey(readText(entry, 'key') ?? '');
		if (id !== null && key) keys.set(id, key);
	}
	return keys;
}
