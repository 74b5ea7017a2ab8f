import type { ApiMemory, Calls } from './api-memory.ts';
import type { paths } from './api-types.ts';
import type { Log } from '../platform/log.ts';
import type { Share } from './quota.ts';
import type { ProblemItem } from '../api/contract/problems.ts';

/**
 * The portal's only way to the service: a typed client of `{base_url}`. By default that is this process (a
 * call through `event.fetch`, no socket); with AIRTILL_API_URL it is a remote service, and nothing else changes.
 *
 * Paths, parameters and bodies are those of the OpenAPI document: api-types.ts is generated from it, so that what
 * the document does not say does not compile here.
 */

type Method = 'get' | 'post' | 'put' | 'delete';
/** Paths that have the method. */
type PathOf<M extends Method> = {
	[P in keyof paths]: paths[P] extends Record<M, object> ? P : never;
}[keyof paths];
type Operation<M extends Method, P extends keyof paths> = paths[P][M];

type Json<T> = T extends { content: { 'application/json': infer Body } } ? Body : never;
/** What a success brings. */
type Answer<M extends Method, P extends PathOf<M>> =
	Operation<M, P> extends { responses: infer R } ? Json<R[keyof R & (200 | 201)]> : never;
type Body<M extends Method, P extends PathOf<M>> =
	Operation<M, P> extends { requestBody: infer B } ? Json<B> : never;
type Parameters<M extends Method, P extends PathOf<M>, In extends 'path' | 'query'> =
	Operation<M, P> extends { parameters: infer All } ? NonNullable<All[In & keyof All]> : never;

/** Present when the operation has such a part, and not otherwise. */
type Part<Name extends string, T> = [T] extends [never] ? unknown : Record<Name, T>;
/** A query may be left out when all of it may be. */
type QueryPart<T> = [T] extends [never] ? unknown : object extends T ? { query?: T } : { query: T };

type Input<M extends Method, P extends PathOf<M>> = Part<'path', Parameters<M, P, 'path'>> &
	QueryPart<Parameters<M, P, 'query'>> &
	Part<'body', Body<M, P>> & { /** Idempotency-Key */ key?: string | undefined };

type Call = <M extends Method, P extends PathOf<M>>(
	method: M,
	path: P,
	input: Input<M, P>,
	/** How long the service may hold the answer back, in seconds. */
	waitSeconds?: number
) => Promise<Answer<M, P>>;

type Session = Answer<'get', '/sessions/{id}'>;

/** What the pages of a purchase read. */
export type ReadsOfPurchases = Pick<ApiClient, 'getRouter' | 'getSession'> & {
	getPayment(id: number): ReturnType<ApiClient['getPayment']>;
};

export interface ApiClient {
	/** Reads for pages: what the service said moments ago will do, where asking it again has a price. */
	recent: ReadsOfPurchases;
	listRouters(query: Parameters<'get', '/routers', 'query'>): Promise<Answer<'get', '/routers'>>;
	getRouter(id: number): Promise<Answer<'get', '/routers/{id}'>>;
	/** @param key Idempotency-Key: the same request with the same key gets the first answer */
	createSession(order: Body<'post', '/sessions'>, key?: string): Promise<Session>;
	getSession(id: number): Promise<Session>;
	endSession(id: number): Promise<Session>;
	/** Cancels a session that is not paid; refused as `session_not_active` when it is paid by now. */
	cancelUnpaid(id: number): Promise<Session>;
	startPayment(
		order: Body<'post', '/payments/mobile-money'>,
		key?: string
	): Promise<Answer<'post', '/payments/mobile-money'>>;
	/** A logo of the service, by its file name; null when it has none such, or cannot be asked. */
	readLogo(file: string): Promise<{ type: string; bytes: Buffer } | null>;
	/** @param waitSeconds how long the answer may be held back until the payment leaves `pending`, 0 to 20 */
	getPayment(id: number, waitSeconds?: number): Promise<Answer<'get', '/payments/{id}/status'>>;
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
	looking?: Share;
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

	async function send(verb: string, template: string, input: Sent, waitSeconds = 0): Promise<unknown> {
		const method = verb.toUpperCase();
		const path = fill(template, input.path);
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
		const address = path + search(input.query);
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
		if (response.ok) return body;
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

	// Here, and nowhere else, the types of the document are believed of what comes over the wire.
	const call = send as Call;
	const calls: Calls = {
		listRouters: async (query) => {
			looking?.take();
			return call('get', '/routers', { query });
		},
		getRouter: (id) => call('get', '/routers/{id}', { path: { id } }),
		createSession: (body, key) => call('post', '/sessions', { body, key }),
		getSession: (id) => call('get', '/sessions/{id}', { path: { id } }),
		cancelUnpaid: (id) =>
			call('delete', '/sessions/{id}', { path: { id }, query: { if_status: 'pending_payment' } }),
		endSession: (id) => call('delete', '/sessions/{id}', { path: { id } }),
		readLogo,
		startPayment: (body, key) => call('post', '/payments/mobile-money', { body, key }),
		getPayment: (id, wait = 0) => {
			const query = wait > 0 ? { wait } : {};
			return call('get', '/payments/{id}/status', { path: { id }, query }, wait);
		}
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

/** A request as it is sent, whatever the operation. */
interface Sent {
	path?: Readonly<Record<string, string | number>>;
	query?: Readonly<Record<string, string | number | undefined>>;
	body?: object;
	key?: string;
}

const fill = (template: string, parameters: Sent['path'] = {}) =>
	template.replace(/\{(\w+)\}/g, (_all, name: string) => encodeURIComponent(String(parameters[name])));

function search(query: Sent['query'] = {}): string {
	const parameters = new URLSearchParams(
		Object.entries(query).flatMap(([name, value]) => (value === undefined ? [] : [[name, decimal(value)]]))
	);
	return parameters.size > 0 ? `?${parameters}` : '';
}

/** Plain decimals: the wire format has no exponents, and knows at most 12 decimals. */
const decimal = (value: number | string) =>
	typeof value === 'string' ? value : value.toFixed(12).replace(/\.?0+$/, '');
