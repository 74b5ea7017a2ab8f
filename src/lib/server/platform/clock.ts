/**
 * The one source of time: milliseconds since the epoch. Domain code takes a Clock and never asks Date itself,
 * so that a test can move time and a purchase of thirty days takes a millisecond.
 */
export interface Clock {
	now(): number;
}

export const systemClock: Clock = { now: () => Date.now() };

/** RFC 3339 in UTC with milliseconds, the wire's only form of an instant. */
export function isoTime(epochMs: number): string;
export function isoTime(epochMs: number | null): string | null;
export function isoTime(epochMs: number | null): string | null {
	return epochMs === null ? null : new Date(epochMs).toISOString();
}
