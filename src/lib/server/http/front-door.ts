import type { IncomingMessage, ServerResponse } from 'node:http';
import { isPublicAddress, networksOfIp, normaliseIp } from '#lib/domain/address.ts';
import { directionOf, isLocale, LOCALES, type Locale } from '#lib/i18n/locales.ts';
import { isEnglishOnly, splitLanguage } from '#lib/i18n/path.ts';
import * as m from '#lib/i18n/messages.js';
import { PROBLEMS } from '../contract/problems.ts';
import { requestId } from '../platform/secrets.ts';
import { createAddressReader, networkOf, readProxySettings } from './client-address.ts';
import { isApiPath, isCallPath } from './requests.ts';
import { createTurns, type Arrival, type Limits } from './turns.ts';

/** Every request of src/server.js comes in here: who is it, may others go first, is there room? */

/** Pages of the purchase of one buyer, and what devices and health checks ask for. */
const FIRST_PAGES = /^\/+(s|pass|splash|guest|captive-portal|healthz|readyz)(\/|$)/;
/** Where a form buys, pays again or opens a purchase. */
const FIRST_FORMS = /^\/+(r|kiosk|resume)(\/|$)/;
/** Their paths contain a key that only one buyer or device knows. */
const KEYS = /^\/+(?:s|pass|splash\/[\w-]+)\/([\w-]{16,64})(?:\/|$)/;
const KEPT_KEYS = 10_000;

const RETRY_SECONDS = 2;

export function createFrontDoor(env: Readonly<Record<string, string | undefined>>, limits?: Limits) {
	const turns = createTurns(limits);
	// Programs that watch the server come without an address, which is no reason to warn.
	const addressOf = createAddressReader(env, { warn() {} });
	const isProxyKnown = readProxySettings(env).addressHeader !== '';
	const sockets = new WeakMap<object, string>();
	let connections = 0;
	/** Keys for which a page was found, the last ones. Whoever invents keys gets no turns for them. */
	const keys = new Set<string>();

	function connectionOf({ socket }: IncomingMessage): string {
		let name = sockets.get(socket);
		if (name === undefined) sockets.set(socket, (name = String((connections += 1))));
		return name;
	}

	function whoIs(request: IncomingMessage, key: string | null): Pick<Arrival, 'path' | 'hidesMany'> {
		const person = key !== null && keys.has(key) ? key : redirectOf(request);
		const address = addressOf(request);
		const hidden = isProxyKnown ? null : hiddenNetwork(request, address);
		// One line of an Internet provider can have all networks of a /48.
		const site = address === null ? networkOf(null) : (networksOfIp(address).at(-1) ?? address);
		return {
			path: [site, hidden ?? networkOf(address), person, person || connectionOf(request)],
			hidesMany: hidden !== null
		};
	}

	/** Calls `serve` when it is the turn of the request. One for which there is no room is answered here. */
	return function enter(request: IncomingMessage, response: ServerResponse, serve: () => void): void {
		const path = pathOf(request);
		const key = KEYS.exec(path)?.[1] ?? null;
		const visit = turns.arrive({
			...whoIs(request, key),
			isFirst: isFirst(request, path),
			start: serve,
			refuse: () => refuse(request, response, path)
		});
		// With the head of the answer the work is done: what follows takes the time of the client's link.
		const { writeHead } = response;
		response.writeHead = function writeHeadAndLeave(...head: unknown[]) {
			visit.leave();
			return Reflect.apply(writeHead, response, head) as ServerResponse;
		};
		// A response that waits behind another one on its connection does not learn that the connection ends.
		request.once('close', () => {
			if (request.socket.destroyed) visit.leave();
		});
		response.once('close', () => {
			visit.leave();
			if (key !== null && response.headersSent && response.statusCode < 300) remember(key);
		});
	};

	function remember(key: string): void {
		keys.delete(key);
		keys.add(key);
		for (const oldest of keys) {
			if (keys.size <= KEPT_KEYS) break;
			keys.delete(oldest);
		}
	}
}

/**
 * Returns what a gateway's redirect says, which names its device; "" for other requests. All guests of a venue share one
 * address, and one device that asks again and again takes the turns of one guest.
 */
