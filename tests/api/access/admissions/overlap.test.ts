/** Two runs of the job of one gateway, because one process stood still for longer than its lease: what the other did stays. */
import { expect, it } from 'vitest';
import { buyAtUniFi, visitOf, type Bought } from '../../../support/gateways/consoles.ts';
import { eventually } from '../../../support/server/fixture.ts';
import { ACTIONS, useAdmissions } from './use-admissions.ts';

const HOUR = 60 * 60_000;
const MB = 1_000_000;
const READS = /^GET .*\/clients\/[^/]+$/;

const { fixture, unifi, inside, end, admissions, isHeld, isIn, becomes } = useAdmissions('sqlite');

/** The other process has run the job, which is due again then. */
const otherRan = (gatewayId: unknown, dueAt: number) =>
	fixture().sql.run(
		`update jobs set lease_owner = null, lease_until = null, run_at = ?
			where kind = 'access.gateway' and subject_id = ?`,
		dueAt,
		Number(gatewayId)
	);

const rowOf = async ({ sessionId }: Bought) => (await admissions(sessionId))[0] ?? {};

it('a device that the late one disconnects is let in again by its other pass', async () => {
	const { server, sql } = fixture();
	const first = await inside();
	unifi().fail('held', { match: ACTIONS, times: 1 });
	await end(first.sessionId);
	await isHeld();
	const { id, gateway_id: gateway } = await rowOf(first);
	await sql.run(
		'update admissions set released_at = ?, sent_until = null, unanswered_at = null where id = ?',
		...[server.now(), Number(id)]
	);
	await otherRan(gateway, 0);
	const second = await buyAtUniFi(fixture(), first.mac);
	await becomes(second.sessionId, 'active');
	await unifi().release();
	await isIn(first);
	await eventually('it was let in again', async () => unifi().grantsOf(first.mac) === 3);
});

it('an end that the late one sends is replaced again by the one that was sent since', async () => {
	const { server, sql } = fixture();
	const bought = await inside();
	unifi().forget(bought.mac);
	unifi().fail('held', { match: ACTIONS, times: 1 });
	await bought.person.raw(`${bought.path}?visit=${await visitOf(bought.person, bought.mac)}`);
	await isHeld();
	const { id, gateway_id: gateway, sent_until: sent } = await rowOf(bought);
	const until = Number(sent) + HOUR;
	await sql.run('update passes set ends_at = ? where id = ?', until, bought.sessionId);
	await sql.run(
		'update admissions set sent_until = ?, allowed_until = ?, allowed_at = ?, unanswered_at = null where id = ?',
		...[until, until, server.now(), Number(id)]
	);
	await otherRan(gateway, until);
	await unifi().release();
	await eventually('the console has the later end', async () => Number(unifi().minutesOf(bought.mac)) > 110);
});

it('a counter that the late one has read before counts no data again', async () => {
	const { server, sql } = fixture();
	const bought = await inside();
	const { id, gateway_id: gateway } = await rowOf(bought);
	const waits =
		"select count(*) from jobs where kind = 'access.gateway' and subject_id = ? and lease_until is null";
	await eventually('its job waits', () => sql.count(waits, Number(gateway)));
	await sql.run('update passes set data_limit_mb = 1000 where id = ?', bought.sessionId);
	unifi().use(bought.mac, 100 * MB);
	unifi().fail('held', { match: READS, times: 1 });
	await otherRan(gateway, 0);
	await isHeld();
	// The other has read a newer counter, and counted it.
	const read = 101 * MB;
	const at = server.now();
	await sql.run(
		'update admissions set data_bytes = ?, data_reported_at = ? where id = ?',
		read,
		at,
		Number(id)
	);
	await sql.run('update passes set data_used_bytes = ? where id = ?', read, bought.sessionId);
	await unifi().release();
	await eventually('its job waits', () =>
		sql.count(
			"select count(*) from jobs where kind = 'access.gateway' and subject_id = ? and lease_until is null and run_at > ?",
			Number(gateway),
			server.now()
		)
	);
	const used = 'select data_used_bytes from passes where id = ?';
	expect(await sql.count(used, bought.sessionId)).toBe(read);
});
