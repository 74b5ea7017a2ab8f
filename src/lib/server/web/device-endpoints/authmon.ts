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
	const hasConfirmed = await confirmAcknowledged(app, gateway, requests);
	// Anybody can poll, so where the BinAuth script confirms devices, its first report verifies a live gateway.
	const isVerified = app.config.mode !== 'live' || gateway.seenAt !== null || trustsRequests(gateway);
	if (isVerified && (isKnownName || hasConfirmed)) await app.gateways.recordStatus(gateway, { seen: true });
	const items = await itemsFor(app, gateway, requests);
	return ({ request: { kind } }) => {
		// A starting router sends this. Nothing is cleared, because the waiting devices have paid.
		if (kind === 'clear') return '';
		return kind === 'ack' || kind === 'notice' ? 'ack' : items;
	};
}

/** Anybody can send an acknowledgement: where the BinAuth script confirms devices, it has no effect. */
const trustsRequests = ({ settings }: RegisteredGateway) => !settings.binauthConfirms;

/** Returns false if the requests acknowledge no grant. */
async function confirmAcknowledged(
	app: App,
	gateway: RegisteredGateway,
	requests: readonly NamedRequest[]
): Promise<boolean> {
	const namesByRhid = new Map<string, Set<string>>();
	for (const { request, hash } of requests) {
		if (request.kind !== 'ack') continue;
		for (const rhid of request.rhids) {
			namesByRhid.set(rhid, (namesByRhid.get(rhid) ?? new Set()).add(hash));
		}
	}
	if (namesByRhid.size === 0 || !trustsRequests(gateway)) return false;
	let hasConfirmed = false;
	for (const { grantId, login } of await app.access.unconfirmedGrants(gateway)) {
		const names = namesByRhid.get(rhidOf(login, gateway.secret ?? '') ?? '');
		if (names && matchesName(login, names) && (await app.access.confirm(gateway, grantId))) {
			hasConfirmed = true;
		}
	}
	return hasConfirmed;
}

/** A grant counts as fetched if one of the requests has its gateway's name. */
async function itemsFor(
	app: App,
	gateway: RegisteredGateway,
	requests: readonly NamedRequest[]
): Promise<string> {
	const { access, clock } = app;
	const faskey = gateway.secret ?? '';
	const namesOf = (...kinds: AuthmonRequest['kind'][]) =>
		new Set(requests.filter(({ request }) => kinds.includes(request.kind)).map(({ hash }) => hash));
	const names = namesOf('view', 'list');
	if (names.size === 0) return '';
	const grants = await access.fetchGrants(gateway, MAX_ITEMS, (login) => {
		if (rhidOf(login, faskey) === null) return 'none';
		return matchesName(login, names) ? 'sent' : 'listed';
	});
	// authmon does not acknowledge a `list`.
	const listers = namesOf('list');
	for (const { grantId, login } of grants) {
		if (trustsRequests(gateway) && matchesName(login, listers)) await access.confirm(gateway, grantId);
	}
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
