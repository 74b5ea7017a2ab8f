/** An upgrade of one process changes tables under another, which has named its statements (db/named-statements.ts). */
import { expect, it } from 'vitest';
import { useFixture } from '../../../support/server/fixture.ts';

const CONNECTIONS = 4;
const fixture = useFixture({ database: 'postgres', env: { DATABASE_POOL: String(CONNECTIONS) } });

it('reads and purchases go on after a migration added columns', async () => {
	const { api, buy, sql } = fixture();
	const { session, payment } = await buy();
	/** So many at once that each connection has its statements. */
	const read = () =>
		Promise.all(
			Array.from({ length: 5 * CONNECTIONS }, async () => [
				(await api.send('GET', '/v1/routers?lat=0.3476&lon=32.5825')).status,
				(await api.send('GET', `/v1/sessions/${session.id}`)).status,
				(await api.send('GET', `/v1/payments/${payment.id}/status`)).status
			])
		);
	await read();
	for (const table of ['routers', 'sessions', 'payments', 'passes', 'accounts', 'jobs']) {
		await sql.run(`alter table ${table} add column added text`);
	}
	expect(new Set((await read()).flat())).toEqual(new Set([200]));
	expect((await buy()).session.status).toBe('active');
});
