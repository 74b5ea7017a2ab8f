import type {
	PaymentBody,
	PaymentStartBody,
	RouterBody,
	RouterListBody,
	SessionBody,
	SessionCreationBody
} from './contract/schemas.ts';
import type { Log } from './log.ts';
import type { ProblemItem } from './contract/problems.ts';

/**
 * The portal's only way to the service: a typed client of `{base_url}`. By default that is this process (a
 * call through `event.fetch`, no socket); with AIRTILL_API_URL it is a remote service, and nothing else changes.
 */
export interface ApiClient {
	listRouters(query: {
		lat: number;
		lon: number;
		radius?: number;
		limit?: number;
		cursor?: string;
	}): Promise<RouterListBody>;
	getRouter(id: number): Promise<RouterBody>;
	createSession(order: SessionCreationBody): Promise<SessionBody>;
	getSession(id: number): Promise<SessionBody>;
	endSession(id: number): Promise<SessionBody>;
	/** Cancels a session that is not paid; refused as `session_not_active` when it is paid by now. */
	cancelUnpaid(id: number): Promise<SessionBody>;
	startPayment(order: PaymentStartBody): Promise<PaymentBody>;
	/** @param waitSeconds how long the answer may be held back until the payment leaves `pending`, 0 to 20 */
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

export interface ApiAccess {
	/** null: this process. */
	url: string | null;
	key: string;
}

interface Carrier {
	fetch: typeof fetch;
	request: Request;
	locals: { app: { api: ApiAccess; log: Log } };
}

const TIMEOUT_MS = 10_000;
/** Statuses that say that the question was wrong; every other failure says nothing about it. */
const REFUSALS: readonly number[] = [400, 404];

/** The client for one page request. */
export function apiClient(event: Carrier): ApiClient {
	const { api, log } = event.locals.app;
	const { url, key } = api;

	async function call<T>(
		method: string,
		path: string,
		options: { body?: object; waitSeconds?: number } = {}
	): Promise<T> {
		const timeout = AbortSignal.timeout(TIMEOUT_MS + (options.waitSeconds ?? 0) * 1000);
		// A buyer who leaves ends a held read; an order once sent is seen through.
		const signal = method === 'GET' ? AbortSignal.any([timeout, event.request.signal]) : timeout;
		const init: RequestInit = {
			method,
			signal,
			redirect: 'error',
			headers: {
				authorization: `Bearer ${key}`,
				...(options.body ? { 'content-type': 'application/json' } : {})
			},
			...(options.body ? { body: JSON.stringify(options.body) } : {})
		};
		let response: Response;
		let body: unknown;
		try {
			response = url === null ? await event.fetch(`/v1${path}`, init) : await fetch(`${url}${path}`, init);
			body = await response.json();
		} catch (error) {
			if (!event.request.signal.aborted)
				log.error({ err: error, method }, 'the API does not answer the portal');
			throw new ApiUnavailable('no answer', error);
		}
		if (response.ok) return body as T;
		if (REFUSALS.includes(response.status) && typeof body === 'object' && body !== null && 'code' in body) {
			throw new ApiProblem({ ...body }, response.status);
		}
		log.error(
			{ method, path: path.replace(/\?.*$/, ''), status: response.status },
			'the API refused the portal'
		);
		throw new ApiUnavailable(`status ${response.status}`);
	}

	return {
		listRouters(query) {
			const parameters = new URLSearchParams(
				Object.entries(query).flatMap(([name, value]) =>
					value === undefined ? [] : [[name, decimal(value)]]
				)
			);
			return call('GET', `/routers?${parameters}`);
		},
		getRouter: (id) => call('GET', `/routers/${id}`),
		createSession: (body) => call('POST', '/sessions', { body }),
		getSession: (id) => call('GET', `/sessions/${id}`),
		cancelUnpaid: (id) => call('DELETE', `/sessions/${id}?if_status=pending_payment`),
		endSession: (id) => call('DELETE', `/sessions/${id}`),
		startPayment: (body) => call('POST', '/payments/mobile-money', { body }),
		getPayment: (id, waitSeconds = 0) =>
			call('GET', `/payments/${id}/status${waitSeconds > 0 ? `?wait=${waitSeconds}` : ''}`, { waitSeconds })
	};
}

/** Plain decimals: the wire format has no exponents, and knows at most 12 decimals. */
const decimal = (value: number | string) =>
	typeof value === 'string' ? value : value.toFixed(12).replace(/\.?0+$/, '');
