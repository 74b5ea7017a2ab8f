import { guardedLookup, resolveLocally, resolvePublicly, type Resolve } from '../platform/ssrf-lookup.ts';
import { isPublicAddress } from '../platform/public-addresses.ts';
import { imageType } from './image-type.ts';

/**
 * The way to the operator's tile server. Only the template's own host is asked: no redirect is followed, every
 * address of its name is judged at each connect, and time, size and type of an answer are bounded.
 */
export interface TileServer {
	/** Never throws. */
	fetch(tile: TileName, known: Validators | null): Promise<TileOutcome>;
	/** Closes idle connections. */
	stop(): Promise<void>;
}

export interface TileName {
	z: number;
	x: number;
	y: number;
}

/** What the server called the tile that we have (RFC 9110, 8.8). */
export interface Validators {
	etag: string | null;
	lastModified: string | null;
}

export type TileOutcome =
	| ({ kind: 'image'; type: string; body: Buffer } & Freshness)
	| ({ kind: 'unchanged' } & Freshness)
	/** There is no such tile: beyond the map, or nothing to draw. */
	| { kind: 'absent' }
	/** Nothing that can be shown came back. `pauseMs`: how long the server wants to be left alone. */
	| { kind: 'failure'; reason: string; pauseMs: number };

export interface Freshness extends Validators {
	/** How long the answer may be used without asking again; null: not kept at all (`no-store`). */
	freshMs: number | null;
}

const TIMEOUT_MS = 8_000;
const MAX_TILE_BYTES = 1024 * 1024;
const MAX_HEADER_BYTES = 16 * 1024;
/** Public tile servers ask for few connections. */
const MAX_CONNECTIONS = 4;
const DAY_MS = 24 * 60 * 60 * 1000;
/** Where the server says nothing: OpenStreetMap's tile usage policy asks for a week. */
const DEFAULT_FRESH_MS = 7 * DAY_MS;
const MAX_FRESH_MS = 365 * DAY_MS;
const MAX_PAUSE_MS = 10 * 60 * 1000;
const MAX_VALIDATOR_LENGTH = 256;

/** @param contact where the installation is found, for the provider's logs */
export function createTileServer(
	template: string,
	options: { allowPrivate: boolean; contact: string | null; now: () => number; resolve?: Resolve }
): TileServer {
	const { allowPrivate, contact, now, resolve = allowPrivate ? resolveLocally : resolvePublicly } = options;
	const lookup = guardedLookup(resolve, allowPrivate ? () => true : isPublicAddress);
	let opened: ReturnType<typeof open> | null = null;

	/** By the first tile: most installations have no tile server. */
	async function open() {
		const { Agent, request } = await import('undici');
		const dispatcher = new Agent({
			connect: { lookup, rejectUnauthorized: true, timeout: TIMEOUT_MS },
			connections: MAX_CONNECTIONS,
			pipelining: 1,
			maxHeaderSize: MAX_HEADER_BYTES,
			headersTimeout: TIMEOUT_MS,
			bodyTimeout: TIMEOUT_MS
		});
		return { dispatcher, request };
	}

	const agent = `Airtill/1.0 (Wi-Fi map${contact === null ? '' : `; ${contact}`})`;

	return {
		async fetch({ z, x, y }, known) {
			const url = template.replace('{z}', String(z)).replace('{x}', String(x)).replace('{y}', String(y));
			try {
				const { dispatcher, request } = await (opened ??= open());
				const answer = await request(url, {
					dispatcher,
					headers: {
						accept: 'image/webp,image/png,image/jpeg',
						'user-agent': agent,
						...(known?.etag ? { 'if-none-match': known.etag } : {}),
						...(known?.lastModified ? { 'if-modified-since': known.lastModified } : {})
					},
					signal: AbortSignal.timeout(TIMEOUT_MS)
				});
				const header = (name: string): string | null => {
					const value = answer.headers[name];
					return (Array.isArray(value) ? value[0] : value) ?? null;
				};
				const { statusCode: status } = answer;
				if (status === 200) {
					const body = await wholeBody(answer.body);
					if (body === null) return failure(`a tile of more than ${MAX_TILE_BYTES} bytes`);
					const type = imageType(body);
					return type === null
						? failure('something that is no picture')
						: { kind: 'image', type, body, ...freshness(header, now()) };
				}
				await answer.body.dump({ limit: MAX_HEADER_BYTES });
				if (status === 304 && known) return { kind: 'unchanged', ...freshness(header, now()) };
				if (status === 204 || status === 404 || status === 410) return { kind: 'absent' };
				return failure(`status ${status}`, pauseOf(header('retry-after')));
			} catch (error) {
				return failure(error instanceof Error ? `${error.name}: ${error.message}` : 'no answer');
			}
		},
		async stop() {
			if (opened) await (await opened).dispatcher.destroy();
		}
	};
}

const failure = (reason: string, pauseMs = 0): TileOutcome => ({ kind: 'failure', reason, pauseMs });

/** null when it is too long: the rest is not read. */
async function wholeBody(body: AsyncIterable<Buffer>): Promise<Buffer | null> {
	const chunks: Buffer[] = [];
	let bytes = 0;
	for await (const chunk of body) {
		bytes += chunk.length;
		if (bytes > MAX_TILE_BYTES) return null;
		chunks.push(chunk);
	}
	return Buffer.concat(chunks);
}

/** RFC 9111, sections 4.2 and 5.2.2, as a shared cache that people's own browsers stand behind. */
function freshness(header: (name: string) => string | null, now: number): Freshness {
	const control = (header('cache-control') ?? '').toLowerCase();
	const short = (name: string) => {
		const value = header(name);
		return value !== null && value.length <= MAX_VALIDATOR_LENGTH ? value : null;
	};
	const validators = { etag: short('etag'), lastModified: short('last-modified') };
	if (/\b(no-store|private)\b/.test(control)) return { ...validators, freshMs: null };
	if (/\bno-cache\b/.test(control)) return { ...validators, freshMs: 0 };
	const seconds = /\bs-maxage=(\d{1,10})/.exec(control)?.[1] ?? /\bmax-age=(\d{1,10})/.exec(control)?.[1];
	if (seconds !== undefined) {
		const age = /^\d{1,10}$/.test(header('age') ?? '') ? Number(header('age')) : 0;
		return { ...validators, freshMs: within(1000 * (Number(seconds) - age)) };
	}
	const expires = header('expires');
	if (expires === null) return { ...validators, freshMs: DEFAULT_FRESH_MS };
	// A date that cannot be read means: already over.
	const expiresAt = Date.parse(expires);
	const saidAt = Date.parse(header('date') ?? '');
	return { ...validators, freshMs: within((expiresAt || 0) - (Number.isNaN(saidAt) ? now : saidAt)) };
}

const within = (milliseconds: number) => Math.min(Math.max(milliseconds, 0), MAX_FRESH_MS);

function pauseOf(retryAfter: string | null): number {
	const seconds = /^\d{1,6}$/.test(retryAfter ?? '') ? Number(retryAfter) : 0;
	return Math.min(1000 * seconds, MAX_PAUSE_MS);
}
