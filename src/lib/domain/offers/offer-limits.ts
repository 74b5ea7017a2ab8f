/** The limits that an offer, a session or a pass can have. */
export const LIMITS = ['max_devices', 'speed_down_kbps', 'speed_up_kbps', 'data_limit_mb'] as const;

export type Limit = (typeof LIMITS)[number];
export type Limits = Partial<Record<Limit, number | null | undefined>>;

/** Returns all limits of an object; null sets none. */
export const limitsOf = (from: Limits) =>
	Object.fromEntries(LIMITS.map((limit) => [limit, from[limit] ?? null])) as Record<Limit, number | null>;
