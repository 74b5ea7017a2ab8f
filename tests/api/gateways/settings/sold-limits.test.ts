/** Limits that are sold hold gateways and their settings: no change may leave them without effect. */
import { describe, expect, it } from 'vitest';
import { gatewayName, registerRadius } from '../../../support/gateways/gateways.ts';
import { cli } from '../../../support/server/cli.ts';
import { limitedSales } from '../../../support/gateways/limited-sales.ts';
import { useFixture } from '../../../support/server/fixture.ts';

const DOWN = { speed_down_kbps: 5000 };
/** A demo router. */
const WIFI = 9;

const fixture = useFixture({ database: 'sqlite' });
const { setOffers, sell } = limitedSales(fixture);

describe('a router that sells a speed', () => {
	const add = (...options: string[]) => cli(['gateways', 'add', gatewayName(), ...options], fixture().server);

	it('has no gateway that cannot hold it, and keeps its last one', async () => {
		const { name } = await registerRadius(fixture(), {
			...{ kind: 'mikrotik', access: 'portal_login', router: WIFI }
		});
		await fixture().sql.run("update routers set access_kind = 'wpa_personal_per_client' where id = ?", WIFI);
		await sell(WIFI, DOWN);
		const added = await add('--router', String(WIFI), '--kind', 'hostapd');
		expect(added.code).not.toBe(0);
		expect(added.stderr).toContain(`router ${WIFI} sells "Hour 0" with a limit.`);
		expect(added.stderr).toContain('cannot limit the speed');
		const removed = await cli(['gateways', 'remove', name], fixture().server);
		expect(removed.code).not.toBe(0);
		expect(removed.stderr).toContain('nothing limits the speed');
		expect(await fixture().sql.count('select count(*) from gateways where router_id = ?', WIFI)).toBe(1);
		await setOffers(WIFI);
		expect((await add('--router', String(WIFI), '--kind', 'hostapd')).code).toBe(0);
		expect((await cli(['gateways', 'remove', name], fixture().server)).code).toBe(0);
		expect((await setOffers(WIFI, DOWN)).detail).toContain('(hostapd) cannot limit the speed');
	});

	it('keeps a gateway that holds it when the gateway is changed', async () => {
		const { name } = await registerRadius(fixture(), {
			...{ kind: 'mikrotik', access: 'portal_login', router: 21 }
		});
		await sell(21, DOWN);
		const moved = await cli(['gateways', 'set', name, '--router', '20'], fixture().server);
		expect(moved.code).not.toBe(0);
		expect(moved.stderr).toContain('nothing limits the speed');
		await setOffers(21);
		expect((await cli(['gateways', 'set', name, '--router', '20'], fixture().server)).code).toBe(0);
	});
});

describe('a router that sells data', () => {
	const [HOTSPOT, ENTERPRISE] = [22, 23];
	const DATA = { data_limit_mb: 500 };
	const run = async (...command: string[]) => {
		const { code, stderr } = await cli(command, fixture().server);
		expect(code).not.toBe(0);
		return stderr;
	};

	it('has gateways that report by RADIUS and can be sent Disconnect-Requests', async () => {
		const { name } = await registerRadius(fixture(), {
			...{ kind: 'mikrotik', access: 'portal_login', router: HOTSPOT }
		});
		expect((await setOffers(HOTSPOT, DATA)).detail).toContain('only with an address for Disconnect-Requests');
		expect((await cli(['gateways', 'set', name, '--nas', '10.8.0.22'], fixture().server)).code).toBe(0);
		await sell(HOTSPOT, DATA);
		const sold = `router ${HOTSPOT} sells "Hour 0" with a limit.`;
		expect(await run('gateways', 'set', name, '--nas', '')).toContain(sold);
		// The end of a pass is all that EAP passes on.
		const eap = await run('routers', 'access', String(HOTSPOT), '--kind', 'wpa_enterprise');
		expect(eap).toMatch(
			/^kind: router 22 sells "Hour 0" with a limit\. .* holds no limits with wpa_enterprise\./
		);
		// An offer from before, which its gateway does not hold, hinders no change that leaves it as it is.
		await fixture().sql.run("update routers set access_kind = 'wpa_enterprise' where id = ?", HOTSPOT);
		const other = ['gateways', 'set', name, '--nas', '10.8.0.32'];
		expect(await cli(other, fixture().server)).toMatchObject({ code: 0 });
		const kind = ['routers', 'access', String(HOTSPOT), '--kind', 'portal_login'];
		expect(await cli(kind, fixture().server)).toMatchObject({ code: 0 });
		expect(await run('gateways', 'set', name, '--nas', '')).toContain(sold);
		await setOffers(HOTSPOT);
	});

	it('knows whose data it is', async () => {
		await registerRadius(fixture(), {
			...{ kind: 'hostapd', access: 'wpa_personal_per_client', router: ENTERPRISE, nas: '10.8.0.23' }
		});
		expect((await setOffers(ENTERPRISE, DATA)).detail).toContain('only with wpa_enterprise');
		const access = ['routers', 'access', String(ENTERPRISE), '--kind'];
		expect((await cli([...access, 'wpa_enterprise'], fixture().server)).code).toBe(0);
		await sell(ENTERPRISE, DATA);
		expect(await run(...access, 'wpa_personal_per_client')).toMatch(/^kind: .*only with wpa_enterprise/);
		await fixture().sql.run(`update routers set access_kind = 'shared_password' where id = ?`, ENTERPRISE);
		expect((await setOffers(ENTERPRISE, DATA)).detail).toContain('Everybody has the same password');
	});
});
