/**
 * Money of an operator that sends nothing back, and a gateway that is away: added time is given as soon as the gateway
 * can be told, as long as there is any of it; of what nobody got, a person and the buyer are told.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { OPERATORS } from '../../simulators/protocols.ts';
import type { RouterOs } from '../../simulators/gateway/routeros.ts';
import { browse, fieldValue, signInAs } from '../../support/pages/browsing.ts';
import { addRouter, newOwner } from '../../support/pages/owners.ts';
import { connectRouterOs, newMac, ROUTER_OS_ROUTER } from '../../support/gateways/consoles.ts';
import { startOperated, type OperatedFixture } from '../../support/billing/operators.ts';
import { buyAt } from '../../support/pages/purchase.ts';
import { administratorOf } from '../../support/pages/administrator.ts';
import { cli } from '../../support/server/cli.ts';
import { DATABASES, eventually } from '../../support/server/fixture.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const QUARTER = 15 * MINUTE;
/** A buyer waits this long for a gateway. */
const GIVE_UP = 10 * MINUTE;
const ms = (moment: string | null) => Date.parse(moment ?? '');

describe.each(DATABASES)('on %s', (database) => {
	let operated: OperatedFixture;
	let hotspot: RouterOs;

	beforeAll(async () => {
		const [mtn] = OPERATORS.filter(({ name }) => name === 'mtn');
		if (!mtn) throw new Error('There is no MTN');
		operated = await startOperated(mtn, database, {
			MTN_DISBURSEMENT_SUBSCRIPTION_KEY: '',
			MTN_DISBURSEMENT_API_USER: '',
			MTN_DISBURSEMENT_API_KEY: ''
		});
		hotspot = await connectRouterOs(operated.fixture);
	});
	afterEach(() => hotspot.heal());
	afterAll(async () => {
		await operated.stop();
		await hotspot.stop();
	});

	const pass = async (time: number) => {
		hotspot.pass(time);
		await operated.advance(time);
	};
	/** Orders a quarter of an hour and pays it. */
	async function bought(more: { extends_session_id?: number; router_id?: number } = {}) {
		const { api } = operated.fixture;
		const session = await api.createSession({
			router_id: ROUTER_OS_ROUTER,
			payment_method: 'mtn_momo',
			phone: operated.newPhone(),
			duration: '15m',
			...more
		});
		const payment = await api.pay(session);
		await eventually('it is paid', async () => {
			await pass(5 * SECOND);
			return (await api.getPayment(payment.id)).status === 'success';
		});
		return { id: session.id, payment: payment.id };
	}
	/** A pass whose buyer is online. */
	async function online() {
		const { id } = await bought();
		await operated.fixture.becomes(id, 'active');
		const base = await operated.fixture.api.getSession(id);
		const mac = newMac();
		const signIn = () => hotspot.signIn(`s${base.id}`, base.password ?? '', mac);
		expect(signIn()).toBe('online');
		return { base, signIn };
	}
	const now = () => operated.fixture.server.now();
	const refunds = (payment: number) =>
		operated.fixture.sql.count('select count(*) from refunds where payment_id = ?', payment);
	const questions = async (payment: number) =>
		(
			await operated.fixture.sql.all(
				'select reason from reviews where payment_id = ? and resolved_at is null',
				payment
			)
		).map(({ reason }) => reason);
	const isNotBack = async (payment: number) => {
		await eventually('it cannot be sent back', async () => {
			await pass(5 * SECOND);
			const [row] = await operated.fixture.sql.all('select status from payments where id = ?', payment);
			return row?.['status'] === 'refund_failed';
		});
		expect(await questions(payment)).toEqual(['refund_not_supported']);
	};

	it('added time runs until its end, and is granted when the gateway is online again', async () => {
		const { api } = operated.fixture;
		const { base, signIn } = await online();
		hotspot.fail('down');
		const more = await bought({ extends_session_id: base.id });
		const end = ms((await api.getSession(more.id)).expires_at);
		await pass(ms(base.expires_at) - now() + GIVE_UP + MINUTE);
		expect((await api.getSession(more.id)).status).toBe('active');
		expect(signIn()).not.toBe('online');
		hotspot.heal();
		await eventually('the buyer is in again', async () => {
			await pass(SECOND);
			return signIn() === 'online';
		});
		await pass(end - now() + SECOND);
		await operated.fixture.becomes(more.id, 'expired');
		expect(await refunds(more.payment)).toBe(0);
		expect(await questions(more.payment)).toEqual([]);
	});

	it('time that the gateway never granted opens a review; later time continues', async () => {
		const { api } = operated.fixture;
		const { base, signIn } = await online();
		hotspot.fail('down');
		const first = await bought({ extends_session_id: base.id });
		const second = await bought({ extends_session_id: base.id });
		await pass(ms(base.expires_at) - now() + QUARTER - 2 * MINUTE);
		expect((await api.getSession(first.id)).status).toBe('active');
		await pass(90 * SECOND);
		await operated.fixture.becomes(first.id, 'cancelled');
		expect(await api.getSession(first.id)).toMatchObject({ status_reason: 'provisioning_failed' });
		await isNotBack(first.payment);
		expect((await operated.fixture.events(first.id)).filter((type) => type === 'session.expired')).toEqual(
			[]
		);
		expect((await api.getSession(second.id)).status).toBe('active');
		expect(await refunds(second.payment)).toBe(0);
		hotspot.heal();
		await eventually('the buyer is in', async () => {
			await pass(SECOND);
			return signIn() === 'online';
		});
		await pass(QUARTER);
		await operated.fixture.becomes(second.id, 'expired');
		expect(await questions(second.payment)).toEqual([]);
	});

	// The rule of the state machine: a buyer does not wait for longer, and can buy again.
	it('a buyer who was never connected reads that a refund is pending with the operator', async () => {
		const { server, sql } = operated.fixture;
		hotspot.fail('down');
		const path = await buyAt(server.url, `/r/${ROUTER_OS_ROUTER}`, operated.newPhone());
		const newest = async () =>
			(await sql.all('select id, status, payment_id from sessions order by id desc limit 1'))[0] ?? {};
		await eventually('it is paid', async () => {
			await pass(5 * SECOND);
			return (await newest())['status'] === 'activating';
		});
		const { payment_id: payment } = await newest();
		await pass(GIVE_UP);
		await isNotBack(Number(payment));
		expect((await newest())['status']).toBe('cancelled');
		const page = await browse(server.url).get(path);
		expect(page.text).toContain('Your refund is delayed.');
		expect(page.text).toContain('Show this page to the venue as proof.');
		const doctor = await cli(['doctor'], server);
		expect(doctor.stdout).toMatch(/^warn reviews: \d+ open/m);
		expect(doctor.stdout).toMatch(/^warn operator: mtn: sends no money back/m);
		const reviews = await (await administratorOf(server)).get('/admin/reviews');
		expect(reviews.text).toMatch(new RegExp(`The operator cannot refund payment ${Number(payment)}\\b`));
	});

	describe('a refund by hand', () => {
		const note = 'Cash at the counter';
		const paymentOf = async (id: number) =>
			(await operated.fixture.sql.all('select status, refund_reason from payments where id = ?', id))[0];
		const audited = (payment: number) =>
			operated.fixture.sql.all(
				"select actor, reason from audit_log where action = 'refund.by_hand' and payment_id = ?",
				payment
			);

		it('is recorded once by the owner, however often the form is sent, and ends the time', async () => {
			const owner = await newOwner(operated.fixture);
			const router = await addRouter(operated.fixture, owner.accountId);
			const { id, payment } = await bought({ router_id: router });
			const page = `/owner/customers/${id}`;
			expect((await owner.get(page)).text).toContain('The operator cannot refund this payment.');
			expect((await owner.post(`${page}?/by-hand`, { note: ' ' })).status).toBe(400);
			const number = fieldValue(await owner.get(`${page}?/by-hand`), 'payment');
			const form = { note, payment: number };
			const sent = await Promise.all([1, 2, 3].map(() => owner.post(`${page}?/by-hand`, form)));
			expect(sent.map(({ path }) => path)).toEqual(Array(3).fill(`${page}?done=by-hand`));
			await operated.fixture.becomes(id, 'ended');
			expect(await paymentOf(payment)).toEqual({ status: 'refunded', refund_reason: 'admin' });
			expect(await audited(payment)).toEqual([{ actor: `account ${owner.accountId}`, reason: note }]);
			const events = await operated.fixture.events(id);
			expect(events.filter((type) => type === 'payment.refunded')).toHaveLength(1);
			const shown = await owner.get(page);
			expect(shown.text).toContain(`Payment ${payment}: the money was returned by hand.`);
			expect(shown.html).not.toContain('/by-hand"');
		});

		it('is recorded by the owner after a refund that failed, and resolves its review', async () => {
			const owner = await newOwner(operated.fixture);
			const router = await addRouter(operated.fixture, owner.accountId);
			const { id, payment } = await bought({ router_id: router });
			await operated.fixture.sql.run("update payments set status = 'refund_failed' where id = ?", payment);
			await operated.fixture.sql.run(
				"insert into reviews (payment_id, subject, reason, opened_at) values (?, ?, 'refund_failed', 1)",
				...[payment, `payment ${payment}`]
			);
			const form = { note, payment: String(payment) };
			expect((await owner.post(`/owner/customers/${id}?/by-hand`, form)).path).toContain('?done=by-hand');
			expect(await paymentOf(payment)).toMatchObject({ status: 'refunded' });
			expect(await questions(payment)).toEqual([]);
		});

		it('is recorded for the second payment of a session, whose time goes on; another person returns nothing', async () => {
			const { sql } = operated.fixture;
			const owner = await newOwner(operated.fixture);
			const router = await addRouter(operated.fixture, owner.accountId);
			const { id, payment } = await bought({ router_id: router });
			await operated.fixture.becomes(id, 'active');
			const { payment: twice } = await bought({ router_id: router });
			await sql.run(
				"update payments set session_id = ?, status = 'refund_failed', applied = 0 where id = ?",
				...[id, twice]
			);
			const page = `/owner/customers/${id}?/by-hand`;
			const asked = await owner.get(page);
			expect(asked.text).toContain(`(payment ${twice})`);
			const form = { note, payment: fieldValue(asked, 'payment') };
			expect((await owner.post(page, form)).path).toContain('?done=by-hand');
			expect(await paymentOf(twice)).toMatchObject({ status: 'refunded' });
			expect(await paymentOf(payment)).toMatchObject({ status: 'success' });
			expect((await operated.fixture.api.getSession(id)).status).toBe('active');
			await sql.run("update audit_log set actor = 'somebody else' where payment_id = ?", twice);
			expect((await owner.post(page, form)).status).toBe(409);
		});

		it('is recorded by an administrator in a review, which a second form finds again', async () => {
			const admin = await signInAs(operated.fixture.server, 'admin');
			const { id, payment } = await bought();
			await operated.fixture.becomes(id, 'active');
			const more = await bought({ extends_session_id: id });
			await operated.fixture.becomes(more.id, 'active');
			const ask = (number: number) => admin.post('/admin/reviews', { payment: String(number) });
			expect((await ask(999_999)).status).toBe(400);
			const [review, again] = [await ask(payment), await ask(payment)];
			expect(review.path).toMatch(/^\/admin\/reviews\/\d+$/);
			expect(again.path).toBe(review.path);
			expect(review.html).not.toContain('value="retry-refund"');
			const decide = (path: string) => admin.post(path, { decision: 'refunded', note });
			const early = await decide(review.path);
			expect([early.status, early.text.includes('time was added after it')]).toEqual([409, true]);
			await decide((await ask(more.payment)).path);
			expect((await decide(review.path)).text).toContain('The review is resolved.');
			for (const one of [more, { id, payment }]) {
				await operated.fixture.becomes(one.id, 'ended');
				expect(await paymentOf(one.payment)).toEqual({ status: 'refunded', refund_reason: 'admin' });
				expect(await audited(one.payment)).toHaveLength(1);
				expect(await questions(one.payment)).toEqual([]);
			}
			expect((await ask(payment)).status).toBe(400);
		});
	});
});
