/** When personal data is deleted, and what stays: money, totals and everything that is still open. */
import { sql as query, type CompiledQuery } from 'kysely';
import { describe, expect, it } from 'vitest';
import { createAudit } from '#lib/server/audit.ts';
import { personalDataJobs } from '#lib/server/personal-data.ts';
import { openDatabase } from '#lib/server/db/database.ts';
import { registerGateway } from '../../../support/gateways/gateways.ts';
import { clockOf, connect } from '../../../support/gateways/watch.ts';
import { browse } from '../../../support/pages/browsing.ts';
import { buyHourOn } from '../../../support/pages/splash.ts';
import { DATABASES, eventually, useFixture, useNewFixtures } from '../../../support/server/fixture.ts';
import { noting } from '../../../support/database/query-plans.ts';
import { decideReview } from '../../../support/pages/administrator.ts';

const hour = 3_600_000;
const day = 24 * hour;
const DELETED = '+9990000000';
const env = { KEEP_NUMBERS_DAYS: '90' };

describe.each(DATABASES)('on %s', (database) => {
	const fixture = useNewFixtures({ database, env });

	/** All sessions are over: they count from their last change. */
	const ended = async () => {
		await fixture().server.advance(2 * hour);
		await eventually(
			'all sessions are over',
			async () => (await fixture().sql.count(`select count(*) from sessions where status <> 'expired'`)) === 0
		);
	};
	const isDeleted = (sessionId: number) =>
		eventually(
			`the number of session ${sessionId} is deleted`,
			async () => (await fixture().api.getSession(sessionId)).phone === DELETED
		);
	/** All that the job finds is done. */
	const swept = async () => {
		await fixture().sql.run(`update jobs set run_at = 0, wakes = wakes + 1 where kind = 'personal-data.delete'`);
		const due = `select count(*) from jobs where kind = 'personal-data.delete' and (run_at = 0 or lease_until > 0)`;
		await eventually('the job has run', async () => (await fixture().sql.count(due)) === 0);
	};

	it('deletes what leads to the payer after its days, and nothing else of the sale', async () => {
		const { api, owner, server, sql } = fixture();
		const { session, payment } = await fixture().buy({ router_id: 3 });
		const person = browse(server.url);
		const page = await buyHourOn(person, await person.get('/r/3'));
		await eventually('the purchase is paid', () =>
			sql.count('select count(*) from payments where id > ? and applied = 1', payment.id)
		);
		await ended();
		const earnings = async () => {
			const { body } = await owner.send('GET', `/v1/owner/earnings?period=monthly`);
			return (body as { total: object }).total;
		};
		const [before, paid, earned] = [
			await api.getSession(session.id),
			await api.getPayment(payment.id),
			await earnings()
		];

		const answers = () => sql.count('select count(*) from idempotent_answers');
		expect(await answers()).toBeGreaterThan(0);
		await server.advance(89 * day);
		await swept();
		expect(await answers()).toBe(0);
		expect(await api.getSession(session.id)).toEqual(before);

		await server.advance(2 * day);
		await swept();
		await isDeleted(session.id);
		await swept();
		expect(await api.getSession(session.id)).toEqual({ ...before, phone: DELETED });
		expect(await api.getPayment(payment.id)).toEqual({ ...paid, phone: DELETED });
		expect(await earnings()).toEqual(earned);
		expect((await person.get(page)).status).toBe(200);
		for (const table of ['sessions', 'payments', 'purchases']) {
			expect(await sql.count(`select count(*) from ${table} where phone <> ?`, DELETED), table).toBe(0);
		}
		expect(await sql.count('select count(*) from payments where network is not null')).toBe(0);
		expect(await sql.count('select count(*) from operator_messages')).toBe(0);
	});

	it('keeps the number while money is open: a refund that failed, a question for a person', async () => {
		const { api, server, sql } = fixture();
		const [refund, question, settled] = [await fixture().buy(), await fixture().buy(), await fixture().buy()];
		await ended();
		await sql.run(`update payments set status = 'refund_failed' where id = ?`, refund.payment.id);
		const review = await sql.count(
			`insert into reviews (payment_id, subject, reason, opened_at) values (?, 'test', 'test', 0) returning id`,
			question.payment.id
		);
		await server.advance(91 * day);
		await swept();
		await isDeleted(settled.session.id);
		for (const { session } of [refund, question]) {
			expect((await api.getSession(session.id)).phone).toBe(session.phone);
		}
		expect(await decideReview(server, review, 'dismiss')).toMatchObject({ status: 200 });
		await swept();
		await isDeleted(question.session.id);
		expect((await api.getSession(refund.session.id)).phone).toBe(refund.session.phone);
	});

	it('deletes any number of old purchases in batches, found by an index, also by two processes at once', async () => {
		const { server, sql } = fixture();
		const { session } = await fixture().buy();
		await ended();
		await server.kill('SIGTERM');
		const columns = `account_id, router_id, status, duration, duration_seconds, payment_method, phone, amount_minor,
			currency, ssid, payment_due_at, created_at, updated_at`;
		await sql.run(`with recursive n (i) as (select 1 union all select i + 1 from n where i < 900)
			insert into sessions (${columns}) select ${columns} from sessions, n where id = ${session.id}`);
		await sql.run(
			`with recursive n (i) as (select 1 union all select i + 1 from n where i < 3000)
			insert into purchases (token_hash, router_id, duration, payment_method, phone, amount_minor, currency,
				created_at, updated_at)
			select 'x' || i, 3, '1h', 'mtn_momo', case when i % 100 = 0 then '0772' else ? end, 500, 'UGX', 0, 0 from n`,
			DELETED
		);
		const ran: CompiledQuery[] = [];
		const opened = await openDatabase(server.databaseUrl, { poolSize: 2 });
		const noted = noting(database, server.databaseUrl, ran);
		try {
			const clock = { now: () => clockOf(fixture()).now() + 91 * day };
			const config = { keepDays: { numbers: 90, devices: 400 } };
			const audit = createAudit(clock);
			if (database === 'postgres') await query`analyze`.execute(noted);
			const jobOf = (database: typeof opened) =>
				personalDataJobs({ database, clock, config, audit })['personal-data.delete'];
			const job = jobOf(opened);
			const other = jobOf({ ...opened, db: noted });
			const left = () => sql.count('select count(*) from sessions where phone <> ?', DELETED);
			const all = await left();
			await job();
			const deleted = all - (await left());
			expect(deleted).toBeGreaterThan(0);
			expect(deleted).toBeLessThan(all);
			for (let runs = 0; (await left()) > 0; runs += 1) {
				expect(runs).toBeLessThan(10);
				await Promise.all([job(), other()]);
			}
			for (const index of ['sessions_with_number', 'purchases_with_number']) {
				const table = index.replace('_with_number', '');
				const found = ran.find(
					(one) => one.sql.includes(`from "${table}"`) && one.sql.includes('created_at')
				);
				if (!found) throw new Error(`No query of ${table}`);
				const explain = database === 'sqlite' ? 'explain query plan' : 'explain';
				const plan = await noted.executeQuery({ ...found, sql: `${explain} ${found.sql}` });
				expect(JSON.stringify(plan.rows)).toContain(index);
			}
		} finally {
			await noted.destroy();
			await opened.close();
		}
	});
});

