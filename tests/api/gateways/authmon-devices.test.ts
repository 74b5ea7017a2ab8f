/** Several devices of a pass, or at a router, with openNDS of level 4. */
import { describe, expect, it } from 'vitest';
import { numberEnding } from '../../support/api/api.ts';
import { base64, reportAuth, type NdsDevice } from '../../support/gateways/opennds.ts';
import { browse, fieldValue } from '../../support/pages/browsing.ts';
import { DATABASES, eventually } from '../../support/server/fixture.ts';
import { useAuthmon } from './use-authmon.ts';

const MINUTE = 60_000;

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
		rhid,
		newDevice,
		connect,
		isIn,
		view,
		waiting
	} = useAuthmon(database);

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
		const { items } = await router().poll();
		expect(items.split(' ')).toHaveLength(5);
		expect(items.length).toBeLessThanOrEqual(1_024);
		await eventually('all are in', async () => {
			await router().poll();
			return devices.every((device) => isIn(device));
		});
	});

	it('gets other devices although it never confirms added time', async () => {
		const devices = Array.from({ length: 4 }, newDevice);
		connect(...devices);
		const paths: string[] = [];
		for (const device of devices) paths.push(await buy(device));
		await eventually('all are in', async () => {
			await router().poll();
			return devices.every((device) => isIn(device));
		});
		const person = browse(fixture().server.url);
		const ends =
			'select count(*) from admissions join passes on passes.id = pass_id where allowed_until < ends_at';
		const before = await fixture().sql.count(ends);
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
		await eventually('all have a new end', async () => (await fixture().sql.count(ends)) === before + 4);
		await router().poll();
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
		await router().poll();
		expect(isIn(fifth)).toBe(true);
		expect(await inState('active')).toMatchObject({ router_id: 3 });
	});

	it('keeps a device online that opens the portal again', async () => {
		const { device, path, pass } = await waiting();
		await router().poll();
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
			`/splash/${gateway().key}?status=authenticated&fas=${encodeURIComponent(list)}`
		);
		expect(page.path.startsWith(`${path}`), page.path).toBe(true);
		expect(await admissionOf(pass)).toMatchObject({ state: 'in', captive_session_id: visit });
	});

	it('does not call a device online that its router has forgotten and redirected', async () => {
		const { device, path } = await waiting();
		await router().poll();
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
		await router().poll();
		expect(await says(own)).toContain('You are online.');
	});

	it('moves a pass once in an hour, because the old device stays online until its end', async () => {
		const [first, second, third] = [newDevice(), newDevice(), newDevice()];
		connect(first, second, third);
		const path = await buy(first);
		await inState('activating');
		await router().poll();
		const move = async (device: NdsDevice) => {
			const person = browse(fixture().server.url);
			const own = await open(device, path, person);
			return person.post(`${own.path}?/move`);
		};
		expect((await move(second)).path).toMatch(/\?moved$/);
		await eventually('it is in', async () => {
			await router().poll();
			return isIn(second);
		});
		const refused = await move(third);
		expect(refused.path).toMatch(/\?later$/);
		expect(refused.text).toContain('Your pass was moved to another device a short time ago.');
		await router().poll();
		expect(isIn(third)).toBe(false);
		await fixture().server.advance(61 * MINUTE);
	});

	it('lets in no third device by the address of the first', async () => {
		const [first, second, third] = [newDevice(), newDevice(), newDevice()];
		connect(first, second, third);
		const path = await buy(first);
		await inState('activating');
		await router().poll();
		const claim = async (device: NdsDevice) => {
			await open({ ...device, mac: first.mac }, path);
			await router().poll();
			return isIn(device);
		};
		// The router reports the true address only now.
		expect(await claim(second)).toBe(true);
		expect(await claim(third)).toBe(false);
		// The device that paid still comes back when the other one has left.
		const { server } = fixture();
		const user = `s${String((await newest())['pass_id'])}`;
		expect(await reportAuth(server.url, gateway(), second, user, 'client_deauth')).toBe(204);
		expect(await claim(first)).toBe(true);
		await server.advance(61 * MINUTE);
	});
});
