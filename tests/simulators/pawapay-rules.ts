import type { Script } from './script.ts';
import { type SimulatorAnswer, objectIn } from './simulator.ts';
import type { SimulatedPayment } from './books.ts';

/**
 * The networks of pawaPay's sandbox, as far as they are played here (docs.pawapay.io/v2/docs/providers and
 * /test_numbers). Limits are the account's; decimals are the provider's. First digits are only good for predictions.
 */

interface Country {
	code: string;
	name: string;
	/** Country code of numbers. */
	prefix: string;
	/** Digits after it. */
	lengths: readonly number[];
}

export interface Wallet {
	currency: string;
	decimals: 'NONE' | 'TWO_PLACES';
	min: number;
	max: number;
}

export interface Network {
	provider: string;
	name: string;
	country: Country;
	authType: 'PROVIDER_AUTH' | 'PREAUTH';
	wallets: readonly Wallet[];
	/** First digits of national numbers. */
	numbers: RegExp;
}

const country = (code: string, name: string, prefix: string, ...lengths: number[]): Country => {
	return { code, name, prefix, lengths };
};

const BFA = country('BFA', 'Burkina Faso', '226', 8);
const KEN = country('KEN', 'Kenya', '254', 9);
const RWA = country('RWA', 'Rwanda', '250', 9);
const UGA = country('UGA', 'Uganda', '256', 9);
const ZMB = country('ZMB', 'Zambia', '260', 9);

const whole = (currency: string, min = 1, max = 2_000_000): Wallet => {
	return { currency, decimals: 'NONE', min, max };
};
const withCents = (currency: string, min = 1, max = 50_000): Wallet => {
	return { currency, decimals: 'TWO_PLACES', min, max };
};

function network(
	provider: string,
	name: string,
	home: Country,
	numbers: RegExp,
	wallets: readonly Wallet[],
	authType: Network['authType'] = 'PROVIDER_AUTH'
): Network {
	return { provider, name, country: home, numbers, wallets, authType };
}

export const NETWORKS: readonly Network[] = [
	network('ORANGE_BFA', 'Orange', BFA, /^(0[4-7]|5[4-7]|6[4-7]|7[4-7])/, [whole('XOF')], 'PREAUTH'),
	network('MPESA_KEN', 'M-Pesa', KEN, /^(7|1)/, [whole('KES', 1, 250_000)]),
	network('MTN_MOMO_RWA', 'MTN', RWA, /^7[89]/, [whole('RWF', 100)]),
	network('AIRTEL_RWA', 'Airtel', RWA, /^7[23]/, [whole('RWF', 100)]),
	network('MTN_MOMO_UGA', 'MTN', UGA, /^(7[678]|3[19])/, [whole('UGX', 100, 5_000_000)]),
	network('AIRTEL_OAPI_UGA', 'Airtel', UGA, /^(7[045]|20)/, [whole('UGX', 100, 5_000_000)]),
	network('MTN_MOMO_ZMB', 'MTN', ZMB, /^[79]6/, [withCents('ZMW')]),
	network('AIRTEL_OAPI_ZMB', 'Airtel', ZMB, /^[795]7/, [withCents('ZMW')])
];

export const isNumberOf = (home: Country, phone: string): boolean =>
	phone.startsWith(home.prefix) && home.lengths.includes(phone.length - home.prefix.length);

export const predict = (phone: string): Network | undefined =>
	NETWORKS.find(
		({ country: home, numbers }) => isNumberOf(home, phone) && numbers.test(phone.slice(home.prefix.length))
	);

/** Outcomes by the last three digits of a test number of MTN in Rwanda. */
const OUTCOMES: Readonly<Record<string, string>> = {
	'019': 'PAYER_LIMIT_REACHED',
	'029': 'PAYER_NOT_FOUND',
	'039': 'PAYMENT_NOT_APPROVED',
	'049': 'INSUFFICIENT_BALANCE',
	'069': 'UNSPECIFIED_FAILURE',
	'129': 'pending'
};

