/** Time that is added to a pass. */
import { describe, expect, it } from 'vitest';
import { numberEnding, orderOf, type Session } from '../../support/api/api.ts';
import { buyAt, untilTitled } from '../../support/pages/purchase.ts';
import { DATABASES, eventually, recorded, useFixture } from '../../support/server/fixture.ts';

const minute = 60_000;
const quarter = 15 * minute;
const ms = (moment: string | null) => Date.parse(moment ?? '');

describe.each(DATABASES)('on %s', (database) => {
	const fixture = useFixture({ database });

	const orderMore = (of: Pick<Session, 'id'>, duration = '15m'): Promise<Session> =>
		fixture().api.createSession({ duration, phone: numberEnding('008'), extends_session_id: of.id });

	/** Pays an order; its session as it is then, when nothing is on its way any more. */
	async function paid(order: Session): Promise<Session> {
		const { api, sql } = fixture();
		const payment = await api.getPayment((await api.pay(order)).id, 20);
		expect(payment).toMatchObject({ status: 'success', applied: true });
		await eventually(`payment ${payment.id} is quiet`, () =>
			sql.count("select count(*) from payments where id = ? and submit_state = 'accepted'", payment.id)
		);
		return api.getSession(order.id);
	}

	const buy = async () => (await fixture().buy({ duration: '15m' })).session;

	it('costs the usual price, and changes nothing before it is paid', async () => {
		const base = await buy();
		const order = await orderMore(base, '2h');
		expect(order).toMatchObject({
			status: 'pending_payment',
			extends_session_id: base.id,
			pass_id: base.id,
			amount: 1000,
			password: null,
			starts_at: null,
			remaining_seconds: null
		});
		expect(await fixture().api.getSession(base.id)).toMatchObject({ expires_at: base.expires_at });
		expect(base).toMatchObject({ extends_session_id: null, pass_id: base.id });
	});

	it('starts at the end of the pass, under the same password; each session keeps its own figures', async () => {
		const base = await buy();
		const added = await paid(await orderMore(base, '1h'));
		expect(added).toMatchObject({
			status: 'active',
			pass_id: base.id,
			password: base.password,
			starts_at: base.expires_at,
			remaining_seconds: 3600
		});
		expect(ms(added.expires_at) - ms(added.starts_at)).toBe(60 * minute);
		const { remaining_seconds, updated_at, ...before } = base;
		expect(await fixture().api.getSession(base.id)).toMatchObject(before);
		expect(updated_at).toBeDefined();
		expect(remaining_seconds).toBeLessThanOrEqual(900);
		// What was added can be added to.
		const more = await paid(await orderMore(added));
		expect(more).toMatchObject({ pass_id: base.id, starts_at: added.expires_at, password: base.password });
	});

	it('expires session by session; the password lasts until the end of the pass', async () => {
		const { api, server, events } = fixture();
		const base = await buy();
		const added = await paid(await orderMore(base));
		await server.advance(quarter + 1_000);
		expect(await api.getSession(base.id)).toMatchObject({ status: 'expired', password: null });
		const running = await api.getSession(added.id);
		expect(running).toMatchObject({ status: 'active', password: base.password });
		expect(running.remaining_seconds).toBeLessThan(900);
		await server.advance(quarter);
		expect(await api.getSession(added.id)).toMatchObject({ status: 'expired', remaining_seconds: 0 });
		for (const { id } of [base, added]) {
			const types = await events(id);
			expect(types.filter((type) => type === 'session.expired')).toEqual(['session.expired']);
			expect(types.filter((type) => type === 'session.activated')).toEqual(['session.activated']);
		}
	});

	it('starts at once as a new pass with a new password, if paid after the end', async () => {
		const { server } = fixture();
		const base = await buy();
		const [late, later] = [await orderMore(base), await orderMore(base, '30m')];
		await server.advance(quarter + 1_000);
		const fresh = await paid(late);
		expect(fresh).toMatchObject({ status: 'active', extends_session_id: base.id, pass_id: late.id });
		expect(ms(fresh.starts_at)).toBeGreaterThan(ms(base.expires_at));
		expect(fresh.password).not.toBe(base.password);
		// A second one, ordered upon the same old pass, goes on where the new one ends.
		expect(await paid(later)).toMatchObject({
			pass_id: late.id,
			starts_at: fresh.expires_at,
			password: fresh.password
		});
	});

	it('is ended by DELETE with the sessions that follow it, not those before it', async () => {
		const { api, events } = fixture();
		const base = await buy();
		const first = await paid(await orderMore(base));
		const second = await paid(await orderMore(base));
		expect(await api.endSession(first.id)).toMatchObject({ status: 'ended', status_reason: 'client_ended' });
		expect(await api.getSession(second.id)).toMatchObject({ status: 'ended', password: null });
		expect(await events(second.id)).toContain('session.ended');
		expect(await api.getSession(base.id)).toMatchObject({ status: 'active', password: base.password });
		// The freed end of the pass is where new time goes on.
		const third = await paid(await orderMore(base));
		expect(third.starts_at).toBe(base.expires_at);
		await api.endSession(base.id);
		expect(await api.getSession(third.id)).toMatchObject({ status: 'ended' });
	});

	it('is ended by the purchase page, however often time was added', async () => {
		const { server, sql } = fixture();
		const page = await buyAt(server.url, '/r/3', numberEnding('008'));
		await untilTitled(server.url, page, /^Your Wi‑Fi is paid until/);
		const [base] = await sql.all('select max(id) as id from sessions');
		const passId = Number(base?.['id']);
		const active = () =>
			sql.count("select count(*) from sessions where pass_id = ? and status = 'active'", passId);
		const additions = 14;
		for (let added = 1; added <= additions; added += 1) {
			await buyAt(server.url, `${page}?more`, numberEnding('008'));
			await eventually(`addition ${added} is paid`, async () => (await active()) === added + 1);
		}
		// The first hour is over, and the first one that was added runs: thirteen follow it.
		await eventually(
			'all is quiet',
			async () => (await sql.count("select count(*) from payments where submit_state <> 'accepted'")) === 0
		);
		await server.advance(70 * minute);
		await eventually('the first hour is over', async () => (await active()) === additions);
		const ended = await fetch(`${server.url}${page}?/end`, {
			method: 'POST',
			redirect: 'manual',
			headers: { origin: server.url, accept: 'text/html' },
			body: new URLSearchParams()
		});
		expect([ended.status, ended.headers.get('location')]).toEqual([303, page]);
		expect(await active()).toBe(0);
		await untilTitled(server.url, page, /^You ended your time/);
	});

	it('is listed for the owner when it starts', async () => {
		const { owner, server } = fixture();
		const list = async () => (await owner.send('GET', '/v1/owner/users?status=active&limit=100')).body;
		const shown = async () => {
			const { data, counts } = (await list()) as {
				data: { session_id: number }[];
				counts: { active: number };
			};
			expect(counts.active).toBe(data.length);
			return data.map(({ session_id }) => session_id);
		};
		const base = await buy();
		const added = await paid(await orderMore(base));
		expect(await shown()).toContain(base.id);
		expect(await shown()).not.toContain(added.id);
		await server.advance(quarter + 1_000);
		expect(await shown()).toContain(added.id);
		expect(await shown()).not.toContain(base.id);
	});

	it('400 session_not_extendable for a session that is not active or on another router', async () => {
		const { api, server } = fixture();
		const unpaid = await api.createSession();
		const over = await buy();
		await server.advance(quarter + 1_000);
		const elsewhere = await buy();
		const before = await recorded(fixture());
		const refused = (id: number, order = {}) =>
			api.refused('400 session_not_extendable', 'POST', '/v1/sessions', {
				body: orderOf({ extends_session_id: id, ...order })
			});
		expect((await refused(unpaid.id)).session_status).toBe('pending_payment');
		expect((await refused(over.id)).session_status).toBe('expired');
		expect((await refused(elsewhere.id, { router_id: 4 })).session_status).toBe('active');
		expect((await recorded(fixture()))['sessions']).toHaveLength((before['sessions'] as unknown[]).length);
	});

	it('404 session_not_found for a session of another account, for its router’s owner and for an admin', async () => {
		const { other, owner, admin } = fixture();
		const { id } = await buy();
		for (const [caller, wanted] of [
			[other, id],
			[owner, id],
			[admin, id],
			[other, 999_999]
		] as const) {
			await caller.refused('404 session_not_found', 'POST', '/v1/sessions', {
				body: orderOf({ extends_session_id: wanted })
			});
		}
	});
});
