import type { cacheStores, Dispatcher, request as undiciRequest } from 'undici';
import type { Clock } from '../platform/clock.ts';
import type { Log } from '../platform/log.ts';
import { isPublicAddress } from '#lib/domain/ip-address.ts';
import {
	guardedLookup,
	resolveLocally,
	resolvePublicly,
	type Resolve
} from '../platform/ssrf/ssrf-lookup.ts';

interface TileName {
	z: number;
	x: number;
	y: number;
}

type TileAnswer =
	| { kind: 'image'; type: string; body: Buffer; cacheControl: string; ageSeconds: number }
	| { kind: 'absent' }
	| { kind: 'unavailable'; retrySeconds: number };

interface TileOptions {
	allowPrivate: boolean;
	/** Address of this installation, for the provider's logs. */
	contact: string | null;
	cacheBytes: number;
	clock: Clock;
	log: Log;
	/** Replaces DNS in tests. */
	resolve?: Resolve;
}

const TIMEOUT_MS = 8_000;
const MAX_TILE_BYTES = 1024 * 1024;
const MAX_HEADER_BYTES = 16 * 1024;
/** Public tile servers allow few connections per client. */
const MAX_CONNECTIONS = 4;
const DAY_SECONDS = 24 * 60 * 60;
/** Without Cache-Control: OpenStreetMap's tile usage policy asks for a week. */
const DEFAULT_FRESH_MS = 7 * DAY_SECONDS * 1000;
const STALE_SECONDS = 30 * DAY_SECONDS;
/** Failures in a row that pause requests to the server. */
const FAILURES_TO_PAUSE = 3;
const PAUSE_SECONDS = 30;
const MAX_PAUSE_SECONDS = 10 * 60;

interface Connection {
	dispatcher: Dispatcher;
	store: InstanceType<typeof cacheStores.MemoryCacheStore>;
	request: typeof undiciRequest;
}

interface TileContext extends TileOptions {
	template: string;
	connection: Promise<Connection> | null;
	failures: number;
	pausedUntil: number;
}

/**
 * Uses an HTTP cache (RFC 9111) in memory. While the server fails, stale tiles are served (RFC 5861).
 * Contacts only the template's host: redirects are not followed, and each connection checks the addresses of
 * the name. Time, size and type of a response are limited.
 */
export type Tiles = ReturnType<typeof createTiles>;

export function createTiles(template: string, options: TileOptions) {
	const context: TileContext = { ...options, template, connection: null, failures: 0, pausedUntil: 0 };
	return {
		/** Never throws. */
		read: (tile: TileName) => readTile(context, tile),
		async stop(): Promise<void> {
			if (context.connection) await (await context.connection).dispatcher.destroy();
		}
	};
}

/** Loads undici with the first tile, because most installations have no tile server. */
async function connect({ allowPrivate, cacheBytes, resolve }: TileContext): Promise<Connection> {
	const { Agent, cacheStores, interceptors, request } = await import('undici');
	const store = new cacheStores.MemoryCacheStore({
		maxSize: cacheBytes,
		maxEntrySize: MAX_TILE_BYTES,
		maxCount: Number.MAX_SAFE_INTEGER
	});
	const dispatcher = new Agent({
		connect: {
			lookup: guardedLookup(
				resolve ?? (allowPrivate ? resolveLocally : resolvePublicly),
				allowPrivate ? () => true : isPublicAddress
			),
			rejectUnauthorized: true,
			timeout: TIMEOUT_MS
		},
		connections: MAX_CONNECTIONS,
		pipelining: 1,
		maxHeaderSize: MAX_HEADER_BYTES,
		maxResponseSize: MAX_TILE_BYTES,
		headersTimeout: TIMEOUT_MS,
		bodyTimeout: TIMEOUT_MS
	}).compose(interceptors.deduplicate(), interceptors.cache({ store, cacheByDefault: DEFAULT_FRESH_MS }));
	return { dispatcher, store, request };
}