/** Outcomes of test numbers; any other number pays. */
export function testNumber(phone: string): Partial<Script> {
	const outcome = phone.startsWith('250783456') ? OUTCOMES[phone.slice(-3)] : undefined;
	if (outcome === undefined) return {};
	return outcome === 'pending' ? { outcome, callbacks: [] } : { outcome };
}

/** Settings of pawaPay's dashboard, and the matching settings of Airtill. */
export const PORTAL = {
	api_token: 'simulated-pawapay-token-1',
	callback_url: '',
	signed_callbacks: 'off',
	signed_requests: 'off',
	merchant_key_id: '',
	merchant_key: '',
	refunds: 'on',
	/** Providers that are down, with commas. */
	closed: '',
	/** `list`: the other form of active-conf. */
	operation_types: 'object'
};

/** Payment methods of Airtill for the printed settings. */
export const PROVIDERS = 'mtn_momo=MTN_MOMO_UGA,airtel_money=AIRTEL_OAPI_UGA';

export type Portal = typeof PORTAL;

export const isClosed = (portal: Portal, provider: string): boolean =>
	portal.closed.split(',').includes(provider);

/** Validation of request fields (docs.pawapay.io/v2/api-reference). */
export interface Refusal {
	code: string;
	message: string;
}

export type Body = Record<string, unknown>;

const UUID_V4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i;
export const isUuid = (value: unknown): value is string => typeof value === 'string' && UUID_V4.test(value);

/** "5", "5.0" and "0.5" are right; "5.", ".5", "05" and "5.555" are not. */
const AMOUNT = /^(0|[1-9]\d{0,17})(\.\d{1,2})?$/;

type Rule = (value: unknown) => boolean;
const matches =
	(pattern: RegExp): Rule =>
	(value) =>
		typeof value === 'string' && pattern.test(value);
const isObject = (value: unknown): value is Body =>
	typeof value === 'object' && value !== null && !Array.isArray(value);
const isText: Rule = matches(/^[\s\S]{1,255}$/);

interface Fields {
	required: Readonly<Record<string, Rule>>;
	optional: Readonly<Record<string, Rule>>;
}

const DEPOSIT: Fields = {
	required: { depositId: isUuid, amount: matches(AMOUNT), currency: matches(/^[A-Z]{3}$/), payer: isObject },
	optional: {
		preAuthorisationCode: matches(/^\w{1,36}$/),
		customerMessage: matches(/^[A-Za-z0-9 ]{4,22}$/)
	}
};
const PAYER: Fields = { required: { type: matches(/^MMO$/), accountDetails: isObject }, optional: {} };
const ACCOUNT: Fields = { required: { phoneNumber: isText, provider: isText }, optional: {} };
const REFUND: Fields = {
	required: { refundId: isUuid, depositId: isUuid },
	optional: {
		amount: matches(AMOUNT),
		currency: matches(/^[A-Z]{3}$/)
	}
};

const PAYOUT: Fields = {
	required: {
		payoutId: isUuid,
		amount: matches(AMOUNT),
		currency: matches(/^[A-Z]{3}$/),
		recipient: isObject
	},
	optional: { customerMessage: matches(/^[A-Za-z0-9 ]{4,22}$/) }
};

/** @returns the body, or what is wrong with it */
export function readBody(text: string, contentType: string | undefined): Body | Refusal {
	const invalid = { code: 'INVALID_INPUT', message: 'The request body could not be read as JSON.' };
	if (!/^application\/json\b/i.test(contentType ?? '')) return invalid;
	return objectIn(text) ?? invalid;
}

export const isRefusal = (read: Body | Refusal): read is Refusal =>
	typeof read['code'] === 'string' && typeof read['message'] === 'string';

export function depositRefusal(body: Body): Refusal | null {
	const payer = (body['payer'] ?? {}) as Body;
	return (
		wrongField(DEPOSIT, body, '') ??
		wrongField(PAYER, payer, 'payer.') ??
		wrongField(ACCOUNT, payer['accountDetails'] as Body, 'payer.accountDetails.')
	);
}

