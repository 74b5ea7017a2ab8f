/** An owner connects a gateway to a router on the owner pages, and nobody else can see or touch it. */
import { execFileSync } from 'node:child_process';
import { beforeEach, describe, expect, it } from 'vitest';
import { numberEnding } from '../../../support/api/api.ts';
import { addConsole } from '../../../support/gateways/consoles.ts';
import { browse, fieldValue, signInAs } from '../../../support/pages/browsing.ts';
import { alertOf, newOwner, type Owner } from '../../../support/pages/owners.ts';
import { hourOn } from '../../../support/pages/splash.ts';
import { useFixture } from '../../../support/server/fixture.ts';
import {
	accessPoint,
	add,
	added,
	audit,
	codeOf,
	mikrotik,
	newRouter,
	OPENNDS,
	owner,
	path,
	router,
	rows,
	settings,
	unifi,
	useNewOwners
} from './gateway-page.ts';

const fixture = useFixture({ database: 'sqlite' });
useNewOwners(fixture);

it('openNDS waits until its router responds, and then says so', async () => {
	await fixture().sql.run('update routers set disabled_at = 1, disabled_by_owner = 1 where id = ?', router);
	const page = await added(OPENNDS);
	expect(await settings()).toEqual({ level: 1 });
	const before = await owner.get(page);
	expect(before.text).toContain('Waiting for the router.');
	expect(before.html).toContain('data-refresh="10"');
	expect(before.text).not.toContain('Steps to start selling');
	expect(alertOf(await owner.post(`${page}?/test`))).toContain('has not contacted Airtill yet');

	// The script is what the router runs.
	const shown = await owner.post(`${page}?/config`);
	const [script = ''] = codeOf(shown);
	expect(() => execFileSync('sh', ['-n', '-c', script])).not.toThrow();
	const [, address = '', token = ''] = /ADDRESS='(.*)'\nTOKEN='(.*)'/.exec(script) ?? [];
	const body = new URLSearchParams({
		method: 'auth_client',
		mac: '02:00:00:00:00:01',
		token: '0',
		ip: '192.0.2.1',
		custom: 'czA='
	});
	await fetch(address, {
		...{ method: 'POST', body, headers: { authorization: `Bearer ${token}` } }
	});
	const after = await owner.get(page);
	expect(after.text).toContain('last response:');
	expect(after.text).not.toContain('Waiting for the router.');
	expect(after.html).toContain(`href="/owner/routers/${router}#steps"`);
	expect(alertOf(await owner.post(`${page}?/test`))).toContain('has contacted Airtill');
});

it('an older page replaces newer settings only after a warning, and keeps what was typed', async () => {
	const page = await added(OPENNDS);
	const version = fieldValue(await owner.get(page), 'version');
	const change = (loginHost: string, shown: string) =>
		owner.post(`${page}?/change`, { loginHost, version: shown });
	// The second form is the first one, sent twice.
	expect((await change('192.168.8.1', version)).path).toMatch(/done=changed$/);
	expect((await change('192.168.8.1', version)).path).toMatch(/done=changed$/);
	const refused = await change('192.168.8.2', version);
	expect([refused.status, alertOf(refused)]).toEqual([
		409,
		'Somebody else changed these settings after you opened the page. Check yours, then save again to replace theirs.'
	]);
	expect(fieldValue(refused, 'loginHost')).toBe('192.168.8.2');
	expect((await rows())[0]).toMatchObject({ login_hosts: '["192.168.8.1"]' });
	await change('192.168.8.2', fieldValue(refused, 'version'));
	expect((await rows())[0]).toMatchObject({ login_hosts: '["192.168.8.2"]' });
});

it('adds one gateway for a form that is sent several times, also at once, and takes its last values', async () => {
	const key = fieldValue(await owner.get(`${path}?kind=opennds`), 'key');
	const sent = await Promise.all([1, 2, 3].map(() => owner.post(path, { ...OPENNDS, key })));
	expect(new Set(sent.map((page) => page.path)).size).toBe(1);
	expect(await rows()).toHaveLength(1);
	const again = await owner.post(path, { ...OPENNDS, loginHost: '192.168.9.1', key });
	expect(again.path).toMatch(/done=added$/);
	expect(await rows()).toMatchObject([{ login_hosts: '["192.168.9.1"]' }]);
	const wrong = await owner.post(path, { ...OPENNDS, loginHost: '/', key });
	expect([wrong.status, fieldValue(wrong, 'loginHost')]).toEqual([400, '/']);
	await owner.post(path, { ...mikrotik(), key });
	expect((await rows()).map(({ kind }) => kind)).toEqual(['opennds', 'mikrotik']);
});

