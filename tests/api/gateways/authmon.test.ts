/** openNDS of level 4: authmon, which fetches devices (by GET since version 10, before by POST). */
import { beforeAll, describe, expect, it } from 'vitest';
import { createAuthmon, type Authmon } from '../../simulators/gateway/authmon.ts';
import { numberEnding } from '../../support/api/api.ts';
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
import { browse, type Browsing } from '../../support/pages/browsing.ts';
import { buyAt } from '../../support/pages/purchase.ts';
import { DATABASES, eventually, useFixture } from '../../support/server/fixture.ts';

const LOGIN_HOST = '192.168.8.1';
const VERSIONS = ['10.3.0', '9.10.0'] as const;
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

describe.each(DATABASES)('on %s', (database) => {
	const fixture = useFixture({ database });
	const buyers = ndsBuyers(fixture, LOGIN_HOST);
	const { newest, admissionOf, inState } = buyers;
	const all: NdsDevice[] = [];
	let gateway: Registered;
	let router: Authmon;
	let connected: string[] = [];

	beforeAll(async () => {
		gateway = await registerGateway(fixture().server, 'opennds', {
			loginHost: LOGIN_HOST,
			more: ['--level', '4']
		});
		router = routerOf('10.3.0');
	});
	const routerOf = (version: (typeof VERSIONS)[number]) =>
		createAuthmon(gateway.portal, version, (rhid) => connected.includes(rhid), reportOf);
	const rhid = (device: NdsDevice) => rhidOf(gateway, device);
	const enter = (device: NdsDevice) => buyers.enter(gateway, device);
	const open = (device: NdsDevice, path: string, person?: Browsing) =>
		buyers.open(gateway, device, path, person);
	const buy = (device: NdsDevice) => buyers.buy(gateway, device);

	function newDevice(): NdsDevice {
		const device = newNdsDevice();
		all.push(device);
		return device;
	}
	/** Reports a device as the router's BinAuth script does when the device is let in. */
	async function reportOf(name: string, custom = base64('na')): Promise<number> {
		const device = all.find((one) => rhid(one) === name);
		if (!device) throw new Error(`No device has the rhid ${name}`);
		return reportAuth(fixture().server.url, gateway, device, Buffer.from(custom, 'base64').toString());
	}
	/** From now on the router has these devices, and no others, on its Wi-Fi. */
	const connect = (...devices: NdsDevice[]) => {
		connected = devices.map(rhid);
	};
	const report = (device: NdsDevice) => reportOf(rhid(device));
	const isIn = (device: NdsDevice) => router.online.has(rhid(device));
	/** Asks as authmon does when it has let in these. */
	const view = (letIn = 'none', by = router) => by.ask({ auth_get: 'view', payload: base64(letIn) });
	const list = (by = router) => by.ask({ auth_get: 'list', payload: base64('none') });
	/** A new device buys an hour, and waits until the router fetches it. */
	async function waiting() {
		const device = newDevice();
		connect(device);
		const path = await buy(device);
		const { id, pass_id: pass } = await inState('activating');
		return { device, path, id, pass };
	}

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
			const [row] = await fixture().sql.all('select * from gateways where name = ?', gateway.name);
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
			expect(await reportAuth(server.url, gateway, device, `s${String(pass)}`)).toBe(204);
			expect(await newest()).toMatchObject({ id, status: 'active' });
			// The device that came later is still sent to the router, and nothing is refunded.
			connect(device, other);
			await router.poll();
			expect(isIn(other)).toBe(true);
			await server.advance(11 * MINUTE);
			expect(await newest()).toMatchObject({ id, status: 'active' });
			await server.advance(HOUR);
		}
	);

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
		expect((await router.poll()).items).toBe('*');
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
		const stranger = createAuthmon(gateway.portal, '10.3.0', () => true);
		await stranger.poll();
		await list();
		expect(stranger.online.has(rhid(device))).toBe(true);
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
		await router.poll();
		expect(isIn(device)).toBe(false);
		// It is still without internet there: its router sends it here.
		await enter(device);
		await router.poll();
		expect(isIn(device)).toBe(true);
		// Not for ever: after that it is not offered any more.
		await fixture().server.advance(2 * MINUTE);
		expect((await router.poll()).items).toBe('*');
	});

	it('is refused with malformed requests', async () => {
		const { url } = fixture().server;
		expect((await router.ask({ auth_get: 'view', gatewayhash: 'x' })).status).toBe(400);
		expect((await router.ask({ auth_get: 'steal' })).status).toBe(400);
		expect((await view('* nothing')).status).toBe(400);
		expect((await router.ask({ auth_get: 'deauthed', payload: base64('log') })).body).toBe('ack');
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
			const answers = await Promise.all(numbers.map((number) => router.ask(madeUp(number))));
			return [...new Set(answers.map(({ status }) => status))];
		};
		expect(await flood()).toEqual([200]);
		expect(await newest()).toMatchObject({ status: 'activating' });
		// The router itself, in the midst of it.
		const others = flood();
		expect((await router.poll()).ack).toBe('ack');
		expect(await others).toEqual([200]);
		expect(isIn(device)).toBe(true);
		expect(await inState('active')).toMatchObject({ router_id: 3 });
	});

	it('gets at most four devices at once', async () => {
		const devices = Array.from({ length: 6 }, newDevice);
		connect(...devices);
		for (const device of devices) await buy(device);
		await eventually('all wait', async () => {
			const waiting = await fixture().sql.all(
				'select id from admissions where released_at is null and sent_until is null'
			);
			return waiting.length === devices.length;
		});
		const { items } = await router.poll();
		expect(items.split(' ')).toHaveLength(5);
		expect(items.length).toBeLessThanOrEqual(1_024);
		await eventually('all are in', async () => {
			await router.poll();
			return devices.every((device) => isIn(device));
		});
	});

	it('gets other devices although it never confirms added time', async () => {
		const devices = Array.from({ length: 4 }, newDevice);
		connect(...devices);
		const paths: string[] = [];
		for (const device of devices) paths.push(await buy(device));
		await eventually('all are in', async () => {
			await router.poll();
			return devices.every((device) => isIn(device));
		});
		const person = browse(fixture().server.url);
		const ends =
			'select count(*) from admissions join passes on passes.id = pass_id where allowed_until < ends_at';
		const before = await fixture().sql.count(ends);
		for (const path of paths) await buyAt(fixture().server.url, `${path}?more`, numberEnding('008'));
		await eventually('all have a new end', async () => (await fixture().sql.count(ends)) === before + 4);
		await router.poll();
		// They are in until their old end, whatever else the router has to be told.
		for (const path of paths) expect((await person.get(path)).text).toContain('You are online.');
		const fifth = newDevice();
		connect(...devices, fifth);
		await buy(fifth);
		await inState('activating');
		// Also where somebody else was handed it before, and before them.
		for (let time = 0; time < 6; time += 1) {
			const { body } = await view();
			expect(decodeURIComponent(body)).toContain(rhid(fifth));
		}
		await router.poll();
		expect(isIn(fifth)).toBe(true);
		expect(await inState('active')).toMatchObject({ router_id: 3 });
	});

	it('keeps a device online that opens the portal again', async () => {
		const { device, path, pass } = await waiting();
		await router.poll();
		const { captive_session_id: visit } = await admissionOf(pass);
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
		expect(await admissionOf(pass)).toMatchObject({ state: 'in', captive_session_id: visit });
	});

	it('does not call a device online that its router has forgotten and redirected', async () => {
		const { device, path } = await waiting();
		await router.poll();
		await inState('active');
		const says = async (at = path) => (await browse(fixture().server.url).get(at)).text;
		expect(await says()).toContain('You are online.');
		await fixture().server.advance(MINUTE);
		// A page of the browser's history names the same login.
		await enter(device);
		expect(await says()).toContain('You are online.');
		// A restart of openNDS gives the device another token.
		const again = { ...newDevice(), mac: device.mac };
		connect(again);
		await enter(again);
		const lost = await says();
		expect(lost).not.toContain('You are online.');
		expect(lost).toContain('enter your code on the page that appears');
		// The code, or its own page, identifies it.
		const { path: own } = await open(again, path);
		await router.poll();
		expect(await says(own)).toContain('You are online.');
	});

	it('lets in no third device by the address of the first', async () => {
		const [first, second, third] = [newDevice(), newDevice(), newDevice()];
		connect(first, second, third);
		const path = await buy(first);
		await inState('activating');
		await router.poll();
		const claim = async (device: NdsDevice) => {
			await open({ ...device, mac: first.mac }, path);
			await router.poll();
			return isIn(device);
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
});
