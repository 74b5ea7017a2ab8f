import type { z } from 'zod';
import type { ProblemItem } from '../api/contract/schemas.ts';
import type {
	PaymentBody,
	PaymentStartBody,
	RouterBody,
	RouterListBody,
	routerListQuery,
	SessionBody,
	SessionCreationBody
} from '../api/contract/schemas.ts';
import type { Log } from '../platform/log.ts';
import type { ApiMemory, Calls } from './api-memory.ts';
import type { Quota } from './quota.ts';

/**
 * The portal's only way to the service: a typed client of `{base_url}`. By default that is this process (`event.fetch`,
 * no socket); with AIRTILL_API_URL it is a remote service, and nothing else changes.
 */

type Search = z.output<typeof routerListQuery>;
/** Parameters of the list of routers; those with a default may be left out. */
export type RouterSearch = Pick<Search, 'lat' | 'lon'> & Partial<Search>;

/** Reads of the pages of a purchase. */
export type ReadsOfPurchases = Pick<ApiClient, 'getRouter' | 'getSession'> & {
	getPayment(id: number): Promise<PaymentBody>;
};

export interface ApiClient {
	/** Reads for pages: a response of moments ago is enough where each call counts against a remote limit. */
	recent: ReadsOfPurchases;
	listRouters(search: RouterSearch): Promise<RouterListBody>;
	getRouter(id: number): Promise<RouterBody>;
	/** @param key Idempotency-Key: the same request with the same key gets the first response */
	createSession(order: SessionCreationBody, key?: string): Promise<SessionBody>;
	getSession(id: number): Promise<SessionBody>;
	endSession(id: number): Promise<SessionBody>;
	/** Cancels a session that is not paid; refused as `session_not_active` once it is paid. */
	cancelUnpaid(id: number): Promise<SessionBody>;
	/** @param key Idempotency-Key */
	startPayment(order: PaymentStartBody, key?: string): Promise<PaymentBody>;
	/** A logo of the service, by its file name; null if there is none or the service does not answer. */
	readLogo(file: string): Promise<{ type: string; bytes: Buffer } | null>;
	/** @param waitSeconds how long the response may be held back until the payment leaves `pending`, 0 to 20 */
	getPayment(id: number, waitSeconds?: number): Promise<PaymentBody>;
}

/** The service understood the request and refused it (400 or 404). */
export class ApiProblem extends Error {
	readonly status: number;
	readonly code: string;
	readonly detail: string;
	readonly errors: readonly ProblemItem[];
	readonly extensions: Readonly<Record<string, unknown>>;

	constructor(body: Record<string, unknown>, status: number) {
		super(`${String(body.code)}: ${String(body.detail)}`);
		this.name = 'ApiProblem';
		this.status = status;
		this.code = String(body.code);
		this.detail = String(body.detail);
		this.errors = Array.isArray(body.errors) ? (body.errors as ProblemItem[]) : [];
		this.extensions = body;
	}
}

/** The service could not be asked, or could not answer: nothing is known about what was asked for. */
export class ApiUnavailable extends Error {
	constructor(reason: string, cause?: unknown) {
		super(`The API is not available: ${reason}`, { cause });
		this.name = 'ApiUnavailable';
	}
}

/** The service refuses calls for a while because there were too many; it did nothing with this one. */
export class ApiLimited extends ApiUnavailable {
	readonly retryAfterSeconds: number;

	constructor(retryAfterSeconds: number) {
		super(`limited for ${retryAfterSeconds} s`);
		this.name = 'ApiLimited';
		this.retryAfterSeconds = retryAfterSeconds;
	}
}

export interface ApiAccess {
	/** null: this process. */
	url: string | null;
	key: string;
	/** For a service that is not this process. */
	memory?: ApiMemory;
	/** What lists and the map may use of the limit: they are free to ask for, and one search is many calls. */
	looking?: Quota;
}

interface Carrier {
	fetch: typeof fetch;
	request: Request;
	locals: { app: { api: ApiAccess; log: Log } };
}

const TIMEOUT_MS = 10_000;
const LOGO_FILE = /^[0-9a-f]{32}\.(svg|png)$/;
const MAX_LOGO_BYTES = 256 * 1024;
const SHORTEST_WAIT_SECONDS = 2;
const LONGEST_WAIT_SECONDS = 60;
/** Statuses that say that the question was wrong; every other failure says nothing about it. */
const REFUSALS: readonly number[] = [400, 404];

