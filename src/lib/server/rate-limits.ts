import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '#lib/server/platform/clock.ts';
import type { Log } from '#lib/server/platform/log.ts';
import { sql } from 'kysely';
import type { Database, Queries } from '#lib/server/db/database.ts';

export interface RateLimit {
	subject: string;
	/** Requests in any window. */
	limit: number;
}

export interface RateDecision {
	admitted: boolean;
	remaining: number;
	/** Until the oldest counted request leaves the window; 0 if none is counted. */
	resetMs: number;
}

/**
 * Limits of requests, tries and orders in a time. Counted in memory on SQLite, where one process serves all, and in
 * the database on PostgreSQL. A limit that cannot be counted refuses nothing.
 */

/**
 * A ring buffer with the times of the last `limit` admitted requests; it grows as it is used. A burst of `limit` is
 * admitted.
 */
export class SlidingWindow {
	readonly limit: number;
	readonly #windowMs: number;
	readonly #times: number[] = [];
	/** Requests ever admitted. The time of the n-th is in slot n modulo the limit. */
	#admitted = 0;
	/** Admitted requests that have left the window. */
	#left = 0;
	#newest = -Infinity;

	constructor(limit: number, windowMs: number) {
		this.limit = limit;
		this.#windowMs = windowMs;
	}

	take(now: number): RateDecision {
		const since = now - this.#windowMs;
		while (this.#left < this.#admitted && this.#oldest() <= since) this.#left += 1;
		const admitted = this.#admitted - this.#left < this.limit;
		if (admitted) {
			this.#times[this.#admitted % this.limit] = now;
			this.#admitted += 1;
			this.#newest = now;
		}
		const counted = this.#admitted - this.#left;
		return {
			admitted,
			remaining: this.limit - counted,
			resetMs: counted === 0 ? 0 : this.#oldest() + this.#windowMs - now
		};
	}

	isIdle(now: number): boolean {
		return this.#newest <= now - this.#windowMs;
	}

	/** Requires at least one counted request. */
	#oldest(): number {
		return this.#times[this.#left % this.limit] ?? -Infinity;
	}
}

/** Admits at most `limit` requests per subject in any trailing window. */
export interface RateLimits {
	/**
	 * Counts the request only if it is admitted.
	 * @param windowMs a minute by default, at most LONGEST_WINDOW_MS
	 */
	take(subject: string, limit: number, windowMs?: number): Promise<RateDecision>;
	/**
	 * Runs tries above a limit one after another, so that the right one still passes. After a wrong one the next waits
	 * TURN_SECONDS, so that guessing stays slow. Counts in this process.
	 * @returns null if MAX_WAITING tries of the subject wait already
	 */
	inTurn<T>(subject: string, tried: () => Promise<Tried<T>>): Promise<T | null>;
	/** The second counts what the first admits. */
	takeBoth(first: RateLimit, second: RateLimit): Promise<[RateDecision, RateDecision?]>;
}

interface Tried<T> {
	result: T;
	isRight: boolean;
}

export const TURN_SECONDS = 5;
const MAX_WAITING = 4;

export const WINDOW_MS = 60_000;
export const LONGEST_WINDOW_MS = 15 * 60_000;

type Limits = [RateLimit, RateLimit?];
type Decisions = [RateDecision, RateDecision?];
/** Takes a second limit only if the first admits. */
type TakeAll = (limits: Limits, windowMs: number) => Promise<Decisions>;

/** Above this count, idle windows and leases are dropped at most once per SWEEP_EVERY_MS. */
const MAX_WINDOWS = 10_000;
const SWEEP_EVERY_MS = 1_000;

export function createRateLimits({ kind, db }: Database, clock: Clock, log: Log): RateLimits {
	const takeAll = kind === 'sqlite' ? local(clock) : shared(db, clock, log);
	return {
		take: async (subject, limit, windowMs = WINDOW_MS) => (await takeAll([{ subject, limit }], windowMs))[0],
		takeBoth: (...limits) => takeAll(limits, WINDOW_MS),
		inTurn: createTurns()
	};
}

