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
