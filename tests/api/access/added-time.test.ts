/** Added time whose gateway cannot be called: the buyer gets it, or a refund. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { RouterOs } from '../../simulators/gateway/routeros.ts';
import { numberEnding, type Session } from '../../support/api/api.ts';
import { connectRouterOs, newMac, ROUTER_OS_ROUTER } from '../../support/gateways/consoles.ts';
import { DATABASES, eventually, useFixture } from '../../support/server/fixture.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const QUARTER = 15 * MINUTE;
/** The activation timeout. */
const GIVE_UP = 10 * MINUTE;
const ms = (moment: string | null) => Date.parse(moment ?? '');

describe.each(DATABASES)('on %s', (kind) => {
	const fixture = useFixture({ database: kind });
	let hotspot: RouterOs;

	beforeAll(async () => {
		hotspot = await connectRouterOs(fixture());
	});
	afterEach(() => hotspot.heal());
	afterAll(() => hotspot.stop());

	const becomes = (id: number, status: Session['status']) =>
		eventually(
			`session ${id} is ${status}`,
			async () => (await fixture().admin.getSession(id)).status === status
		);
	const order = (more: { extends_session_id?: number } = {}) =>
		fixture().api.createSession({
			router_id: ROUTER_OS_ROUTER,
			phone: numberEnding('008'),
			duration: '15m',
			...more
		});
	/** Pays an order; the id of its payment. */
	async function pay(session: Session): Promise<number> {
		const { api } = fixture();
		const payment = await api.getPayment((await api.pay(session)).id, 20);
		expect(payment).toMatchObject({ status: 'success', applied: true });
		return payment.id;
	}
	/** A pass whose buyer is online. */
	async function online() {
		const session = await order();
		await pay(session);
		await becomes(session.id, 'active');
		const base = await fixture().api.getSession(session.id);
		const mac = newMac();
		const signIn = () => hotspot.signIn(`s${base.id}`, base.password ?? '', mac);
		expect(signIn()).toBe('online');
		return { base, signIn };
	}
	const pass = async (time: number) => {
		hotspot.pass(time);
		await fixture().server.advance(time);
	};
	const refunds = (paymentId: number) =>
		fixture().sql.count('select count(*) from refunds where payment_id = ?', paymentId);
	const jobsOver = (id: number) =>
		eventually(
			'nobody looks for it any more',
			async () =>
				(await fixture().sql.count(
					"select count(*) from jobs where kind = 'access.added' and subject_id = ?",
					id
				)) === 0
		);

	it('is refunded once if the gateway never learnt of it, with the time that follows', async () => {
		const { api, events } = fixture();
		const { base, signIn } = await online();
		hotspot.fail('down');
		const first = await order({ extends_session_id: base.id });
		const second = await order({ extends_session_id: base.id });
		const payments = [await pay(first), await pay(second)];
		const { sql } = fixture();
		await sql.run('update sessions set data_limit_mb = 100 where pass_id = ?', base.id);
		await sql.run('update passes set data_limit_mb = 300, data_used_bytes = 0 where id = ?', base.id);
		await pass(QUARTER + GIVE_UP - SECOND * 30);
		expect((await api.getSession(first.id)).status).toBe('active');
		await pass(MINUTE);
		for (const [index, { id }] of [first, second].entries()) {
			await becomes(id, 'cancelled');
			expect(await api.getSession(id)).toMatchObject({
				status_reason: 'provisioning_failed',
				password: null,
				starts_at: null,
				expires_at: null
			});
			const payment = payments[index] ?? 0;
			await eventually('the money is back', async () => {
				await pass(5 * SECOND);
				return (await api.getPayment(payment)).status === 'refunded';
			});
			expect(await api.getPayment(payment)).toMatchObject({
				applied: false,
				refund_reason: 'provisioning_failed'
			});
			expect(await refunds(payment)).toBe(1);
			expect((await events(id)).filter((type) => type === 'session.cancelled')).toHaveLength(1);
		}
		await jobsOver(first.id);
		expect(await api.getSession(base.id)).toMatchObject({ status: 'expired', data_left_mb: 100 });
		// What comes back is not let in for money that went back.
		hotspot.heal();
		await pass(2 * MINUTE);
		expect(signIn()).not.toBe('online');
		// Time that is ordered upon it all the same is a pass of its own.
		const fresh = await order();
		await pay(fresh);
		await becomes(fresh.id, 'active');
	});

	it('is kept if the gateway learns of it in time', async () => {
		const { api, sql } = fixture();
		const { base, signIn } = await online();
		hotspot.fail('down');
		const more = await order({ extends_session_id: base.id });
		const payment = await pay(more);
		await pass(QUARTER + 5 * MINUTE);
		expect(signIn()).not.toBe('online');
		hotspot.heal();
		await eventually('the buyer is in again', async () => signIn() === 'online');
		await eventually('that is noted', () =>
			sql.count("select count(*) from grants where pass_id = ? and state = 'granted'", base.id)
		);
		await pass(6 * MINUTE);
		await jobsOver(more.id);
		const { status, expires_at: expiresAt } = await api.getSession(more.id);
		expect(status).toBe('active');
		expect(ms(expiresAt)).toBe(ms(base.expires_at) + QUARTER);
		expect(signIn()).toBe('online');
		expect(await refunds(payment)).toBe(0);
	});

	it('is refunded only for the part that the gateway did not learn of before it went away', async () => {
		const { api, sql } = fixture();
		const { base } = await online();
		const told = await order({ extends_session_id: base.id });
		const toldPayment = await pay(told);
		const end = ms((await api.getSession(told.id)).expires_at);
		await eventually('the gateway knows', () =>
			sql.count(
				"select count(*) from grants where pass_id = ? and state = 'granted' and requested_end_at >= ?",
				base.id,
				end
			)
		);
		hotspot.fail('down');
		const untold = await order({ extends_session_id: base.id });
		const untoldPayment = await pay(untold);
		await pass(QUARTER + GIVE_UP + MINUTE);
		await jobsOver(told.id);
		expect((await api.getSession(told.id)).status).toBe('active');
		await pass(QUARTER);
		await becomes(untold.id, 'cancelled');
		expect((await api.getSession(told.id)).status).toBe('expired');
		expect([await refunds(toldPayment), await refunds(untoldPayment)]).toEqual([0, 1]);
	});

	/** Two orders upon a pass, paid when it is over while the gateway is away: they wait for it. */
	async function waitingForGateway() {
		const { api } = fixture();
		const { base } = await online();
		const orders = [
			await order({ extends_session_id: base.id }),
			await order({ extends_session_id: base.id })
		] as const;
		await pass(QUARTER + MINUTE);
		await becomes(base.id, 'expired');
		hotspot.fail('down');
		// The later order is paid first.
		const payments = [await pay(orders[1]), await pay(orders[0])] as const;
		for (const { id } of orders) expect((await api.getSession(id)).status).toBe('activating');
		return { first: orders[1], second: orders[0], payments };
	}

	it('that is paid twice after the end, while the gateway is away, makes one pass', async () => {
		const { api } = fixture();
		const { first, second } = await waitingForGateway();
		hotspot.heal();
		await pass(5 * SECOND);
		await becomes(first.id, 'active');
		const [one, two] = [await api.getSession(first.id), await api.getSession(second.id)];
		expect(two).toMatchObject({ status: 'active', pass_id: first.id, password: one.password });
		expect(two.starts_at).toBe(one.expires_at);
		expect(ms(two.expires_at) - ms(one.starts_at)).toBe(2 * QUARTER);
		const mac = newMac();
		const signIn = () => hotspot.signIn(`s${first.id}`, one.password ?? '', mac);
		await eventually('the buyer is in', async () => signIn() === 'online');
		await pass(QUARTER + MINUTE);
		expect(signIn()).toBe('online');
		await pass(QUARTER);
		await eventually('the buyer is out', async () => signIn() !== 'online');
	});

	it('that is paid twice after the end is refunded twice if the gateway stays away', async () => {
		const { api } = fixture();
		const { first, second, payments } = await waitingForGateway();
		await pass(GIVE_UP + SECOND);
		for (const { id } of [first, second]) {
			await becomes(id, 'cancelled');
			expect((await api.getSession(id)).status_reason).toBe('provisioning_failed');
		}
		expect([await refunds(payments[0]), await refunds(payments[1])]).toEqual([1, 1]);
	});
});
