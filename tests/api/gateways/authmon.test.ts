/** openNDS of level 4: authmon, which fetches devices (by GET since version 10, before by POST). */
import { describe, expect, it } from 'vitest';
import { createAuthmon } from '../../simulators/gateway/authmon.ts';
import { base64, reportAuth, sha256 } from '../../support/gateways/opennds.ts';
import { browse } from '../../support/pages/browsing.ts';
import { DATABASES, eventually } from '../../support/server/fixture.ts';
import { useAuthmon, VERSIONS } from './use-authmon.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

describe.each(DATABASES)('on %s', (database) => {
	const {
		fixture,
		enter,
		open,
		buy,
		newest,
		admissionOf,
		inState,
		gateway,
		router,
		routerOf,
		rhid,
		newDevice,
		connect,
		report,
		isIn,
		view,
		list,
		waiting
	} = useAuthmon(database);

	it.each(VERSIONS)(
		'%s fetches paid devices with their minutes, and the time starts with its report',
		async (version) => {
			const router = routerOf(version);
			expect(await router.clear()).toBe('');
			expect(await router.poll()).toEqual({ items: '*', ack: 'ack' });
			const device = newDevice();
			connect(device);
			await buy(device);
			const waits = await inState('activating');
			const { items, ack } = await router.poll();
			expect(decodeURIComponent(items)).toBe(
				`* ${rhid(device)} 61 0 0 0 0 ${base64(`s${String(waits['pass_id'])}`)}`
			);
			expect(ack).toBe('ack');
			expect(await inState('active')).toMatchObject({ id: waits['id'] });
			expect(router.online.get(rhid(device))).toBe(61);
			const [row] = await fixture().sql.all('select * from gateways where name = ?', gateway().name);
			expect(row?.['seen_at']).not.toBeNull();
		}
	);

	it.each(['moved to', 'opened under another name on'] as const)(
		'a report starts the time of the pass that it names, though that was %s a device since',
		async (change) => {
			const { device, path, id, pass } = await waiting();
			await view();
			const other = newDevice();
			const person = browse(fixture().server.url);
			const its = change === 'moved to' ? other : { ...device, hid: other.hid };
			const own = await open(its, path, person);
			if (change === 'moved to') expect((await person.post(`${own.path}?/move`)).path).toMatch(/\?moved$/);
			const { server } = fixture();
			expect(await reportAuth(server.url, gateway(), device, `s${String(pass)}`)).toBe(204);
			expect(await newest()).toMatchObject({ id, status: 'active' });
			// The device that came later is still sent to the router, and nothing is refunded.
			connect(device, other);
			await router().poll();
			expect(isIn(other)).toBe(true);
			await server.advance(11 * MINUTE);
			expect(await newest()).toMatchObject({ id, status: 'active' });
			await server.advance(HOUR);
		}
	);

	it('changes nothing by acknowledging a device that does not wait', async () => {
		const device = newDevice();
		connect();
		await buy(device);
		await inState('activating');
		// The router has not fetched this device yet, so it cannot acknowledge it.
		await view(`* ${rhid(device)}`);
		await view(`* ${sha256('another')} ${device.hid}`);
		expect((await view('* nothing')).status).toBe(400);
		expect((await view('')).status).toBe(200);
		expect(await newest()).toMatchObject({ status: 'activating' });
		await router().poll();
		expect(await newest()).toMatchObject({ status: 'activating' });
		// After the limit the money goes back, and an acknowledgement comes too late.
		await fixture().server.advance(11 * MINUTE);
		await eventually('it is given up', async () => (await newest())['status'] !== 'activating');
		const before = await newest();
		expect(before['status']).not.toBe('active');
		await view(`* ${rhid(device)}`);
		expect(await newest()).toMatchObject({ status: before['status'] });
		expect((await router().poll()).items).toBe('*');
	});

	it('keeps a device online whose report was lost for ten minutes, and refunds it', async () => {
		const { device, id, pass } = await waiting();
		// It is handed out and let in; what it says of that never comes.
		const { body } = await view();
		expect(decodeURIComponent(body)).toContain(rhid(device));
		const toldUntil = Number((await admissionOf(pass))['sent_until']);
		await fixture().server.advance(11 * MINUTE);
		await eventually('it is given up', async () => (await newest())['status'] === 'cancelled');
		const payment = async () => {
			const [row] = await fixture().sql.all('select * from payments where session_id = ?', Number(id));
			return row ?? {};
		};
		await eventually('the money is back', async () => {
			await fixture().server.advance(5_000);
			return (await payment())['status'] === 'refunded';
		});
		// Late, and more than once: it is heard, so that the router goes on, and nothing is taken back.
		for (let time = 0; time < 2; time += 1) {
			const late = await view(`* ${rhid(device)}`);
			expect(late).toEqual({ status: 200, body: 'ack' });
			expect(await report(device)).toBe(204);
		}
		expect(await newest()).toMatchObject({ id, status: 'cancelled', starts_at: null });
		expect(await payment()).toMatchObject({
			status: 'refunded',
			applied: 0,
			refund_reason: 'provisioning_failed'
		});
		const refunds = 'select count(*) from refunds where payment_id = ?';
		expect(await fixture().sql.count(refunds, Number((await payment())['id']))).toBe(1);
		// It is not handed out again; the router was never told of a way to put it out, and does so by itself.
		expect((await router().poll()).items).toBe('*');
		expect(await admissionOf(pass)).toMatchObject({ sent_until: toldUntil });
		await fixture().server.advance(HOUR);
		await eventually('it is over', async () => (await admissionOf(pass))['state'] === 'out');
	});

	it.each(VERSIONS)('%s gets reported devices no more, fetched by view or by list', async (version) => {
		const router = routerOf(version);
		const devices = [newDevice(), newDevice()];
		connect(...devices);
		for (const device of devices) {
			await buy(device);
			const { pass_id: pass } = await inState('activating');
			const isListed = device === devices[1];
			if (isListed) {
				const { body } = await list(router);
				expect(decodeURIComponent(body)).toContain(rhid(device));
				expect(await report(device)).toBe(204);
			} else {
				expect((await router.poll()).items).not.toBe('*');
			}
			expect(await admissionOf(pass)).toMatchObject({ state: 'in' });
			expect((await view('none', router)).body).toBe('*');
			expect((await list(router)).body).toBe('*');
		}
	});

	it('starts no time, and hides no device, by an acknowledgement of a customer', async () => {
		const { device, path } = await waiting();
		// A customer knows the address, and the gateway's name; and so what the router is told.
		const stranger = createAuthmon(gateway().portal, '10.3.0', () => true);
		await stranger.poll();
		await list();
		expect(stranger.online.has(rhid(device))).toBe(true);
		expect(await inState('activating')).toMatchObject({ starts_at: null });
		expect((await browse(fixture().server.url).get(path)).text).not.toContain('You are online');
		const forged = await fetch(`${fixture().server.url}/opennds/${gateway().key}/binauth`, {
			method: 'POST',
			headers: { authorization: 'Bearer guessed' },
			body: new URLSearchParams({
				method: 'ndsctl_auth',
				mac: device.mac,
				token: device.token,
				custom: 'bmE='
			})
		});
		expect(forged.status).toBe(403);
		await router().poll();
		expect(isIn(device)).toBe(true);
		expect(await inState('active')).toMatchObject({ router_id: 3 });
	});

	it('gets a device again that comes back to the portal although it was reported', async () => {
		const { device } = await waiting();
		// Before it was fetched, a report confirms nothing, and the script repeats it.
		expect(await report(device)).toBe(404);
		expect(await newest()).toMatchObject({ status: 'activating' });
		await view();
		await report(device);
		await inState('active');
		await router().poll();
		expect(isIn(device)).toBe(false);
		// It is still without internet there: its router sends it here.
		await enter(device);
		await router().poll();
		expect(isIn(device)).toBe(true);
		// Not for ever: after that it is not offered any more.
		await fixture().server.advance(2 * MINUTE);
		expect((await router().poll()).items).toBe('*');
	});

	it('is refused with malformed requests', async () => {
		const { url } = fixture().server;
		expect((await router().ask({ auth_get: 'view', gatewayhash: 'x' })).status).toBe(400);
		expect((await router().ask({ auth_get: 'steal' })).status).toBe(400);
		expect((await router().ask({ auth_get: 'deauthed', payload: base64('log') })).body).toBe('ack');
		const unknown = createAuthmon(`${url}/splash/${'A'.repeat(24)}`, '10.3.0', () => true);
		expect((await unknown.ask({ auth_get: 'view', payload: base64('none') })).status).toBe(404);
	});

	it('loses no device to forged requests, however many', async () => {
		const { device } = await waiting();
		const madeUp = (number: number): Record<string, string> => {
			const named = number % 2 === 0 ? {} : { gatewayhash: sha256(`guess ${number}`) };
			const payload = number % 3 === 0 ? `* ${sha256(`of nobody ${number}`)}` : 'none';
			return { auth_get: 'view', payload: base64(payload), ...named };
		};
		const flood = async () => {
			const numbers = Array.from({ length: 60 }, (_, number) => number);
			const answers = await Promise.all(numbers.map((number) => router().ask(madeUp(number))));
			return [...new Set(answers.map(({ status }) => status))];
		};
		expect(await flood()).toEqual([200]);
		expect(await newest()).toMatchObject({ status: 'activating' });
		// The router itself, in the midst of it.
		const others = flood();
		expect((await router().poll()).ack).toBe('ack');
		expect(await others).toEqual([200]);
		expect(isIn(device)).toBe(true);
		expect(await inState('active')).toMatchObject({ router_id: 3 });
	});
});