async function readTile(context: TileContext, tile: TileName): Promise<TileAnswer> {
	const { clock } = context;
	const isPaused = clock.now() < context.pausedUntil;
	let response: TileResponse;
	try {
		response = await requestTile(context, addressOf(context, tile), isPaused);
	} catch (error) {
		return failed(context, error instanceof Error ? `${error.name}: ${error.message}` : 'no answer', 0);
	}
	const { status, header, body } = response;
	if (isPaused && status === 504) {
		return { kind: 'unavailable', retrySeconds: Math.ceil((context.pausedUntil - clock.now()) / 1000) };
	}
	if (status === 204 || status === 404 || status === 410) return { kind: 'absent' };
	if (status !== 200) return failed(context, `status ${status}`, Number(header('retry-after')) || 0);
	const type = imageType(body);
	if (type === null) {
		await forget(context, tile);
		return failed(context, 'something that is no picture', 0);
	}
	if (!isPaused && header('warning') === null) context.failures = 0;
	const cacheControl = header('cache-control') ?? `public, max-age=${DAY_SECONDS}`;
	return { kind: 'image', type, body, cacheControl, ageSeconds: Number(header('age')) || 0 };
}

interface TileResponse {
	status: number;
	header(name: string): string | null;
	body: Buffer;
}

async function requestTile(context: TileContext, address: URL, onlyCached: boolean): Promise<TileResponse> {
	const { dispatcher, request } = await (context.connection ??= connect(context));
	const { contact } = context;
	const { statusCode, headers, body } = await request(address, {
		dispatcher,
		headers: {
			accept: 'image/webp,image/png,image/jpeg',
			'user-agent': `Airtill/1.0 (Wi-Fi map${contact === null ? '' : `; ${contact}`})`,
			'cache-control': onlyCached
				? `only-if-cached, max-stale=${STALE_SECONDS}`
				: `stale-if-error=${STALE_SECONDS}`
		},
		signal: AbortSignal.timeout(TIMEOUT_MS)
	});
	const header = (name: string) => [headers[name] ?? null].flat()[0] ?? null;
	return { status: statusCode, header, body: Buffer.from(await body.arrayBuffer()) };
}

const addressOf = ({ template }: TileContext, { z, x, y }: TileName) =>
	new URL(template.replace('{z}', String(z)).replace('{x}', String(x)).replace('{y}', String(y)));

/** Removes a page that came instead of an image, so that the next request fetches the tile. */
async function forget(context: TileContext, tile: TileName): Promise<void> {
	const { origin, pathname, search } = addressOf(context, tile);
	const connection = await context.connection;
	connection?.store.delete({ origin, method: 'GET', path: pathname + search });
}

function failed(context: TileContext, reason: string, wantedPauseSeconds: number): TileAnswer {
	context.failures += 1;
	const ownPause = context.failures >= FAILURES_TO_PAUSE ? PAUSE_SECONDS : 0;
	const pauseSeconds = Math.min(Math.max(wantedPauseSeconds, ownPause), MAX_PAUSE_SECONDS);
	if (pauseSeconds > 0) context.pausedUntil = context.clock.now() + 1000 * pauseSeconds;
	context.log.warn({ reason, pauseSeconds }, 'the tile server failed');
	return { kind: 'unavailable', retrySeconds: Math.max(pauseSeconds, PAUSE_SECONDS) };
}

const STARTS: readonly (readonly [type: string, pattern: RegExp])[] = [
	['image/png', /^\x89PNG\r\n/],
	['image/jpeg', /^\xff\xd8\xff/],
	['image/webp', /^RIFF[^]{4}WEBP/]
];
const LONGEST_START = 12;

/** Checks the first bytes, because Content-Type can be wrong. Returns null for other types, including SVG. */
function imageType(bytes: Buffer): string | null {
	const start = bytes.subarray(0, LONGEST_START).toString('latin1');
	return STARTS.find(([, pattern]) => pattern.test(start))?.[0] ?? null;
}
