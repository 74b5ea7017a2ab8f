import { sql } from 'kysely';
import type { Database } from '#lib/server/db/database.ts';
import type { Decision, Limit } from './window.ts';

/** PostgreSQL only: all processes share the windows. The second counts what the first admits. */
export async function takeShared(
	database: Database,
	limits: readonly Limit[],
	windowMs: number
): Promise<[Decision, Decision?]> {
	const subjects = limits.map(({ subject }) => subject);
	const most = limits.map(({ limit }) => limit);
	const { rows } = await sql<Decision>`
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
