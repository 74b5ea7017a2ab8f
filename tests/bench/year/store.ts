import { sql, type Insertable } from 'kysely';
import type { Queries } from '../../../src/lib/server/db/database.ts';
import type { Schema } from '../../../src/lib/server/db/schema.ts';

/** Far below the limit of parameters of both databases. */
const ROWS_AT_ONCE = 500;

type Filled =
	'routers' | 'sessions' | 'passes' | 'payments' | 'refunds' | 'purchases' | 'reviews' | 'audit_log';

/** Inserts rows in few statements and returns their ids, ascending. */
export async function insertAll<Table extends Filled>(
	queries: Queries,
	table: Table,
	rows: readonly Insertable<Schema[Table]>[]
): Promise<number[]> {
	const ids: number[] = [];
	for (let done = 0; done < rows.length; done += ROWS_AT_ONCE) {
		// The types of one table stand for those of all.
		const some = rows.slice(done, done + ROWS_AT_ONCE) as unknown as Insertable<Schema['sessions']>[];
		const insert = queries.insertInto(table as 'sessions').values(some);
		const added = await insert.returning('id').execute();
		ids.push(...added.map(({ id }) => id));
	}
	return ids.sort((one, other) => one - other);
}

/** Gives sessions their passes and the payments that bought them, and starts those that run. */
export const linkSessions = (queries: Queries, { from, to }: { from: number; to: number }) =>
	sql`update sessions set
			status = case when status = 'activating' then 'active' else status end,
			pass_id = (select passes.id from passes where passes.id = sessions.id),
			payment_id = (select payments.id from payments where payments.session_id = sessions.id)
		where sessions.id between ${from} and ${to}`.execute(queries);
