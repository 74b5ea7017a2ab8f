export const MEGABYTE = 1_000_000;

/** A pass, as far as its data goes. */
interface DataUse {
	data_limit_mb: number | null;
	data_used_bytes: number | null;
}

export const dataLeft = ({ data_limit_mb: limit, data_used_bytes: used }: DataUse): number | null =>
	limit === null ? null : Math.max(0, limit * MEGABYTE - (used ?? 0));

/** Counts whole MB, so that both together are what was bought; null while no gateway has reported any. */
export function dataMb(pass: DataUse): { usedMb: number | null; leftMb: number | null } {
	const left = dataLeft(pass);
	const used = pass.data_used_bytes;
	return {
		usedMb: used === null ? null : Math.floor(used / MEGABYTE),
		leftMb: left === null || used === null ? null : Math.ceil(left / MEGABYTE)
	};
}

/**
 * 500 Mbit/s, more than a device gets here. In a minute that is less than 2^32 bytes, by which a counter jumps when it
 * falls below zero or gets a false high word.
 */
const MAX_BYTES_PER_SECOND = 62_500_000;
/** Reports may be late by this much. */
const SLACK_MS = 5_000;

/** Returns the shortest time (ms) in which a counter can grow by so many bytes; below 0 for a few. */
export const leastMs = (bytes: number): number => Math.ceil((bytes / MAX_BYTES_PER_SECOND) * 1000) - SLACK_MS;

export const isPossibleGrowth = (bytes: number, elapsedMs: number): boolean =>
	leastMs(bytes) <= Math.max(0, elapsedMs);