it('takes five gateways for a router, and another one after one is removed', async () => {
	const page = await added(OPENNDS);
	for (let count = 1; count < 5; count += 1) await added(OPENNDS);
	expect(alertOf(await add(OPENNDS))).toBe('A router can have at most 5 gateways.');
	expect(await rows()).toHaveLength(5);
	const removed = await owner.post(`${page}?/remove`);
	expect(removed.text).toContain('The gateway was removed.');
	expect(await rows()).toHaveLength(4);
	expect((await audit()).at(-1)).toMatchObject({
		...{ action: 'gateway.removed', actor: `account ${owner.accountId}` }
	});
	await added(OPENNDS);
	expect((await owner.post(`${page}?/remove`)).path).toBe(removed.path);
});

it('is not removed while buyers need it, unless another one serves them', async () => {
	const { sql } = fixture();
	const { api, decided } = fixture();
	const page = await added(OPENNDS);
	const isKept = async () => {
		expect(alertOf(await owner.post(`${page}?/remove`))).toContain('customers have access through it');
		expect(await rows()).toHaveLength(1);
	};
	const { id } = await api.createSession({ router_id: router, phone: numberEnding('123') });
	const payment = await api.pay(await api.getSession(id));
	await isKept();
	const session = await decided(payment).then(() => api.getSession(id));
	await sql.run('update gateways set seen_at = 1 where router_id = ?', router);
	const secrets = fieldValue(await owner.get(page), 'secrets');
	await owner.post(`${page}?/rotate`, { secrets });
	await isKept();
	await added(OPENNDS);
	await sql.run('update gateways set seen_at = 1 where router_id = ?', router);
	expect((await owner.post(`${page}?/remove`)).text).toContain('The gateway was removed.');
	expect((await fixture().api.getSession(session.id)).status).toBe('active');
});

describe('what Airtill would call or run', () => {
	it.each([
		...['https://127.0.0.1', 'https://10.0.0.8:8443', 'https://169.254.169.254', 'https://[fd00::1]'],
		...['https://localhost', 'http://8.8.8.8', 'file:///etc/passwd', 'https://user:word@router.example'],
		...['https://router.example:22', 'https://router.example:5432', '']
	])('is not "%s"', async (api) => {
		for (const fields of [mikrotik(), unifi()]) {
			const page = await add({ ...fields, api });
			expect(page.status).toBe(400);
			expect(/id="api-error"[^>]*>([^<]*)/.exec(page.html)?.[1]).toContain('Use a public address');
			expect(fieldValue(page, 'api')).toBe(api);
		}
		expect(await rows()).toEqual([]);
		const page = await added(mikrotik());
		expect((await owner.post(`${page}?/change`, { ...mikrotik(), api })).status).toBe(400);
		expect(await settings()).toMatchObject({ api: `https://router${router}.example/rest`, publicApi: true });
	});

	it('is no RADIUS client or other system', async () => {
		const more = {
			nas: '10.0.0.1',
			externalAccess: 'true',
			level: '1',
			control: 'radius'
		};
		await added({ ...OPENNDS, ...more });
		expect(await settings()).toEqual({ level: 1 });
		for (const kind of ['coova', 'hostapd', '']) {
			expect((await owner.post(path, { ...OPENNDS, kind })).status).toBe(400);
		}
	});

	it('fails at a name without a public address, and says so in plain words', async () => {
		const page = await added({ ...mikrotik(), api: 'https://router.invalid' });
		const tested = await owner.post(`${page}?/test`);
		expect(alertOf(tested)).toContain('Airtill cannot reach the router.');
	});
});

