import { startPostgres } from '../../support/database/postgres.ts';
import { startServer, type TestServer } from '../../support/server/server.ts';
import { openSql } from '../../support/database/sql.ts';
import type { SetUp } from './portal.ts';

/** An installation whose pages for owners and developers are under test. */
export interface Area {
	url: string;
	server: TestServer;
	/** Lets the minute of the sign-in's limits pass; PostgreSQL counts by a clock of its own. */
	triesForgotten(): Promise<void>;
	stop(): Promise<void>;
}

const minuteMs = 60_000;

export async function startArea(setUp: SetUp): Promise<Area> {
	const postgres = setUp === 'postgres' ? await startPostgres() : null;
	const server = await startServer({ database: postgres ? await postgres.createDatabase() : 'sqlite' });
	const sql = await openSql(server.databaseUrl);
	return {
		url: `http://localhost:${server.port}`,
		server,
		async triesForgotten() {
			await server.advance(minuteMs + 1);
			if (postgres) await sql.run('delete from rate_counts');
		},
		async stop() {
			await sql.close();
			await server.stop();
			await postgres?.stop();
		}
	};
}
