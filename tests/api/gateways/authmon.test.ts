/** openNDS of level 4: authmon, which fetches devices (by GET since version 10, before by POST). */
import { beforeAll, describe, expect, it } from 'vitest';
import { createAuthmon, type Authmon } from '../../simulators/gateway/authmon.ts';
import { numberEnding } from '../../support/api/api.ts';
import { browse, fieldValue } from '../../support/pages/browsing.ts';
import { registerGateway, type Registered } from '../../support/gateways/gateways.ts';
import { ndsBuyers } from '../../support/gateways/nds-buyers.ts';
import {
	base64,
	newDevice as newNdsDevice,
	reportAuth,
	rhidOf,
	sha256,
	type NdsDevice
} from '../../support/gateways/opennds.ts';
import { DATABASES, eventually, useFixture } from '../../support/server/fixture.ts';

const LOGIN_HOST = '192.168.8.1';
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

const all: NdsDevice[] = [];

function newDevice(): NdsDevice {
	const device = newNdsDevice();
	all.push(device);
	return device;
}

describe.each(DATABASES)('on %s', (kind) => {
	const fixture = useFixture({ database: kind });

	const { enter, open, buy, newest, grantOf, inState } = ndsBuyers(fixture, LOGIN_HOST);

	let gateway: Registered;
	let router: Authmon;
	let known: string[] = [];

	const authmonOf = (version: '10.3.0' | '9.10.0') =>
		createAuthmon(gateway.portal, version, (rhid) => known.includes(rhid), reportOf);

	beforeAll(async () => {
		gateway = await registerGateway(fixture().server, 'opennds', {
			loginHost: LOGIN_HOST,
			more: ['--level', '4']
		});
		router = authmonOf('10.3.0');
	});

	/** Reports a device as the router's BinAuth script does when the device is let in. */
	async function reportOf(rhid: string, custom = base64('na')): Promise<number> {
		const device = all.find((one) => rhidOf(gateway, one) === rhid);
		if (!device) throw new Error(`No device has the rhid ${rhid}`);
		return reportAuth(fixture().server.url, gateway, device, Buffer.from(custom, 'base64').toString());
	}

	it.each(['10.3.0', '9.10.0'] as const)(
		'%s fetches paid devices with their minutes, and the time starts with its report',
		async (version) => {
			const router = authmonOf(version);
			expect(await router.clear()).toBe('');
			expect(await router.poll()).toEqual({ items: '*', ack: 'ack' });
			const device = newDevice();
			known = [rhidOf(gateway, device)];
			await buy(gateway, device);
			const waits = await inState('activating');
			const { items, ack } = await router.poll();
			expect(decodeURIComponent(items)).toBe(
				`* ${rhidOf(gateway, device)} 61 0 0 0 0 ${base64(`s${String(waits['pass_id'])}`)}`
			);
			expect(ack).toBe('ack');
			expect(await inState('active')).toMatchObject({ id: waits['id'] });
			expect(router.online.get(rhidOf(gateway, device))).toBe(61);
			const [row] = await fixture().sql.all('select * from gateways where name = ?', gateway.name);
			expect(row?.['seen_at']).not.toBeNull();
		}
	);

	it.each(['moved to', 'opened under another name on'] as const)(
		'a report starts the time of the pass that it names, though that was %s a device since',
		async (change) => {
			const device = newDevice();
			known = [rhidOf(gateway, device)];
			const path = await buy(gateway, device);
			const { id, pass_id: pass } = await inState('activating');
			await router.ask({ auth_get: 'view', payload: base64('none') });
			const other = newDevice();
			const person = browse(fixture().server.url);
			const its = change === 'moved to' ? other : { ...device, hid: other.hid };
			const own = await open(gateway, its, path, person);
			if (change === 'moved to') expect((await person.post(`${own.path}?/move`)).path).toMatch(/\?moved$/);
			const { server } = fixture();
			expect(await reportAuth(server.url, gateway, device, `s${String(pass)}`)).toBe(204);
			expect(await newest()).toMatchObject({ id, status: 'active' });
			// The device that came later is still sent to the router, and nothing is refunded.
			known.push(rhidOf(gateway, other));
			await router.poll();
			expect(router.online.has(rhidOf(gateway, other))).toBe(true);
			await server.advance(11 * MINUTE);
			expect(await newest()).toMatchObject({ id, status: 'active' });
			await server.advance(HOUR);
		}
	);

	it('changes nothing by acknowledging a device that does not wait', async () => {
		const device = newDevice();
		known = [];
		await buy(gateway, device);
		await inState('activating');
		const ack = (rhids: string) => router.ask({ auth_get: 'view', payload: base64(rhids) });
		// The router has not fetched this device yet, so it cannot acknowledge it.
		await ack(`* ${rhidOf(gateway, device)}`);
		await ack(`* ${sha256('another')} ${device.hid}`);
		expect((await ack('* nothing')).status).toBe(400);
		expect((await ack('')).status).toBe(200);
		expect(await newest()).toMatchObject({ status: 'activating' });
		await router.poll();
		expect(await newest()).toMatchObject({ status: 'activating' });
		// After the limit the money goes back, and an acknowledgement comes too late.
		await fixture().server.advance(11 * MINUTE);
		await eventually('it is given up', async () => (await newest())['status'] !== 'activating');
		const before = await newest();
		expect(before['status']).not.toBe('active');
		await ack(`* ${rhidOf(gateway, device)}`);
		expect(await newest()).toMatchObject({ status: before['status'] });
		expect((await router.poll()).items).toBe('*');
	});

	it('keeps a device online whose report was lost for ten minutes, and refunds it', async () => {
		const device = newDevice();
		known = [rhidOf(gateway, device)];
		await buy(gateway, device);
		const { id, pass_id: pass } = await inState('activating');
		// It is handed out and let in; what it says of that never comes.
		const { body } = await router.ask({ auth_get: 'view', payload: base64('none') });
		expect(decodeURIComponent(body)).toContain(rhidOf(gateway, device));
		const toldUntil = Number((await grantOf(pass))['requested_end_at']);
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
			const late = await router.ask({ auth_get: 'view', payload: base64(`* ${rhidOf(gateway, device)}`) });
			expect(late).toEqual({ status: 200, body: 'ack' });
			expect(await reportOf(rhidOf(gateway, device))).toBe(204);
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
		expect((await router.poll()).items).toBe('*');
		expect(await grantOf(pass)).toMatchObject({ state: 'revoking', requested_end_at: toldUntil });
		await fixture().server.advance(HOUR);
		await eventually('it is over', async () => (await grantOf(pass))['state'] === 'revoked');
	});

	it.each(['10.3.0', '9.10.0'] as const)(
		'%s gets reported devices no more, fetched by view or by list',
		async (version) => {
			const router = authmonOf(version);
			const devices = [newDevice(), newDevice()];
			known = devices.map((one) => rhidOf(gateway, one));
			for (const device of devices) {
				await buy(gateway, device);
				const { pass_id: pass } = await inState('activating');
				const isListed = device === devices[1];
				if (isListed) {
					const { body } = await router.ask({ auth_get: 'list', payload: base64('none') });
					expect(decodeURIComponent(body)).toContain(rhidOf(gateway, device));
					expect(await reportOf(rhidOf(gateway, device))).toBe(204);
				} else {
					expect((await router.poll()).items).not.toBe('*');
				}
				expect(await grantOf(pass)).toMatchObject({ state: 'granted' });
				const none = { payload: base64('none') };
				expect((await router.ask({ auth_get: 'view', ...none })).body).toBe('*');
				expect((await router.ask({ auth_get: 'list', ...none })).body).toBe('*');
			}
		}
	);

	it('starts no time, and hides no device, by an acknowledgement of a customer', async () => {
		const device = newDevice();
		known = [rhidOf(gateway, device)];
		const path = await buy(gateway, device);
		await inState('activating');
		// A customer knows the address, and the gateway's name; and so what the router is told.
		const stranger = createAuthmon(gateway.portal, '10.3.0', () => true);
		await stranger.poll();
		await router.ask({ auth_get: 'list', payload: base64('none') });
		expect(stranger.online.has(rhidOf(gateway, device))).toBe(true);
		expect(await inState('activating')).toMatchObject({ starts_at: null });
		expect((await browse(fixture().server.url).get(path)).text).not.toContain('You are online');
		const forged = await fetch(`${fixture().server.url}/opennds/${gateway.key}/binauth`, {
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
		await router.poll();
		expect(router.online.has(rhidOf(gateway, device))).toBe(true);
		expect(await inState('active')).toMatchObject({ router_id: 3 });
	});

	it('gets a device again that comes back to the portal although it was reported', async () => {
		const device = newDevice();
		known = [rhidOf(gateway, device)];
		await buy(gateway, device);
		await inState('activating');
		// Before it was fetched, a report confirms nothing, and the script repeats it.
		expect(await reportOf(rhidOf(gateway, device))).toBe(404);
		expect(await newest()).toMatchObject({ status: 'activating' });
		await router.ask({ auth_get: 'view', payload: base64('none') });
		await reportOf(rhidOf(gateway, device));
		await inState('active');
		await router.poll();
		expect(router.online.has(rhidOf(gateway, device))).toBe(false);
		// It is still without internet there: its router sends it here.
		await enter(gateway, device);
		await router.poll();
		expect(router.online.has(rhidOf(gateway, device))).toBe(true);
		// Not for ever: after that it is not offered any more.
		await fixture().server.advance(2 * MINUTE);
		expect((await router.poll()).items).toBe('*');
	});

	it('gets at most four devices at once', async () => {
		const devices = Array.from({ length: 6 }, newDevice);
		known = devices.map((one) => rhidOf(gateway, one));
		for (const device of devices) await buy(gateway, device);
		await eventually('all wait', async () => {
			const waiting = await fixture().sql.all(
				"select id from grants where state = 'granting' and requested_end_at is null"
			);
			return waiting.length === devices.length;
		});
		const { items } = await router.poll();
		expect(items.split(' ')).toHaveLength(5);
		expect(items.length).toBeLessThanOrEqual(1_024);
		await eventually('all are in', async () => {
			await router.poll();
			return devices.every((device) => router.online.has(rhidOf(gateway, device)));
		});
	});

	it('gets other devices although it never confirms added time', async () => {
		const devices = Array.from({ length: 4 }, newDevice);
		known = devices.map((one) => rhidOf(gateway, one));
		const paths: string[] = [];
		for (const device of devices) paths.push(await buy(gateway, device));
		await eventually('all are in', async () => {
			await router.poll();
			return devices.every((device) => router.online.has(rhidOf(gateway, device)));
		});
		const person = browse(fixture().server.url);
		const granting = "select count(*) from grants where state = 'granting'";
		const before = await fixture().sql.count(granting);
		for (const path of paths) {
			const page = await person.get(`${path}?more`);
			const added = await person.post(`${path}?/extend`, {
				time: '1h 500',
				paymentMethod: 'mobile_money',
				phone: numberEnding('008'),
				purchase: fieldValue(page, 'purchase')
			});
			expect(added.status, added.text).toBe(200);
		}
		await eventually('all have a new end', async () => (await fixture().sql.count(granting)) === before + 4);
		await router.poll();
		// They are in until their old end, whatever else the router has to be told.
		for (const path of paths) expect((await person.get(path)).text).toContain('You are online.');
		const fifth = newDevice();
		known.push(rhidOf(gateway, fifth));
		await buy(gateway, fifth);
		await inState('activating');
		// Also where somebody else was handed it before, and before them.
		for (let time = 0; time < 6; time += 1) {
			const { body } = await router.ask({ auth_get: 'view', payload: base64('none') });
			expect(decodeURIComponent(body)).toContain(rhidOf(gateway, fifth));
		}
		await router.poll();
		expect(router.online.has(rhidOf(gateway, fifth))).toBe(true);
		expect(await inState('active')).toMatchObject({ router_id: 3 });
	});

	it('keeps a device online that opens the portal again', async () => {
		const device = newDevice();
		known = [rhidOf(gateway, device)];
		const path = await buy(gateway, device);
		const { pass_id: pass } = await inState('activating');
		await router.poll();
		const { captive_session_id: visit } = await grantOf(pass);
		const list = base64(
			[
				`hid=${device.hid}`,
				'clientip=192.168.8.50',
				`clientmac=${device.mac}`,
				`originurl=${encodeURIComponent(fixture().server.url + path)}`
			].join(', ')
		);
		const page = await browse(fixture().server.url).get(
			`/splash/${gateway.key}?status=authenticated&fas=${encodeURIComponent(list)}`
		);
		expect(page.path.startsWith(`${path}`), page.path).toBe(true);
		expect(await grantOf(pass)).toMatchObject({ state: 'granted', captive_session_id: visit });
	});

	it('does not call a device online that its router has forgotten and redirected', async () => {
		const device = newDevice();
		known = [rhidOf(gateway, device)];
		const path = await buy(gateway, device);
		await inState('activating');
		await router.poll();
		await inState('active');
		const says = async (at = path) => (await browse(fixture().server.url).get(at)).text;
		expect(await says()).toContain('You are online.');
		await fixture().server.advance(MINUTE);
		// A page of the browser's history names the same login.
		await enter(gateway, device);
		expect(await says()).toContain('You are online.');
		// A restart of openNDS gives the device another token.
		const again = { ...newDevice(), mac: device.mac };
		known = [rhidOf(gateway, again)];
		await enter(gateway, again);
		const lost = await says();
		expect(lost).not.toContain('You are online.');
		expect(lost).toContain('enter your code on the page that appears');
		// The code, or its own page, identifies it.
		const { path: own } = await open(gateway, again, path);
		await router.poll();
		expect(await says(own)).toContain('You are online.');
	});

	it('moves a pass once in an hour, because the old device stays online until its end', async () => {
		const [first, second, third] = [newDevice(), newDevice(), newDevice()];
		known = [first, second, third].map((one) => rhidOf(gateway, one));
		const path = await buy(gateway, first);
		await inState('activating');
		await router.poll();
		const move = async (device: NdsDevice) => {
			const person = browse(fixture().server.url);
			const own = await open(gateway, device, path, person);
			return person.post(`${own.path}?/move`);
		};
		expect((await move(second)).path).toMatch(/\?moved$/);
		await eventually('it is in', async () => {
			await router.poll();
			return router.online.has(rhidOf(gateway, second));
		});
		const refused = await move(third);
		expect(refused.path).toMatch(/\?later$/);
		expect(refused.text).toContain('Your pass was moved to another device a short time ago.');
		await router.poll();
		expect(router.online.has(rhidOf(gateway, third))).toBe(false);
		await fixture().server.advance(61 * MINUTE);
	});

	it('lets in no third device by the address of the first', async () => {
		const [first, second, third] = [newDevice(), newDevice(), newDevice()];
		known = [first, second, third].map((one) => rhidOf(gateway, one));
		const path = await buy(gateway, first);
		await inState('activating');
		await router.poll();
		const claim = async (device: NdsDevice) => {
			await open(gateway, { ...device, mac: first.mac }, path);
			await router.poll();
			return router.online.has(rhidOf(gateway, device));
		};
		// The router reports the true address only now.
		expect(await claim(second)).toBe(true);
		expect(await claim(third)).toBe(false);
		// The device that paid still comes back when the other one has left.
		const { server } = fixture();
		const user = `s${String((await newest())['pass_id'])}`;
		expect(await reportAuth(server.url, gateway, second, user, 'client_deauth')).toBe(204);
		expect(await claim(first)).toBe(true);
		await server.advance(61 * MINUTE);
	});

	it('is refused with malformed requests', async () => {
		const { url } = fixture().server;
		expect((await router.ask({ auth_get: 'view', gatewayhash: 'x' })).status).toBe(400);
		expect((await router.ask({ auth_get: 'steal' })).status).toBe(400);
		expect((await router.ask({ auth_get: 'deauthed', payload: base64('log') })).body).toBe('ack');
		const unknown = createAuthmon(`${url}/splash/${'A'.repeat(24)}`, '10.3.0', () => true, reportOf);
		expect((await unknown.ask({ auth_get: 'view', payload: base64('none') })).status).toBe(404);
	});

	it('loses no device to forged requests, however many', async () => {
		const device = newDevice();
		known = [rhidOf(gateway, device)];
		await buy(gateway, device);
		await inState('activating');
		const madeUp = (number: number): Record<string, string> => {
			const named = number % 2 === 0 ? {} : { gatewayhash: sha256(`guess ${number}`) };
			const payload = number % 3 === 0 ? `* ${sha256(`of nobody ${number}`)}` : 'none';
			return { auth_get: 'view', payload: base64(payload), ...named };
		};
		const flood = async () => {
			const numbers = Array.from({ length: 260 }, (_, number) => number);
			const answers = await Promise.all(numbers.map((number) => router.ask(madeUp(number))));
			return [...new Set(answers.map(({ status }) => status))];
		};
		expect(await flood()).toEqual([200]);
		expect(await newest()).toMatchObject({ status: 'activating' });
		// The router itself, in the midst of it.
		const others = flood();
		expect((await router.poll()).ack).toBe('ack');
		expect(await others).toEqual([200]);
		expect(router.online.has(rhidOf(gateway, device))).toBe(true);
		expect(await inState('active')).toMatchObject({ router_id: 3 });
	});
});
