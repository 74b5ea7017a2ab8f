import { ANY_ORIGIN, readGuides } from '../api/reference/guides.ts';
import { documentText } from '../api/document/document.ts';
import type { App } from '../app.ts';
import { codingFor, pack, type Coding } from './compress.ts';

/**
 * Pages that are the same for everybody, except for the address of the installation: the documentation and
 * `/openapi.json`. Each is rendered at most once in FRESH_MS and kept, with its compressed forms for the last address:
 * rendering a guide takes tens of milliseconds, which readers must not take from buyers. The pages are a fixed list, so
 * the memory is bounded. Their policy's nonce is shared as well: they contain nothing of a visitor.
 */

/** Prices and routers of the quickstart may change. */
const FRESH_MS = 60_000;

interface Answer {
	status: number;
	headers: [string, string][];
	text: string;
}

interface Kept {
	until: number;
	answer: Promise<Answer>;
	/** The address for which `bodies` are. */
	origin: string;
	bodies: Map<Coding | 'identity', Promise<Buffer<ArrayBuffer>>>;
}

interface Asked {
	path: string;
	/** Public address without a trailing slash. */
	origin: string;
	acceptEncoding: string | null;
}

const DOCUMENT = '/openapi.json';
const PAGES = ['/docs', '/docs/api'];

/** Whether the page is kept. A page of search results and one that does not exist are not. */
export const isShared = (path: string, { config }: App): boolean =>
	path === DOCUMENT || PAGES.includes(path) || readGuides(config).some(({ href }) => href === path);

const kept = new WeakMap<App, Map<string, Kept>>();

/** @param render renders the page with ANY_ORIGIN as its address */
export async function answerShared(
	app: App,
	{ path, origin, acceptEncoding }: Asked,
	render: () => Promise<Response>
): Promise<Response> {
	const page = keptPage(app, path, render);
	const { status, headers, text } = await page.answer;
	if (page.origin !== origin) {
		page.origin = origin;
		page.bodies = new Map();
	}
	const coding = codingFor(acceptEncoding) ?? 'identity';
	const body = page.bodies.get(coding) ?? bodyOf(text, path, origin, coding);
	page.bodies.set(coding, body);
	const packed = await body;
	const response = new Response(packed, { status, headers });
	if (coding !== 'identity') response.headers.set('content-encoding', coding);
	response.headers.set('content-length', String(packed.length));
	// `compressPage` adds it to the others.
	if (coding !== 'identity' || path === DOCUMENT) response.headers.append('vary', 'accept-encoding');
	return response;
}

function keptPage(app: App, path: string, render: () => Promise<Response>): Kept {
	const pages = kept.get(app) ?? new Map<string, Kept>();
	kept.set(app, pages);
	const now = performance.now();
	const known = pages.get(path);
	if (known && known.until > now) return known;
	const answer = render().then(async (response) => {
		// A page that failed is rendered again.
		if (response.status !== 200) pages.delete(path);
		// The validator is that of the text without its address.
		response.headers.delete('etag');
		return { status: response.status, headers: [...response.headers], text: await response.text() };
	});
	answer.catch(() => pages.delete(path));
	const page: Kept = { until: now + FRESH_MS, answer, origin: '', bodies: new Map() };
	pages.set(path, page);
	return page;
}

function bodyOf(text: string, path: string, origin: string, coding: Coding | 'identity') {
	const address = path === DOCUMENT ? JSON.stringify(origin).slice(1, -1) : escapeHtml(origin);
	const plain = Buffer.from(text.replaceAll(ANY_ORIGIN, address));
	return coding === 'identity' ? Promise.resolve(plain) : pack(plain, coding);
}

/** A host can contain these characters, in an attribute, too. */
const escapeHtml = (text: string) => text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);

/** GET /openapi.json. Tools on other sites read it; it contains no secrets. */
export const renderDocument = ({ config }: App): Response =>
	new Response(documentText(ANY_ORIGIN, config), {
		headers: {
			'content-type': 'application/json; charset=utf-8',
			'cache-control': 'public, max-age=300',
			'access-control-allow-origin': '*'
		}
	});
