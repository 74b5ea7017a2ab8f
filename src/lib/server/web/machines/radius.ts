import type { RequestEvent } from '@sveltejs/kit';
import { z } from 'zod';
import type { AccountingReport, LoginAnswer } from '#lib/server/access/access.ts';
import type { App } from '#lib/server/app.ts';
import { AppError } from '#lib/server/platform/errors.ts';
import { equalSecrets } from '#lib/server/platform/secrets.ts';
import { limitAddress, RateLimited } from '#lib/server/api/http/limits.ts';
import { MAX_BODY_BYTES, readBody } from '#lib/server/api/http/read-body.ts';

/**
 * What FreeRADIUS' rlm_rest asks (its mods-available/rest): 200 with attributes as JSON and 204 are a yes, 401 a no with
 * a Reply-Message, 404 an unknown user, 403 no at all, 5xx makes the gateway ask again. A text is marked `do_xlat:
 * false`, because the RADIUS server would else expand it. A right token is not limited: its gateway asks as often as
 * devices come.
 */
type Gateway = NonNullable<Awaited<ReturnType<App['gateways']['byKey']>>>;
type Event = RequestEvent<{ gateway: string }>;

const MAX_TEXT = 253;
/** What no database takes is left out: an answer of 5xx would make a gateway report the same for ever. */
const text = z
	.string()
	.max(MAX_TEXT)
	.transform((value) => value.replaceAll('\0', '').toWellFormed());
const login = z.object({ user: text, mac: text });

/** RADIUS has integers of 32 bits. */
const MAX_WORD = 2 ** 32 - 1;
/** What no one connection moves (10 Gbit/s for 15 hours): the counter of its gateway has gone below zero. */
const MAX_BYTES = 2 ** 46;
const MAX_LASTED_SECONDS = 366 * 24 * 60 * 60;

/** What is no number that a gateway can mean counts as none: the rest of its report is true all the same. */
const count = text.transform((value) => {
	const number = /^\d{1,10}$/.test(value) ? Number(value) : 0;
	return number <= MAX_WORD ? number : 0;
});
const given = text.transform((value) => (value === '' ? null : value));

/** Class as printed: `0x` and two digits for each octet. Another server's may be as long as any attribute. */
const octets = z.string().max(2 + 2 * MAX_TEXT);

/** Acct-Status-Type, RFC 2866, 5.1. */
const STATUSES = new Map<string, AccountingReport['status']>([
	['1', 'start'],
	['2', 'stop'],
	['3', 'interim'],
	['7', 'on'],
	['8', 'off']
]);
/** null: of tunnels, failures and what comes later. It is taken and not kept, or its gateway would repeat it for ever. */
const statusText = z
	.string()
	.regex(/^\d{1,10}$/)
	.transform((value) => STATUSES.get(value) ?? null);

const report = z.object({
	status: statusText,
	session: text,
	user: given,
	mac: given,
	ip: given,
	nas_address: given,
	nas_identifier: given,
	class: octets,
	at: count,
	delay: count,
	lasted: count,
	in: count,
	in_gigawords: count,
	out: count,
	out_gigawords: count,
	cause: given
});

/** One request to /radius/{key}: the gateway is known and proves itself before its body is read. */
async function answered<S extends z.ZodType>(
	event: Event,
	shape: S,
	work: (gateway: Gateway, body: z.output<S>) => Promise<Response>
): Promise<Response> {
	const { gateways, log } = event.locals.app;
	try {
		const gateway = await gateways.byKey(event.params.gateway);
		const token = gateway?.credentials.token;
		if (!gateway || token === undefined || !shows(event, token)) {
			await limitAddress({
				app: event.locals.app,
				getClientAddress: () => event.getClientAddress()
			});
			return empty(gateway ? 403 : 404);
		}
		const parsed = shape.safeParse(await bodyOf(event));
		if (!parsed.success) {
			log.warn(
				{ gateway: gateway.name, path: event.route.id },
				'a RADIUS server sent what is not understood'
			);
			return empty(400);
		}
		return await work(gateway, parsed.data);
	} catch (error) {
		if (error instanceof RateLimited) return empty(429, error.headers);
		if (error instanceof AppError) return empty(error.status);
		log.error({ err: error, request: event.locals.requestId }, 'a RADIUS request failed');
		return empty(500);
	}
}

