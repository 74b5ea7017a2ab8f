/** Time that an outage cannot take: when a router is back, each pass gets the time that it lost there, once. */
import { afterEach, describe, expect, it } from 'vitest';
import type { RouterOs } from '../../simulators/gateway/routeros.ts';
import type { UniFiConsole } from '../../simulators/gateway/unifi-console.ts';
import { connectRouterOs, connectUniFi, UNIFI_ROUTER } from '../../support/gateways/consoles.ts';
import { gatewayName, registerGateway } from '../../support/gateways/gateways.ts';
import { clockOf, connect, isQuiet, later, minute, recordResponse } from '../../support/gateways/watch.ts';
import { browse } from '../../support/pages/browsing.ts';
import { customerAt, newOwner } from '../../support/pages/owners.ts';
import { BOTH_DATABASES, eventually, runsAllOn, useNewFixtures } from '../../support/server/fixture.ts';

const ROUTER = UNIFI_ROUTER;
const hour = 60 * minute;

/** A gateway that can be silent. */
interface Gateway {
	/** It stops answering, or answers again. */
	silence(): void;
	answer(): Promise<void>;
	stop?(): Promise<unknown>;
}

describe.each(BOTH_DATABASES)('on %s', (database) => {
	const fixture = useNewFixtures({ database });
	const open: Gateway[] = [];
	afterEach(async () => {
		for (const gateway of open.splice(0)) await gateway.stop?.();
	});

	const kinds: Record<string, () => Promise<Gateway>> = {
		async 'openNDS that fetches'() {
			const more = ['--level', '4'];
			const { name } = await registerGateway(fixture().server, 'opennds', { loginHost: '10.0.0.1', more });
			return { silence: () => {}, answer: () => recordResponse(fixture(), [name]) };
		},
		async 'RADIUS with a connection that reports'() {
			const { name } = await registerGateway(fixture().server, 'coova', { loginHost: '10.1.0.1' });
			await connect(fixture(), { gateway: name, endsInMs: 90 * hour });
			return { silence: () => {}, answer: () => recordResponse(fixture(), [name]) };
		},
		MikroTik: async () => call(await connectRouterOs(fixture(), gatewayName(), ROUTER)),
		UniFi: async () => call(await connectUniFi(fixture()))
	};
	/** A gateway that Airtill calls. */
	const call = (called: RouterOs | UniFiConsole): Gateway => ({
		silence: () => called.fail('error'),
		async answer() {
			called.heal();
			await later(fixture(), minute);
		},
		stop: () => called.stop()
	});
	const connectKind = async (kind = 'openNDS that fetches') => {
		const gateway = await kinds[kind]?.();
		if (!gateway) throw new Error(kind);
		open.push(gateway);
		return gateway;
	};

	/** It has just answered. */
	async function hear(gateway: Gateway): Promise<void> {
		await isQuiet(fixture());
		await gateway.answer();
		await later(fixture(), minute);
		await gateway.answer();
	}

	/** Checks find no answer meanwhile. */
	async function wait(minutes: number): Promise<void> {
		for (let at = 0; at < minutes;) {
			// Three checks in a row tell; later ones may be rarer.
			const step = at < 4 ? 1 : Math.min(2, minutes - at);
			await later(fixture(), step * minute);
			at += step;
		}
	}

	async function outage(gateway: Gateway, minutes: number): Promise<void> {
		await hear(gateway);
		gateway.silence();
		await wait(minutes);
		await gateway.answer();
		await settle();
	}

	const settle = () =>
		eventually('the time is given', async () => {
			const waiting = 'select count(*) from outages where ended_at is null or given_at is null';
			return (await fixture().sql.count(waiting)) === 0;
		});

	const endOf = async (id: number) => Date.parse((await fixture().api.getSession(id)).expires_at ?? '');
	const given = async () =>
		(await fixture().sql.all('select seconds from extra_time order by id')).map(({ seconds }) =>
			Number(seconds)
		);
	const buy = async (duration = '2h') => {
		const { session } = await fixture().buy({ router_id: ROUTER, duration });
		return eventually('the time runs', async () => {
			const read = await fixture().api.getSession(session.id);
			return read.status === 'active' && read;
		});
	};
	const asMinutes = (ms: number) => Math.round(ms / minute);
	/** A check may be a moment late, and the clock of the test goes on. */
	const expectMinutes = (ms: number, minutes: number) => {
		expect(ms).toBeGreaterThanOrEqual(minutes * minute - 1000);
		expect(ms).toBeLessThan((minutes + 2.5) * minute);
	};

	it.each([
		['openNDS that fetches', 20],
		['RADIUS with a connection that reports', 10],
		['MikroTik', 20],
		['UniFi', 20]
	])('%s: passes end later by the %d minutes of an outage', async (kind, minutes) => {
		const gateway = await connectKind(kind);
		await hear(gateway);
		const session = await buy();
		const before = await endOf(session.id);
		await outage(gateway, minutes);
		const [seconds = 0] = await given();
		expectMinutes(seconds * 1000, minutes);
		expect(await endOf(session.id)).toBe(before + seconds * 1000);
		expect(await fixture().sql.count('select ends_at from passes where id = ?', session.id)).toBe(
			before + seconds * 1000
		);
		expect(await fixture().api.getSession(session.id)).toMatchObject({
			status: 'active',
			extra_seconds: seconds
		});
		expect(await fixture().events(session.id)).toEqual([
			'payment.success',
			'session.activated',
			'session.created'
		]);
	});

	it('MikroTik learns the new end', async () => {
		const gateway = await connectKind('MikroTik');
		await hear(gateway);
		const session = await buy();
		await outage(gateway, 6);
		const end = await endOf(session.id);
		await eventually('it allows the pass until then', async () => {
			const [row] = await fixture().sql.all(
				'select allowed_until from admissions where pass_id = ?',
				session.id
			);
			return Math.abs(Number(row?.['allowed_until']) - end) < 31_000;
		});
	});

	it('a pass that ran out meanwhile goes on with its password for the time that it lost', async () => {
		const gateway = await connectKind();
		await hear(gateway);
		const { page, session: id } = await customerAt(fixture(), ROUTER);
		const person = browse(fixture().server.url);
		const password = async () =>
			(await fixture().sql.all('select password_sealed from passes where id = ?', id))[0]?.[
				'password_sealed'
			];
		const sealed = await password();
		await later(fixture(), 49 * minute);
		await hear(gateway);
		gateway.silence();
		await wait(6);
		expect((await person.get(page)).text).toContain('When it works again, you get the lost time back');
		await wait(14);
		await eventually(
			'the time is over',
			async () => (await fixture().admin.getSession(id)).status === 'expired'
		);
		const over = await person.get(page);
		expect(over.text).toContain('When it works again, you get the lost time back');
		expect(over.html).toContain('http-equiv="refresh"');
		const end = await fixture().sql.count('select ends_at from passes where id = ?', id);
		await gateway.answer();
		await settle();
		const [seconds = 0] = await given();
		const [row] = await fixture().sql.all('select began_at from outages');
		expect(seconds).toBe(Math.ceil((end - Number(row?.['began_at'])) / 1000));
		const now = clockOf(fixture()).now();
		const until = await fixture().sql.count('select ends_at from passes where id = ?', id);
		expect(Math.abs(until - now - seconds * 1000)).toBeLessThan(minute);
		const back = await person.get(page);
		expect(back.text).toContain(`${asMinutes(seconds * 1000)} minutes added: the Wi‑Fi was down.`);
		expect(await password()).toBe(sealed);
		// The API's own session stays as it is.
		expect(await fixture().admin.getSession(id)).toMatchObject({ status: 'expired' });
		// It runs on time for nothing, and another outage takes none of that either.
		await outage(gateway, 6);
		expect(await given()).toHaveLength(2);
		const last = await fixture().sql.count('select ends_at from passes where id = ?', id);
		expect(last).toBeGreaterThan(until);
		await fixture().server.advance(last - clockOf(fixture()).now() + 1000);
		await eventually('the password is erased at last', async () =>
			fixture().sql.count('select count(*) from passes where id = ? and password_sealed is null', id)
		);
	});

	it('added time that follows moves too', async () => {
		const gateway = await connectKind();
		await hear(gateway);
		const session = await buy();
		const { session: added } = await fixture().buy({ router_id: ROUTER, extends_session_id: session.id });
		const before = [await endOf(session.id), await endOf(added.id)];
		await outage(gateway, 6);
		const [seconds = 0] = await given();
		expect([await endOf(session.id), await endOf(added.id)]).toEqual(
			before.map((end) => end + seconds * 1000)
		);
		const { starts_at: startsAt } = await fixture().api.getSession(added.id);
		expect(Date.parse(startsAt ?? '')).toBe(await endOf(session.id));
		expect(await given()).toHaveLength(1);
	});

	it('a crash, a second job and a second return give it once', async () => {
		const gateway = await connectKind();
		await hear(gateway);
		const sessions = [await buy(), await buy()];
		const before = await Promise.all(sessions.map(({ id }) => endOf(id)));
		await hear(gateway);
		gateway.silence();
		await wait(6);
		const { server, sql } = fixture();
		// It dies between two passes: one has its time.
		const second = sessions[1]?.id;
		const isSqlite = database === 'sqlite';
		await sql.run(
			isSqlite
				? `create trigger halt before insert on extra_time when new.session_id = ${second}
					begin select raise(abort, 'halt'); end`
				: `alter table extra_time add constraint halt check (session_id <> ${second})`
		);
		await gateway.answer();
		await eventually('one has its time', async () => (await given()).length === 1);
		await server.kill();
		await sql.run(isSqlite ? 'drop trigger halt' : 'alter table extra_time drop constraint halt');
		await server.restart();
		await settle();
		await isQuiet(fixture());
		await sql.run('update outages set given_at = null');
		await sql.run(
			`insert into jobs (kind, subject_id, run_at, created_at) select 'access.outage', id, 0, 0 from outages`
		);
		await settle();
		await gateway.answer();
		await isQuiet(fixture());
		const seconds = await given();
		expect(seconds).toHaveLength(2);
		expect(await Promise.all(sessions.map(({ id }) => endOf(id)))).toEqual(
			before.map((end, index) => end + (seconds[index] ?? 0) * 1000)
		);
	});

	if (!runsAllOn(database)) return;

	it('two minutes without an answer give nothing', async () => {
		const gateway = await connectKind();
		await hear(gateway);
		await buy();
		await hear(gateway);
		gateway.silence();
		await wait(2);
		await gateway.answer();
		await hear(gateway);
		expect([await given(), await fixture().sql.count('select count(*) from outages')]).toEqual([[], 0]);
		// Nor does an outage that Airtill knows for less than three minutes.
		await wait(5);
		await fixture().sql.run('update outages set began_at = checked_at - ?', minute);
		await gateway.answer();
		await settle();
		expect([await given(), await fixture().sql.count('select count(*) from outages')]).toEqual([[], 1]);
	});

	it('an outage of 30 hours gives 24', async () => {
		const gateway = await connectKind();
		await hear(gateway);
		const session = await buy('3d');
		const short = await buy('2h');
		const before = await endOf(session.id);
		await later(fixture(), 31 * hour);
		await hear(gateway);
		gateway.silence();
		await wait(6);
		await fixture().sql.run('update outages set began_at = began_at - ?', 30 * hour);
		await gateway.answer();
		await settle();
		expect(await endOf(session.id)).toBe(before + 24 * hour);
		// One that ran out in the first hour goes on, more than a day later.
		const end = await fixture().sql.count('select ends_at from passes where id = ?', short.id);
		expectMinutes(end - fixture().server.now(), 58);
	});

	it('an owner turns it off for the outages that begin from then on, with an entry in the audit log', async () => {
		const owner = await newOwner(fixture());
		await fixture().sql.run('update routers set owner_account_id = ? where id = ?', owner.accountId, ROUTER);
		const gateway = await connectKind();
		await hear(gateway);
		const session = await buy();
		const path = `/owner/routers/${ROUTER}`;
		await outage(gateway, 6);
		const [seconds = 0] = await given();
		const page = await owner.get(path);
		expect(page.text).toMatch(/[67] minutes · customers who got time back: 1/);
		expect((await owner.get(`/owner/customers/${session.id}`)).text).toContain(
			`Time was given back after an outage: ${asMinutes(seconds * 1000)} minutes, until`
		);
		const off = await owner.post(`${path}?/sales`, { do: 'keep-time' });
		expect(off.text).toContain('do not get the time of an outage back');
		await outage(gateway, 6);
		expect(await given()).toHaveLength(1);
		const actions = await fixture().sql.all(
			"select action from audit_log where action like 'router.outage%'"
		);
		expect(actions).toEqual([{ action: 'router.outage_time_off' }]);
		await owner.post(`${path}?/sales`, { do: 'give-time' });
		await outage(gateway, 6);
		expect(await given()).toHaveLength(2);
	});

	it('gives nothing to passes that ended by data or by a person, or whose payment was refunded', async () => {
		const owner = await newOwner(fixture());
		await fixture().sql.run('update routers set owner_account_id = ? where id = ?', owner.accountId, ROUTER);
		const gateway = await connectKind();
		await hear(gateway);
		const [byData, byBuyer, running, refunded] = [await buy(), await buy(), await buy(), await buy('15m')];
		const first = await buy('15m');
		const { session: added } = await fixture().buy({ router_id: ROUTER, extends_session_id: first.id });
		await hear(gateway);
		gateway.silence();
		await wait(18);
		const { sql, api, server } = fixture();
		// As the counters of a gateway end it.
		await sql.run(
			`update sessions set status = 'ended', status_reason = 'data_limit_reached', ended_at = ? where id = ?`,
			...[server.now(), byData.id]
		);
		await sql.run(
			'update passes set data_limit_mb = 1, data_used_bytes = 1000000, ends_at = ? where id = ?',
			...[server.now(), byData.id]
		);
		await api.endSession(byBuyer.id);
		await api.endSession(added.id);
		// Its time ran out in the outage, and the owner gave the money back.
		await owner.post(`/owner/customers/${refunded.id}?/refund`, { note: 'The Wi-Fi was down.' });
		await eventually('the refund arrives', async () => {
			const arrived = "select count(*) from payments where id = ? and status = 'refunded'";
			return (await sql.count(arrived, refunded.payment_id)) === 1;
		});
		await gateway.answer();
		await settle();
		const rows = await sql.all('select session_id from extra_time');
		expect(rows).toEqual([{ session_id: running.id }]);
		expect(await fixture().api.getSession(byBuyer.id)).toMatchObject({ status: 'ended' });
	});

	it('while one of two gateways answers, nothing is lost', async () => {
		const [first, second] = [await connectKind(), await connectKind()];
		await hear(first);
		await hear(second);
		await buy();
		for (let index = 0; index < 4; index += 1) {
			await isQuiet(fixture());
			await second.answer();
			await later(fixture(), 2 * minute);
		}
		await first.answer();
		await isQuiet(fixture());
		expect(await given()).toEqual([]);
	});

	it.each(['openNDS that fetches', 'MikroTik'])(
		'%s: an hour in which Airtill itself stood still does not count',
		async (kind) => {
			const gateway = await connectKind(kind);
			await hear(gateway);
			await buy('6h');
			const { server } = fixture();
			const pause = async () => {
				await isQuiet(fixture());
				await server.kill();
				await server.advance(hour);
				await server.restart();
				await isQuiet(fixture());
			};
			await pause();
			await hear(gateway);
			expect(await given()).toEqual([]);
			// In the middle of an outage: what was seen of it counts.
			gateway.silence();
			await wait(8);
			await pause();
			await wait(8);
			await gateway.answer();
			await settle();
			const seconds = await given();
			expect(seconds).toHaveLength(2);
			expectMinutes((seconds[0] ?? 0) * 1000, 8);
			expect(seconds[1]).toBeLessThan(9.5 * 60);
			expect(seconds[1]).toBeGreaterThan(4 * 60);
		}
	);
});
