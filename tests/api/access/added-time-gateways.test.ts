/** Added time on routers with several gateways: which gateway must learn of it. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createAuthmon } from '../../simulators/gateway/authmon.ts';
import type { UniFiConsole } from '../../simulators/gateway/unifi-console.ts';
import { numberEnding } from '../../support/api/api.ts';
import { browse, fieldValue } from '../../support/pages/browsing.ts';
import { buyAtUniFi, connectUniFi, newMac, visitOf } from '../../support/gateways/consoles.ts';
import { registerGateway, type Registered } from '../../support/gateways/gateways.ts';
import {
	base64,
	callBinauth,
	ndsEntry,
	newDevice,
	reportAuth,
	rhidOf,
	type NdsDevice
} from '../../support/gateways/opennds.ts';
import { buyHourOn } from '../../support/pages/splash.ts';
import { DATABASES, eventually, useFixture } from '../../support/server/fixture.ts';

const LOGIN_HOST = '192.168.8.1';
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
/** The activation timeout. */
const GIVE_UP = 10 * MINUTE;

describe.each(DATABASES)('on %s', (database) => {
	const fixture = useFixture({ database });

	const newest = async () => {
		const [row] = await fixture().sql.all('select * from sessions order by id desc limit 1');
		return { id: Number(row?.['id']), pass: Number(row?.['pass_id']), status: row?.['status'] };
	};
	const inState = (status: string) =>
		eventually(`a session is ${status}`, async () => {
			const row = await newest();
			return row.status === status && row;
		});
	const statusOf = async (id: number) =>
		(await fixture().sql.all('select status from sessions where id = ?', id))[0]?.['status'];
	/** Nobody looks any more whether it was told. */
	const settled = (id: number) =>
		eventually('it was looked at', async () => {
			const jobs = "select count(*) from jobs where kind = 'access.added' and subject_id = ?";
			return (await fixture().sql.count(jobs, id)) === 0;
		});
	/** Adds an hour on the page of a purchase. @returns the session */
	async function addHour(path: string): Promise<number> {
		const person = browse(fixture().server.url);
		const page = await person.get(`${path}?more`);
		const before = await newest();
		const added = await person.post(`${path}?/extend`, {
			time: /value="(1h [^"]+)"/.exec(page.html)?.[1] ?? '',
			paymentMethod: 'mobile_money',
			phone: numberEnding('008'),
			purchase: fieldValue(page, 'purchase')
		});
		expect(added.status, added.text).toBe(200);
		return eventually('it is paid', async () => {
			const { id, status } = await newest();
			return id !== before.id && status === 'active' && id;
		});
	}
	async function buyAtNds(gateway: Registered, device: NdsDevice): Promise<string> {
		const person = browse(fixture().server.url);
		return buyHourOn(person, await person.get(ndsEntry(gateway, device, LOGIN_HOST)));
	}

	describe('a gateway that uses BinAuth, beside a console', () => {
		let unifi: UniFiConsole;
		let gateway: Registered;

		beforeAll(async () => {
			unifi = await connectUniFi(fixture());
			gateway = await registerGateway(fixture().server, 'opennds', { loginHost: LOGIN_HOST });
		});
		afterEach(() => unifi.heal());
		afterAll(() => unifi.stop());

		/** Our answer to openNDS when a device signs in there. */
		async function signIn(device: NdsDevice, pass: number): Promise<string> {
			const fields = { method: 'auth_client', custom: base64(`s${pass}`) };
			const response = await callBinauth(fixture().server.url, gateway, device, fields);
			return `${response.status} ${await response.text()}`;
		}
		/** The page of its purchase is opened on a device that the console sends to the portal. */
		async function goToConsole(path: string, { mac }: NdsDevice, pass: number): Promise<void> {
			const person = browse(fixture().server.url);
			await person.get(`${path}?visit=${await visitOf(person, mac)}`);
			await eventually('the console is to be told', () =>
				fixture().sql.count('select count(*) from grants where pass_id = ? and mac = ?', pass, mac)
			);
		}
		/** Bought at the gateway that asks; the device was at the console, too, which is away when an hour is added. */
		async function atBoth() {
			unifi.fail('down');
			const device = newDevice();
			const path = await buyAtNds(gateway, device);
			const { pass } = await inState('active');
			await goToConsole(path, device, pass);
			const added = await addHour(path);
			// That one lets it in to the end of what was added, and says nothing of it any more.
			expect(await signIn(device, pass)).toMatch(/^200 7(200|1\d\d)$/);
			return { device, pass, added };
		}

		it('refunds a device at a console that never learnt of it, though expected at the other gateway', async () => {
			const { added } = await atBoth();
			await fixture().server.advance(HOUR + GIVE_UP + MINUTE);
			await settled(added);
			expect(await statusOf(added)).toBe('cancelled');
		});

		it('refunds a device that came to the console only after the time was added', async () => {
			unifi.fail('down');
			const device = newDevice();
			const path = await buyAtNds(gateway, device);
			const { pass } = await inState('active');
			const added = await addHour(path);
			await goToConsole(path, device, pass);
			await fixture().server.advance(HOUR + GIVE_UP + MINUTE);
			await settled(added);
			expect(await statusOf(added)).toBe('cancelled');
		});

		it('keeps the payment of a device that signed in at the other gateway in the added time', async () => {
			const { device, pass, added } = await atBoth();
			await fixture().server.advance(HOUR + MINUTE);
			expect(await signIn(device, pass)).toMatch(/^200 35\d\d$/);
			await fixture().server.advance(GIVE_UP);
			await settled(added);
			expect(await statusOf(added)).toBe('active');
		});

		it('keeps the payment of a device that used its time before it came to the console', async () => {
			unifi.fail('down');
			const device = newDevice();
			const path = await buyAtNds(gateway, device);
			const { id, pass } = await inState('active');
			expect(await signIn(device, pass)).toMatch(/^200 3\d{3}$/);
			await goToConsole(path, device, pass);
			await fixture().server.advance(GIVE_UP + MINUTE);
			await settled(id);
			expect(await statusOf(id)).toBe('active');
		});

		it('keeps added time of a pass that needs no grant', async () => {
			const path = await buyAtNds(gateway, newDevice());
			await inState('active');
			const added = await addHour(path);
			await fixture().server.advance(HOUR + GIVE_UP + MINUTE);
			await settled(added);
			expect(await statusOf(added)).toBe('active');
		});

		// It has its money back, and nobody can tell a console of a device that is not there.
		it('refunds a device that is away when its added time starts, and does not let it in', async () => {
			const mac = newMac();
			unifi.join(mac);
			const { path } = await buyAtUniFi(fixture(), mac);
			await inState('active');
			expect(unifi.isIn(mac)).toBe(true);
			unifi.leave(mac);
			const added = await addHour(path);
			unifi.clockOffsetMs += HOUR + GIVE_UP + MINUTE;
			await fixture().server.advance(HOUR + GIVE_UP + MINUTE);
			await settled(added);
			expect(await statusOf(added)).toBe('cancelled');
			unifi.join(mac);
			await fixture().server.advance(2 * MINUTE);
			expect(unifi.isIn(mac)).toBe(false);
			expect(await fixture().sql.count('select count(*) from refunds')).toBeGreaterThan(0);
		});
	});

	describe('a gateway that polls', () => {
		/** In by authmon, and the added hour was fetched before it begins: who is in takes no new end then. */
		async function fetchedBefore() {
			const gateway = await registerGateway(fixture().server, 'opennds', {
				loginHost: LOGIN_HOST,
				router: 4,
				more: ['--level', '4']
			});
			const device = newDevice();
			const rhid = rhidOf(gateway, device);
			const report = () => reportAuth(fixture().server.url, gateway, device);
			const router = createAuthmon(gateway.portal, '10.3.0', (one) => one === rhid, report);
			const path = await buyAtNds(gateway, device);
			const { pass } = await inState('activating');
			await router.poll();
			await inState('active');
			const added = await addHour(path);
			const told = () =>
				fixture().sql.count('select requested_end_at - created_at from grants where pass_id = ?', pass);
			await eventually('it is fetched', async () => {
				await router.poll();
				return (await told()) > HOUR + MINUTE;
			});
			return { router, report, added };
		}

		it('does not count what it fetched, because who is in takes no new end', async () => {
			const { router, added } = await fetchedBefore();
			await fixture().server.advance(HOUR + MINUTE);
			await router.poll();
			await fixture().server.advance(GIVE_UP);
			await settled(added);
			expect(await statusOf(added)).toBe('cancelled');
		});

		it('counts a device that comes in again after that', async () => {
			const { report, added } = await fetchedBefore();
			await fixture().server.advance(HOUR + MINUTE);
			await report();
			await fixture().server.advance(GIVE_UP);
			await settled(added);
			expect(await statusOf(added)).toBe('active');
		});
	});
});