describe('records of devices', () => {
	const fixture = useFixture({ database: 'sqlite', env: { ...env, KEEP_DEVICES_DAYS: '40' } });

	it('are deleted after the days that are set', async () => {
		const { server, sql } = fixture();
		expect((await browse(server.url).get('/privacy')).text).toMatch(/90 days.*40 days/);
		const { session } = await fixture().buy();
		const { name } = await registerGateway(server, 'coova', { loginHost: '10.1.0.1', router: 3 });
		const [of, now] = [`${session.pass_id}, (select id from gateways where name = '${name}')`, server.now()];
		for (const days of [41, 39]) {
			const ago = days * day;
			await connect(fixture(), { gateway: name, startedAgoMs: ago, seenAgoMs: ago, stoppedAgoMs: ago });
		}
		const device = `insert into device_slots (pass_id, gateway_id, mac, bound_at, reported_at, released_at)
			values (${of}, ?, 0, ?, ?)`;
		await sql.run(device, 'released long ago', now, now - 33 * day);
		await sql.run(device, 'released lately', now, now - 31 * day);
		await sql.run(device, 'here', now, null);
		const admission = `insert into admissions (pass_id, gateway_id, mac, created_at, released_at) values (${of}, ?, 0, ?)`;
		await sql.run(admission, 'old', now - 41 * day);
		await sql.run(admission, 'new', now - 39 * day);
		await sql.run(admission, 'still on', null);
		await sql.run(`update jobs set run_at = 0, wakes = wakes + 1 where kind = 'personal-data.delete'`);
		await eventually(
			'the old row is deleted',
			async () => (await sql.count("select count(*) from admissions where mac = 'old'")) === 0
		);
		expect(await sql.count('select count(*) from connections')).toBe(1);
		const macs = async (table: string) => (await sql.all(`select mac from ${table} order by id`)).map(({ mac }) => mac);
		expect(await macs('admissions')).toEqual(['new', 'still on']);
		expect(await macs('device_slots')).toEqual(['released lately', 'here']);
	});
});
