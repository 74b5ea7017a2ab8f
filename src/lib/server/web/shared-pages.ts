import type { RequestEvent } from '@sveltejs/kit';
import { LOCALES } from '#lib/i18n/locales.ts';
import { ANY_ORIGIN, readGuides } from '../api/guides.ts';
import { formatDocument } from '../api/document.ts';
import type { App } from '../app.ts';
import { codingFor, pack, type Coding } from './compress.ts';

/**
 * Pages that are the same for everybody, except for the address of the installation and their language: the
 * documentation, `/openapi.json`, help, terms and the forms to sign in. Rendering one takes tens of milliseconds, which
 * readers must not take from buyers, so each is rendered at most once in its time and kept, with its compressed forms.
 * The pages are a fixed list, and so are the forms, so the memory is bounded. The nonce of their policy is shared as
 * well: they contain nothing of a visitor.
 */

/** Prices and routers of the quickstart may change. */
const REFERENCE_MS = 60_000;
/** An administrator's own texts show up that late. */
const PAGE_MS = 10_000;
/** Forms are kept for so many addresses. Whoever invents further ones gets the page uncompressed, which costs least. */
const MAX_ADDRESSES = 4;

const DOCUMENT = '/openapi.json';
const REFERENCE = [DOCUMENT, '/docs', '/docs/api'];
const PAGES = new RegExp(
	`^(/(${LOCALES.join('|')}))?/(help|terms|privacy|owner/(sign-in|forgot)|developer/(sign-in|sign-up|forgot))$`
);

/** Stands for the address in a rendered page, so that no Host header gets into what others read. */
const ANY_ADDRESS = new RegExp(ANY_ORIGIN.replace('https', 'https?').replaceAll('.', '\\.'), 'g');

type Bodies = Map<Coding | 'identity', Promise<Buffer<ArrayBuffer>>>;

interface Answer {
	headers: [string, string][];
	text: string;
	hasAddress: boolean;
	/** By address; one for all if the page does not contain it. */
	bodies: Map<string, Bodies>;
}

type Render = () => Response | Promise<Response>;

export function createSharedPages(app: App) {
	const pages = new Map<string, { until: number; answer: Promise<Answer | null> }>();
	const reference = new Set([...REFERENCE, ...readGuides(app.config).map(({ href }) => href)]);

	/** Null: the request gets a page of its own, such as one of search results. */
	function keyOf({ request, url, locals }: RequestEvent, locale: string): string | null {
		const path = url.pathname;
		if (request.method !== 'GET' && request.method !== 'HEAD') return null;
		if (reference.has(path)) return path;
		// Whoever is signed in has a cookie, and is led on.
		const isSame = PAGES.test(path) && url.search === '' && !request.headers.has('cookie');
		return isSame ? [path, locale, new URL(locals.origin).protocol].join(' ') : null;
	}

	function readPage(event: RequestEvent, key: string, render: Render): Promise<Answer | null> {
		const now = performance.now();
		const known = pages.get(key);
		if (known && known.until > now) return known.answer;
		const answer = renderForAll(event, render);
		const until = now + (reference.has(key) ? REFERENCE_MS : PAGE_MS);
		pages.set(key, { until, answer });
		answer.catch(() => pages.delete(key));
		return answer;
	}

	return async function answerShared(event: RequestEvent, locale: string, render: Render): Promise<Response> {
		const key = keyOf(event, locale);
		const answer = key === null ? null : await readPage(event, key, render);
		if (answer === null) return render();
		const { headers, text, hasAddress, bodies } = answer;
		const { origin } = event.locals;
		const address = hasAddress ? origin : '';
		if (!bodies.has(address) && bodies.size < MAX_ADDRESSES) bodies.set(address, new Map());
		const kept = bodies.get(address);
		const coding = (kept && codingFor(event.request.headers.get('accept-encoding'))) ?? 'identity';
		const body = kept?.get(coding) ?? bodyOf(text, event.url.pathname, origin, coding);
		kept?.set(coding, body);
		const packed = await body;
		const response = new Response(packed, { headers });
		response.headers.append('vary', 'accept-encoding');
		if (coding !== 'identity') response.headers.set('content-encoding', coding);
		response.headers.set('content-length', String(packed.length));
		return response;
	};
}

/** Renders a page without what is the visitor's. Null if it is not the same for everybody. */
async function renderForAll(event: RequestEvent, render: Render): Promise<Answer | null> {
	const { request, locals } = event;
	const { origin } = locals;
	// SvelteKit would answer a HEAD request without the page, and a known validator with 304.
	event.request = new Request(event.url);
	locals.origin = origin.startsWith('https:') ? ANY_ORIGIN : ANY_ORIGIN.replace('https:', 'http:');
	try {
		const response = await render();
		if (response.status !== 200 || response.headers.has('set-cookie')) return null;
		// The validator is that of the text without its address; the length is that of one form.
		for (const name of ['etag', 'content-length']) response.headers.delete(name);
		const text = await response.text();
		const hasAddress = text.search(ANY_ADDRESS) >= 0;
		return { headers: [...response.headers], text, hasAddress, bodies: new Map() };
	} finally {
		event.request = request;
		locals.origin = origin;
	}
}

function bodyOf(text: string, path: string, origin: string, coding: Coding | 'identity') {
	const address = path === DOCUMENT ? JSON.stringify(origin).slice(1, -1) : escapeHtml(origin);
	const plain = Buffer.from(text.replaceAll(ANY_ADDRESS, () => address));
	return coding === 'identity' ? Promise.resolve(plain) : pack(plain, coding);
}

/** A host can contain these characters, in an attribute, too. */
const escapeHtml = (text: string) => text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);

/** GET /openapi.json. Tools on other sites read it; it contains no secrets. */
export const renderDocument = ({ config }: App): Response =>
	new Response(formatDocument(ANY_ORIGIN, config), {
		headers: {
			'content-type': 'application/json; charset=utf-8',
			'cache-control': 'public, max-age=300',
			'access-control-allow-origin': '*'
		}
	});
