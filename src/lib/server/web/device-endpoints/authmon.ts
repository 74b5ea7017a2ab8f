import type { RequestEvent } from '@sveltejs/kit';
import type { App } from '#lib/server/app.ts';
import type { RegisteredGateway } from '#lib/server/gateways/gateways.ts';
import {
	formatItems,
	matchesName,
	MAX_ITEMS,
	readAuthmonRequest,
	rhidOf,
	type AuthmonRequest
} from '#lib/server/gateways/opennds/authmon.ts';
import { createRequestBatcher } from './request-batcher.ts';

/**
 * openNDS' `authmon` fetches the devices to authorize: version 10 with a query, version 9 with a form.
 * Requests are not authenticated (see gateways/opennds/authmon.ts). A rate limit would let a customer block
 * the router, so requests are answered in batches.
 */

const USER_AGENT = /^openNDS\(authmon/i;
const MAX_BODY_BYTES = 16 * 1024;
/** Between batches of one gateway. openNDS sends two requests every few seconds. */
const BATCH_MS = 200;

interface NamedRequest {
	request: AuthmonRequest;
	/** `gatewayhash` */
	hash: string;
}

/** Returns null for an unknown gateway. */
type Batcher = (key: string, request: NamedRequest) => Promise<string | null>;

const batchers = new WeakMap<App, Batcher>();

function batcherOf(app: App): Batcher {
	const batcher =
		batchers.get(app) ??
		createRequestBatcher(BATCH_MS, (key: string, requests: readonly NamedRequest[]) =>
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
	const hash = fields.get('gatewayhash') ?? '';
	const answer = await batcherOf(event.locals.app)(event.params.gateway ?? '', { request, hash });
	return answer === null ? text('ERROR: no such gateway', 404) : text(answer);
}

async function answerBatch(
	app: App,
	key: string,
	requests: readonly NamedRequest[]
): Promise<(request: NamedRequest) => string | null> {
	const gateway = await app.gateways.byKey(key);
	if (!gateway || gateway.mode !== 'poll') return () => null;
	const logins = await app.captiveSessions.newestLogins(gateway);
	const names = new Set(requests.map(({ hash }) => hash));
	// Before the first redirect, the gateway's name is unknown.
	const isKnownName = logins.length === 0 || logins.some((login) => matchesName(login, names));
	// Anybody can poll, so a live gateway is verified by the first report of its BinAuth script.
	const isVerified = app.config.mode !== 'live' || gateway.seenAt !== null;
	if (isVerified && isKnownName) await app.gateways.recordStatus(gateway, { seen: true });
	const items = await itemsFor(app, gateway, requests);
	return ({ request }) => {
		// A starting router sends this. Nothing is cleared, because the waiting devices have paid.
		if (request === 'clear') return '';
		return request === 'notice' ? 'ack' : items;
	};
}

/** A grant counts as fetched if one of the requests has its gateway's name. */
async function itemsFor(
	app: App,
	gateway: RegisteredGateway,
	requests: readonly NamedRequest[]
): Promise<string> {
	const { access, clock } = app;
	const faskey = gateway.secret ?? '';
	const fetches = requests.filter(({ request }) => request === 'fetch');
	const names = new Set(fetches.map(({ hash }) => hash));
	if (names.size === 0) return '';
	const grants = await access.fetchGrants(gateway, MAX_ITEMS, (login) => {
		if (rhidOf(login, faskey) === null) return 'none';
		return matchesName(login, names) ? 'sent' : 'listed';
	});
	return formatItems(grants, faskey, clock.now());
}

/** Returns null if the body is too large. */
async function readParameters({ request, url }: RequestEvent): Promise<URLSearchParams | null> {
	if (request.method === 'GET') return url.searchParams;
	if (Number(request.headers.get('content-length') ?? 0) > MAX_BODY_BYTES) return null;
	const body = await request.text();
	return body.length > MAX_BODY_BYTES ? null : new URLSearchParams(body);
}

const text = (body: string, status = 200) =>
	new Response(body, { status, headers: { 'content-type': 'text/plain', 'cache-control': 'no-store' } });
