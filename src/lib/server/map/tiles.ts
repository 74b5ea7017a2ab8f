import type { Clock } from '../platform/clock.ts';
import type { Log } from '../platform/log.ts';
import type { CachedTile, TileCache } from './tile-cache.ts';
import type { TileName, TileOutcome, TileServer } from './tile-server.ts';

/**
 * Tiles of the operator's tile server, from the disk where possible. While the server is away, what is on the disk
 * is shown however old it is, and the server is left alone for a while.
 */
export interface Tiles {
	/** Never throws for trouble of the server or the disk. */
	read(tile: TileName): Promise<TileAnswer>;
	stop(): Promise<void>;
}

export type TileAnswer =
	/** `freshMs`: how long a browser may keep it; null: not at all. */
	| { kind: 'image'; type: string; body: Buffer; freshMs: number | null }
	| { kind: 'absent'; freshMs: number }
	| { kind: 'unavailable'; waitMs: number };

/** Requests to the server at once; public ones ask for few. */
const MAX_AT_ONCE = 4;
const MAX_WAITING = 100;
const ABSENT_MS = 10 * 60 * 1000;
const FAILED_MS = 30 * 1000;
/** Failures in a row after which the server counts as away. */
const FAILURES_TO_PAUSE = 3;
const STALE_MS = 60 * 1000;
const MAX_NOTED = 10_000;

export function createTiles(parts: { server: TileServer; cache: TileCache; clock: Clock; log: Log }): Tiles {
	const { server, cache, clock, log } = parts;
	const asked = new Map<string, Promise<TileAnswer>>();
	/** Tiles that are not there or did not come, and until when they are not asked for again. */
	const noted = new Map<string, { kind: 'absent' | 'unavailable'; until: number }>();
	const waiting: (() => void)[] = [];
	let running = 0;
	let failures = 0;
	let pausedUntil = 0;

	const unavailable = (waitMs = FAILED_MS): TileAnswer => ({ kind: 'unavailable', waitMs });

	function note(key: string, kind: 'absent' | 'unavailable', forMs: number): void {
		noted.delete(key);
		noted.set(key, { kind, until: clock.now() + forMs });
		const [oldest] = noted.keys();
		if (noted.size > MAX_NOTED && oldest !== undefined) noted.delete(oldest);
	}

	/** Waits for a turn; false when too many wait already. */
	async function turn(): Promise<boolean> {
		if (running < MAX_AT_ONCE) {
			running += 1;
			return true;
		}
		if (waiting.length >= MAX_WAITING) return false;
		await new Promise<void>((resolve) => waiting.push(resolve));
		return true;
	}

	/** Hands the turn on, so that nobody slips in between. */
	function endTurn(): void {
		const next = waiting.shift();
		if (next) next();
		else running -= 1;
	}

	async function keep(tile: TileName, cached: CachedTile): Promise<void> {
		try {
			await cache.write(tile, cached);
		} catch (error) {
			log.warn({ err: error }, 'a map tile could not be kept');
		}
	}

	function failed(key: string, reason: string, pauseMs: number): void {
		failures += 1;
		note(key, 'unavailable', FAILED_MS);
		const isAway = failures >= FAILURES_TO_PAUSE;
		if (pauseMs > 0 || isAway) pausedUntil = clock.now() + Math.max(pauseMs, isAway ? FAILED_MS : 0);
		log.warn({ reason, pausedMs: Math.max(0, pausedUntil - clock.now()) }, 'the tile server did not answer');
	}

	async function settle(
		tile: TileName,
		key: string,
		outcome: TileOutcome,
		old: CachedTile | null
	): Promise<TileAnswer> {
		if (outcome.kind === 'failure') {
			failed(key, outcome.reason, outcome.pauseMs);
			return old ? stale(old) : unavailable();
		}
		failures = 0;
		if (outcome.kind === 'absent') {
			note(key, 'absent', ABSENT_MS);
			if (old) await cache.forget(tile);
			return { kind: 'absent', freshMs: ABSENT_MS };
		}
		const { etag, lastModified, freshMs } = outcome;
		const picture = outcome.kind === 'image' ? outcome : old;
		if (!picture) return unavailable();
		const { type, body } = picture;
		if (freshMs === null) await cache.forget(tile);
		else await keep(tile, { type, body, etag, lastModified, freshUntil: clock.now() + freshMs });
		return { kind: 'image', type, body, freshMs };
	}

	async function find(tile: TileName, key: string): Promise<TileAnswer> {
		const old = await cache.read(tile);
		const now = clock.now();
		if (old && old.freshUntil > now) return { kind: 'image', ...old, freshMs: old.freshUntil - now };
		const earlier = noted.get(key);
		if (earlier && earlier.until > now) {
			if (old) return stale(old);
			const waitMs = earlier.until - now;
			return earlier.kind === 'absent' ? { kind: 'absent', freshMs: waitMs } : unavailable(waitMs);
		}
		if (pausedUntil > now) return old ? stale(old) : unavailable(pausedUntil - now);
		if (!(await turn())) return old ? stale(old) : unavailable();
		try {
			// It may have gone away while this one waited for its turn.
			if (pausedUntil > clock.now()) return old ? stale(old) : unavailable(pausedUntil - clock.now());
			return await settle(tile, key, await server.fetch(tile, old), old);
		} finally {
			endTurn();
		}
	}

	return {
		read(tile) {
			const key = `${tile.z}/${tile.x}/${tile.y}`;
			const underway = asked.get(key);
			if (underway) return underway;
			const answer = find(tile, key).finally(() => asked.delete(key));
			asked.set(key, answer);
			return answer;
		},
		stop: () => server.stop()
	};
}

const stale = ({ type, body }: CachedTile): TileAnswer => ({ kind: 'image', type, body, freshMs: STALE_MS });