export function payoutRefusal(body: Body): Refusal | null {
	const recipient = (body['recipient'] ?? {}) as Body;
	return (
		wrongField(PAYOUT, body, '') ??
		wrongField(PAYER, recipient, 'recipient.') ??
		wrongField(ACCOUNT, recipient['accountDetails'] as Body, 'recipient.accountDetails.')
	);
}

export const refundRefusal = (body: Body): Refusal | null => wrongField(REFUND, body, '');

function wrongField({ required, optional }: Fields, body: Body, at: string): Refusal | null {
	for (const name of Object.keys(body)) {
		if (!Object.hasOwn(required, name) && !Object.hasOwn(optional, name)) {
			return { code: 'UNSUPPORTED_PARAMETER', message: `The parameter '${at}${name}' is not supported.` };
		}
	}
	for (const name of Object.keys(required)) {
		if (body[name] === undefined || body[name] === null) {
			return { code: 'MISSING_PARAMETER', message: `Please specify the parameter '${at}${name}'.` };
		}
	}
	for (const [name, rule] of Object.entries({ ...required, ...optional })) {
		if (body[name] !== undefined && !rule(body[name])) {
			return { code: 'INVALID_PARAMETER', message: `The parameter '${at}${name}' is not valid.` };
		}
	}
	return null;
}

/** pawaPay's responses and the shape of a payment in them. */

/** Outcomes of a script that are states in which it stays. */
const STATES = ['IN_RECONCILIATION', 'ACCEPTED', 'PROCESSING', 'SUBMITTED', 'ENQUEUED'];

/** HTTP statuses of refusals that are not `REJECTED` in a 200. */
const STATUSES: Readonly<Record<string, number>> = {
	INVALID_INPUT: 400,
	MISSING_PARAMETER: 400,
	UNSUPPORTED_PARAMETER: 400,
	INVALID_PARAMETER: 400,
	NO_AUTHENTICATION: 401,
	AUTHENTICATION_ERROR: 403,
	AUTHORISATION_ERROR: 403,
	HTTP_SIGNATURE_ERROR: 403,
	REFUNDS_NOT_ALLOWED: 403,
	UNKNOWN_ERROR: 500
};

export const ok = (body: unknown): SimulatorAnswer => ({ status: 200, body });
export const iso = (ms: number) => new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');
export const transactionId = (number: number) => String(12_000_000 + number);
export const isFinal = (outcome: string) => outcome !== 'pending' && !STATES.includes(outcome);
export const optional = (name: string, value: unknown): Body =>
	value === undefined ? {} : { [name]: value };

const reason = (code: string, message: string) => ({
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
	id: 'depositId' | 'refundId' | 'payoutId'
): SimulatorAnswer {
	const status = STATUSES[code] ?? 200;
	if (status >= 401) return refuse(code, message);
	return { status, body: { ...optional(id, body[id]), status: 'REJECTED', ...reason(code, message) } };
}

/** @param waiting the state while there is no outcome */
export function stateOf(outcome: string, waiting: string): Body {
	if (outcome === 'success') return { status: 'COMPLETED' };
	if (outcome === 'pending') return { status: waiting };
	if (STATES.includes(outcome)) return { status: outcome };
	return { status: 'FAILED', ...reason(outcome, `Simulated ${outcome}`) };
}

export function accountOf(body: Body): { phoneNumber: string; provider: string } {
	const details = ((body['payer'] ?? body['recipient'] ?? {}) as Body)['accountDetails'] as Body;
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
export function depositData(payment: SimulatedPayment, outcome: string): Body {
	const { request, currency, queuedAt } = payment;
	const account = accountOf(request);
	const usesSubmitted = payment.script.otherForm;
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
		created: iso(queuedAt),
		...(outcome === 'success' ? { providerTransactionId: transactionId(payment.number) } : {})
	};
}
