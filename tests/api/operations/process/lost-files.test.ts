/** Files that an administrator loses: the log on a full disk, and the database that is deleted or replaced. */
import { renameSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { createApi, numberEnding } from '../../../support/api/api.ts';
import { cli } from '../../../support/server/cli.ts';
import { openSql } from '../../../support/database/sql.ts';
import { eventually, insertKey, SECRET, useFixture } from '../../../support/server/fixture.ts';
import { startServer } from '../../../support/server/server.ts';

it('a full disk under its log and its messages: it starts, sells and stops', async () => {
	const inside = ['sh', '-c', 'exec "$@" >/dev/full 2>/dev/full', 'sh'];
	const answers = async (url: string) => (await fetch(url).catch(() => null))?.status === 200;
	const server = await startServer({
		on: { inside, host: '127.0.0.1', answers, isSilent: true },
		env: { AIRTILL_SECRET: SECRET, AIRTILL_LOG_LEVEL: 'debug' }
	});
	const sql = await openSql(server.databaseUrl);
	try {
		const api = createApi(server.url, (await insertKey(sql)).key);
		// It is refunded with a review, which is logged.
		const session = await api.createSession({ phone: numberEnding('009') });
		const payment = await api.getPayment((await api.pay(session)).id, 20);
		expect(payment.status).toMatch(/^refund/);
		expect(await answers(`${server.url}/r/3`)).toBe(true);
		await server.kill('SIGTERM');
	} finally {
		await server.stop();
	}
});

describe.each(['deleted', 'replaced'])('on sqlite, a database file that is %s', (what) => {
	const fixture = useFixture({});

	it('ends the server, which says where the data is kept; restored from there, all goes on', async () => {
		const { server, api } = fixture();
		const { session } = await fixture().buy();
		const open = await api.pay(await api.createSession({ phone: numberEnding('007') }));
		const file = path.join(server.dataDir, 'airtill.db');
		if (what === 'replaced') {
			expect(await cli(['backup', path.join(server.dataDir, 'copy')], server)).toMatchObject({ code: 0 });
			renameSync(path.join(server.dataDir, 'copy'), file);
		} else for (const end of ['', '-wal', '-shm']) rmSync(file + end);
		const kept = await eventually('it ends', async () => {
			const dead = await fetch(`${server.url}/healthz`).catch(() => null);
			return dead === null && /airtill\.db\.kept-\d+/.exec(server.stderr())?.[0];
		});
		expect(server.stderr()).toContain('was deleted, moved or replaced while Airtill ran');
		expect(statSync(path.join(server.dataDir, kept)).mode & 0o777).toBe(0o600);
		const restored = await cli(['restore', path.join(server.dataDir, kept), '--force'], server);
		expect(restored).toMatchObject({ code: 0 });
		await server.restart();
		expect(await api.getSession(session.id)).toMatchObject({ status: 'active', password: session.password });
		expect(await api.getPayment(open.id, 20)).toMatchObject({ status: 'success', applied: true });
	});
});
