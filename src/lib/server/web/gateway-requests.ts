import type { RequestEvent } from '@sveltejs/kit';
import { limitAddress } from '#lib/server/api/middleware.ts';
import { type RegisteredGateway, findGatewayByKey, recordStatus } from '#lib/server/gateways/gateways.ts';
import { logSecurity, networkOf } from '#lib/server/http/client-address.ts';
import { equalSecrets } from '#lib/server/platform/secrets.ts';
import { isProblem } from '#lib/server/platform/errors.ts';
import type { App } from '#lib/server/app.ts';
import {
	type AuthmonRequest,
	MAX_ITEMS,
	formatItems,
	readAuthmonRequest
} from '#lib/server/gateways/opennds.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import { fetchGrants } from '../access/opennds-clients.ts';

export type GatewayEvent = RequestEvent<{ gateway: string }>;

export const empty = (status: number, headers: Record<string, string> = {}) =>
	new Response(null, { status, headers: { 'cache-control': 'no-store', ...headers } });

/** Gateways read the status of an error only. After 5xx a RADIUS server repeats its request. */
export async function answerGateway(event: GatewayEvent, work: () => Promise<Response>): Promise<Response> {
	try {
		return await work();
	} catch (error) {
		if (isProblem(error)) {
			const { retry_after: wait } = error.extensions;
			return empty(error.status, wait === undefined ? {} : { 'retry-after': String(wait) });
		}
		const { app, requestId } = event.locals;
		app.log.error({ err: error, request: requestId }, 'request of a gateway failed');
		return empty(500);
	}
}

/**
 * Limits failed attempts by address.
 * @param sent the token, from the body of a client that cannot send headers
 * @returns the gateway, or the response to a request that is not from it
 * @throws Refused
 */
export async function authenticateGateway(
	event: GatewayEvent,
	sent: string | null = null
): Promise<RegisteredGateway | Response> {
	const { app } = event.locals;
	const gateway = await findGatewayByKey(app.gateways, event.params.gateway);
	const token = gateway?.credentials.token;
	const given = event.request.headers.get('authorization') ?? `Bearer ${sent}`;
	if (gateway && token !== undefined && equalSecrets(given, `Bearer ${token}`)) return gateway;
	await limitAddress(app, networkOf(event.locals.clientAddress()));
	logSecurity(event, 'gateway key refused', { gateway: gateway?.name ?? 'unknown' });
	return empty(gateway ? 403 : 404);
}

/**
 * openNDS' `authmon` fetches the devices to authorize: version 10 with a query, version 9 with a form.
 * Requests are not authenticated (see gateways/opennds.ts). A rate limit would let a customer block
 * the router, so requests are answered in batches.
 */

const USER_AGENT = /^openNDS\(authmon/i;
const MAX_BODY_BYTES = 16 * 1024;
/** Between batches of one gateway. openNDS sends two requests every few seconds. */
const BATCH_MS = 200;

/** Returns null for an unknown gateway. */
type Batcher = (key: string, request: AuthmonRequest) => Promise<string | null>;

const batchers = new WeakMap<App, Batcher>();

function batcherOf(app: App): Batcher {
	const batcher =
		batchers.get(app) ??
		createRequestBatcher(BATCH_MS, (key: string, requests: readonly AuthmonRequest[]) =>
			answerBatch(app, key, requests)
		);
	batchers.set(app, batcher);
	return batcher;
}

export const isAuthmon = ({ request, url }: RequestEvent): boolean =>
	request.method === 'GET'
		? url.searchParams.has('auth_get')
		: request.method === 'POST' && USER_AGENT.test(request.headers.get('user-agent') ?? '');

export async function answerAuthmon(event: RequestEvent): Promise<Response> {
	const fields = await readParameters(event);
	const request = fields && readAuthmonRequest(fields);
	if (!request) return text('ERROR: not an authmon request', 400);
	const answer = await batcherOf(event.locals.app)(event.params.gateway ?? '', request);
	return answer === null ? text('ERROR: no such gateway', 404) : text(answer);
}

async function answerBatch(
	app: App,
	key: string,
	requests: readonly AuthmonRequest[]
): Promise<(request: AuthmonRequest) => string | null> {
	const { access, clock, config, gateways } = app;
	const gateway = await findGatewayByKey(gateways, key);
	if (!gateway || gateway.mode !== 'poll') return () => null;
	// Anybody can poll, so the first report of the BinAuth script verifies a live gateway.
	if (config.mode !== 'live' || gateway.seenAt !== null)
		await recordStatus(gateways, gateway, { seen: true });
	const grants = requests.includes('fetch') ? await fetchGrants(access, gateway, MAX_ITEMS) : [];
	const items = formatItems(grants, gateway.secret ?? '', clock.now());
	return (request) => {
		if (request === 'fetch') return items;
		// A starting router sends `clear`. Nothing is cleared, because the waiting devices have paid.
		return request === 'clear' ? '' : 'ack';
	};
}

async function readParameters({ request, url }: RequestEvent): Promise<URLSearchParams | null> {
	if (request.method === 'GET') return url.searchParams;
	if (Number(request.headers.get('content-length') ?? 0) > MAX_BODY_BYTES) return null;
	const body = await request.text();
	return body.length > MAX_BODY_BYTES ? null : new URLSearchParams(body);
}

const text = (body: string, status = 200) =>
	new Response(body, { status, headers: { 'content-type': 'text/plain', 'cache-control': 'no-store' } });

/**
 * Runs at most one batch per subject in `intervalMs`.
 * Requests that arrive during a batch share the next one, so no answer is older than its request.
 * @param answerAll answers a batch; returns the answer to each of its requests
 */
export function createRequestBatcher<Q, A>(
	intervalMs: number,
	answerAll: (subject: string, requests: readonly Q[]) => Promise<(request: Q) => A>,
	pause: (ms: number) => Promise<unknown> = (ms) => sleep(ms, null, { ref: false })
): (subject: string, request: Q) => Promise<A> {
	/** Batches that have not started, by subject. */
	const waiting = new Map<string, { requests: Q[]; answer: Promise<(request: Q) => A> }>();
	/** Resolves when the subject's next batch may start. */
	const running = new Map<string, Promise<void>>();

	function addBatch(subject: string) {
		const previous = running.get(subject);
		const requests: Q[] = [];
		const answer = (async () => {
			await previous;
			waiting.delete(subject);
			return answerAll(subject, requests);
		})();
		const done = (async () => {
			await previous;
			await Promise.allSettled([answer, pause(intervalMs)]);
		})();
		running.set(subject, done);
		void done.then(() => {
			if (running.get(subject) === done) running.delete(subject);
		});
		const batch = { requests, answer };
		waiting.set(subject, batch);
		return batch;
	}

	return async (subject, request) => {
		const batch = waiting.get(subject) ?? addBatch(subject);
		batch.requests.push(request);
		return (await batch.answer)(request);
	};
}
