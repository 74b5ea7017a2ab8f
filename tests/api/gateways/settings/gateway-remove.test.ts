/** The removal of a gateway that Airtill controls: nobody can disconnect its devices later. */
import { afterAll, describe, expect, it } from 'vitest';
import type { RouterOs } from '../../../simulators/gateway/routeros.ts';
import { numberEnding } from '../../../support/api/api.ts';
import { connectRouterOs, newMac, ROUTER_OS_ROUTER } from '../../../support/gateways/consoles.ts';
import { cli } from '../../../support/server/cli.ts';
import { DATABASES, eventually, useFixture } from '../../../support/server/fixture.ts';

const MINUTE = 60_000;

describe.each(DATABASES)('on %s', (kind) => {
	const fixture = useFixture({ database: kind });
	const hotspots: RouterOs[] = [];
	afterAll(async () => {
		for (const hotspot of hotspots) await hotspot.stop();
	});

	const remove = (...args: string[]) => cli(['gateways', 'remove', ...args], fixture().server);
	const isThere = async (name: string) =>
		(await fixture().sql.count('select count(*) from gateways where name = ?', name)) === 1;

	/** A hotspot with a user who has bought and is online. */
	async function hotspotWithBuyer(name: string) {
		const { api } = fixture();
		const hotspot = await connectRouterOs(fixture(), name);
		hotspots.push(hotspot);
		const session = await api.createSession({ router_id: ROUTER_OS_ROUTER, phone: numberEnding('008') });
		const { id } = session;
		await api.getPayment((await api.pay(session)).id, 20);
		await eventually('it is active', async () => (await api.getSession(id)).status === 'active');
		const user = `s${id}`;
		await eventually('its user is there', async () => hotspot.user(user) !== null);
		const { password } = await api.getSession(id);
		expect(hotspot.signIn(user, password ?? '', newMac())).toBe('online');
		return { hotspot, id, user };
	}

	it('is refused while a buyer has access, and done when the time has ended', async () => {
		const { hotspot, id, user } = await hotspotWithBuyer('busy');
		const refused = await remove('busy');
		expect(refused).toMatchObject({ code: 1, stdout: '' });
		expect(refused.stderr).toContain('name: buyers have access there (1)');
		expect(refused.stderr).toContain('or use --force');
		expect(await isThere('busy')).toBe(true);
		expect(hotspot.isOnline(user)).toBe(true);

		await fixture().api.endSession(id);
		await eventually('the user is gone', async () => hotspot.user(user) === null);
		await fixture().server.advance(MINUTE);
		await eventually('it is removed', async () => (await remove('busy')).code === 0);
		expect(await isThere('busy')).toBe(false);
	});

	it('disconnects by force what answers', async () => {
		const { hotspot, user } = await hotspotWithBuyer('given-up');
		const forced = await remove('given-up', '--force');
		expect(forced).toMatchObject({ code: 0 });
		expect(forced.stderr).toContain('Disconnected devices: 1.');
		expect(forced.stderr).not.toContain('stay online');
		expect(await isThere('given-up')).toBe(false);
		expect(hotspot.user(user)).toBeNull();
		expect(hotspot.isOnline(user)).toBe(false);
	});

	it('reports by force what stays on a hotspot that is gone', async () => {
		const { hotspot, user } = await hotspotWithBuyer('dead');
		hotspot.fail('down');
		const forced = await remove('dead', '--force');
		expect(forced).toMatchObject({ code: 0 });
		expect(forced.stderr).toContain('Disconnected devices: 0.');
		expect(forced.stderr).toMatch(/[1-9] devices may stay online there/);
		expect(forced.stderr).toContain(`[find comment="${hotspot.user(user)?.['comment']}"]`);
		expect(await isThere('dead')).toBe(false);
	});
});
