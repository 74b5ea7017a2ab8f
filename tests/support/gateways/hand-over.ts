import { startGateway } from '../../simulators/gateway/gateway.ts';
import { registerGateway } from './gateways.ts';
import type { TestServer } from '../server/server.ts';

/** Not the one at which the tests buy: what is bought there stays the Wi-Fi's own password. */
export const HAND_OVER_ROUTER = 4;

/** A gateway sends a device to its splash page. @returns the path of that visit */
export async function handOver(server: TestServer): Promise<string> {
	const gateway = await startGateway('opennds');
	const { portal, secret } = await registerGateway(server, 'opennds', {
		loginHost: gateway.host,
		router: HAND_OVER_ROUTER
	});
	gateway.connect({ portal, secret, ssid: 'KISEMENTI-WIFI', passwordOf: async () => null });
	const html = await (await fetch(`${gateway.url}/hotspot-detect.html`)).text();
	await gateway.stop();
	const [path] = new RegExp(`${new URL(portal).pathname}/[\\w-]+`).exec(html) ?? [];
	if (!path) throw new Error('The splash page names no visit');
	return path;
}