/** The client for one page request. */
export function apiClient(event: Carrier): ApiClient {
	const { api, log } = event.locals.app;
	const { url, key, looking } = api;

	/**
	 * Sends a request and returns the body of its success, which has the type of the API's schema.
	 * @param waitSeconds how long the service may hold the response back
	 */
	async function call<Body>(
		method: 'GET' | 'POST' | 'DELETE',
		path: string,
		input: { query?: Query; body?: object; key?: string | undefined } = {},
		waitSeconds = 0
	): Promise<Body> {
		const timeout = AbortSignal.timeout(TIMEOUT_MS + waitSeconds * 1000);
		// A buyer who leaves ends a read; an order that was sent is completed.
		const { signal: left } = event.request;
		const signal = method === 'GET' ? AbortSignal.any([timeout, left]) : timeout;
		const init: RequestInit = {
			method,
			signal,
			redirect: 'error',
			headers: {
				authorization: `Bearer ${key}`,
				...(input.body ? { 'content-type': 'application/json' } : {}),
				...(input.key === undefined ? {} : { 'idempotency-key': input.key })
			},
			...(input.body ? { body: JSON.stringify(input.body) } : {})
		};
		const address = path + queryString(input.query);
		let response: Response;
		let body: unknown;
		try {
			response =
				url === null ? await event.fetch(`/v1${address}`, init) : await fetch(`${url}${address}`, init);
			body = await response.json();
		} catch (error) {
			if (!left.aborted) log.error({ err: error, method }, 'the API does not answer the portal');
			throw new ApiUnavailable('no answer', error);
		}
		if (response.ok) return body as Body;
		if (REFUSALS.includes(response.status) && typeof body === 'object' && body !== null && 'code' in body) {
			throw new ApiProblem({ ...body }, response.status);
		}
		if (response.status === 429) {
			const limited = new ApiLimited(secondsToWait(response.headers.get('retry-after')));
			log.warn({ method, path, seconds: limited.retryAfterSeconds }, 'the API limits the portal');
			throw limited;
		}
		log.error({ method, path, status: response.status }, 'the API refused the portal');
		throw new ApiUnavailable(`status ${response.status}`);
	}

	/** No call of the API: it carries no key, counts for no limit, and is only a picture. */
	async function readLogo(file: string): Promise<{ type: string; bytes: Buffer } | null> {
		const extension = LOGO_FILE.exec(file)?.[1];
		if (url === null || extension === undefined) return null;
		try {
			const response = await fetch(new URL(`/logos/${file}`, url), {
				redirect: 'error',
				signal: AbortSignal.timeout(TIMEOUT_MS)
			});
			const bytes = await upTo(response, MAX_LOGO_BYTES);
			if (!response.ok || !bytes) return null;
			return { type: extension === 'svg' ? 'image/svg+xml' : 'image/png', bytes };
		} catch (error) {
			log.warn({ err: error }, 'the logo of a router does not come');
			return null;
		}
	}

	const calls: Calls = {
		listRouters: async (query) => {
			looking?.take();
			return call('GET', '/routers', { query });
		},
		getRouter: (id) => call('GET', `/routers/${id}`),
		createSession: (body, key) => call('POST', '/sessions', { body, key }),
		getSession: (id) => call('GET', `/sessions/${id}`),
		cancelUnpaid: (id) => call('DELETE', `/sessions/${id}`, { query: { if_status: 'pending_payment' } }),
		endSession: (id) => call('DELETE', `/sessions/${id}`),
		readLogo,
		startPayment: (body, key) => call('POST', '/payments/mobile-money', { body, key }),
		getPayment: (id, wait = 0) =>
			call('GET', `/payments/${id}/status`, { query: wait > 0 ? { wait } : {} }, wait)
	};
	return api.memory ? api.memory.listening(calls) : { ...calls, recent: calls };
}

/** `Retry-After` in whole seconds; a minute, the window of the limit, where it says nothing that can be used. */
function secondsToWait(header: string | null): number {
	const seconds = /^\d{1,6}$/.test(header ?? '') ? Number(header) : LONGEST_WAIT_SECONDS;
	return Math.min(Math.max(seconds, SHORTEST_WAIT_SECONDS), LONGEST_WAIT_SECONDS);
}

/** A body of at most so many bytes; null when it is longer. */
async function upTo(response: Response, limit: number): Promise<Buffer | null> {
	const parts: Uint8Array[] = [];
	let size = 0;
	for await (const part of response.body ?? []) {
		size += part.length;
		if (size > limit) return null;
		parts.push(part);
	}
	return Buffer.concat(parts);
}

type Query = Readonly<Record<string, string | number | undefined>>;

function queryString(query: Query = {}): string {
	const parameters = new URLSearchParams(
		Object.entries(query).flatMap(([name, value]) => (value === undefined ? [] : [[name, decimal(value)]]))
	);
	return parameters.size > 0 ? `?${parameters}` : '';
}

/** Plain decimals: the wire format has no exponents, and knows at most 12 decimals. */
const decimal = (value: number | string) =>
	typeof value === 'string' ? value : value.toFixed(12).replace(/\.?0+$/, '');
