/** The real PgBouncer with the configuration of the guide "Several processes": a purchase, and the timeouts. */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { orderOf } from '../../../support/api/api.ts';
import { createDatabaseOn } from '../../../support/database/postgres.ts';
import { freePort } from '../../../support/server/ports.ts';
import { eventually, startFixture, type Fixture } from '../../../support/server/fixture.ts';
import { openSql, type Sql } from '../../../support/database/sql.ts';

const guide = readFileSync(new URL('../../../../src/docs/scaling.md', import.meta.url), 'utf8');
/** A connection's start cannot name it: PgBouncer would refuse the option, or ignore it. */
const OF_CITY = 'set search_path = jinja; ';
/** CI must have it. */
const isSkipped = !process.env['CI'] && spawnSync('pgbouncer', ['--version']).status !== 0;

describe.skipIf(isSkipped)('PgBouncer in transaction mode', () => {
	let folder: string;
	let bouncer: ChildProcess;
	let fixture: Fixture;

	beforeAll(async () => {
		folder = mkdtempSync(path.join(tmpdir(), 'airtill-pgbouncer-'));
		chmodSync(folder, 0o755);
		const direct = new URL(await createDatabaseOn(inject('postgresUrl')));
		const admin = await openSql(direct.href);
		await admin.run('create schema jinja');
		await admin.close();
		const port = await freePort();
		const users = path.join(folder, 'users');
		writeFileSync(users, '"postgres" ""\n');
		const file = path.join(folder, 'pgbouncer.ini');
		writeFileSync(file, configuration(direct, { port, users }));
		bouncer = spawn('pgbouncer', [file], { stdio: 'ignore' });
		const through = new URL(direct);
		through.port = String(port);
		const reached = await eventually('it answers', () => openSql(through.href).catch(() => null));
		await reached.close();
		fixture = await startFixture({ database: through.href });
	});
	afterAll(async () => {
		await fixture?.stop();
		if (bouncer?.exitCode === null && bouncer.kill('SIGKILL')) await once(bouncer, 'exit');
		rmSync(folder, { recursive: true, force: true });
	});

	it('sells time, in the schema of its city', async () => {
		expect(guide).toContain(`\`${OF_CITY.trim()}\``);
		expect(await fixture.sql.count('select count(*) from jinja.routers')).toBe(24);
		const { session } = await fixture.buy();
		expect(await fixture.api.getSession(session.id)).toMatchObject({ status: 'active' });
	});

	it('answers when its connections forget the names of statements', async () => {
		const { api } = fixture;
		const answers = await Promise.all(
			Array.from({ length: 100 }, (_, index) =>
				index % 2 === 0
					? api.send('GET', '/v1/routers?lat=0.3476&lon=32.5825')
					: api.send('POST', '/v1/sessions', { body: orderOf() })
			)
		);
		expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 201]));
	});

	it('sets the timeouts that a direct connection has', async () => {
		const timeouts = async (sql: Sql) => [
			...(await sql.all('show statement_timeout')),
			...(await sql.all('show idle_in_transaction_session_timeout'))
		];
		expect(await timeouts(fixture.sql)).toEqual([
			{ statement_timeout: '15s' },
			{ idle_in_transaction_session_timeout: '8s' }
		]);
	});
});

/** The guide's configuration, for the tests' PostgreSQL. PgBouncer leaves root, as PostgreSQL does. */
function configuration(database: URL, { port, users }: { port: number; users: string }): string {
	const [, shown = ''] = /^```ini\n([^]*?)^```/m.exec(guide) ?? [];
	const name = database.pathname.slice(1);
	return [
		shown
			.replace('airtill = ', `${name} = `)
			.replace("connect_query='", `connect_query='${OF_CITY}`)
			.replace('port=5432 dbname=airtill', `port=${database.port} dbname=${name}`)
			.replace('listen_port = 6432', `listen_port = ${port}`)
			.replace('auth_type = scram-sha-256', 'auth_type = trust')
			.replace('/etc/pgbouncer/userlist.txt', users),
		'unix_socket_dir =',
		...(process.getuid?.() === 0 ? ['user = postgres'] : []),
		''
	].join('\n');
}