const shows = ({ request }: Event, token: string) =>
	equalSecrets(request.headers.get('authorization') ?? '', `Bearer ${token}`);

/** @throws AppError `body_too_large` */
async function bodyOf({ request }: Event): Promise<unknown> {
	const bytes = await readBody(request, MAX_BODY_BYTES);
	try {
		return JSON.parse(Buffer.from(bytes).toString('utf8'));
	} catch {
		return null;
	}
}

const empty = (status: number, headers: Record<string, string> = {}) =>
	new Response(null, { status, headers: { 'cache-control': 'no-store', ...headers } });

/** Before the password is checked. */
export const authorize = (event: Event): Promise<Response> =>
	answered(event, login, async (gateway, { user, mac }) =>
		reply(await event.locals.app.access.radius.authorize(gateway, { user, mac: mac || null }))
	);

/** After the password was right. */
export const postAuth = (event: Event): Promise<Response> =>
	answered(event, login, async (gateway, { user, mac }) =>
		reply(await event.locals.app.access.radius.accepted(gateway, { user, mac: mac || null }))
	);

export const accounting = (event: Event): Promise<Response> =>
	answered(event, report, async (gateway, body) => {
		const { status } = body;
		if (status !== null) await event.locals.app.access.radius.account(gateway, reportOf(body, status));
		return empty(204);
	});

const GIGAWORD = 2 ** 32;

const reportOf = (body: z.output<typeof report>, status: AccountingReport['status']): AccountingReport => ({
	status,
	sessionId: body.session,
	user: body.user,
	mac: body.mac,
	ip: body.ip,
	nasAddress: body.nas_address,
	nasIdentifier: body.nas_identifier,
	className: classNameOf(body.class),
	atSeconds: body.at === 0 ? null : body.at,
	delaySeconds: body.delay,
	lastedSeconds: body.lasted <= MAX_LASTED_SECONDS ? body.lasted : null,
	bytesIn: bytesOf(body.in_gigawords, body.in),
	bytesOut: bytesOf(body.out_gigawords, body.out),
	cause: body.cause
});

function bytesOf(gigawords: number, rest: number): number {
	const bytes = gigawords * GIGAWORD + rest;
	return bytes <= MAX_BYTES ? bytes : 0;
}

/** Octets are printed as `0x…`. */
function classNameOf(printed: string): string | null {
	const hex = /^0x((?:[0-9a-f]{2})+)$/i.exec(printed)?.[1];
	const name = hex === undefined ? printed : Buffer.from(hex, 'hex').toString('latin1');
	return name === '' ? null : name;
}

const asText = (value: string | string[]) => ({ value, op: ':=', do_xlat: false });
const asNumber = (value: number) => ({ value, op: ':=' });

function reply(answer: LoginAnswer): Response {
	switch (answer.kind) {
		case 'unknown':
			return empty(404);
		case 'accepted':
			return empty(204);
		case 'refused':
			return attributes(401, { 'reply:Reply-Message': asText(answer.message) });
		case 'known':
			return attributes(200, {
				'control:Cleartext-Password': asText(answer.password),
				...termsOf(answer.terms)
			});
		case 'keys':
			return attributes(200, {
				'control:Auth-Type': asText('Accept'),
				'reply:Tunnel-Password:0': asText(answer.passwords),
				...(answer.user === null ? {} : { 'reply:User-Name': asText(answer.user) }),
				...termsOf(answer.terms)
			});
	}
}

const termsOf = ({
	seconds,
	interimSeconds,
	className
}: Extract<LoginAnswer, { kind: 'known' }>['terms']) => ({
	'reply:Session-Timeout': asNumber(seconds),
	'reply:Acct-Interim-Interval': asNumber(interimSeconds),
	...(className === null ? {} : { 'reply:Class': asText(className) })
});

const attributes = (status: number, body: Record<string, unknown>) =>
	new Response(JSON.stringify(body), {
		status,
		headers: { 'content-type': 'application/json', 'cache-control': 'no-store' }
	});
