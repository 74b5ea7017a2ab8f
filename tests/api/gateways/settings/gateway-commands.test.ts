/** Gateways on the command line: what is printed when one is added, and what is refused. */
import { describe, expect, it } from 'vitest';
import { ndsEntry, newDevice } from '../../../support/gateways/opennds.ts';
import { registerGateway } from '../../../support/gateways/gateways.ts';
import { browse } from '../../../support/pages/browsing.ts';
import { cli } from '../../../support/server/cli.ts';
import { useFixture } from '../../../support/server/fixture.ts';

const LOGIN_HOST = '192.168.8.1';
const MAC = '02:00:00:00:00:01';

describe('an installation that is reached by https', () => {
	const fixture = useFixture({ database: 'sqlite', env: { ORIGIN: 'https://portal.example' } });

	it('tells devices its addresses, and DHCP where to find them', async () => {
		const { server } = fixture();
		const origin = 'https://portal.example';
		const opennds = await registerGateway(server, 'opennds', { loginHost: LOGIN_HOST, origin });
		// Devices behind it cannot be told apart: whoever read there that it is captive would believe it for ever.
		expect(opennds.text).toContain('DHCP option 114 is not to be set');
		expect(opennds.text).not.toContain('dhcp-option=114');
		const { key, text } = await registerGateway(server, 'mikrotik-chap', { loginHost: LOGIN_HOST, origin });
		const answer = await fetch(`${server.url}/captive-portal/${key}`);
		expect(await answer.json()).toEqual({
			captive: true,
			'user-portal-url': `${origin}/splash/${key}`,
			'venue-info-url': `${origin}/r/3`,
			'can-extend-session': true
		});
		expect(text).toContain(`dhcp-option=114,${origin}/captive-portal/${key}`);
		expect(text).toContain(`code=114 value="s'${origin}/captive-portal/${key}'"`);
		expect(text).toContain(`option captive-portal-uri "${origin}/captive-portal/${key}";`);
	});
});

describe('the command line', () => {
	const fixture = useFixture({ database: 'sqlite' });
	const run = (...args: string[]) => cli(['gateways', ...args], fixture().server);
	const ADD = ['--router', '3', '--kind', 'opennds', '--login-host', LOGIN_HOST];

	it('prints the secret once, stores no key or secret in clear, and rotates both', async () => {
		const { sql, server } = fixture();
		const added = await run('add', 'cafe', ...ADD);
		const key = /captive-portal\/([\w-]{24})/.exec(added.stdout)?.[1] ?? '';
		const secret = /^Secret \(\w+\), .*:\n(\w{32})$/m.exec(added.stdout)?.[1] ?? '';
		expect([key, secret]).toEqual([expect.stringMatching(/^.{24}$/), expect.stringMatching(/^.{32}$/)]);
		const stored = JSON.stringify(await sql.all('select * from gateways'));
		expect(stored).not.toContain(key);
		expect(stored).not.toContain(secret);
		expect((await run('show', 'cafe')).stdout).toContain(key);
		expect((await run('show', 'cafe')).stdout).not.toContain(secret);
		expect((await run('list')).stdout).toContain('Kisementi Corner');

		const rotated = await run('rotate', 'cafe', '--key', '--secret');
		const newKey = /captive-portal\/([\w-]{24})/.exec(rotated.stdout)?.[1] ?? '';
		expect(newKey).not.toBe(key);
		expect(rotated.stdout).not.toContain(secret);
		expect((await fetch(`${server.url}/captive-portal/${key}`)).status).toBe(404);
		expect((await fetch(`${server.url}/captive-portal/${newKey}`)).status).toBe(200);

		await fetch(server.url + ndsEntry({ key: newKey }, newDevice(), LOGIN_HOST));
		expect((await run('remove', 'cafe')).code).toBe(0);
		expect((await fetch(`${server.url}/captive-portal/${newKey}`)).status).toBe(404);
		expect(await sql.count('select count(*) from captive_sessions')).toBe(0);
	});

	const LEVEL_4 = ['--kind', 'opennds', '--login-host', LOGIN_HOST, '--level', '4'];

	it('names the field and the reason of what it refuses', async () => {
		expect((await run('add', 'twice', ...ADD)).code).toBe(0);
		const refusals: [string[], RegExp][] = [
			[['add', 'twice', ...ADD], /^name: "twice" is already in use/m],
			[
				['add', 'x', '--router', '999', '--kind', 'coova', '--login-host', 'a.example'],
				/^--router: there is no router 999; /
			],
			[
				['add', 'X y', '--router', '3', '--kind', 'cisco'],
				/^kind: use one of opennds, mikrotik, coova, unifi, hostapd$/m
			],
			[['add', 'x', '--router', '3', '--kind', 'coova'], /^login-host: give the host of the sign-in page/m],
			[['add', 'x', '--kind', 'coova'], /--router is missing/],
			[
				['add', 'x', '--router', '3', '--kind', 'unifi', '--site', 'default'],
				/^api: .* buyers would pay and stay offline\. .* --external-access$/m
			],
			[
				['add', 'x', ...ADD.slice(0, 2), ...LEVEL_4, '--external-access'],
				/^external-access: .* leave it out$/m
			],
			[['show', 'nobody'], /There is no gateway "nobody"/],
			[['rotate', 'twice'], /Choose what to renew/],
			[['rotate', 'twice', '--secret-file', 'no-such-file'], /no-such-file cannot be read/]
		];
		for (const [args, reason] of refusals) {
			const { code, stdout, stderr } = await run(...args);
			expect(code, args.join(' ')).not.toBe(0);
			expect(stdout).toBe('');
			expect(stderr).toMatch(reason);
		}
	});

	it('two UniFi gateways of one site need their access points, which identify them', async () => {
		const { server } = fixture();
		const bare = (name: string, router: string, ...more: string[]) =>
			run('add', name, '--router', router, '--kind', 'unifi', '--site', 'default', ...more);
		const unifi = (...words: Parameters<typeof bare>) => bare(...words, '--external-access');
		expect((await unifi('one', '3', '--access-point', '02:aa:00:00:00:01')).code).toBe(0);
		expect((await unifi('two', '4')).stderr).toMatch(/^access-point: "one" has the same site/m);
		expect((await unifi('two', '4', '--access-point', '02:aa:00:00:00:02')).code).toBe(0);
		const at = async (ap: string) =>
			(
				await browse(server.url).get(
					`/guest/s/default/?ap=${ap}&id=${MAC}&t=1&url=http://example.com/&ssid=X`
				)
			).html;
		const title = (html: string) => /<h1>(.*?)<\/h1>/.exec(html)?.[1]?.replace(/<[^>]+>/g, '');
		const [one, two] = [await at('02:aa:00:00:00:01'), await at('02:aa:00:00:00:02')];
		expect(title(one)).toBe('Kisementi Corner');
		expect(title(two)).not.toBe(title(one));
		expect(await at('02:aa:00:00:00:03')).toContain('We can’t find this Wi‑Fi');
	});
});
