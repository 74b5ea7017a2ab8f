import { type SimulatorAnswer, type SimulatorRequest, objectIn } from './simulator.ts';
import { randomBytes } from 'node:crypto';

/** The sandbox and the markets of MTN MoMo, as X-Target-Environment names them. */
export interface Market {
	environment: string;
	currency: string;
	/** ISO 3166; null in the sandbox, which takes every number. */
	country: string | null;
	callingCode: string | null;
	/** Decimals of the currency. */
	decimals: number;
}

export const SANDBOX: Market = {
	environment: 'sandbox',
	currency: 'EUR',
	country: null,
	callingCode: null,
	decimals: 2
};

/** environment: currency, country, calling code, decimals */
const MARKETS: Readonly<Record<string, readonly [string, string, string, number]>> = {
	mtnuganda: ['UGX', 'UG', '256', 0],
	mtnliberia: ['LRD', 'LR', '231', 2]
};

/** @throws Error when there is no such market */
export function marketNamed(environment: string): Market {
	if (environment === SANDBOX.environment) return SANDBOX;
	const found = Object.hasOwn(MARKETS, environment) ? MARKETS[environment] : undefined;
	if (!found)
		throw new Error(`The markets are ${[SANDBOX.environment, ...Object.keys(MARKETS)].join(', ')}.`);
	const [currency, country, callingCode, decimals] = found;
	return { environment, currency, country, callingCode, decimals };
}

/** MTN's two forms of an error: the wallet platform's own, and that of the gateway in front of it. */

/** HTTP status of the wallet platform's codes where it is not 500 (the operator's page of common errors). */
const STATUS: Readonly<Record<string, number>> = {
	REQUEST_REJECTED: 400,
	FORBIDDEN_IP: 403,
	RESOURCE_NOT_FOUND: 404,
	RESOURCE_ALREADY_EXIST: 409,
	SERVICE_UNAVAILABLE: 503
};

const MESSAGES: Readonly<Record<string, string>> = {
	FORBIDDEN_IP: 'Authorization failed. IP not authorized to use this API.',
	INTERNAL_PROCESSING_ERROR: 'An internal error occurred while processing.',
	INVALID_CALLBACK_URL_HOST: 'Callback URL with different host name then configured for API User.',
	INVALID_CURRENCY: 'Currency not supported.',
	NOT_ALLOWED: 'Authorization failed. User does not have permission.',
	NOT_ALLOWED_TARGET_ENVIRONMENT: 'Access to target environment is forbidden.',
	RESOURCE_ALREADY_EXIST: 'Duplicated reference id. Creation of resource failed.',
	RESOURCE_NOT_FOUND: 'Requested resource was not found.',
	SERVICE_UNAVAILABLE: 'Service temporarily unavailable, try again later.'
};

export const messageOf = (code: string): string => MESSAGES[code] ?? code.toLowerCase().replaceAll('_', ' ');

export const failure = (code: string, message = messageOf(code)): SimulatorAnswer => ({
	status: STATUS[code] ?? 500,
	body: { code, message }
});

/** Bad request: the wallet platform says what is wrong, if anything. */
export const rejected = (message: string): SimulatorAnswer => failure('REQUEST_REJECTED', message);

export const gateway = (
	status: number,
	message: string,
	headers: Record<string, string> = {}
): SimulatorAnswer => ({ status, body: { statusCode: status, message }, headers });

export const ok = (body: unknown, status = 200): SimulatorAnswer => ({ status, body });

/**
 * Credentials: a subscription key per product, API users with their keys, tokens. The users are made in advance.
 */

export type Product = 'collection' | 'disbursement';

interface ApiUser {
	/** The product with whose subscription key it was made. */
	product: Product;
	apiKey: string;
}

export const CREDENTIALS = {
	api_user: '00000000-0000-4000-8000-00000000fa4e',
	api_key: 'fake-api-key-of-the-simulator',
	disbursement_api_user: '00000000-0000-4000-8000-00000000d15b',
	disbursement_api_key: 'fake-disbursement-api-key-of-the-simulator',
	collection_subscription_key: 'fake-collection-key',
	disbursement_subscription_key: 'fake-disbursement-key'
} as const;

const TOKEN_SECONDS = 3_600;

const isUuidV4 = (text: string): boolean =>
	/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i.test(text);