function redirectOf({ url = '/' }: IncomingMessage): string {
	return /^\/+(?:\w+\/+)?(?:splash|guest)\/[^?]*(\?.+)$/s.exec(url)?.[1] ?? '';
}

/** The path without host, query and language. Its percent-encoding stays. */
function pathOf({ url = '/' }: IncomingMessage): string {
	const path = url.replace(/^https?:\/\/[^/?#]*|[?#].*$/gs, '');
	return splitLanguage(path).path;
}

function isFirst({ method }: IncomingMessage, path: string): boolean {
	if (isApiPath(path) || isCallPath(path) || FIRST_PAGES.test(path)) return true;
	return method === 'POST' && FIRST_FORMS.test(path);
}

/**
 * Returns the network that a proxy beside us reports, although ADDRESS_HEADER does not say that it may be believed:
 * enough to take turns among the visitors of that proxy, who are one network to us. Otherwise null.
 */
function hiddenNetwork({ headers }: IncomingMessage, address: string | null): string | null {
	const forwarded = headers['x-forwarded-for'] ?? headers['forwarded'];
	// A proxy on a socket of the file system has no address.
	if (forwarded === undefined || (address !== null && isPublicAddress(address))) return null;
	return networkOf(normaliseIp(String(forwarded).split(',').at(-1) ?? ''));
}

function refuse(request: IncomingMessage, response: ServerResponse, path: string): void {
	const isApi = isApiPath(path);
	const id = requestId();
	const [status, type, body] = isApi
		? ([429, 'application/problem+json', refusalOfApi(id)] as const)
		: ([
				503,
				'text/html; charset=utf-8',
				refusalOfPages(languageOf(request), request.method === 'POST')
			] as const);
	response.writeHead(status, {
		'content-type': type,
		'content-length': Buffer.byteLength(body),
		'cache-control': 'no-store',
		'x-content-type-options': 'nosniff',
		'retry-after': String(RETRY_SECONDS),
		'x-request-id': id,
		// What is left of its body is not worth reading.
		...(request.method === 'GET' || request.method === 'HEAD' ? {} : { connection: 'close' })
	});
	response.end(request.method === 'HEAD' ? undefined : body);
}

/** The API has no 503. */
function refusalOfApi(id: string): string {
	const { status, title, type } = PROBLEMS.rate_limit_exceeded;
	return JSON.stringify({
		type,
		title,
		status,
		detail: `Too many requests of your network wait for an answer. Retry in ${RETRY_SECONDS} s.`,
		code: 'rate_limit_exceeded',
		request_id: id,
		retry_after: RETRY_SECONDS,
		'violated-policies': ['waiting']
	});
}

const pages = new Map<string, string>();

/** Loads itself again, by GET. After a form, its person goes back to it, or on by the link: a reload would show an empty one. */
function refusalOfPages(locale: Locale, isForm: boolean): string {
	const key = `${locale} ${isForm}`;
	let page = pages.get(key);
	if (page === undefined) {
		const title = m.common_error_busy({}, { locale });
		const again = isForm
			? `<a href="">${m.common_error_try_again({}, { locale })}</a>`
			: m.common_error_again_by_itself({ seconds: RETRY_SECONDS }, { locale });
		page =
			`<!doctype html><html lang="${locale}" dir="${directionOf(locale)}"><meta charset="utf-8">` +
			'<meta name="viewport" content="width=device-width, initial-scale=1">' +
			(isForm ? '' : `<meta http-equiv="refresh" content="${RETRY_SECONDS}">`) +
			`<title>${title}</title>` +
			`<h1>${title}</h1><p>${again}</p></html>`;
		pages.set(key, page);
	}
	return page;
}

function languageOf({ url = '/', headers }: IncomingMessage): Locale {
	const { locale } = splitLanguage(url);
	if (locale !== null) return locale;
	if (isEnglishOnly(url)) return 'en';
	const accepted = (headers['accept-language'] ?? '').toLowerCase().split(',');
	const languages = accepted.map((one) => one.trim().slice(0, 2));
	return languages.find(isLocale) ?? LOCALES[0];
}
