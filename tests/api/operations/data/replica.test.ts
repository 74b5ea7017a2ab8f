/** Reports read a standby while it has all that the primary has, and otherwise the primary. */
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { cli } from '../../../support/server/cli.ts';
import { eventually, startFixture, type Fixture } from '../../../support/server/fixture.ts';
import { startPostgres, type Node, type TestPostgres } from '../../../support/database/postgres.ts';
import { openSql, type Sql } from '../../../support/database/sql.ts';
import { startStandby } from '../../../support/database/standby.ts';

let primary: TestPostgres;
let standby: Node;
let onStandby: Sql;
let fixture: Fixture;
let bought = 0;

beforeAll(async () => {
	primary = await startPostgres();
	const database = await primary.createDatabase();
	standby = await startStandby(primary.url);
	const replica = new URL(database);
	replica.port = String(standby.port);
	fixture = await startFixture({ database, env: { DATABASE_REPLICA_URL: replica.href } });
	onStandby = await openSql(standby.url);
});
afterAll(async () => {
	await onStandby?.close();
	await fixture?.stop();
	await standby?.remove();
	await primary?.stop();
});
beforeEach(async () => {
	// A process that has just fallen back does not ask the standby.
	if (bought > 0) await fixture.server.restart();
	await fixture.buy();
	bought += 1;
});

async function sold(): Promise<number> {
	const { status, body } = await fixture.owner.send('GET', '/v1/owner/earnings?period=daily');
	expect(status).toBe(200);
	return (body as { total: { sessions: number } }).total.sessions;
}

/** Reports that the standby has answered to connections which are still open. */
const reportsOfStandby = () =>
	onStandby.count("select count(*) from pg_stat_activity where query like '%payments%' and pid <> pg_backend_pid()");

const doctor = async () => (await cli(['doctor'], fixture.server)).stdout;

it('a standby that follows answers, with the purchase of just now', async () => {
	const onPrimary = await openSql(primary.url);
	await eventually('it follows', () =>
		onPrimary.count("select count(*) from pg_stat_replication where state = 'streaming'")
	);
	await onPrimary.close();
	expect(await sold()).toBe(bought);
	expect(await reportsOfStandby()).toBeGreaterThan(0);
	expect(await doctor()).toContain('ok replica: it has all that the primary has');
});

it('a standby that answers but no longer follows is not used', async () => {
	await onStandby.run('select pg_wal_replay_pause()');
	await eventually('it is paused', async () => {
		const [row] = await onStandby.all('select pg_get_wal_replay_pause_state() as state');
		return row?.['state'] === 'paused';
	});
	await fixture.buy();
	bought += 1;
	expect(await sold()).toBe(bought);
	expect(await reportsOfStandby()).toBe(0);
	expect(fixture.server.stderr()).toContain('The replica is more than 2000 ms behind');
	expect(await doctor()).toContain('warn replica: The replica is more than 2000 ms behind - ');
	await onStandby.run('select pg_wal_replay_resume()');
});

it('a standby that was promoted is not used', async () => {
	await onStandby.run('select pg_promote()');
	expect(await sold()).toBe(bought);
	expect(await reportsOfStandby()).toBe(0);
	expect(await doctor()).toContain('warn replica: The replica is not a standby - ');
});

it('a standby that does not answer is not used', async () => {
	await standby.end('SIGKILL');
	expect(await sold()).toBe(bought);
	expect(fixture.server.stderr()).toContain('ECONNREFUSED');
	expect(await doctor()).toContain('warn replica: connect ECONNREFUSED');
});