describe('another owner', () => {
	let other: Owner;
	beforeEach(async () => {
		other = await newOwner(fixture());
	});

	it('does not reach a gateway below a router of the own', async () => {
		const page = await added(OPENNDS);
		const before = [await rows(), (await audit()).length];
		const own = page.replace(`/${router}/`, `/${await newRouter(other)}/`);
		expect((await other.get(own)).status).toBe(404);
		for (const action of ['?/config', '?/test', '?/change', '?/rotate', '?/remove']) {
			expect([action, (await other.post(own + action, OPENNDS)).status]).toEqual([action, 404]);
		}
		expect([await rows(), (await audit()).length]).toEqual(before);
	});

	it('cannot use the same console, and does not learn whose it is', async () => {
		await added(unifi());
		const own = await newRouter(other);
		const [first] = await rows();
		const mine = { ...unifi(), api: 'https://other.example', accessPoints: accessPoint(own) };
		for (const fields of [
			{ ...mine, api: unifi().api },
			{ ...mine, accessPoints: '' }
		]) {
			const page = await add(fields, other, `/owner/routers/${own}/gateway`);
			expect(page.status).toBe(400);
			expect(page.html).not.toContain(String(first?.['name']));
			expect(page.html).not.toContain('fake-key');
		}
		expect(await rows(own)).toEqual([]);
	});

	it('that registers the same access point takes it off sale for both, until an administrator decides', async () => {
		const { server, sql } = fixture();
		const [mine, claimed, second] = ['02:00:5e:11:00:01', '02-00-5E-11-00-02', '02:00:5e:11:00:02'];
		const page = await added({ ...unifi(), accessPoints: `${mine} ${second}` });
		const own = await newRouter(other);
		const at = `/owner/routers/${own}/gateway`;
		const person = browse(server.url);
		const entry = (point: string) =>
			person.get(`/guest/s/default/?ap=${point}&id=02:00:00:00:07:01&t=1&url=http://example.com/&ssid=X`);
		const open = await entry(second);
		expect(open.html).toContain('name="time"');
		const rival = { ...unifi(), api: `https://console${own}.example`, accessPoints: claimed };
		const registered = await add(rival, other, at);
		expect(registered.path).toMatch(/done=added$/);
		const rivalPage = registered.path.replace(/\?.*/, '');

		// Neither sells there, also not to a device that came before; elsewhere nothing changes.
		const disputed = await entry(second);
		expect([disputed.status, disputed.html.includes('<form method="post"')]).toEqual([409, false]);
		expect(disputed.text).toContain('Paid already? Do not pay again. Enter your code');
		const { action, fields } = hourOn(open);
		const before = await sql.count('select count(*) from purchases');
		expect((await person.post(action, fields)).path).not.toMatch(/^\/s\//);
		expect(await sql.count('select count(*) from purchases')).toBe(before);
		expect((await entry(mine)).html).toContain('name="time"');
		for (const [who, where] of [
			[owner, page],
			[other, rivalPage]
		] as const) {
			const shown = await who.get(where);
			expect(shown.text).toContain(`Another account has also registered the access point ${second}.`);
		}

		// Whoever buys elsewhere would not get in either, unless the router has an access point of its own.
		const { api } = await fixture().newKey();
		const anHour = { duration: '1h', payment_method: 'mobile_money', phone: numberEnding('008') };
		const order = { body: { ...anHour, router_id: own } };
		await api.refused('400 router_unavailable', 'POST', '/v1/sessions', order);
		await api.createSession({ ...anHour, router_id: router });

		const admin = await signInAs(server, 'admin');
		const decide = (router: number) =>
			admin.post(`/admin/routers/${router}?/points`, { note: 'an invoice of the device' });
		expect((await admin.get(`/admin/routers/${own}`)).text).toContain(
			`The access point ${second} is sold by nobody until you decide. Also registered by router ${router} of `
		);
		expect((await decide(own)).text).toContain('The access points belong to the account of this router.');
		expect((await entry(second)).html).toContain(`/splash/`);
		await api.createSession({ ...anHour, router_id: own });
		expect((await other.get(rivalPage)).text).not.toContain('Another account');
		expect((await owner.get(page)).text).toContain(`the access point ${second} belongs to another account`);
		expect((await entry(mine)).html).toContain('name="time"');
		// The other one can be right after all; a decision is one of a person, in the audit log.
		expect((await decide(router)).text).toContain('The access points belong to the account of this router.');
		expect((await owner.get(page)).text).not.toContain('another account');
		expect((await other.get(rivalPage)).text).toContain(
			`the access point ${second} belongs to another account`
		);
		const decisions = (await audit()).filter(({ action }) => action === 'gateway.access_points_decided');
		expect(decisions.map(({ router_id: of, reason }) => [of, reason])).toEqual([
			[own, 'an invoice of the device'],
			[router, 'an invoice of the device']
		]);
	});

	it('may have a console with the same site name: the access point names the router', async () => {
		await added(unifi());
		const own = await newRouter(other);
		const mine = { ...unifi(), api: `https://console${own}.example`, accessPoints: accessPoint(own) };
		const entry = (point: string) =>
			browse(fixture().server.url).get(
				`/guest/s/default/?ap=${point}&id=02:00:00:00:07:01&t=1&url=http://example.com/&ssid=X`
			);
		// The only console of that name is not the one of every access point that points here.
		expect((await entry(accessPoint(own))).status).toBe(404);
		expect((await add(mine, other, `/owner/routers/${own}/gateway`)).path).toMatch(/done=added$/);
		const keyOf = async (id: number) => {
			const { html } = await entry(accessPoint(id));
			return /\/splash\/([\w-]{24})\//.exec(html)?.[1];
		};
		const keys = [await keyOf(router), await keyOf(own)];
		expect(new Set(keys).size).toBe(2);
		expect(keys).not.toContain(undefined);
	});
});

it('leaves a gateway to the administrator who has given it an address and a key', async () => {
	const args = ['managed', '--router', String(router), '--kind', 'mikrotik', '--login-host', '10.5.50.1'];
	const api = ['--control', 'rest', '--api', 'https://10.8.0.2', '--api-user', 'ada'];
	await addConsole(fixture(), [...args, ...api], 'a-secret-of-the-administrator');
	const page = `${path}/${(await rows())[0]?.['id']}`;
	expect((await owner.get(page)).text).toContain('The administrator manages this gateway.');
	for (const action of ['config', 'test', 'change', 'rotate']) {
		const answer = await owner.post(`${page}?/${action}`, { ...mikrotik(), api: 'https://mine.example' });
		expect([answer.status, answer.html.includes('a-secret')]).toEqual([403, false]);
	}
});
