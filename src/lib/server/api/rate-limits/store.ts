import { sql } from 'kysely';
import type { Database } from '#lib/server/db/database.ts';

export interface Limit {
	subject: string;
	limit: number;
}

/** A decision of window.ts. */
interface Row {
	admitted: boolean;
	remaining: number;
	resetMs: number;
}

/** PostgreSQL only: all processes share the windows. The second counts what the first admits. */
export async function takeShared(
	database: Database,
	limits: readonly Limit[],
	windowMs: number
): Promise<[Row, Row?]> {
	const subjects = limits.map(({ subject }) => subject);
	const most = limits.map(({ limit }) => limit);
	const { rows } = await sql<Row>`
		select admitted, remaining, reset_ms as "resetMs"
		from take_rates(${subjects}, ${most}, make_interval(secs => ${windowMs / 1000}))`.execute(database.db);
	const [first, second] = rows;
	if (!first) throw new Error('take_rates answered nothing');
	return second ? [first, second] : [first];
}

/** PostgreSQL only. */
export async function forgetIdle(database: Database, idleMs: number): Promise<void> {
	await sql`delete from rate_heads
		where asked_at < clock_timestamp() - make_interval(secs => ${idleMs / 1000})`.execute(database.db);
}
