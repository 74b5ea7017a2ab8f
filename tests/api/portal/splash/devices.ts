/** What gateways hand over of a device, and what its pages say. */
import { beforeAll } from 'vitest';
import { registerGateway, type Registered } from '../../../support/gateways/gateways.ts';
import { sha256 } from '../../../support/gateways/opennds.ts';
import { browse, type Browsing, type Page } from '../../../support/pages/browsing.ts';
import { eventually, useFixture } from '../../../support/server/fixture.ts';

export const LOGIN_HOST = '192.168.8.1';
const MAC = '02:00:00:00:00:01';

/** Starts a server with a gateway of two kinds, and a browser. */
export function useSplash() {
	const fixture = useFixture({ database: 'sqlite' });
	let opennds: Registered;
	let mikrotik: Registered;
	let person: Browsing;
	beforeAll(async () => {
		const { server } = fixture();
		opennds = await registerGateway(server, 'opennds', { loginHost: LOGIN_HOST });
		mikrotik = await registerGateway(server, 'mikrotik-chap', { loginHost: '10.5.50.1' });
		person = browse(server.url);
	});
	return {
		fixture,
		opennds: () => opennds,
		mikrotik: () => mikrotik,
		person: () => person,
		entry: (query: string, of = opennds) => `/splash/${of.key}?${query}`
	};
}

/** The query that openNDS at level 1 adds to the portal's address. */
export function fas(change: Record<string, string> = {}): string {
	const items = {
		hid: sha256('a token'),
		clientip: '127.0.0.1',
		clientmac: MAC,
		gatewayname: 'Stand-in',
		gatewayaddress: `${LOGIN_HOST}:2050`,
		originurl: encodeURIComponent('http://captive.apple.com/hotspot-detect.html'),
		...change
	};
	const list = Object.entries(items).map(([name, value]) => `${name}=${value}`);
	return `fas=${Buffer.from(list.join(', ')).toString('base64')}`;
}

export const hotspot = (change: Record<string, string> = {}) => ({
	mac: MAC,
	ip: '127.0.0.1',
	'link-login-only': 'http://10.5.50.1/login',
	'link-orig': 'http://example.com/',
	'chap-id': '\\371',
	'chap-challenge': '\\357\\015',
	error: '',
	...change
});

export const headingOf = ({ html }: Page) =>
	/<h1[^>]*>(.*?)<\/h1>/s.exec(html)?.[1]?.replace(/<[^>]+>|<!--.*?-->/g, '');

export async function active(person: Browsing, path: string): Promise<Page> {
	return eventually(`${path} is active`, async () => {
		const page = await person.get(path);
		return page.text.includes('Your Wi‑Fi is paid until') ? page : null;
	});
}
