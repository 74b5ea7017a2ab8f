import type { RequestEvent } from '@sveltejs/kit';
import type { App } from '#lib/server/app.ts';
import {
	type AuthmonRequest,
	MAX_ITEMS,
	formatItems,
	readAuthmonRequest
} from '#lib/server/gateways/opennds.ts';
import { createRequestBatcher } from './request-batcher.ts';
import { findGatewayByKey, recordStatus } from '../../gateways/gateways.ts';
import { fetchGrants } from '../../access/opennds-clients.ts';

/**
 * openNDS' `authmon` fetches the devices to authorize: version 10 with a query, version 9 with a form.
 * Requests are not authenticated (see gateways/opennds/authmon.ts). A rate limit would let a customer block
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
