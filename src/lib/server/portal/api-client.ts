import { wifiQrText } from '#lib/domain/wifi.ts';
import type { z } from 'zod';
import type { Config } from '../config/config.ts';
import type { PaymentBody, PaymentListBody, PaymentStartBody } from '../contract/payment.ts';
import type { RouterBody, RouterListBody, routerListQuery } from '../contract/router.ts';
import type { SessionBody, SessionCreationBody } from '../contract/session.ts';
import type { VoucherRedemptionBody } from '../contract/voucher.ts';
import { DEVICE_HEADER, type RedirectedDevice, writeDevice } from '../http/client-address.ts';
import { waitOutside } from '../http/turns.ts';
import type { Clock } from '../platform/clock.ts';
import { NotFound, Refused, Unavailable } from '../platform/errors.ts';
import type { Log } from '../platform/log.ts';
import { SlidingWindow, WINDOW_MS } from '../rate-limits.ts';

/**
 * The portal's only access to the API: AIRTILL_API_URL, or this process. Then `event.fetch` calls `handle` in
 * hooks.server.ts, which passes /v1 to the API without a socket.
 */

type Search = z.output<typeof routerListQuery>;
/** Parameters with a default may be omitted. */
type RouterSearch = Pick<Search, 'lat' | 'lon'> & Partial<Search>;

export type ApiClient = ReturnType<typeof apiClient>;

/** Statuses that say what is wrong with the request: 400, 404, and 429 of an older API because payments stay unpaid. `reason` is the code. */
const refuse = (body: Record<string, unknown>, status: number): Refused<string> => {
	const Kind = status === 404 ? NotFound<string> : Refused<string>;
	return new Kind(String(body.code), `${String(body.code)}: ${String(body.detail)}`, { extensions: body });
};

/** The API could not be reached or failed. The request may still have taken effect. */
const answerLost = (reason: string, cause?: unknown) =>
	new Unavailable(`The API is not available: ${reason}`, { cause });

/** The API refused the call because of its rate limit. The call had no effect. */
export const limitApi = (waitSeconds: number) =>
	new Unavailable(`The API is not available: limited for ${waitSeconds} s`, { sent: false, waitSeconds });

export interface ApiAccess {
	/** null for this process. */
	url: string | null;
	key: string;
	/** Of a remote API. */
	knownRouters?: KnownRouters;
	/** Limits lists and the map at a remote API, which cost buyers nothing: one search makes many calls. */
	searchQuota?: Quota;
}

/**
 * Routers of a remote API, whose rate limit counts each call: one visitor who reloads a router's page must not use up the
 * calls of those who pay.
 */
export class KnownRouters {
	readonly #clock: Clock;
	readonly #known = new Map<number, { router: RouterBody; until: number }>();

	constructor(clock: Clock) {
		this.#clock = clock;
	}