function createTurns(): RateLimits['inTurn'] {
	const lines = new Map<string, { waiting: number; last: Promise<unknown> }>();
	return async (subject, tried) => {
		const line = lines.get(subject) ?? { waiting: 0, last: Promise.resolve() };
		if (line.waiting >= MAX_WAITING) return null;
		lines.set(subject, line);
		line.waiting += 1;
		const own = line.last.then(tried);
		line.last = own
			.then(({ isRight }) => (isRight ? null : sleep(TURN_SECONDS * 1000, null, { ref: false })))
			.catch(() => null)
			.finally(() => {
				line.waiting -= 1;
				if (line.waiting === 0) lines.delete(subject);
			});
		return (await own).result;
	};
}

/** Counts in memory, for one process. A restart loses the counts. */
function local(clock: Clock): TakeAll {
	const windows = new Map<string, SlidingWindow>();
	let sweptAt = -Infinity;

	function sweep(): void {
		const now = clock.now();
		if (windows.size < MAX_WINDOWS || Math.abs(now - sweptAt) < SWEEP_EVERY_MS) return;
		sweptAt = now;
		for (const [name, window] of windows) if (window.isIdle(now)) windows.delete(name);
	}

	function take({ subject, limit }: RateLimit, windowMs: number): RateDecision {
		let window = windows.get(subject);
		if (window?.limit !== limit) {
			sweep();
			windows.set(subject, (window = new SlidingWindow(limit, windowMs)));
		}
		return window.take(clock.now());
	}

	return async ([first, second], windowMs) => {
		const decision = take(first, windowMs);
		return second && decision.admitted ? [decision, take(second, windowMs)] : [decision];
	};
}

/**
 * Counts in the database, for any number of processes. A window has SLOTS slots of the database's clock. A request counts
 * until its slot has left the window, so that all processes together never admit more than the limit in any window.
 *
 * A process asks for more than it needs now: as much as it used lately, at most a part of what is left. Until the slot
 * ends it admits that without asking; what it did not use it gives back when it asks again. So the count is exact where
 * one process serves a subject. If the database fails, requests pass, because a limit must not stop a purchase.
 */
const SLOTS = 60;
const SPARE_PART = 8;

interface Lease {
	limit: number;
	slot: number;
	slotMs: number;
	/** Granted, and not used. */
	left: number;
	/** Of the limit, granted to nobody. */
	free: number;
	/** Nothing more is granted in this slot. */
	isFull: boolean;
	/** By the monotonic clock, which stands still while the machine sleeps, and by `Clock`, which may be late. */
	endsAt: { monotonic: number; clock: number };
	/** Monotonic. */
	resetAt: number;
	/** Admitted in this slot, and in the one before. */
	used: number;
	usedBefore: number;
}

interface Waiting {
	limits: Limits;
	windowMs: number;
	resolve(decisions: Decisions): void;
	reject(error: unknown): void;
}

/** Requests whose limits one call takes. */
const MAX_BATCH = 100;
/** A lost connection answers nothing. Longer than the time that PostgreSQL gives a statement. */
const MAX_CALL_MS = 16_000;
const FORGET_EVERY_MS = 10 * 60_000;

