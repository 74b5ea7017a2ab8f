/** Comparisons whose calls are lost, held or carried out late, and processes that die. */
import { describe, expect, it } from 'vitest';
import { openSql } from '../../../support/database/sql.ts';
import { buyAtUniFi, UNIFI_ROUTER, visitOf, type Bought } from '../../../support/gateways/consoles.ts';
import { newOwner } from '../../../support/pages/owners.ts';
import { cli } from '../../../support/server/cli.ts';
import { DATABASES, eventually, itWithAll } from '../../../support/server/fixture.ts';
import { ACTIONS, useAdmissions } from './use-admissions.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
/** The lease of a job, and its next run. */
const LEASE = 16 * SECOND;
const HOLD_FIRST = `create function hold_first() returns trigger language plpgsql as $$ begin
	if nextval('changes') = 1 then perform pg_advisory_xact_lock(1); end if;
	return null;
end $$`;

describe.each(DATABASES)('on %s', (database) => {
	const {
		fixture,
		unifi,
		row,
		becomes,
		admissions,
		noted,
		isOut,
		isHeld,
		tried,
		payment,
		buyJoined,
		inside,
		end,
		buyAtHotspot
	} = useAdmissions(database);

	describe('a process that dies', () => {
		it('loses nothing between the payment and the call', async () => {
			const { server } = fixture();
			unifi().fail('down');
			const bought = await buyJoined();
			await server.kill();
			unifi().heal();
			await server.restart();
			await server.advance(LEASE);
			await becomes(bought.sessionId, 'active');
			expect(unifi().grantsOf(bought.mac)).toBe(1);
			expect(await payment(bought.sessionId)).toMatchObject({ status: 'success', applied: 1 });
		});

		it('loses nothing between the call and its record', async () => {
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

		it('loses nothing before the disconnect', async () => {
			const { server } = fixture();
			const bought = await inside();
			unifi().fail('down');
			await end(bought.sessionId);
			await server.kill();
			unifi().heal();
			await server.restart();
			await server.advance(LEASE);
			await isOut(bought);
		});
	});

	itWithAll('disconnects what is let in after the disconnect', async () => {
		const bought = await inside();
		unifi().forget(bought.mac);
		unifi().fail('held', { match: ACTIONS, times: 1 });
		await bought.person.raw(`${bought.path}?visit=${await visitOf(bought.person, bought.mac)}`);
		await isHeld();
		const before = unifi().asked.length;
		await end(bought.sessionId);
		// We give up waiting for the answer, and tell the console that the device is to be out.
		await eventually('it was put out', async () =>
			unifi()
				.asked.slice(before)
				.some((line) => line.endsWith('/clients'))
		);
		await unifi().release();
		expect(unifi().isIn(bought.mac)).toBe(true);
		await fixture().server.advance(MINUTE);
		await isOut(bought);
		await noted(bought.sessionId, 'out');
	});

	it('disconnects a session that is ended during the call to the gateway', async () => {
		const bought = await inside();
		unifi().forget(bought.mac);
		unifi().fail('slow', { match: ACTIONS, times: 1 });
		const visit = await visitOf(bought.person, bought.mac);
		const asked = tried(ACTIONS);
		await bought.person.raw(`${bought.path}?visit=${visit}`);
		await asked;
		await end(bought.sessionId);
		// It stays open for a minute if a second request made the first answer count for nothing.
		await eventually('it was put out', async () => {
			const [seen] = await admissions(bought.sessionId);
			return seen?.['sent_until'] === null && seen['released_at'] !== null;
		});
		expect(unifi().isIn(bought.mac)).toBe(false);
	});

	it('keeps nobody waiting at another gateway when one holds every call', async () => {
		const guests = await Promise.all(Array.from({ length: 20 }, inside));
		unifi().fail('held');
		await Promise.all(guests.map(({ sessionId }) => end(sessionId)));
		await eventually('questions are held', async () => unifi().held > 0);
		const startedAt = Date.now();
		await buyAtHotspot();
		expect(Date.now() - startedAt).toBeLessThan(9 * SECOND);
		expect(guests.every(({ mac }) => unifi().isIn(mac))).toBe(true);
		unifi().heal();
		await unifi().release();
		// Each that has its turn makes room for the next: nobody waits for a timer.
		for (const guest of guests) await isOut(guest);
	});

	it('calls an unresponsive gateway once a minute to disconnect a device', async () => {
		const { server, sql } = fixture();
		const bought = await inside();
		/** Changes with each try. */
		const nextTry = async () => Number((await admissions(bought.sessionId))[0]?.['check_at']);
		// A job that still ran would run again for a second reason, or be taken over when the clock moves.
		const jobWaits = () =>
			eventually('its job waits', () =>
				sql.count(
					`select count(*) from jobs where kind = 'access.gateway' and lease_until is null and run_at > ?
						and subject_id = (select gateway_id from admissions where pass_id = ?)`,
					...[server.now(), bought.sessionId]
				)
			);
		await jobWaits();
		await sql.run("update gateways set unresponsive_since = 1 where name = 'console'");
		unifi().fail('down');
		await end(bought.sessionId);
		await eventually('it was tried', async () => (await nextTry()) > 0);
		await jobWaits();
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

	/** Ends the session; the held call lets its device in after that. */
	async function isOutAgain({ mac, sessionId }: Bought): Promise<void> {
		expect(unifi().held).toBe(1);
		await end(sessionId);
		await isOut({ mac });
		await unifi().release();
		expect(unifi().isIn(mac)).toBe(true);
		await fixture().server.advance(MINUTE);
		await isOut({ mac });
		await noted(sessionId, 'out');
	}

	it('disconnects what a call of a dead process lets in after the end', async () => {
		const { server } = fixture();
		unifi().fail('held', { match: ACTIONS, times: 1 });
		const bought = await buyJoined();
		await isHeld();
		await server.kill('SIGKILL');
		await server.restart();
		await server.advance(LEASE);
		await becomes(bought.sessionId, 'active');
		await isOutAgain(bought);
	});

	itWithAll('disconnects what is let in after a later call and after the end', async () => {
		unifi().fail('held', { match: ACTIONS, times: 1 });
		const bought = await buyJoined();
		await isHeld();
		// Nobody heard an answer, so it is asked for again.
		await becomes(bought.sessionId, 'active');
		await isOutAgain(bought);
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

describe('on PostgreSQL', () => {
	const { fixture, unifi, buyJoined } = useAdmissions('postgres');

	it('keeps a device in that got extra time while its job was about to put it out', async () => {
		const { server, sql } = fixture();
		const owner = await newOwner(fixture());
		await sql.run('update routers set owner_account_id = ? where id = ?', owner.accountId, UNIFI_ROUTER);
		const { mac, sessionId } = await buyJoined();
		const rows = (which: string) =>
			sql.count(`select count(*) from admissions where pass_id = ? and ${which}`, sessionId);
		await eventually('it is in', () => rows('allowed_at > 0'));
		await eventually('its job waits', () =>
			sql.count(
				"select count(*) from jobs where kind = 'access.gateway' and lease_until is null and run_at > ?",
				server.now()
			)
		);
		// The next change of its row, which is that job's, waits until the lock is free.
		const holder = await openSql(server.databaseUrl);
		await holder.run('create sequence changes');
		await holder.run(HOLD_FIRST);
		await holder.run(
			'create trigger hold before update on admissions for each statement execute function hold_first()'
		);
		await holder.all('select pg_advisory_lock(1)');
		await server.advance(61 * MINUTE);
		await eventually('it waits', () =>
			holder.count("select count(*) from pg_locks where locktype = 'advisory' and not granted")
		);
		const order = { note: 'The Wi-Fi was down', duration: '15m', form: 'a'.repeat(24) };
		expect((await owner.post(`/owner/customers/${sessionId}?/extend`, order)).status).toBe(200);
		await holder.close();
		await eventually('it has a new end', () => rows(`allowed_until > ${server.now()}`));
		await eventually('nothing is left to do', async () => {
			const due =
				"select count(*) from jobs where kind = 'access.gateway' and (lease_until > 0 or run_at <= ?)";
			return (await sql.count(due, server.now())) === 0;
		});
		expect(await rows('released_at is null')).toBe(1);
		expect(unifi().isIn(mac)).toBe(true);
	});
});
