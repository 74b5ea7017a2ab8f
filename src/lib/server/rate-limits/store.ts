import { sql } from 'kysely';
import type { Database } from '../db/database.ts';
import type { Decision } from './window.ts';

/** Asks the window that all processes share (PostgreSQL only). */
export async function takeShared(
	database: Database,
	subject: string,
	limit: number,
	windowMs: number
): Promise<Decision> {
	const { rows } = await sql<{ admitted: boolean; remaining: number; reset_ms: number }>`
		select admitted, remaining, reset_ms
		from take_rate(${subject}, ${limit}, make_interval(secs => ${windowMs / 1000}))`.execute(database.db);
	const [row] = rows;
	if (!row) throw new Error('take_rate answered nothing');
	return { admitted: row.admitted, remaining: row.remaining, resetMs: row.reset_ms };
}
