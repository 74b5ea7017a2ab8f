import { sql, type Kysely, type LogEvent } from 'kysely';
import type { Schema } from './schema.ts';

const QUIET_MS = 5_000;
/** More than any transaction writes. */
const NEEDED_BYTES = 1 << 20;

/**
 * Checks whether the database accepts writes: with a full disk, or read-only, it still answers reads.
 * After a failed write it counts as unhealthy for QUIET_MS, so that the result does not flicker.
 * Then each check writes until one succeeds.
 * @param isStorageFailure whether an error says that the database cannot store anything now
 * @param options.freeBytes on the database's disk, if known: a small write may fit where an order does not
 */
export function createWriteHealth(
	isStorageFailure: (error: unknown) => boolean,
	{ freeBytes, onError }: { freeBytes?: () => Promise<number>; onError: (error: unknown) => void }
) {
	let failedAt: number | null = null;
	return {
		/** Notes statements that failed. */
		log(event: LogEvent) {
			if (event.level !== 'error') return;
			onError(event.error);
			if (isStorageFailure(event.error)) failedAt = performance.now();
		},
		/** @throws Error when the database does not answer, or accepts no writes */
		async check(db: Kysely<Schema>) {
			await sql`select 1`.execute(db);
			if (failedAt === null) return;
			const since = performance.now() - failedAt;
			if (since < QUIET_MS) throw new Error(`The database refused a write ${Math.round(since)} ms ago`);
			const free = (await freeBytes?.()) ?? Infinity;
			if (free < NEEDED_BYTES) throw new Error(`The database's disk has ${free} bytes left`);
			// This changes no data but needs space.
			await sql`update schema_migrations set name = name`.execute(db);
			failedAt = null;
		}
	};
}
