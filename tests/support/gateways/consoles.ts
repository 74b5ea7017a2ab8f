/** Gateways that are told who may be online, registered by the command line, with devices that buy through the portal. */
import { sha256 } from '#lib/server/platform/secrets.ts';
import { startRouterOs, type RouterOs } from '../../simulators/gateway/routeros.ts';
import { startUniFi, type UniFiConsole } from '../../simulators/gateway/unifi-console.ts';
import { browse, type Browsing } from '../pages/browsing.ts';
import { buyHourOn } from '../pages/splash.ts';
import { cli, secretFile } from '../server/cli.ts';
import { eventually, type Fixture } from '../server/fixture.ts';

export const UNIFI_KEY = 'obviously-fake-api-key';
export const ROUTER_OS = { user: 'airtill', password: 'obviously-fake-password' };
/** One gateway on each of these demo routers. */
export const UNIFI_ROUTER = 3;
export const ROUTER_OS_ROUTER = 4;

/** Registers a gateway whose API has that key. */
export async function addConsole(fixture: Fixture, args: string[], secret: string): Promise<void> {
	const file = secretFile(fixture.server, secret);
	const { code, stderr } = await cli(['gateways', 'add', ...args, '--api-key-file', file], fixture.server);
	if (code !== 0) throw new Error(`gateways add: ${stderr}`);
}

export async function connectUniFi(fixture: Fixture, name = 'console'): Promise<UniFiConsole> {
	const console = await startUniFi(UNIFI_KEY);
	const site = ['--router', String(UNIFI_ROUTER), '--kind', 'unifi', '--site', 'default'];
	await addConsole(fixture, [name, ...site, '--api', console.url, '--api-insecure'], UNIFI_KEY);
	return console;
}

export async function connectRouterOs(
	fixture: Fixture,
	name = 'hotspot',
	routerId = ROUTER_OS_ROUTER
): Promise<RouterOs> {
	const router = await startRouterOs(ROUTER_OS);
	const hotspot = ['--router', String(routerId), '--kind', 'mikrotik', '--login-host', '10.5.50.1'];
	const api = ['--control', 'rest', '--api', router.url, '--api-user', ROUTER_OS.user];
	await addConsole(fixture, [name, ...hotspot, ...api], ROUTER_OS.password);
	return router;
}

let macs = 0;
export const newMac = (): string => `02:00:00:00:01:${(macs += 1).toString(16).padStart(2, '0')}`;

export interface Bought {
	person: Browsing;
	mac: string;
	/** Page of the purchase. */
	path: string;
	sessionId: number;
	/** Moment at which the service has stored the success, or before. */
	paidAt: number;
}

const ACCESS_POINT = '02:aa:bb:cc:dd:ee';

/** Path of the page that a device of the UniFi network is sent to. */
export const unifiEntry = (mac: string, accessPoint = ACCESS_POINT): string =>
	`/guest/s/default/?ap=${accessPoint}&id=${mac}&t=1763700000&url=http://example.com/&ssid=X`;

/** The id of a new visit of a device. */
export async function visitOf(person: Browsing, mac: string): Promise<string> {
	const page = await person.get(unifiEntry(mac));
	return /\/splash\/[\w-]{24}\/([\w-]{24})"/.exec(page.html)?.[1] ?? '';
}

/** A device behind the console buys an hour through the portal with a number that pays at once. */
export async function buyAtUniFi(
	{ server, sql }: Fixture,
	mac = newMac(),
	accessPoint = ACCESS_POINT
): Promise<Bought> {
	const person = browse(server.url);
	const path = await buyHourOn(person, await person.get(unifiEntry(mac, accessPoint)));
	const token = /^\/s\/([\w-]{24})/.exec(path)?.[1] ?? '';
	const sessionId = await eventually('the purchase has a session that is paid', async () => {
		const [row] = await sql.all(
			`select s.id from purchases p join sessions s on s.id = p.session_id
				where p.token_hash = ? and s.status in ('activating', 'active')`,
			sha256(token)
		);
		return row ? Number(row['id']) : null;
	});
	return { person, mac, path, sessionId, paidAt: Date.now() };
}
