import { DatabaseSync } from 'node:sqlite';
import { Kysely, PostgresDialect, type CompiledQuery } from 'kysely';
import pg from 'pg';
import type { Schema } from '../../../src/lib/server/db/schema.ts';
import { NodeSqliteDialect } from '../../../src/lib/server/db/sqlite-driver.ts';

/** The same database, whose queries are noted. */
export function noting(kind: string, url: string, ran: CompiledQuery[]): Kysely<Schema> {
	const types = new pg.TypeOverrides();
	types.setTypeParser(pg.types.builtins.INT8, Number);
	const dialect =
		kind === 'sqlite'
			? new NodeSqliteDialect(new DatabaseSync(url.slice('file:'.length)), { waitMs: 1_000 })
			: new PostgresDialect({ pool: new pg.Pool({ connectionString: url, max: 1, types }) });
	return new Kysely<Schema>({ dialect, log: (event) => void ran.push(event.query) });
}