export class Access {
	private readonly users = new Map<string, ApiUser>();
	private readonly tokens = new Map<string, { user: string; product: Product; until: number }>();
	private readonly market: Market;

	constructor(market: Market) {
		this.market = market;
		const { api_user, api_key, disbursement_api_user, disbursement_api_key } = CREDENTIALS;
		this.users.set(api_user, { product: 'collection', apiKey: api_key });
		this.users.set(disbursement_api_user, { product: 'disbursement', apiKey: disbursement_api_key });
	}

	expireTokens(): void {
		this.tokens.clear();
	}

	/** The gateway's check of the subscription key: an answer if it does not open the product. */
	private refuse({ headers }: SimulatorRequest, product: Product): SimulatorAnswer | null {
		const key = headers['ocp-apim-subscription-key'];
		const missing =
			'Access denied due to missing subscription key. Make sure to include subscription key when making requests to an API.';
		if (typeof key !== 'string' || key === '') return gateway(401, missing);
		if (key === CREDENTIALS[`${product}_subscription_key`]) return null;
		const invalid =
			'Access denied due to invalid subscription key. Make sure to provide a valid key for an active subscription.';
		return gateway(401, invalid);
	}

	/** `POST /{product}/token/` */
	giveToken(request: SimulatorRequest, product: Product, now: number): SimulatorAnswer {
		const refused = this.refuse(request, product);
		if (refused) return refused;
		// The documentation forbids every body; the platform lets a form pass.
		const isForm = /^application\/x-www-form-urlencoded\b/i.test(request.headers['content-type'] ?? '');
		if (request.body !== '' && !isForm) return rejected('A token request has no body.');
		const [, basic = ''] = /^Basic ([A-Za-z0-9+/]+={0,2})$/.exec(request.headers.authorization ?? '') ?? [];
		const [, id = '', key = ''] = /^([^:]*):(.*)$/.exec(Buffer.from(basic, 'base64').toString('utf8')) ?? [];
		const user = this.users.get(id.toLowerCase());
		if (!user || user.apiKey !== key) return { status: 401, body: { error: 'login_failed' } };
		const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
		const until = now + TOKEN_SECONDS * 1000;
		const token = `${part({ typ: 'JWT', alg: 'fake' })}.${part({ clientId: id, expires: new Date(until).toISOString() })}.${randomBytes(24).toString('base64url')}`;
		this.tokens.set(token, { user: id.toLowerCase(), product, until });
		return ok({ access_token: token, token_type: 'access_token', expires_in: TOKEN_SECONDS });
	}

	/** Subscription key, token and X-Target-Environment of a call. */
	enter(request: SimulatorRequest, product: Product, now: number): SimulatorAnswer | null {
		const refused = this.refuse(request, product);
		if (refused) return refused;
		const [, token = ''] = /^Bearer (\S+)$/.exec(request.headers.authorization ?? '') ?? [];
		const known = this.tokens.get(token);
		const user = known && this.users.get(known.user);
		if (!user || known.product !== product || known.until <= now) {
			return gateway(401, 'Unauthorized. Access token is missing or invalid.');
		}
		const environment = request.headers['x-target-environment'];
		if (environment === undefined) return rejected('X-Target-Environment is required.');
		if (environment !== this.market.environment) return failure('NOT_ALLOWED_TARGET_ENVIRONMENT');
		// It got a token all the same.
		return user.product === product ? null : failure('NOT_ALLOWED');
	}
}

/** Validates payment and refund requests by MTN's documentation. */

interface Order {
	reference: string;
	/** As it came. */
	amount: string;
	currency: string;
	externalId: string | null;
	payerMessage: string | null;
	payeeNote: string | null;
}

export interface PaymentOrder extends Order {
	payer: { partyIdType: string; partyId: string };
	callbackUrl: string | null;
}

export interface TransferOrder extends Order {
	payee: { partyIdType: string; partyId: string };
}

export interface RefundOrder extends Order {
	referenceIdToRefund: string;
}

const MAX_NOTE_LENGTH = 160;
const MAX_EXTERNAL_ID_LENGTH = 64;

type Read<Shape> = Shape | { problem: string };

