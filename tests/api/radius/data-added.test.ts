/** Data that is added to a pass, at gateways that report by RADIUS. */
import { describe, expect, it } from 'vitest';
import { loginUser } from '../../../src/lib/domain/wifi.ts';
import { numberEnding, type Session } from '../../support/api/api.ts';
import { BOTH_DATABASES, eventually } from '../../support/server/fixture.ts';
import { CHILLI_ROUTER, MB, newMac, ROUTER, useData } from './use-data.ts';

const MINUTE = 60_000;

describe.each(BOTH_DATABASES)('on %s', (database) => {
	const { fixture, nas, chilliNas, calls, chilli, buy, read, report, addHour } = useData(database);

	it('a gateway that takes no data for an open connection gets the new end without it', async () => {
		const { session, user, offer_id } = await buy(100);
		await calls().postAuth(user, newMac());
		await report(user, newMac(), 70 * MB);
		nas().manner = 'no-vendor';
		await addHour(session, offer_id);
		const ends = () =>
			nas()
				.asked.filter(({ kind, attributes }) => kind === 'coa' && attributes[1] === user)
				.map(({ vendor }) => vendor);
		// A slow answer counts as none: the same request may come twice.
		await eventually('it is asked without data', () =>
			Promise.resolve(ends().some((vendor) => Object.keys(vendor).length === 0))
		);
		expect(ends()[0]).toEqual({ '14988.17': 200 * MB, '14988.18': 0 });
		const told = 'select disconnect_attempts, last_error, enforced_until from connections where pass_id = ?';
		await eventually('the end is known', async () => {
			const [row] = await fixture().sql.all(told, session.id);
			return (
				row?.['last_error'] === null && Number(row['enforced_until']) > Date.parse(session.expires_at ?? '')
			);
		});
		nas().manner = 'ack';
	});

	it('added time brings its data, which an open connection gets with the new end', async () => {
		const { session, user, offer_id } = await buy(100);
		const mac = newMac();
		await calls().postAuth(user, mac);
		await report(user, mac, 70 * MB);
		const { session: added } = await addHour(session, offer_id);
		expect(added).toMatchObject({ pass_id: session.id, data_used_mb: 70, data_left_mb: 130 });
		const told = await eventually('the connection gets both', () =>
			Promise.resolve(nas().asked.find(({ kind, attributes }) => kind === 'coa' && attributes[1] === user))
		);
		expect(told.vendor).toEqual({ '14988.17': 200 * MB, '14988.18': 0 });
		expect(told.attributes[27]).toBeGreaterThan(3600);
		await report(user, mac, 199 * MB);
		expect(await read(session)).toMatchObject({ status: 'active', data_left_mb: 1 });
		await report(user, mac, 200 * MB);
		for (const one of [session, added]) {
			expect(await read(one)).toMatchObject({ status: 'ended', status_reason: 'data_limit_reached' });
			expect((await fixture().events(one.id)).filter((type) => type === 'session.ended')).toHaveLength(1);
		}
	});

	it('added time repeats all limits at CoovaChilli, which removes those that a CoA-Request lacks', async () => {
		const { session, user, offer_id } = await buy(100, CHILLI_ROUTER);
		const mac = newMac();
		await chilli().postAuth(user, mac);
		await chilli().account('interim', 'chilli-1', { user, mac, lasted: '60', out: String(70 * MB) });
		await addHour(session, offer_id);
		const request = await eventually('CoovaChilli gets a CoA-Request', () =>
			Promise.resolve(chilliNas().asked.find(({ kind }) => kind === 'coa'))
		);
		expect(request.vendor).toEqual({
			...{ '14559.3': 200 * MB, '14559.23': 0 },
			...{ '14122.7': 512_000, '14122.8': 2_048_000 }
		});
		expect(request.attributes[85]).toBe(60);
		// It refuses what it does not know, without an Error-Cause.
		chilliNas().manner = 'unknown';
		expect((await fixture().admin.send('DELETE', `/v1/sessions/${session.id}`)).status).toBe(200);
		await eventually('the connection is over', () =>
			fixture().sql.count(
				"select count(*) from connections where disconnect_state = 'done' and pass_id = ?",
				session.id
			)
		);
	});

	describe('money on its way when the data ends', () => {
		const extension = ({ session, offer_id }: Awaited<ReturnType<typeof buy>>) =>
			fixture().api.createSession({
				...{ router_id: ROUTER, duration: '1h', phone: numberEnding('008'), offer_id },
				extends_session_id: session.id
			});
		async function useUp({ user }: { user: string }) {
			const mac = newMac();
			await calls().postAuth(user, mac);
			await report(user, mac, 100 * MB);
		}
		async function ownPass(session: Session) {
			const active = await eventually('the time runs', async () => {
				const found = await read(session);
				return found.status === 'active' && found;
			});
			expect(active).toMatchObject({ pass_id: session.id, data_used_mb: null, data_left_mb: null });
			expect((await calls().authorize(loginUser(session.id), newMac())).status).toBe(200);
		}

		it('added time that is paid afterwards is a pass of its own, with all its data', async () => {
			const first = await buy(100);
			const added = await extension(first);
			await useUp(first);
			expect((await read(first.session)).status).toBe('ended');
			await fixture().api.pay(added);
			await ownPass(added);
		});

		it('so is added time whose payment succeeds late', async () => {
			const { api, server } = fixture();
			const first = await buy(100);
			const added = await extension(first);
			await server.advance(25 * MINUTE);
			const payment = await api.pay(added, numberEnding('004'));
			await fixture().asked(payment);
			await server.advance(10 * MINUTE);
			await eventually('it was cancelled', async () => (await read(added)).status === 'cancelled');
			await useUp(first);
			await server.advance(20 * MINUTE);
			await ownPass(added);
			expect(await api.getPayment(payment.id)).toMatchObject({ status: 'success', applied: true });
		});

		it('a payment at the same moment buys time and data of the old pass or of its own', async () => {
			const first = await buy(100);
			const added = await extension(first);
			const mac = newMac();
			await calls().postAuth(first.user, mac);
			const [payment] = await Promise.all([
				fixture().api.pay(added),
				...[98, 99, 100].map((bytes) => report(first.user, mac, bytes * MB))
			]);
			await eventually('it is paid', async () => (await fixture().api.getPayment(payment.id)).applied);
			const { pass_id, ...bought } = await read(added);
			const isOwn = pass_id === added.id;
			// All of its own, or 100 left of 200.
			expect(bought).toMatchObject({ status: 'active', data_left_mb: isOwn ? null : 100 });
			expect((await read(first.session)).status).toBe(isOwn ? 'ended' : 'active');
		});
	});
});
