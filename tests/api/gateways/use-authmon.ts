import { beforeAll } from 'vitest';
import { createAuthmon, type Authmon } from '../../simulators/gateway/authmon.ts';
import { registerGateway, type Registered } from '../../support/gateways/gateways.ts';
import { ndsBuyers } from '../../support/gateways/nds-buyers.ts';
import {
	base64,
	newDevice as newNdsDevice,
	reportAuth,
	rhidOf,
	type NdsDevice
} from '../../support/gateways/opennds.ts';
import { useFixture } from '../../support/server/fixture.ts';

const LOGIN_HOST = '192.168.8.1';
export const VERSIONS = ['10.3.0', '9.10.0'] as const;

/** Starts a server with an openNDS of level 4, whose devices buy. */
export function useAuthmon(database: string) {
	const fixture = useFixture({ database });
	const { enter, open, buy, ...found } = ndsBuyers(fixture, LOGIN_HOST);
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
	return {
		...found,
		fixture,
		gateway: () => gateway,
		router: () => router,
		routerOf,
		rhid,
		newDevice,
		connect,
		report: (device: NdsDevice) => reportOf(rhid(device)),
		isIn: (device: NdsDevice) => router.online.has(rhid(device)),
		/** Asks as authmon does when it has let in these. */
		view: (letIn = 'none', by = router) => by.ask({ auth_get: 'view', payload: base64(letIn) }),
		list: (by = router) => by.ask({ auth_get: 'list', payload: base64('none') }),
		enter: (device: NdsDevice) => enter(gateway, device),
		open: (device: NdsDevice, path: string, person?: Parameters<typeof open>[3]) =>
			open(gateway, device, path, person),
		buy: (device: NdsDevice) => buy(gateway, device),
		/** A new device buys an hour, and waits until the router fetches it. */
		async waiting() {
			const device = newDevice();
			connect(device);
			const path = await buy(gateway, device);
			const { id, pass_id: pass } = await found.inState('activating');
			return { device, path, id, pass };
		}
	};
}