export function readPaymentOrder(request: SimulatorRequest, market: Market): Read<PaymentOrder> {
	const body = objectIn(request.body);
	const order = readOrder(request, body, market);
	if ('problem' in order) return order;
	const payer = body?.['payer'] as Record<string, unknown> | null | undefined;
	const type = payer?.['partyIdType'];
	const id = payer?.['partyId'];
	if (typeof type !== 'string' || typeof id !== 'string' || !isParty(type, id)) {
		return { problem: 'payer must be a party; a MSISDN is the country code and the number, digits only.' };
	}
	const callbackUrl = request.headers['x-callback-url'];
	if (callbackUrl !== undefined && !isCallbackUrl(String(callbackUrl))) {
		return { problem: 'X-Callback-Url must be an http or https URL.' };
	}
	return {
		...order,
		payer: { partyIdType: type, partyId: id },
		callbackUrl: callbackUrl === undefined ? null : String(callbackUrl)
	};
}

export function readTransferOrder(request: SimulatorRequest, market: Market): Read<TransferOrder> {
	const body = objectIn(request.body);
	const order = readOrder(request, body, market);
	if ('problem' in order) return order;
	const { partyIdType: type, partyId: id } = Object(body?.['payee']) as Record<string, unknown>;
	if (typeof type !== 'string' || typeof id !== 'string' || !isParty(type, id)) {
		return { problem: 'payee must be a party; a MSISDN is the country code and the number, digits only.' };
	}
	return { ...order, payee: { partyIdType: type, partyId: id } };
}

export function readRefundOrder(request: SimulatorRequest, market: Market): Read<RefundOrder> {
	const body = objectIn(request.body);
	const order = readOrder(request, body, market);
	if ('problem' in order) return order;
	const refunded = body?.['referenceIdToRefund'];
	if (typeof refunded !== 'string' || !isUuidV4(refunded)) {
		return { problem: 'referenceIdToRefund must be the reference of a payment.' };
	}
	return { ...order, referenceIdToRefund: refunded };
}

function readOrder(
	{ headers }: SimulatorRequest,
	body: Record<string, unknown> | null,
	market: Market
): Read<Order> {
	const reference = String(headers['x-reference-id'] ?? '');
	if (!isUuidV4(reference)) return { problem: 'X-Reference-Id must be a UUID of version 4.' };
	if (!/^application\/json\b/i.test(headers['content-type'] ?? '')) {
		return { problem: 'Content-Type must be application/json.' };
	}
	if (body === null) return { problem: 'The body must be a JSON object.' };
	const { amount, currency, externalId = null, payerMessage = null, payeeNote = null } = body;
	if (typeof amount !== 'string' || !isAmount(amount, market.decimals)) {
		return { problem: 'amount must be a positive amount, as a string.' };
	}
	if (typeof currency !== 'string' || !/^[A-Z]{3}$/.test(currency)) {
		return { problem: 'currency must be an ISO 4217 code.' };
	}
	if (externalId !== null && !isText(externalId, MAX_EXTERNAL_ID_LENGTH)) {
		return { problem: 'externalId must be a string without special characters.' };
	}
	if (payerMessage !== null && !isText(payerMessage, MAX_NOTE_LENGTH)) return note('payerMessage');
	if (payeeNote !== null && !isText(payeeNote, MAX_NOTE_LENGTH)) return note('payeeNote');
	return { reference: reference.toLowerCase(), amount, currency, externalId, payerMessage, payeeNote };
}

const note = (name: string) => ({
	problem: `${name} must be a string of at most ${MAX_NOTE_LENGTH} characters without special ones.`
});

/** Quotes, brackets of markup and control characters are refused. */
const isText = (value: unknown, longest: number): value is string =>
	typeof value === 'string' &&
	value.length <= longest &&
	![...value].some((character) => `'"\`<>&\\`.includes(character) || character < ' ');

const isAmount = (text: string, decimals: number): boolean =>
	/^\d{1,12}(\.\d{1,4})?$/.test(text) &&
	Number(text) > 0 &&
	(text.split('.')[1] ?? '').replace(/0+$/, '').length <= decimals;

const isParty = (type: string, id: string): boolean => type === 'MSISDN' && /^\d{5,15}$/.test(id);

const isCallbackUrl = (text: string): boolean => /^https?:\/\/\S+$/.test(text) && URL.canParse(text);
