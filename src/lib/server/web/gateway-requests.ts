import type { RequestEvent } from '@sveltejs/kit';
import { limitAddress } from '#lib/server/api/call.ts';
import {
	type RegisteredGateway,
	findGatewayByKey,
	learnLoginHosts,
	recordStatus
} from '#lib/server/gateways/gateways.ts';
import { logSecurity, networkOf } from '#lib/server/http/client-address.ts';
import { equalSecrets, sha256 } from '#lib/server/platform/secrets.ts';
import { Refused, isProblem } from '#lib/server/platform/errors.ts';
import { parsePortalAddress } from '../gateways/gateway.ts';
import { formatLoginPage } from '../gateways/mikrotik.ts';
import { formatSetup, readReport } from '../gateways/mikrotik-fetch.ts';
import { applyReport, renderNextScript } from '../access/hotspot-fetch.ts';
import { readBody } from '../http/requests.ts';
import type { App } from '#lib/server/app.ts';
import {
	type AuthmonRequest,
	MAX_ITEMS,
	formatItems,
	readAuthmonRequest
} from '#lib/server/gateways/opennds.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import { fetchDevices } from '../access/opennds-clients.ts';

/**
 * Requests of gateways: how they prove who they are, what they are answered, authmon of openNDS, which asks for its
 * clients, and MikroTik routers, which fetch scripts.
 */

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

export type MikrotikEvent = RequestEvent<{ gateway: string; file: string }>;

/** A router fetches every ten seconds, and several times in a row if many buyers wait. */
const MAX_FETCHES = 300;
/** RouterOS posts no more. */
const MAX_REPORT_BYTES = 64 * 1024;

/**
 * What a MikroTik that fetches gets at `/mikrotik/{key}/...` (see gateways/mikrotik-fetch.ts). A wrong key is answered like an
 * unknown address.
 */
async function authenticateMikrotik(event: MikrotikEvent) {
	const { app, clientAddress, origin } = event.locals;
	const gateway = await findGatewayByKey(app.gateways, event.params.gateway);
	const [, token = ''] = /^Bearer (\w{16,64})$/.exec(event.request.headers.get('authorization') ?? '') ?? [];
	const hash = gateway?.mode === 'fetch' ? gateway.credentials.token : undefined;
	if (!gateway || hash === undefined || !equalSecrets(sha256(token), hash)) {
		await limitAddress(app, networkOf(clientAddress()));
		logSecurity(event, 'gateway key refused', { gateway: gateway?.name ?? 'unknown' });
		return null;
	}
	const { admitted, resetMs } = await app.rateLimits.take(`mikrotik:${gateway.id}`, MAX_FETCHES);
	if (!admitted) {
		const extensions = { retry_after: Math.ceil(resetMs / 1000) };
		throw new Refused('rate_limit_exceeded', 'The router fetches too often.', { extensions });
	}
	const portal = parsePortalAddress({ origin: app.config.origin ?? origin, port: app.config.port });
	const place = { address: `${portal.origin}/mikrotik/${gateway.key}`, token };
	return { app, gateway, portal, place };
}

/** `setup`, `login.html`, or the next script: `script-yes` if its requests check the certificate, else `script-no`. */
export const answerMikrotikFetch = (event: MikrotikEvent) =>
	answerGateway(event, async () => {
		const known = await authenticateMikrotik(event);
		if (known === null) return empty(404);
		const { app, gateway, portal, place } = known;
		switch (event.params.file) {
			case 'setup':
				return text(formatSetup(place, portal.hostname));
			case 'login.html':
				return text(formatLoginPage({ portal, gateway }));
			case 'script-yes':
			case 'script-no':
				return text(
					await renderNextScript(app.access, gateway, {
						...place,
						isChecked: event.params.file === 'script-yes'
					})
				);
			default:
				return empty(404);
		}
	});

export const answerMikrotikReport = (event: MikrotikEvent) =>
	answerGateway(event, async () => {
		const known = await authenticateMikrotik(event);
		if (known === null || event.params.file !== 'report') return empty(404);
		const { app, gateway } = known;
		const body = Buffer.from(await readBody(event.request, MAX_REPORT_BYTES)).toString('utf8');
		const report = readReport(gateway, body);
		if (report === null || report.at > app.clock.now()) return empty(400);
		await recordStatus(app.gateways, gateway, { seen: true, trouble: null, online: report.devices });
		await learnLoginHosts(app.gateways, gateway, report.hosts);
		await applyReport(app.access, gateway, report);
		return empty(204);
	});

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
	const devices = requests.includes('fetch') ? await fetchDevices(access, gateway, MAX_ITEMS) : [];
	const items = formatItems(devices, gateway.secret ?? '', clock.now());
	return (request) => {
		if (request === 'fetch') return items;
		// A starting router sends `clear`. Nothing is cleared, because the waiting devices have paid.
		return request === 'clear' ? '' : 'ack';
	};
}

async function readParameters({ request, url }: RequestEvent): Promise<URLSearchParams | null> {
	if (request.method === 'GET') return url.searchParams;
	const body = await readBody(request, MAX_BODY_BYTES).catch(() => null);
	return body && new URLSearchParams(Buffer.from(body).toString('utf8'));
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
