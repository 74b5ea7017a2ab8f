import { sql } from 'kysely';
import type { Database } from '#lib/server/db/database.ts';

/** PostgreSQL only: all processes share the window. */
export async function takeShared(database: Database, subject: string, limit: number, windowMs: number) {
	const { rows } = await sql<{ admitted: boolean; remaining: number; reset_ms: number }>`
		select admitted, remaining, reset_ms
		from take_rate(${subject}, ${limit}, make_interval(secs => ${windowMs / 1000}))`.execute(database.db);
	const [row] = rows;
	if (!row) throw new Error('take_rate answered nothing');
	return { admitted: row.admitted, remaining: row.remaining, resetMs: row.reset_ms };
}

/** PostgreSQL only. */
export async function forgetIdle(database: Database, idleMs: number): Promise<void> {
	await sql`delete from rate_heads
		where asked_at < clock_timestamp() - make_interval(secs => ${idleMs / 1000})`.execute(database.db);
}
