import { sql, type Kysely } from 'kysely';
import type { Schema } from './schema.ts';

/**
 * Whether the database takes what is written: one whose disk is full, or was made read-only, still answers questions.
 * While writes succeed nothing is tried. One that failed for such a reason counts for some seconds, so that an answer
 * does not change from look to look; then every look writes until one succeeds.
 */
export interface Writing {
	/** Hears of every statement that failed. */
	note(error: unknown): void;
	/** Runs a transaction and hears how it ended: a commit is no statement to Kysely. */
	watch<T>(transaction: () => Promise<T>): Promise<T>;
	/** @throws what the database says when it takes nothing */
	check(db: Kysely<Schema>): Promise<void>;
}

const SETTLED_MS = 5_000;
/** More than any transaction of ours writes. */
const NEEDED_BYTES = 1 << 20;

/**
 * @param isRefusal whether an error says that the database cannot store anything now
 * @param freeBytes on the database's disk, where that can be known: a small write may fit where an order does not
 */
export function createWriting(
	isRefusal: (error: unknown) => boolean,
	freeBytes: () => Promise<number> = async () => Infinity
): Writing {
	let refusedAt: number | null = null;
	const note = (error: unknown) => {
		if (isRefusal(error)) refusedAt = performance.now();
	};
	return {
		note,
		async watch(transaction) {
			try {
				return await transaction();
			} catch (error) {
				note(error);
				throw error;
			}
		},
		async check(db) {
			if (refusedAt === null) return;
			const since = performance.now() - refusedAt;
			if (since < SETTLED_MS) throw new Error(`The database refused a write ${Math.round(since)} ms ago`);
			const free = await freeBytes();
			if (free < NEEDED_BYTES) throw new Error(`The database's disk has ${free} bytes left`);
			// Nobody's data changes by it, and it needs space all the same.
			await sql`update schema_migrations set name = name`.execute(db);
			refusedAt = null;
		}
	};
}
