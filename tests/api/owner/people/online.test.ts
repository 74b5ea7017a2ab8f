/** Owners see online devices, their data and gateways; doctor reports the same gateways. */
import { beforeAll, describe, expect, it } from 'vitest';
import { registerGateway } from '../../../support/gateways/gateways.ts';
import { addRouter, newOwner, type Owner } from '../../../support/pages/owners.ts';
import { cli } from '../../../support/server/cli.ts';
import { connect, recordResponse, later, minute, minutes } from '../../../support/gateways/watch.ts';
import { DATABASES, useFixture } from '../../../support/server/fixture.ts';

describe.each(DATABASES)('on %s', (database) => {
	const fixture = useFixture({ database });
	let owner: Owner;
	let router: number;
	let gateway: string;

	const register = async (kind: 'coova' | 'opennds', more: string[] = []) =>
		(await registerGateway(fixture().server, kind, { loginHost: '10.1.0.1', router, more })).name;

	beforeAll(async () => {
		owner = await newOwner(fixture());
		router = await addRouter(fixture(), owner.accountId, { name: 'Roof bar' });
		gateway = await register('coova');
	});

	it('says nothing of what nobody knows', async () => {
		const page = await owner.get(`/owner/routers/${router}`);
		expect(page.text).toContain('no response yet');
		expect(page.text).toContain('Devices online now not known');
		// A router without a gateway has no such part at all.
		const bare = await addRouter(fixture(), owner.accountId, { name: 'Bare' });
		expect((await owner.get(`/owner/routers/${bare}`)).text).not.toContain('Usage');
	});

	it('counts devices on connections that were reported on lately', async () => {
		const device = { gateway, mac: '02:00:00:00:01:01' };
		await recordResponse(fixture(), [gateway], { clockOffsetMs: 42_000 });
		await connect(fixture(), device);
		await connect(fixture(), device);
		await connect(fixture(), { gateway, seenAgoMs: 4 * minute });
		await connect(fixture(), { gateway, stoppedAgoMs: minute });
		const page = await owner.get(`/owner/routers/${router}`);
		expect(page.text).toContain('Devices online now 1');
		expect(page.text).toContain('its clock is 42 s ahead');
		expect((await owner.get('/owner/routers')).text).toContain('1 online');
	});

	it('shows since when a router has not responded, and the next step', async () => {
		const poll = await register('opennds', ['--level', '4']);
		const name = await addRouter(fixture(), owner.accountId, { name: 'Court' });
		await fixture().sql.run('update gateways set router_id = ? where name = ?', name, poll);
		await minutes(fixture(), 2, [poll, gateway]);
		expect((await owner.get(`/owner/routers/${name}`)).text).toContain('responding');
		await minutes(fixture(), 3, [gateway]);
		const page = await owner.get(`/owner/routers/${name}`);
		expect(page.text).toMatch(/This router has not responded since [\w ,]+ \d\d:\d\d, so it sells no time\./);
		expect((await owner.get('/owner/routers')).text).toMatch(/no response since [\w ,]+ \d\d:\d\d/);
		const { stdout } = await cli(['doctor'], fixture().server);
		expect(stdout).toMatch(
			new RegExp(`^warn gateways: ${poll}, last message: unresponsive for \\d minutes - `, 'm')
		);
		expect(stdout).toMatch(new RegExp(`^warn gateways: ${gateway}, clock: its clock is 42 s ahead of`, 'm'));
		expect(stdout).not.toMatch(/^FAIL gateways/m);
		const list = await cli(['gateways', 'list'], fixture().server);
		expect(list.stdout).toMatch(
			new RegExp(`^${poll} +opennds +${name} Court +20\\S+Z +unresponsive since 20\\S+Z`, 'm')
		);
	});

	it('doctor fails for a gateway that lacks what it cannot work without', async () => {
		const { sql, server } = fixture();
		const [kept] = await sql.all('select credentials_sealed from gateways where name = ?', gateway);
		await sql.run(
			'update gateways set credentials_sealed = null, trouble = ? where name = ?',
			'Odd.',
			gateway
		);
		const { code, stdout } = await cli(['doctor'], server);
		expect(stdout).toMatch(
			new RegExp(`^FAIL gateways: ${gateway}, secrets: missing: RADIUS secret .*, token .* - `, 'm')
		);
		expect(stdout).toMatch(
			new RegExp(`^warn gateways: ${gateway}, last attempt: Odd - Airtill tries again`, 'm')
		);
		expect(code).toBe(1);
		await sql.run(
			'update gateways set credentials_sealed = ?, trouble = null where name = ?',
			String(kept?.['credentials_sealed']),
			gateway
		);
	});

	it('shows of each person whether the device is connected, and the data of that time', async () => {
		const { sql } = fixture();
		const { session } = await fixture().buy({ router_id: router, duration: '1h' });
		const other = await fixture().buy({ router_id: router, duration: '1h' });
		expect(other.session.status).toBe('active');
		const passId = session.pass_id;
		await connect(fixture(), {
			gateway,
			passId,
			startedAgoMs: 0,
			bytesIn: 20_000_000,
			bytesOut: 100_000_000
		});
		const people = await owner.get('/owner/customers?group=active');
		expect(people.text).toContain('connected · 120 MB used');
		expect(people.text).toMatch(/\+256\*{5}\d{4}/);
		for (const secret of [session.phone, session.password ?? 'none'])
			expect(people.html).not.toContain(secret);
		// Of the other nothing is known, and nothing is said.
		expect(people.text.match(/connected ·/g)).toHaveLength(1);
		await sql.run('update connections set stopped_at = seen_at where pass_id = ?', passId);
		expect((await owner.get('/owner')).text).toContain('not connected · 120 MB used');

		// Added time: what a connection used counts in the time in which it began.
		const added = await fixture().api.createSession({ router_id: router, extends_session_id: session.id });
		const payment = await fixture().api.pay(added);
		expect(await fixture().decided(payment)).toMatchObject({ applied: true });
		await later(fixture(), 70 * minute);
		await connect(fixture(), { gateway, passId, startedAgoMs: 0, bytesOut: 7_000_000 });
		expect((await owner.get('/owner/customers?group=active')).text).toContain('connected · 7 MB used');
		expect((await owner.get('/owner/customers?group=expired')).text).toContain('120 MB used');
	});

	it('shows an owner nothing of another’s routers', async () => {
		const stranger = await newOwner(fixture());
		expect((await stranger.get('/owner')).text).not.toMatch(/GB|MB|connected|responding|no response/);
		expect((await stranger.get(`/owner/routers/${router}`)).status).toBe(404);
	});
});