function shared(db: Queries, clock: Clock, log: Log): TakeAll {
	const leases = new Map<string, Lease>();
	const queue: Waiting[] = [];
	let isAsking = false;
	let sweptAt = -Infinity;
	let forgotAt = -Infinity;

	/** Returns null if the database must be asked. */
	function findLease({ subject, limit }: RateLimit): Lease | null {
		const lease = leases.get(toKey(subject));
		if (lease?.limit !== limit || (lease.left === 0 && !lease.isFull)) return null;
		const isCurrent = performance.now() < lease.endsAt.monotonic && clock.now() < lease.endsAt.clock;
		return isCurrent ? lease : null;
	}

	/** One call at a time: requests that come meanwhile share the next, so that no two wait for the same row. */
	async function askForAll(): Promise<void> {
		isAsking = true;
		while (queue.length > 0) {
			const batch = queue.splice(0, MAX_BATCH);
			try {
				await withinTime(forgetIdle());
				sweep();
				const granted = await withinTime(askForLeases(batch));
				for (const { limits, resolve, reject } of batch) {
					const decisions = decide(limits, ({ subject }) => granted.get(toKey(subject)) ?? null);
					if (decisions) resolve(decisions);
					else reject(new Error('The database did not answer for each limit'));
				}
			} catch (error) {
				// Those that came meanwhile do not wait for another failure.
				for (const { reject } of [...batch, ...queue.splice(0)]) reject(error);
			}
		}
		isAsking = false;
	}

	async function askForLeases(batch: readonly Waiting[]): Promise<Map<string, Lease>> {
		const asked = new Map<string, { limit: number; slotMs: number; needed: number }>();
		for (const { limits, windowMs } of batch) {
			for (const one of limits) {
				if (!one) continue;
				const key = toKey(one.subject);
				const needed = 1 + (asked.get(key)?.needed ?? 0);
				asked.set(key, { limit: one.limit, slotMs: windowMs / SLOTS, needed });
			}
		}
		const sentAt = { monotonic: performance.now(), clock: clock.now() };
		const asks = [...asked].map(([key, ask]) => {
			const last = leases.get(key);
			const isRecent = last && sentAt.monotonic < last.endsAt.monotonic + last.slotMs;
			const spare = isRecent ? Math.max(last.used, last.usedBefore) : 0;
			const returned = { slot: last?.slot ?? 0, count: last?.left ?? 0 };
			// What is given back must not be used meanwhile.
			leases.delete(key);
			return { key, ...ask, spare, returned, last };
		});
		const grants = new Map((await takeCounts(db, asks)).map((grant) => [grant.subject, grant]));
		const granted = new Map<string, Lease>();
		for (const { key, limit, slotMs, needed, last } of asks) {
			const grant = grants.get(key);
			if (!grant) continue;
			const { slot, at } = grant;
			const leftMs = Math.min((slot + 1) * slotMs - at, slotMs);
			const isSameSlot = last?.slot === slot;
			granted.set(key, {
				...{ limit, slot, slotMs, left: grant.granted, free: Math.max(limit - grant.counted, 0) },
				isFull: grant.granted < needed,
				endsAt: { monotonic: sentAt.monotonic + leftMs, clock: sentAt.clock + leftMs },
				resetAt: performance.now() + (slot - grant.age + SLOTS + 1) * slotMs - at,
				used: isSameSlot ? last.used : 0,
				usedBefore: isSameSlot ? last.usedBefore : last?.slot === slot - 1 ? last.used : 0
			});
		}
		for (const [key, lease] of granted) leases.set(key, lease);
		return granted;
	}

	async function forgetIdle(): Promise<void> {
		if (clock.now() - forgotAt < FORGET_EVERY_MS) return;
		forgotAt = clock.now();
		const idleSeconds = (2 * LONGEST_WINDOW_MS) / 1000;
		const before = sql`statement_timestamp() - make_interval(secs => ${idleSeconds})`;
		await sql`delete from rate_counts where asked_at < ${before}`.execute(db);
	}

	function sweep(): void {
		const now = performance.now();
		if (leases.size < MAX_WINDOWS || now - sweptAt < SWEEP_EVERY_MS) return;
		sweptAt = now;
		for (const [key, { endsAt, slotMs }] of leases) {
			if (endsAt.monotonic + slotMs < now) leases.delete(key);
		}
	}

	return async (limits, windowMs) => {
		const decisions = decide(limits, findLease);
		if (decisions) return decisions;
		try {
			return await new Promise<Decisions>((resolve, reject) => {
				queue.push({ limits, windowMs, resolve, reject });
				if (!isAsking) void askForAll();
			});
		} catch (error) {
			log.warn({ err: error }, 'rate limit not counted');
			return [{ admitted: true, remaining: limits[0].limit, resetMs: 0 }];
		}
	};
}

function decide([first, second]: Limits, find: (limit: RateLimit) => Lease | null): Decisions | null {
	const lease = find(first);
	if (!lease) return null;
	if (!second || lease.left === 0) return [takeOne(lease)];
	const other = find(second);
	return other && [takeOne(lease), takeOne(other)];
}

function takeOne(lease: Lease): RateDecision {
	const admitted = lease.left > 0;
	if (admitted) {
		lease.left -= 1;
		lease.used += 1;
	}
	// A slot may leave later than its first request does; nobody is told to wait longer than a window.
	const resetMs = Math.min(Math.max(lease.resetAt - performance.now(), 1), SLOTS * lease.slotMs);
	return { admitted, remaining: lease.free + lease.left, resetMs };
}

