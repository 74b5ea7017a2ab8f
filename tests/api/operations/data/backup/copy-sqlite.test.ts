/** A copy of an SQLite database in PostgreSQL goes on where it was: passes, open payments, ids and sign-ins. */
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { createApi, numberEnding, type Api, type Session } from '../../../../support/api/api.ts';
import { signInAs } from '../../../../support/pages/browsing.ts';
import { cli } from '../../../../support/server/cli.ts';
import { insertKey, SECRET } from '../../../../support/server/fixture.ts';
import { createDatabaseOn } from '../../../../support/database/postgres.ts';
import { startServer, type TestServer } from '../../../../support/server/server.ts';
import { openSql } from '../../../../support/database/sql.ts';

let server: TestServer;
let api: Api;

beforeAll(async () => {
	server = await startServer({ env: { AIRTILL_SECRET: SECRET } });
	const sql = await openSql(server.databaseUrl);
	api = createApi(server.url, (await insertKey(sql)).key);
	await sql.close();
});
afterAll(() => server.stop());

async function buy(): Promise<Session> {
	const { id } = await api.createSession({ phone: numberEnding('008') });
	const payment = await api.pay(await api.getSession(id));
	expect(await api.getPayment(payment.id, 20)).toMatchObject({ status: 'success' });
	return api.getSession(id);
}

/** As an older version leaves a database: a refused copy must not migrate it under the processes that use it. */
async function forgetLastMigration(url: string) {
	const sql = await openSql(url);
	const newest = 'select max(version) from schema_migrations';
	const [last] = await sql.all(`delete from schema_migrations where version = (${newest}) returning *`);
	return {
		async restore() {
			expect(await sql.count(newest)).toBe(Number(last?.['version']) - 1);
			const row = [Number(last?.['version']), String(last?.['name'])];
			await sql.run('insert into schema_migrations (version, name) values (?, ?)', ...row);
			await sql.close();
		}
	};
}

it('moves an installation to a city in PostgreSQL', async () => {
	const session = await buy();
	const open = await api.createSession({ phone: numberEnding('001') });
	const payment = await api.pay(open);
	const file = server.databaseUrl.slice('file:'.length);
	const url = await createDatabaseOn(inject('postgresUrl'));
	const env = { ...server.env, DATABASE_URL: `${url}?options=-csearch_path%3Dkampala` };
	const add = ['city', 'add', 'kampala', '--number', '3'];
	expect(await cli(add, { env: { ...env, DATABASE_URL: url } })).toMatchObject({ code: 0 });
	const copy = () => cli(['copy-sqlite', file], { env });

	expect(await copy()).toMatchObject({ code: 1, stderr: expect.stringContaining('is in use: stop Airtill') });
	await server.kill('SIGTERM');
	const refused = expect.stringContaining('names no PostgreSQL database');
	expect(await cli(['copy-sqlite', file], server)).toMatchObject({ code: 1, stderr: refused });
	expect(await copy()).toMatchObject({ code: 0, stdout: '' });
	const older = await forgetLastMigration(env.DATABASE_URL);
	expect(await copy()).toMatchObject({ code: 1, stderr: expect.stringContaining('has data') });
	await older.restore();
	// So the next city gets other ids.
	expect((await cli(['city', 'list'], { env })).stdout).toMatch(/^3 +kampala$/m);

	const moved = await startServer({ port: server.port, env });
	try {
		const { password, expires_at } = session;
		expect(await api.getSession(session.id)).toMatchObject({ status: "active", password, expires_at });
		expect(await api.getPayment(payment.id)).toMatchObject({ id: payment.id, session_id: open.id });
		expect((await buy()).id).toBeGreaterThan(open.id);
		const owner = await signInAs({ ...moved, stdout: server.stdout }, 'owner');
		expect((await owner.get('/owner')).status).toBe(200);
	} finally {
		await moved.stop();
	}
});
