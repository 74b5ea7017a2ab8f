/** Secrets of a gateway that its owner connected: shown when asked, replaced, and mended. */
import { expect, it } from 'vitest';
import { createSecrets } from '../../../../src/lib/server/platform/secrets.ts';
import { selfSigned } from '../../../support/gateways/certificates.ts';
import { fieldValue } from '../../../support/pages/browsing.ts';
import { SECRET, useFixture } from '../../../support/server/fixture.ts';
import {
	added,
	audit,
	codeOf,
	faskeyOf,
	mikrotik,
	OPENNDS,
	owner,
	path,
	portalOf,
	router,
	rows,
	unifi,
	useNewOwners
} from './gateway-page.ts';

const fixture = useFixture({ database: 'sqlite' });
useNewOwners(fixture);

it('openNDS gets new secrets and another address of its sign-in page at the same portal address', async () => {
	const page = await added(OPENNDS);
	const portal = portalOf(await owner.get(page));
	const old = faskeyOf(await owner.post(`${page}?/config`));
	expect([portal, old]).toEqual([expect.stringMatching(/splash/), expect.stringMatching(/^\w{32}$/)]);
	const secrets = fieldValue(await owner.get(page), 'secrets');
	expect((await owner.post(`${page}?/rotate`, { secrets })).text).toContain('The secrets were replaced.');
	const fresh = faskeyOf(await owner.post(`${page}?/config`));
	expect(fresh).not.toBe(old);
	// The same form again changes nothing, and the page says so.
	const again = await owner.post(`${page}?/rotate`, { secrets });
	expect(again.text).toContain('The secrets were already replaced, and have not changed now.');
	expect(faskeyOf(await owner.post(`${page}?/config`))).toBe(fresh);
	const open = fieldValue(await owner.get(page), 'secrets');
	await owner.post(`${page}?/change`, { loginHost: '192.168.8.1' });
	expect((await rows())[0]).toMatchObject({ login_hosts: '["192.168.8.1"]' });
	// A form from before a change of other settings replaces them too.
	expect((await owner.post(`${page}?/rotate`, { secrets: open })).path).toMatch(/done=rotated$/);
	expect(faskeyOf(await owner.post(`${page}?/config`))).not.toBe(fresh);
	const after = await owner.get(page);
	expect([portalOf(after), fieldValue(after, 'loginHost')]).toEqual([portal, '192.168.8.1']);
});

it('shows secrets only when asked, writes them to no log, and records who saw them', async () => {
	const page = await added(OPENNDS);
	const config = await owner.post(`${page}?/config`);
	const key = faskeyOf(config);
	const [, file = ''] =
		/download="airtill-opennds\.sh" href="data:text\/plain;charset=utf-8,([^"]*)"/.exec(config.html) ?? [];
	expect(decodeURIComponent(file)).toContain(key);
	expect((await owner.get(page)).html).not.toContain(key);
	const entries = (await audit()).filter(({ actor }) => actor === `account ${owner.accountId}`);
	expect(entries.map(({ action }) => action)).toEqual([...['gateway.added', 'gateway.config_shown']]);
	expect(JSON.stringify(entries) + fixture().server.stderr()).not.toContain(key);
});

it('replaces a key that was entered wrong with the one of the next form', async () => {
	const key = fieldValue(await owner.get(`${path}?kind=unifi`), 'key');
	const page = (await owner.post(path, { ...unifi(), key })).path.replace(/\?.*/, '');
	const apiKey = async () => {
		const [row] = await rows();
		const context = `gateway-credentials:${String(row?.['name'])}`;
		const opened = createSecrets(SECRET).decrypt(String(row?.['credentials_sealed']), context);
		return (JSON.parse(opened) as { apiKey: string }).apiKey;
	};
	expect(await apiKey()).toBe('fake-key');
	await owner.post(path, { ...unifi(), key, apiKey: 'fake-key-2' });
	expect(await apiKey()).toBe('fake-key-2');
	// The forms of one page, sent one after the other.
	for (const [newKey, done] of [
		['fake-key-3', 'rotated'],
		['fake-key-4', 'rotated'],
		['fake-key-4', 'unchanged']
	] as const) {
		expect((await owner.post(`${page}?/rotate`, { newKey })).path).toMatch(new RegExp(`done=${done}$`));
		expect(await apiKey()).toBe(newKey);
	}
});

it.each([OPENNDS, mikrotik, unifi])(
	'mends a gateway that cannot be read with new secrets: %o',
	async (entered) => {
		const page = await added(typeof entered === 'function' ? entered() : entered);
		const columns = ['key_sealed', 'credentials_sealed'].map((column) => `${column} = 'v1.damaged'`);
		await fixture().sql.run(`update gateways set ${columns.join(', ')} where router_id = ?`, router);
		const shown = await owner.get(page);
		expect([shown.status, shown.text]).toEqual([200, expect.stringContaining('cannot read the secrets')]);
		expect((await owner.get(`/owner/routers/${router}`)).status).toBe(200);
		expect((await owner.get('/owner')).status).toBe(200);
		expect((await owner.post(`${page}?/config`)).status).toBe(409);
		const secrets = fieldValue(shown, 'secrets');
		await owner.post(`${page}?/rotate`, { secrets, newKey: 'fake-key-2' });
		expect((await owner.get(page)).text).not.toContain('cannot read the secrets');
		const config = await owner.post(`${page}?/config`);
		expect(config.status).toBe(200);
		if (entered === mikrotik)
			expect(codeOf(config).join()).toMatch(/user add name="airtill" group=airtill password="\w{32}"/);
	}
);

it('counts a MikroTik as new that Airtill would trust by another certificate', async () => {
	const page = await added(mikrotik());
	const seen = async () =>
		(await fixture().sql.all('select seen_at from gateways where router_id = ?', router))[0];
	await fixture().sql.run('update gateways set seen_at = 1 where router_id = ?', router);
	await owner.post(`${page}?/change`, { ...mikrotik(), loginHost: '10.5.50.2' });
	expect(await seen()).toEqual({ seen_at: 1 });
	const { cert } = selfSigned('router.example');
	expect((await owner.post(`${page}?/change`, { ...mikrotik(), apiCertificate: cert })).path).toMatch(
		/changed/
	);
	expect(await seen()).toEqual({ seen_at: null });
});
