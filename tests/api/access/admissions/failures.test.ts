/**
 * A process that dies during a call, and gateways that do not respond or are gone. ../comparison-model.test.ts has calls
 * that are lost, late or doubled.
 */
import { describe, expect, it } from 'vitest';
import { buyAtUniFi, visitOf, type Bought } from '../../../support/gateways/consoles.ts';
import { cli } from '../../../support/server/cli.ts';
import { DATABASES, eventually } from '../../../support/server/fixture.ts';
import { ACTIONS, useAdmissions } from './use-admissions.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
/** The lease of a job, and its next run. */
const LEASE = 16 * SECOND;

describe.each(DATABASES)('on %s', (database) => {
	const { fixture, unifi, row, becomes, admissions, isOut, isHeld, jobWaits, ...buyers } =
		useAdmissions(database);
	const { isIn, payment, buyJoined, inside, end, buyAtHotspot } = buyers;

	it('a process that dies loses nothing between the call and its record', async () => {
		const { server } = fixture();
		unifi().fail('held', { match: ACTIONS, times: 1 });
		const bought = await buyJoined();
		await isHeld();
		await server.kill();
		await unifi().release();
		expect(unifi().isIn(bought.mac)).toBe(true);
		await server.restart();
		const startedAt = fixture().server.now();
		await server.advance(LEASE);
		await becomes(bought.sessionId, 'active');
		expect(await admissions(bought.sessionId)).toHaveLength(1);
		// The buyer lost nothing of the time in which we were away.
		expect(Number((await row(bought.sessionId))['starts_at'])).toBeGreaterThanOrEqual(startedAt);
	});

	it('calls an unresponsive gateway once a minute to disconnect a device', async () => {
		const { server, sql } = fixture();
		const bought = await inside();
		/** Changes with each try. */
		const nextTry = async () => Number((await admissions(bought.sessionId))[0]?.['check_at']);
		await jobWaits(bought.sessionId);
		await sql.run("update gateways set unresponsive_since = 1 where name = 'console'");
		unifi().fail('down');
		await end(bought.sessionId);
		await eventually('it was tried', async () => (await nextTry()) > 0);
		await jobWaits(bought.sessionId);
		const next = await nextTry();
		await server.advance(50 * SECOND);
		await buyAtHotspot();
		expect(await nextTry()).toBe(next);
		unifi().heal();
		await server.advance(11 * SECOND);
		await isOut(bought);
		await eventually('it responds, and sells again', async () => {
			const [console] = await sql.all("select unresponsive_since from gateways where name = 'console'");
			return console?.['unresponsive_since'] === null;
		});
	});

	it('disconnects a device that comes back, if it was requested again when it ended', async () => {
		const { server } = fixture();
		const { mac, path, person, sessionId } = await inside();
		unifi().fail('held', { match: ACTIONS, times: 1 });
		const again = async () => person.get(`${path}?visit=${await visitOf(person, mac)}`);
		await again();
		await isHeld();
		// The answer to the call that is held does not count any more: the device came again.
		await again();
		const [row] = await admissions(sessionId);
		expect(row?.['allowed_at']).toBeNull();
		await end(sessionId);
		unifi().leave(mac);
		await unifi().release();
		const isDone = () =>
			eventually('nothing is done about it now', async () => {
				const busy = `select count(*) from jobs where kind = 'access.gateway' and subject_id = ?
					and (lease_until > 0 or run_at <= ?)`;
				return (await fixture().sql.count(busy, Number(row?.['gateway_id']), server.now() + 1_000)) === 0;
			});
		await isDone();
		await server.advance(5 * MINUTE);
		await isDone();
		unifi().join(mac);
		expect(unifi().isIn(mac)).toBe(true);
		await server.advance(2 * MINUTE);
		await isOut({ mac });
	});

	describe('two runs of a job, because one process stood still for longer than its lease: what the other did stays', () => {
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
			await eventually(
				'the console has the later end',
				async () => Number(unifi().minutesOf(bought.mac)) > 110
			);
		});
	});

	it('refunds a buyer whose gateway is removed', async () => {
		const { server } = fixture();
		const connected = await inside();
		const waiting = await buyAtUniFi(fixture());
		expect((await row(waiting.sessionId))['status']).toBe('activating');
		expect(await cli(['gateways', 'remove', 'console', '--force'], server)).toMatchObject({ code: 0 });
		await server.advance(10 * MINUTE + SECOND);
		await becomes(waiting.sessionId, 'cancelled');
		expect((await payment(waiting.sessionId))['refund_reason']).toBe('provisioning_failed');
		expect((await row(connected.sessionId))['status']).toBe('active');
	});
});
