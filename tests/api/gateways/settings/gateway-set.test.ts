/** `gateways set` changes a gateway in place: its portal address, secrets and devices stay. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loginUser } from '../../../../src/lib/domain/wifi.ts';
import { openDatabase } from '../../../../src/lib/server/db/database.ts';
import { createGateways } from '../../../../src/lib/server/gateways/gateways.ts';
import { systemClock } from '../../../../src/lib/server/platform/clock.ts';
import { createSecrets } from '../../../../src/lib/server/platform/secrets.ts';
import { startRouterOs, type RouterOs } from '../../../simulators/gateway/routeros.ts';
import { ROUTER_OS } from '../../../support/gateways/consoles.ts';
import { registerGateway, registerRadius } from '../../../support/gateways/gateways.ts';
import { radiusCalls } from '../../../support/gateways/radius-calls.ts';
import { browse } from '../../../support/pages/browsing.ts';
import { DATABASES, eventually, SECRET, useFixture } from '../../../support/server/fixture.ts';
import { cli } from '../../../support/server/cli.ts';

const fixture = useFixture({ database: DATABASES[0] });
const set = (...args: string[]) => cli(['gateways', 'set', ...args], fixture().server);
const rowOf = async (name: string) =>
	(await fixture().sql.all('select * from gateways where name = ?', name))[0];

const OTHER_HOST = { mac: '02:00:00:00:06:01', ip: '10.5.50.9', 'link-login-only': 'http://10.9.9.1/login' };

describe('settings', () => {
	it('change; the portal address, the secrets and all other settings stay', async () => {
		const at = { kind: 'mikrotik', access: 'portal_login', router: 5, nas: '10.8.0.2:3800' } as const;
		const { key, name, token } = await registerRadius(fixture(), at);
		const before = await rowOf(name);
		const enter = async () => (await browse(fixture().server.url).post(`/splash/${key}`, OTHER_HOST)).status;
		expect(await enter()).toBe(400);
		const { code, stdout } = await set(name, '--login-host', '10.9.9.1');
		expect(code).toBe(0);
		expect(stdout).toContain(`/splash/${key}\n`);
		expect(await enter()).toBe(200);
		expect((await radiusCalls(fixture().server.url, { key, token }).authorize('nobody')).status).toBe(404);
		const { settings, key_hash, credentials_sealed: sealed } = (await rowOf(name)) ?? {};
		expect({ settings, key_hash }).toEqual({
			settings: before?.['settings'],
			key_hash: before?.['key_hash']
		});
		expect(sealed).not.toBeNull();

		expect((await set(name, '--nas', '')).code).toBe(0);
		expect(String((await rowOf(name))?.['settings'])).not.toContain('10.8.0.2');
	});

	it('stay changed while a report of the router, read before the change, is stored', async () => {
		const { server } = fixture();
		const { name } = await registerGateway(server, 'opennds', { loginHost: '192.168.8.1', router: 6 });
		const database = await openDatabase(server.databaseUrl, { poolSize: 1 });
		try {
			const gateways = createGateways(database, systemClock, createSecrets(SECRET));
			const before = await gateways.byName(name);
			expect((await set(name, '--level', '4')).code).toBe(0);
			if (before) await gateways.learnLimits(before);
			expect((await gateways.byName(name))?.settings).toEqual({ level: 4 });
			const after = await gateways.byName(name);
			if (after) await gateways.learnLimits(after);
			expect((await gateways.byName(name))?.settings.binauthLimits).toBe(true);
		} finally {
			await database.close();
		}
	});

	it('are refused by field, and then nothing changes', async () => {
		const { name } = await registerGateway(fixture().server, 'opennds', {
			loginHost: '192.168.8.1',
			router: 6
		});
		const before = await rowOf(name);
		const { code, stderr } = await set(
			name,
			'--nas',
			'x',
			'--level',
			'2',
			'--site',
			'default',
			'--login-host',
			'/'
		);
		expect(code).toBe(1);
		expect(stderr.match(/^[\w-]+(?=: )/gm)?.sort()).toEqual(['level', 'login-host', 'nas', 'site']);
		expect((await set(name)).code).toBe(2);
		expect((await set(name, '--router', '999999')).code).toBe(1);
		expect((await set('no-such-gateway', '--level', '1')).code).toBe(1);
		expect(await rowOf(name)).toEqual(before);
	});

	it('move a gateway to another router, but not away from buyers with time left', async () => {
		const { name } = await registerGateway(fixture().server, 'opennds', {
			loginHost: '192.168.8.1',
			router: 7
		});
		expect((await set(name, '--router', '8')).code).toBe(0);
		expect(await rowOf(name)).toMatchObject({ router_id: 8 });
		await fixture().buy({ router_id: 8 });
		const refused = await set(name, '--router', '7');
		expect(refused).toMatchObject({
			code: 1,
			stderr: expect.stringContaining('buyers have time left at router 8')
		});
		expect(await rowOf(name)).toMatchObject({ router_id: 8 });
	});
});

describe('a MikroTik', () => {
	let first: RouterOs;
	let second: RouterOs;

	beforeAll(async () => {
		first = await startRouterOs(ROUTER_OS);
		second = await startRouterOs(ROUTER_OS);
	});
	afterAll(async () => {
		await first.stop();
		await second.stop();
	});

	it('goes from RADIUS to its REST API, and to another address, with its buyers', async () => {
		const { server } = fixture();
		const at = { kind: 'mikrotik', access: 'portal_login', router: 9, nas: '10.8.0.9' } as const;
		const { key, name, advice } = await registerRadius(fixture(), at);
		expect(advice).toContain(`RouterOS 7 needs no RADIUS server: "gateways set ${name} --control rest `);
		const { session } = await fixture().buy({ router_id: 9 });
		const keyFile = path.join(server.dataDir, 'rest.key');
		writeFileSync(keyFile, ROUTER_OS.password);
		const rest = ['--control', 'rest', '--api-user', ROUTER_OS.user, '--api-key-file', keyFile];
		const toRest = await set(name, ...rest, '--api', first.url);
		expect(toRest).toMatchObject({ code: 0, stdout: expect.stringContaining(`/splash/${key}\n`) });
		const user = loginUser(session.id);
		await eventually('the first one knows the buyer', async () => first.user(user));

		const back = await set(name, '--control', 'radius');
		expect(back).toMatchObject({
			code: 1,
			stderr: expect.stringMatching(/^control: buyers are online there \(1\)/)
		});

		expect((await set(name, '--api', second.url)).code).toBe(0);
		await eventually('the second one knows the buyer', async () => second.user(user));
		expect(await fixture().api.getSession(session.id)).toMatchObject({ status: 'active' });
	});
});