/** Text that PostgreSQL takes: what somebody typed must not fail the requests of others. */
const toKey = (subject: string) =>
	/^[ -~]{1,200}$/.test(subject) ? subject : createHash('sha256').update(subject).digest('hex');

interface Ask {
	key: string;
	limit: number;
	slotMs: number;
	needed: number;
	spare: number;
	returned: { slot: number; count: number };
}

interface Grant {
	subject: string;
	granted: number;
	/** In the window, with what is granted. */
	counted: number;
	/** By the database's clock; a clock that is set back stays in its slot for at most a window. */
	slot: number;
	/** Slots since the oldest that counts. */
	age: number;
	/** Epoch ms of the database's clock. */
	at: number;
}

/** Takes the rows in the order of their subjects, so that no process waits for another that waits for it. */
async function takeCounts(db: Queries, asks: readonly Ask[]): Promise<Grant[]> {
	const grant = (free: string) =>
		sql.raw(`(least(needed, greatest(${free}, 0))
			+ least(spare, greatest(${free} - needed, 0) / ${SPARE_PART}))::integer`);
	const now = sql`cross join lateral (select clock_timestamp() as moment) as clock
		cross join lateral (select floor(extract(epoch from moment) * 1000 / slot_ms)::bigint as wall) as wall`;
	const { rows } = await sql<Grant>`
		with asked as (
			select * from unnest(
				${asks.map(({ key }) => key)}::text[],
				${asks.map(({ limit }) => limit)}::integer[],
				${asks.map(({ slotMs }) => slotMs)}::float8[],
				${asks.map(({ needed }) => needed)}::integer[],
				${asks.map(({ spare }) => spare)}::integer[],
				${asks.map(({ returned }) => returned.slot)}::bigint[],
				${asks.map(({ returned }) => returned.count)}::integer[]
			) as asked (subject, most, slot_ms, needed, spare, returned_slot, returned)
		)
		insert into rate_counts as kept (subject, slot, counts, granted, asked_at)
		select subject, wall, array_prepend(${grant('most')}, array_fill(0, array[${sql.lit(SLOTS)}])),
			${grant('most')}, moment
		from asked ${now}
		order by subject
		on conflict (subject) do update set (slot, counts, granted, asked_at) = (
			select now_slot, array_prepend(now_counts[1] + now_granted, now_counts[2:]), now_granted, moment
			from asked ${now}
			cross join lateral (
				select case when kept.slot between wall and wall + ${sql.lit(SLOTS)} then kept.slot else wall end as now_slot
			) as slot
			cross join lateral (
				select (array_fill(0, array[case when now_slot < kept.slot then ${sql.lit(SLOTS + 1)}
					else least(now_slot - kept.slot, ${sql.lit(SLOTS + 1)}) end::integer]) || kept.counts)[:${sql.lit(SLOTS + 1)}]
					as moved
			) as moved
			cross join lateral (
				select case returned when 0 then moved else array(
					select case place when now_slot - returned_slot + 1 then greatest(count - returned, 0) else count end
					from unnest(moved) with ordinality as moved (count, place) order by place
				) end as now_counts
			) as counts
			cross join lateral (select (most - sum(count))::integer as free from unnest(now_counts) as count) as free
			cross join lateral (select ${grant('free')} as now_granted) as granted
			where asked.subject = kept.subject
		)
		returning subject, granted, slot, extract(epoch from asked_at)::float8 * 1000 as at,
			(select sum(count) from unnest(counts) as count) as counted,
			(select coalesce(max(place), 1) - 1 from unnest(counts) with ordinality as places (count, place)
				where count > 0) as age`.execute(db);
	return rows;
}

async function withinTime<T>(call: Promise<T>): Promise<T> {
	const over = new AbortController();
	const timeout = sleep(MAX_CALL_MS, null, { ref: false, signal: over.signal }).then(() => {
		throw new Error(`No answer within ${MAX_CALL_MS} ms`);
	});
	try {
		return await Promise.race([call, timeout]);
	} finally {
		over.abort();
	}
}

/** Whole seconds until a request leaves the window; 0 if none is counted. */
export const waitSeconds = ({ resetMs }: RateDecision) =>
	resetMs > 0 ? Math.max(1, Math.ceil(resetMs / 1000)) : 0;
