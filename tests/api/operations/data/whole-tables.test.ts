/** Nothing that a buyer waits for reads a whole table: its cost does not grow with the installation. */
import { expect, it } from 'vitest';
import { createBuyers } from '../../../bench/support/buyers.ts';
import { fill, placesOf } from '../../../bench/support/fill.ts';
import { useFixture } from '../../../support/server/fixture.ts';

const ROWS = 3_000;
const fixture = useFixture({ database: 'postgres' });

it('a purchase, its pages and RADIUS use indexes only', async () => {
	const { server, sql } = fixture();
	await fill(server.databaseUrl, ROWS);
	const { search, routerPage, order, purchasePage, poll, session, buy, radiusLogin, radiusReport } =
		await createBuyers(server, placesOf(ROWS));
	// Connections report what they read when they end.
	await server.kill('SIGTERM');
	await sql.run('select pg_stat_reset()');
	await server.restart();
	for (let number = 1; number <= 3; number += 1) {
		await search(number, 'area');
		await search(number, 'density');
		for (const call of [routerPage, order, purchasePage, poll, session, buy]) await call();
		await radiusLogin(0);
		await radiusReport(0, number);
	}
	await server.kill('SIGTERM');
	// A start reads the routers and the gateways once. The other tables are small.
	const scanned = await sql.all(
		`select c.relname as name from pg_stat_user_tables join pg_class c on c.oid = relid
			where reltuples >= ? and seq_tup_read >= 2 * reltuples order by name`,
		ROWS
	);
	expect(scanned).toEqual([]);
});
