/** 1 MB = 1,000,000 bytes. */
export const MEGABYTE = 1_000_000;

/** A pass, as far as its data goes. */
export interface DataUse {
	data_limit_mb: number | null;
	data_used_bytes: number | null;
}

/** Returns the bytes that all devices of a pass may still use together; null without a limit. */
export const dataLeft = ({ data_limit_mb: limit, data_used_bytes: used }: DataUse): number | null =>
	limit === null ? null : Math.max(0, limit * MEGABYTE - (used ?? 0));

/** 2.5 Gbit/s, more than any device gets here. A counter that grows faster is wrong, for example below zero. */
const MAX_BYTES_PER_SECOND = 312_500_000;
/** Reports may be late by this much. */
const SLACK_MS = 60_000;

/** Whether a counter can have grown by so many bytes in this time. */
export const isPossibleGrowth = (bytes: number, elapsedMs: number): boolean =>
	bytes <= ((Math.max(0, elapsedMs) + SLACK_MS) / 1000) * MAX_BYTES_PER_SECOND;
