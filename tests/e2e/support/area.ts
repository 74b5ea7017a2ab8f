import { expect } from '@playwright/test';
import { startPostgres } from '../../support/database/postgres.ts';
import { startReceiver, type Receiver } from '../../support/api/receiver.ts';
import { startServer, type TestServer } from '../../support/server/server.ts';
import { openSql } from '../../support/database/sql.ts';
import type { SetUp } from './portal.ts';

/** An installation whose developer area is under test, with a program that takes its webhooks in. */
export interface Area {
	url: string;
	server: TestServer;
	receiver: Receiver;
	/** Lets the minute of the sign-in's limits pass; PostgreSQL counts by a clock of its own. */
	triesForgotten(): Promise<void>;
	/** The link in the newest of so many mails to an address, as the sandbox prints it. */
	mailedLink(email: string, count?: number): Promise<string>;
	stop(): Promise<void>;
}

const minuteMs = 60_000;

export async function startArea(setUp: SetUp): Promise<Area> {
	const postgres = setUp === 'postgres' ? await startPostgres() : null;
	const server = await startServer({
		database: postgres ? await postgres.createDatabase() : 'sqlite',
		env: { WEBHOOK_ALLOW_INSECURE: '1' }
	});
	const sql = await openSql(server.databaseUrl);
	const receiver = await startReceiver();
	return {
		url: `http://localhost:${server.port}`,
		server,
		receiver,
		async triesForgotten() {
			await server.advance(minuteMs + 1);
			if (postgres) await sql.run('delete from rate_counts');
		},
		async mailedLink(email, count = 1) {
			const link = () => {
				const mails = server.stdout().split(`\nTo: ${email}\n`).slice(1);
				return /^https?:\S+$/m.exec(mails[count - 1]?.split('\n---')[0] ?? '')?.[0] ?? '';
			};
			await expect.poll(link, { message: `mail ${count} to ${email}` }).not.toBe('');
			return link();
		},
		async stop() {
			await receiver.stop();
			await sql.close();
			await server.stop();
			await postgres?.stop();
		}
	};
}
