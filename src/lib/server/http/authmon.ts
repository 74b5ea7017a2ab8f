import type { RequestEvent } from '@sveltejs/kit';
import type { RegisteredGateway } from '../gateways/gateways.ts';
import {
	answerItems,
	fitsName,
	isUnderName,
	MAX_ITEMS,
	readQuestion,
	rhidOf,
	type AuthmonQuestion
} from '../gateways/opennds-authmon.ts';
import { adapterOf } from '../gateways/registry.ts';
import { waitForPoll } from './limits.ts';

/**
 * openNDS' `authmon`, which asks at the portal's own address (`/splash/{key}`) for the devices that it is to let in:
 * version 10 in the query, version 9 in a form. See gateways/opennds-authmon.ts for what its questions prove.
 */

const USER_AGENT = /^openNDS\(authmon/i;
const MAX_BODY_BYTES = 16 * 1024;
/** Devices of one gateway that can be on their way to it; more wait for the next questions. */
const MAX_HANDED_OUT = 200;

/** Whether a request for a portal's address is a question of authmon: no browser sends one. */
export const isAuthmon = ({ request, url }: RequestEvent): boolean =>
	request.method === 'GET'
		? url.searchParams.has('auth_get')
		: request.method === 'POST' && USER_AGENT.test(request.headers.get('user-agent') ?? '');

export async function answerAuthmon(event: RequestEvent): Promise<Response> {
	const { app } = event.locals;
	const gateway = await app.gateways.byKey(event.params.gateway ?? '');
	if (!gateway || adapterOf(gateway.kind).way(gateway) !== 'poll') return text('ERROR: no such gateway', 404);
	const fields = await fieldsOf(event);
	const question = fields && readQuestion(fields);
	const hash = fields?.get('gatewayhash') ?? '';
	const logins = question ? await app.visits.newestLogins(gateway) : [];
	const wait = await waitForPoll(event, gateway.id, isUnderName(logins, hash));
	if (wait !== null) return text('ERROR: too often', 429, { 'retry-after': String(wait) });
	if (!question) return text('ERROR: not a question of authmon', 400);
	// Where no device has been yet nothing is known of it.
	const isKnown = logins.length === 0 || logins.some((login) => fitsName(login, hash));
	if (isKnown) await app.gateways.note(gateway.id, { seen: true });
	return text(await answer(app, gateway, question, hash));
}

async function answer(
	app: RequestEvent['locals']['app'],
	gateway: RegisteredGateway,
	question: AuthmonQuestion,
	hash: string
): Promise<string> {
	const { access, clock } = app;
	const faskey = gateway.secret ?? '';
	switch (question.kind) {
		// What waits here was paid: a router that starts again has to let it in all the more.
		case 'clear':
			return '';
		case 'notice':
			return 'ack';
		case 'ack':
			for (const { grantId, login } of await access.handedOut(gateway, MAX_HANDED_OUT)) {
				const rhid = rhidOf(login, faskey);
				if (!fitsName(login, hash)) continue;
				if (rhid !== null && question.rhids.includes(rhid)) await access.confirm(gateway, grantId);
			}
			return 'ack';
		default: {
			const guests = await access.waiting(gateway, MAX_ITEMS, (login) => {
				if (rhidOf(login, faskey) === null) return 'useless';
				return fitsName(login, hash) ? 'handed-out' : 'shown';
			});
			// No acknowledgement follows a list.
			if (question.kind === 'list') {
				for (const { grantId, login } of guests)
					if (fitsName(login, hash)) await access.confirm(gateway, grantId);
			}
			const items = guests.flatMap(({ login, user, untilMs, grantId }) => {
				const rhid = rhidOf(login, faskey);
				return rhid === null ? [] : [{ rhid, user, untilMs, grantId }];
			});
			return answerItems(items, clock.now());
		}
	}
}

/** @returns null when there is too much, or nothing that can be read */
async function fieldsOf({ request, url }: RequestEvent): Promise<URLSearchParams | null> {
	if (request.method === 'GET') return url.searchParams;
	if (Number(request.headers.get('content-length') ?? 0) > MAX_BODY_BYTES) return null;
	const body = await request.text();
	return body.length > MAX_BODY_BYTES ? null : new URLSearchParams(body);
}

const text = (body: string, status = 200, headers: Record<string, string> = {}) =>
	new Response(body, {
		status,
		headers: { 'content-type': 'text/plain', 'cache-control': 'no-store', ...headers }
	});
