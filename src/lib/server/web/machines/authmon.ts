import type { RequestEvent } from '@sveltejs/kit';
import type { App } from '#lib/server/app.ts';
import type { RegisteredGateway } from '#lib/server/gateways/gateways.ts';
import {
	answerItems,
	fitsName,
	MAX_ITEMS,
	readQuestion,
	rhidOf,
	type AuthmonQuestion
} from '#lib/server/gateways/opennds/authmon.ts';
import { adapterOf } from '#lib/server/gateways/registry.ts';
import { createRequestBatcher } from './request-batcher.ts';

/**
 * openNDS' `authmon`, which asks at the portal's own address (`/splash/{key}`) for the devices that it is to let in:
 * version 10 in the query, version 9 in a form. See gateways/opennds-authmon.ts for what its questions prove: whoever
 * knows the gateway's address and name asks like the router, so none is refused for asking too often. They are answered
 * in rounds instead.
 */

const USER_AGENT = /^openNDS\(authmon/i;
const MAX_BODY_BYTES = 16 * 1024;
/** Devices of one gateway that can be on their way to it; more wait for the next questions. */
const MAX_HANDED_OUT = 200;
/** A gateway is looked after once in this time: it asks twice in some seconds. */
const ROUND_MS = 200;

interface Asked {
	question: AuthmonQuestion;
	/** The name under which it comes. */
	hash: string;
}

/** @returns null where there is no such gateway */
type Ask = (key: string, asked: Asked) => Promise<string | null>;

/** Of each service in this process. */
const asks = new WeakMap<App, Ask>();

function askOf(app: App): Ask {
	const ask =
		asks.get(app) ??
		createRequestBatcher(ROUND_MS, (key: string, asked: readonly Asked[]) => round(app, key, asked));
	asks.set(app, ask);
	return ask;
}

/** Whether a request for a portal's address is a question of authmon: no browser sends one. */
export const isAuthmon = ({ request, url }: RequestEvent): boolean =>
	request.method === 'GET'
		? url.searchParams.has('auth_get')
		: request.method === 'POST' && USER_AGENT.test(request.headers.get('user-agent') ?? '');

export async function answerAuthmon(event: RequestEvent): Promise<Response> {
	const fields = await fieldsOf(event);
	const question = fields && readQuestion(fields);
	if (!question) return text('ERROR: not a question of authmon', 400);
	const hash = fields.get('gatewayhash') ?? '';
	const answer = await askOf(event.locals.app)(event.params.gateway ?? '', { question, hash });
	return answer === null ? text('ERROR: no such gateway', 404) : text(answer);
}

async function round(app: App, key: string, asked: readonly Asked[]): Promise<(one: Asked) => string | null> {
	const gateway = await app.gateways.byKey(key);
	if (!gateway || adapterOf(gateway.kind).controlMode(gateway) !== 'poll') return () => null;
	const logins = await app.captiveSessions.newestLogins(gateway);
	const names = new Set(asked.map(({ hash }) => hash));
	// Where no device has been yet nothing is known of it.
	const isKnown = logins.length === 0 || logins.some((login) => fitsName(login, names));
	const isConfirmed = await confirm(app, gateway, asked);
	if (isKnown || isConfirmed) await app.gateways.recordStatus(gateway.id, { seen: true });
	const items = await itemsFor(app, gateway, asked);
	return ({ question: { kind } }) => {
		// What waits here was paid: a router that starts again has to let it in all the more.
		if (kind === 'clear') return '';
		return kind === 'ack' || kind === 'notice' ? 'ack' : items;
	};
}

/** Notes who was let in. @returns whether anybody was of whom it was told */
async function confirm(app: App, gateway: RegisteredGateway, asked: readonly Asked[]): Promise<boolean> {
	/** By the device that is acknowledged: under which names. */
	const acknowledged = new Map<string, Set<string>>();
	for (const { question, hash } of asked) {
		if (question.kind !== 'ack') continue;
		for (const rhid of question.rhids) {
			acknowledged.set(rhid, (acknowledged.get(rhid) ?? new Set()).add(hash));
		}
	}
	if (acknowledged.size === 0) return false;
	let isAny = false;
	for (const { grantId, login } of await app.access.unconfirmedGrants(gateway, MAX_HANDED_OUT)) {
		const names = acknowledged.get(rhidOf(login, gateway.secret ?? '') ?? '');
		if (names && fitsName(login, names) && (await app.access.confirm(gateway, grantId))) isAny = true;
	}
	return isAny;
}

/** What is shown to all who ask; it counts as handed out where one of them has the name for it. */
async function itemsFor(app: App, gateway: RegisteredGateway, asked: readonly Asked[]): Promise<string> {
	const { access, clock } = app;
	const faskey = gateway.secret ?? '';
	const namesOf = (...kinds: AuthmonQuestion['kind'][]) =>
		new Set(asked.filter(({ question }) => kinds.includes(question.kind)).map(({ hash }) => hash));
	const names = namesOf('view', 'list');
	if (names.size === 0) return '';
	const grants = await access.fetchGrants(gateway, MAX_ITEMS, (login) => {
		if (rhidOf(login, faskey) === null) return 'useless';
		return fitsName(login, names) ? 'handed-out' : 'shown';
	});
	// No acknowledgement follows a list.
	const listers = namesOf('list');
	for (const { grantId, login } of grants) {
		if (fitsName(login, listers)) await access.confirm(gateway, grantId);
	}
	const items = grants.flatMap(({ login, user, untilMs, grantId }) => {
		const rhid = rhidOf(login, faskey);
		return rhid === null ? [] : [{ rhid, user, untilMs, grantId }];
	});
	return answerItems(items, clock.now());
}

/** @returns null when there is too much, or nothing that can be read */
async function fieldsOf({ request, url }: RequestEvent): Promise<URLSearchParams | null> {
	if (request.method === 'GET') return url.searchParams;
	if (Number(request.headers.get('content-length') ?? 0) > MAX_BODY_BYTES) return null;
	const body = await request.text();
	return body.length > MAX_BODY_BYTES ? null : new URLSearchParams(body);
}

const text = (body: string, status = 200) =>
	new Response(body, { status, headers: { 'content-type': 'text/plain', 'cache-control': 'no-store' } });
