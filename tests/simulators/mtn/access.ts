import { randomBytes } from 'node:crypto';
import type { SimulatorAnswer, SimulatorRequest } from '../frame/protocol.ts';
import { objectIn } from '../json.ts';
import { failure, gateway, ok, rejected } from './answers.ts';
import type { Market } from './markets.ts';

/**
 * Credentials: subscription keys (per product, a primary and a secondary one), API users with their keys, tokens.
 * In the sandbox users and keys are made over the API; a market has the one that its portal gave.
 */

export type Product = 'collection' | 'disbursement';

interface ApiUser {
	/** The product with whose subscription key it was made. */
	product: Product;
	/** Names that X-Callback-Url may have. */
	callbackHosts: readonly string[];
	apiKey: string | null;
}

export const CREDENTIALS = {
	api_user: '00000000-0000-4000-8000-00000000fa4e',
	api_key: 'fake-api-key-of-the-simulator',
	disbursement_api_user: '00000000-0000-4000-8000-00000000d15b',
	disbursement_api_key: 'fake-disbursement-api-key-of-the-simulator',
	collection_subscription_key: 'fake-collection-key',
	collection_secondary_key: 'fake-collection-key-2',
	disbursement_subscription_key: 'fake-disbursement-key',
	disbursement_secondary_key: 'fake-disbursement-key-2'
} as const;

const TOKEN_SECONDS = 3_600;
/** For a client on the same machine; users that are made over the API have exactly the name that they gave. */
const LOOPBACK = ['localhost', '127.0.0.1'];

export const isUuidV4 = (text: string): boolean =>
	/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i.test(text);

export class Access {
	private readonly users = new Map<string, ApiUser>();
	private readonly tokens = new Map<string, { user: string; product: Product; until: number }>();
	private readonly market: Market;

	/** @param callbackHost of the user made in advance; null: this machine, by name and by number */
	constructor(market: Market, callbackHost: string | null) {
		this.market = market;
		const callbackHosts = callbackHost === null ? LOOPBACK : [callbackHost];
		const { api_user, api_key, disbursement_api_user, disbursement_api_key } = CREDENTIALS;
		this.users.set(api_user, { product: 'collection', callbackHosts, apiKey: api_key });
		this.users.set(disbursement_api_user, {
			product: 'disbursement',
			callbackHosts,
			apiKey: disbursement_api_key
		});
	}

	expireTokens(): void {
		this.tokens.clear();
	}

	/** The gateway's check: the product that the key opens, if it is one of these. */
	private openedBy({ headers }: SimulatorRequest, products: readonly Product[]): Product | SimulatorAnswer {
		const key = headers['ocp-apim-subscription-key'];
		const missing =
			'Access denied due to missing subscription key. Make sure to include subscription key when making requests to an API.';
		if (typeof key !== 'string' || key === '') return gateway(401, missing);
		const opened = products.find(
			(one) => key === CREDENTIALS[`${one}_subscription_key`] || key === CREDENTIALS[`${one}_secondary_key`]
		);
		if (opened) return opened;
		const invalid =
			'Access denied due to invalid subscription key. Make sure to provide a valid key for an active subscription.';
		return gateway(401, invalid);
	}

	/** `POST /{product}/token/` */
	giveToken(request: SimulatorRequest, product: Product, now: number): SimulatorAnswer {
		const opened = this.openedBy(request, [product]);
		if (typeof opened !== 'string') return opened;
		// The documentation forbids every body; the platform lets a form pass.
		const isForm = /^application\/x-www-form-urlencoded\b/i.test(request.headers['content-type'] ?? '');
		if (request.body !== '' && !isForm) return rejected('A token request has no body.');
		const [, basic = ''] = /^Basic ([A-Za-z0-9+/]+={0,2})$/.exec(request.headers.authorization ?? '') ?? [];
		const [, id = '', key = ''] = /^([^:]*):(.*)$/.exec(Buffer.from(basic, 'base64').toString('utf8')) ?? [];
		const user = this.users.get(id.toLowerCase());
		if (!user || user.apiKey === null || user.apiKey !== key)
			return { status: 401, body: { error: 'login_failed' } };
		const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
		const until = now + TOKEN_SECONDS * 1000;
		const token = `${part({ typ: 'JWT', alg: 'fake' })}.${part({ clientId: id, expires: new Date(until).toISOString() })}.${randomBytes(24).toString('base64url')}`;
		this.tokens.set(token, { user: id.toLowerCase(), product, until });
		return ok({ access_token: token, token_type: 'access_token', expires_in: TOKEN_SECONDS });
	}

	/** Subscription key, token and X-Target-Environment of a call. */
	enter(request: SimulatorRequest, product: Product, now: number): { user: ApiUser } | SimulatorAnswer {
		const opened = this.openedBy(request, [product]);
		if (typeof opened !== 'string') return opened;
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
		if (user.product !== product) return failure('NOT_ALLOWED');
		return { user };
	}

	/** `/v1_0/apiuser…`, in the sandbox only; null is a path that there is not. */
	provision(request: SimulatorRequest): SimulatorAnswer | null {
		const found = /^\/v1_0\/apiuser(?:\/([^/]+)(\/apikey)?)?$/.exec(request.path);
		if (!found || this.market.country !== null) return null;
		const [, id, rest] = found;
		const call = `${request.method} ${id === undefined ? '' : 'user'}${rest ?? ''}`;
		if (!['POST ', 'GET user', 'POST user/apikey'].includes(call)) return null;
		const product = this.openedBy(request, ['collection', 'disbursement']);
		if (typeof product !== 'string') return product;
		if (id === undefined) return this.makeUser(request, product);
		const user = this.users.get(id.toLowerCase());
		if (!user) return failure('RESOURCE_NOT_FOUND');
		if (rest === undefined) {
			const [providerCallbackHost = ''] = user.callbackHosts;
			return ok({ providerCallbackHost, targetEnvironment: this.market.environment });
		}
		user.apiKey = randomBytes(16).toString('hex');
		return ok({ apiKey: user.apiKey }, 201);
	}

	private makeUser({ headers, body }: SimulatorRequest, product: Product): SimulatorAnswer {
		const id = String(headers['x-reference-id'] ?? '').toLowerCase();
		if (!isUuidV4(id)) return rejected('X-Reference-Id must be a UUID of version 4.');
		const given = objectIn(body)?.['providerCallbackHost'];
		// The documentation says without a scheme; the platform accepts one.
		const host = typeof given === 'string' ? given.replace(/^https?:\/\/([^/]*)\/?$/i, '$1') : '';
		if (!isHostName(host)) return rejected('providerCallbackHost must be a host name.');
		if (this.users.has(id)) return failure('RESOURCE_ALREADY_EXIST');
		this.users.set(id, { product, callbackHosts: [host.toLowerCase()], apiKey: null });
		return ok(null, 201);
	}
}

/** No port, no path and no IP address. */
const isHostName = (text: string): boolean =>
	text.length <= 253 &&
	/^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/i.test(text) &&
	!/^[\d.]+$/.test(text);