	async find(id: number, read: () => Promise<RouterBody>): Promise<RouterBody> {
		const known = this.#known.get(id);
		if (known && this.#clock.now() < known.until) return known.router;
		const router = await read();
		if (this.#known.size >= MAX_ROUTERS) this.forget();
		this.#known.set(id, { router, until: this.#clock.now() + ROUTER_MS });
		return router;
	}

	forget(): void {
		this.#known.clear();
	}
}

interface PortalEvent {
	fetch: typeof fetch;
	request: Request;
	locals: { app: { api: ApiAccess; log: Log }; redirectedDevice?: RedirectedDevice };
}

const TIMEOUT_MS = 10_000;
const ROUTER_MS = 30_000;
const MAX_ROUTERS = 2_000;
const LOGO_FILE = /^[0-9a-f]{32}\.(svg|png)$/;
const MAX_LOGO_BYTES = 256 * 1024;
const SHORTEST_WAIT_SECONDS = 2;
const LONGEST_WAIT_SECONDS = 60;
/** With these statuses the request was wrong. After any other failure its effect is unknown. */
const REFUSALS: readonly number[] = [400, 404];

export const apiClient = (event: PortalEvent) => ({
	async listRouters(query: RouterSearch) {
		event.locals.app.api.searchQuota?.take();
		return call<RouterListBody>(event, 'GET', '/routers', { query });
	},
	/** From a remote API at most half a minute old: it refuses an order with an old price. */
	getRouter(id: number) {
		const read = () => call<RouterBody>(event, 'GET', `/routers/${id}`);
		const { knownRouters } = event.locals.app.api;
		return knownRouters ? knownRouters.find(id, read) : read();
	},
	/** @param key Idempotency-Key: the same request with the same key gets the first response */
	createSession: (body: SessionCreationBody, key?: string) =>
		callSession(event, 'POST', '/sessions', { body, key }),
	getSession: (id: number) => callSession(event, 'GET', `/sessions/${id}`),
	endSession: (id: number) => callSession(event, 'DELETE', `/sessions/${id}`),
	/** Fails with `session_not_active` if the session is paid. */
	cancelUnpaid: (id: number) =>
		callSession(event, 'DELETE', `/sessions/${id}`, { query: { if_status: 'pending_payment' } }),
	/** @param key Idempotency-Key */
	startPayment: (body: PaymentStartBody, key?: string) =>
		call<PaymentBody>(event, 'POST', '/payments/mobile-money', {
			...{ body, key },
			device: event.locals.redirectedDevice
		}),
	/** Buys the time of a voucher. A second call gets the same session. */
	redeemVoucher: (body: VoucherRedemptionBody) => callSession(event, 'POST', '/vouchers/redeem', { body }),
	listPayments: (query: { provider_reference: string }) =>
		call<PaymentListBody>(event, 'GET', '/payments', { query }),
	readLogo: (file: string) => readLogo(event, file),
	/** @param wait seconds, the longest wait until the payment leaves `pending`, 0 to 20 */
	getPayment: (id: number, wait = 0) =>
		call<PaymentBody>(event, 'GET', `/payments/${id}/status`, { query: wait > 0 ? { wait } : {} }, wait)
});

/**
 * Adds `access`, which a service with only the fields of the wire format does not send. It sells a password of the
 * Wi-Fi itself.
 */
async function callSession(...request: Parameters<typeof call>): Promise<SessionBody> {
	const session = await call<SessionBody | Omit<SessionBody, 'access'>>(...request);
	if ('access' in session) return session;
	const { ssid, password } = session;
	return {
		...session,
		access: {
			kind: 'wpa_personal_per_client',
			username: null,
			network_password: null,
			qr: password === null ? null : wifiQrText({ ssid, security: 'wpa', password }),
			qr_joins: password === null ? null : 'access',
			end_enforced: true,
			max_devices: 1
		}
	};
}

async function call<Body>(
	{ fetch: ownFetch, request, locals }: PortalEvent,
	method: 'GET' | 'POST' | 'DELETE',
	path: string,
	input: {
		query?: Query;
		body?: object;
		key?: string | undefined;
		/** A remote API counts all pages as the account of their key. */
		device?: RedirectedDevice | undefined;
	} = {},
	waitSeconds = 0
): Promise<Body> {
	const { api, log } = locals.app;
	const { url, key } = api;
	const timeout = AbortSignal.timeout(TIMEOUT_MS + waitSeconds * 1000);
	// A buyer who leaves aborts a read. An order that was sent completes.
	const { signal: clientGone } = request;
	const signal = method === 'GET' ? AbortSignal.any([timeout, clientGone]) : timeout;
	const init: RequestInit = {
		method,
		signal,
		redirect: 'error',
		headers: {
			authorization: `Bearer ${key}`,
			...(input.body ? { 'content-type': 'application/json' } : {}),
			...(input.key === undefined ? {} : { 'idempotency-key': input.key }),
			...(input.device && url === null ? { [DEVICE_HEADER]: writeDevice(input.device) } : {})
		},
		...(input.body ? { body: JSON.stringify(input.body) } : {})
	};
	const address = path + queryString(input.query);
	let response: Response;
	let body: unknown;
	try {
		response =
			url === null
				? await ownFetch(`/v1${address}`, init)
				: await waitOutside(fetch(`${url}${address}`, init));
		body = await response.json();
	} catch (error) {
		if (!clientGone.aborted) log.error({ err: error, method }, 'the API does not answer the portal');
		throw answerLost('no answer', error);
	}
	if (response.ok) return body as Body;
	if (typeof body === 'object' && body !== null && 'code' in body) {
		if (REFUSALS.includes(response.status) || body.code === 'unpaid_prompt_limit') {
			// The router may be offline, or its prices, times and payment methods may have changed.
			api.knownRouters?.forget();
			throw refuse({ ...body }, response.status);
		}
	}
	if (response.status === 429) {
		const seconds = secondsToWait(response.headers.get('retry-after'));
		// In this process the visitor is limited, who could fill the log.
		if (url !== null) log.warn({ method, path, seconds }, 'the API limits the portal');
		throw limitApi(seconds);
	}
	log.error({ method, path, status: response.status }, 'the API refused the portal');
	throw answerLost(`status ${response.status}`);
}

/**
 * Sends no API key: a logo is only a picture and counts toward no rate limit.
 * @returns null if there is no logo or the API does not answer
 */
async function readLogo(
	{ locals }: PortalEvent,
	file: string
): Promise<{ type: string; bytes: Buffer } | null> {
	const { api, log } = locals.app;
	const extension = LOGO_FILE.exec(file)?.[1];
	if (api.url === null || extension === undefined) return null;
	try {
		const init: RequestInit = { redirect: 'error', signal: AbortSignal.timeout(TIMEOUT_MS) };
		const response = await waitOutside(fetch(new URL(`/logos/${file}`, api.url), init));
		const bytes = Buffer.from(await response.arrayBuffer());
		if (!response.ok || bytes.length > MAX_LOGO_BYTES) return null;
		return { type: extension === 'svg' ? 'image/svg+xml' : 'image/png', bytes };
	} catch (error) {
		log.warn({ err: error }, 'the logo could not be loaded');
		return null;
	}
}

/** Reads `Retry-After` in seconds. Without a usable value, returns a minute: the window of the limit. */
function secondsToWait(header: string | null): number {
	const seconds = /^\d{1,6}$/.test(header ?? '') ? Number(header) : LONGEST_WAIT_SECONDS;
	return Math.min(Math.max(seconds, SHORTEST_WAIT_SECONDS), LONGEST_WAIT_SECONDS);
}

type Query = Readonly<Record<string, string | number | undefined>>;

function queryString(query: Query = {}): string {
	const parameters = new URLSearchParams(
		Object.entries(query).flatMap(([name, value]) => (value === undefined ? [] : [[name, decimal(value)]]))
	);
	return parameters.size > 0 ? `?${parameters}` : '';
}

/** A remote API of an earlier version takes no exponents and at most 12 decimals. */
const decimal = (value: number | string) =>
	typeof value === 'string' ? value : value.toFixed(12).replace(/\.?0+$/, '');

/**
 * A part of the rate limit of a remote API. Calls within it leave the rest to purchases. The API of this process limits
 * each visitor instead (`limitVisitor`).
 */
interface Quota {
	/** @throws Unavailable when the part is used up */
	take(): void;
}

/** Calls per minute that every remote API allows at least (default rate plan). */
const REMOTE_LIMIT = 100;

/** @param part of the limit, from 0 to 1 */
export function createQuota(part: number, { remoteApi }: Config, clock: Clock): Quota {
	if (!remoteApi) return { take() {} };
	const window = new SlidingWindow(Math.floor(REMOTE_LIMIT * part), WINDOW_MS);
	return {
		take() {
			const { admitted, resetMs } = window.take(clock.now());
			if (!admitted) throw limitApi(Math.max(1, Math.ceil(resetMs / 1000)));
		}
	};
}
