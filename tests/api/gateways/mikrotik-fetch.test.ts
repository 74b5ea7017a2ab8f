/** A MikroTik that fetches: from the pasted line on, it makes every connection itself. */
import { beforeAll, describe, expect, it } from 'vitest';
import { loginUser } from '#lib/domain/wifi.ts';
import { createRouterOsConsole, type RouterOsConsole } from '../../simulators/gateway/routeros-console.ts';
import { numberEnding, type Order, type Session } from '../../support/api/api.ts';
import { admissionsOf } from '../../support/gateways/admissions.ts';
import { newMac } from '../../support/gateways/consoles.ts';
import { later } from '../../support/gateways/watch.ts';
import { browse, fieldValue, type Browsing } from '../../support/pages/browsing.ts';
import { addRouter, newOwner, type Owner } from '../../support/pages/owners.ts';
import { buyHourOn } from '../../support/pages/splash.ts';
import { cli } from '../../support/server/cli.ts';
import { DATABASES, eventually, useFixture } from '../../support/server/fixture.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const MB = 1_000_000;
const MAX_SCRIPT = 3_900;

const textOf = (html: string, id: string) =>
	(new RegExp(`<textarea[^>]*id="${id}"[^>]*>([^<]*)</textarea>`).exec(html)?.[1] ?? '')
		.replaceAll('&lt;', '<')
		.replaceAll('&gt;', '>')
		.replaceAll('&quot;', '"')
		.replaceAll('&amp;', '&');

describe.each(DATABASES)('on %s', (database) => {
	const fixture = useFixture({ database });
	let owner: Owner;
	let id: number;
	let page: string;
	let router: RouterOsConsole;

	/** @returns the lines that the owner's page shows */
	async function makeLine(): Promise<{ line: string; removal: string }> {
		const form = { secrets: fieldValue(await owner.get(page), 'secrets') };
		const { html } = await owner.post(`${page}?/line`, form);
		// Sent twice, it makes no other key: the router that has this one goes on.
		expect((await owner.post(`${page}?/line`, form)).html).not.toContain('terminal-line');
		return { line: textOf(html, 'terminal-line'), removal: textOf(html, 'removal-line') };
	}
	async function connect(version: Parameters<typeof createRouterOsConsole>[0] = '7.15.3 (stable)') {
		owner = await newOwner(fixture());
		id = await addRouter(fixture(), owner.accountId, { access_kind: 'portal_login', security: 'nopass' });
		page = (await owner.post(`/owner/routers/${id}/gateway`, { kind: 'mikrotik-fetch' })).path;
		page = page.replace(/\?.*/, '');
		router = createRouterOsConsole(version);
	}
	const install = async () => router.paste((await makeLine()).line);
	/** Ten seconds go by, and the scheduler of the router runs. */
	async function step(ms = 10 * SECOND): Promise<void> {
		await fixture().server.advance(ms);
		router.pass(ms);
		await router.step();
	}
	const statusOf = async (session: number) => (await fixture().admin.getSession(session)).status;
	const gatewayRow = async () =>
		(await fixture().sql.all('select * from gateways where router_id = ? order by id', id))[0] ?? {};
	/** A buyer by the API, who has paid and waits for the router. */
	async function order(more: Partial<Order> = {}): Promise<Session & { user: string; pass: number }> {
		const { api, sql } = fixture();
		const { id: session } = await api.createSession({ router_id: id, phone: numberEnding('008'), ...more });
		await api.getPayment((await api.pay(await api.getSession(session))).id, 20);
		await fixture().becomes(session, 'activating');
		const [row] = await sql.all('select pass_id from sessions where id = ?', session);
		const pass = Number(row?.['pass_id']);
		return { ...(await api.getSession(session)), user: loginUser(pass), pass };
	}
	async function buy(more: Partial<Order> = {}) {
		const bought = await order(more);
		await step();
		await fixture().becomes(bought.id, 'active');
		return { ...bought, password: (await fixture().api.getSession(bought.id)).password ?? '' };
	}

	describe.each(['6.49.10 (long-term)', '7.15.3 (stable)'] as const)('RouterOS %s', (version) => {
		beforeAll(() => connect(version));

		it('lets the first buyer in after one line in its terminal', async () => {
			const before = await owner.get(page);
			expect(before.text).toContain('Waiting for the router.');
			expect(before.text).toContain('not yet run on a device');
			expect((await gatewayRow())['credentials_sealed']).toBeNull();
			const [, guide = ''] = /href="([^"]+\/mikrotik-that-fetches)"/.exec(before.html) ?? [];
			expect((await owner.get(guide)).text).toContain('Test sheet');
			const { line } = await makeLine();
			expect(line.length).toBeLessThan(400);
			await router.paste(line);
			expect(router.output.at(-1)).toMatch(/^Airtill: done/);
			await step();
			expect(await gatewayRow()).toMatchObject({ login_hosts: '["10.5.50.1"]', trouble: null });
			expect((await owner.get(page)).text).toContain('last response:');

			// The page of the hotspot sends a phone to the portal.
			const action = /action="[^"]*(\/splash\/[\w-]+)"/.exec(router.files.get('hotspot/login.html') ?? '');
			const person = browse(fixture().server.url);
			const form = { 'link-login-only': 'http://10.5.50.1/login', 'link-orig': 'http://example.com/' };
			const entry = await person.post(action?.[1] ?? '', {
				mac: newMac(),
				ip: '10.5.50.9',
				...form,
				error: ''
			});
			const path = await buyHourOn(person, entry);
			const session = await eventually('it is paid', async () => {
				const sql = "select id, pass_id from sessions where router_id = ? and status = 'activating'";
				return (await fixture().sql.all(sql, id))[0];
			});
			expect((await person.get(path)).text).not.toContain('You are connected');
			await step();
			await fixture().becomes(Number(session['id']), 'active');
			const location = await signInOf(person, path);
			const user = loginUser(Number(session['pass_id']));
			expect(location.host).toBe('10.5.50.1');
			expect(location.searchParams.get('username')).toBe(user);
			expect(router.signIn(user, location.searchParams.get('password') ?? '')).toBe('online');
			expect(Math.max(...router.fetched.map((script) => script.length))).toBeLessThanOrEqual(MAX_SCRIPT);

			// At the end of the time it is offline, although it would have time left by its own clock.
			await step(59 * MINUTE);
			expect(router.isOnline(user)).toBe(true);
			await fixture().server.advance(2 * MINUTE);
			await router.step();
			expect([router.isOnline(user), router.user(user)]).toEqual([false, undefined]);
			await fixture().becomes(Number(session['id']), 'expired');
			expect(await admissionsOf(fixture().sql, session['pass_id'])).toMatchObject([{ state: 'out' }]);
		});
	});

	const signInOf = async (person: Browsing, path: string) =>
		new URL((await person.raw(`${path}/online`)).headers.get('location') ?? '');

	describe('a router', () => {
		beforeAll(async () => {
			await connect();
			await install();
			await step();
		});

		it('keeps its users when it restarts, and gives nobody more time', async () => {
			const { user, password } = await buy();
			expect(router.signIn(user, password)).toBe('online');
			await step(30 * MINUTE);
			router.reboot();
			expect(router.signIn(user, password)).toBe('online');
			await step(29 * MINUTE);
			expect(router.isOnline(user)).toBe(true);
			await step(2 * MINUTE);
			expect(router.isOnline(user)).toBe(false);
		});

		it('gets a user again that it has lost', async () => {
			const { user, password } = await buy();
			router.rows('ip hotspot user').splice(0);
			// The next report says so.
			await step(30 * SECOND);
			await step();
			expect(router.signIn(user, password)).toBe('online');
		});

		it('gets the present end after it was set back to an earlier one', async () => {
			const { user, pass } = await buy();
			const old = { ...router.user(user) };
			const [before] = await admissionsOf(fixture().sql, pass);
			await fixture().sql.run('update passes set ends_at = ends_at + ? where id = ?', HOUR, pass);
			await step();
			const [later] = await admissionsOf(fixture().sql, pass);
			expect(Number(later?.['allowed_until'])).toBeGreaterThanOrEqual(
				Number(before?.['allowed_until']) + HOUR - MINUTE
			);
			const present = { ...router.user(user) };
			Object.assign(router.user(user) ?? {}, old);
			await step(30 * SECOND);
			await step();
			expect(router.user(user)?.['comment']).not.toBe(old['comment']);
			expect(String(router.user(user)?.['comment']).split(' ')[2]).toBe(
				String(present['comment']).split(' ')[2]
			);
		});

		it.each([
			['the report is lost', /\/report$/, 'before'],
			['the answer to the report is lost', /\/report$/, 'after'],
			['the script is lost', /\/script-/, 'after']
		] as const)('starts time once when %s', async (_what, path, when) => {
			const { id: session, user, pass } = await order();
			router.lose(path, when);
			await step();
			router.lose(null);
			const isHeard = path.source.includes('report') && when === 'after';
			expect(await statusOf(session)).toBe(isHeard ? 'active' : 'activating');
			await step();
			await fixture().becomes(session, 'active');
			const [row] = await admissionsOf(fixture().sql, pass);
			expect(row).toMatchObject({ state: 'in', problem: null });
			expect(router.rows('ip hotspot user').filter(({ name }) => name === user)).toHaveLength(1);
			expect(router.user(user)?.['limit-uptime']).toMatchObject({ seconds: expect.closeTo(3_615, -2) });
		});

		it('takes many buyers at once, in scripts that fit into a variable', async () => {
			const bought = await Promise.all(Array.from({ length: 9 }, () => order()));
			const before = router.fetched.length;
			await step();
			for (const { id: session } of bought) await fixture().becomes(session, 'active');
			expect(router.fetched.length).toBeGreaterThan(before + 1);
			expect(Math.max(...router.fetched.map((script) => script.length))).toBeLessThanOrEqual(MAX_SCRIPT);
		});

		it('leaves a user alone that somebody else made, and its buyer gets the money back', async () => {
			const { id: session, user, payment_id: payment } = await order();
			router.rows('ip hotspot user').push({ name: user, password: 'theirs', comment: 'the owner' });
			await step();
			expect(await statusOf(session)).toBe('activating');
			for (let minute = 0; minute < 11; minute += 1) await step(MINUTE);
			await fixture().becomes(session, 'cancelled');
			const [paid] = await fixture().sql.all('select * from payments where id = ?', Number(payment));
			expect(paid).toMatchObject({ applied: 0, refund_reason: 'provisioning_failed' });
			await step();
			expect(router.user(user)).toMatchObject({ password: 'theirs', comment: 'the owner' });
		});

		it('says when it fetches for a minute without a report', async () => {
			router.lose(/\/report$/);
			for (let seconds = 0; seconds < 80; seconds += 10) await step();
			expect((await gatewayRow())['trouble']).toContain('has not reported for a minute');
			router.lose(null);
			await step();
			expect((await gatewayRow())['trouble']).toBeNull();
		});

		it('loses no user by a report about others', async () => {
			const { user, pass } = await buy();
			const [before] = await admissionsOf(fixture().sql, pass);
			const { line } = await makeLine();
			const [, url = '', token = ''] =
				/url="([^"]+)\/setup" http-header-field="Authorization: ([^"]+)"/.exec(line) ?? [];
			const report = async (part: number) => {
				const body = `at ${fixture().server.now()}\npart ${part}\n`;
				const headers = { authorization: token };
				expect((await fetch(`${url}/report`, { method: 'POST', headers, body })).status).toBe(204);
				return (await admissionsOf(fixture().sql, pass))[0];
			};
			await fixture().server.advance(SECOND);
			expect(await report((pass + 1) % 10)).toEqual(before);
			expect(await report(pass % 10)).not.toEqual(before);
			await router.paste(line);
			await step();
			expect(router.user(user)).toBeDefined();
		});

		it('removes the user of a buyer who got the money back', async () => {
			router.lose(/\/report$/);
			const { id: session, user } = await order();
			await step();
			expect(router.user(user)).toBeDefined();
			for (let minute = 0; minute < 11; minute += 1) await step(MINUTE);
			await fixture().becomes(session, 'cancelled');
			router.lose(null);
			await step();
			expect(router.user(user)).toBeUndefined();
		});

		it('sells nothing while it is silent, and again after its next report', async () => {
			await step();
			const sells = async () => (await fixture().api.getRouter(id)).status;
			expect(await sells()).toBe('online');
			await eventually('it is offline', async () => {
				await fixture().server.advance(MINUTE);
				return (await sells()) === 'offline';
			});
			expect(Number((await gatewayRow())['missed_checks'])).toBe(1);
			await step();
			await eventually('it is online', async () => (await sells()) === 'online');
		});

		it('gives the time of an outage back, and its users stay as much longer', async () => {
			await step();
			const bought = await buy();
			const secondsOf = () =>
				Number((router.user(bought.user)?.['limit-uptime'] as { seconds?: number } | undefined)?.seconds);
			const before = secondsOf();
			for (let silent = 0; silent < 20; silent += 1) await later(fixture(), MINUTE);
			router.lose(/\/report$/);
			await step();
			expect((await gatewayRow())['trouble']).toBeNull();
			router.lose(null);
			await step();
			const extra = await eventually('the time is given', async () => {
				const { extra_seconds: seconds } = await fixture().api.getSession(bought.id);
				return seconds;
			});
			expect(extra).toBeGreaterThanOrEqual(20 * 60 - 10);
			expect(extra).toBeLessThan(23 * 60);
			await step();
			// As much time is left as before the outage.
			expect(Math.abs(secondsOf() - before)).toBeLessThan(3 * 60);
		});

		it('has the speed and the data of an offer', async () => {
			const { sql } = fixture();
			const { user, pass, id: session } = await order();
			await sql.run(
				'update passes set speed_down_kbps = 2000, speed_up_kbps = 512, data_limit_mb = 100, max_devices = 1 where id = ?',
				pass
			);
			await step();
			await fixture().becomes(session, 'active');
			const password = (await fixture().api.getSession(session)).password ?? '';
			expect(router.profileOf(user)).toMatchObject({ 'rate-limit': '512k/2000k', 'shared-users': 1 });
			expect(router.user(user)).toMatchObject({ 'limit-bytes-total': 100 * MB });
			const used = async () =>
				Number((await sql.all('select * from passes where id = ?', pass))[0]?.['data_used_bytes']);
			expect(router.signIn(user, password)).toBe('online');
			router.use(user, 30 * MB);
			await step();
			expect(await used()).toBe(30 * MB);
			const [counted] = await admissionsOf(sql, pass);
			await step();
			// Nothing was used meanwhile, so nothing is written.
			expect(await admissionsOf(sql, pass)).toEqual([counted]);
			// Its end moves while it is online: what the open connection has used is not taken off twice.
			await sql.run('update passes set ends_at = ends_at + 60000 where id = ?', pass);
			await sql.run('update sessions set expires_at = expires_at + 60000 where id = ?', session);
			await step();
			await step();
			expect(router.user(user)).toMatchObject({ 'limit-bytes-total': 100 * MB });
			// What the router adds to its user when the device leaves is not counted again.
			router.reboot();
			await step();
			expect(await used()).toBe(30 * MB);
			// The router forgets the user, and its counters begin again.
			router.rows('ip hotspot user').splice(0);
			await step();
			await step();
			expect(router.user(user)).toMatchObject({ 'limit-bytes-total': 70 * MB });
			expect(router.signIn(user, password)).toBe('online');
			router.use(user, 20 * MB);
			await step();
			expect(await used()).toBe(50 * MB);
			router.use(user, 50 * MB);
			expect(router.isOnline(user)).toBe(false);
			await step();
			expect(await used()).toBe(100 * MB);
			await step();
			expect(router.user(user)).toBeUndefined();
		});

		it('is refused like an unknown address with a wrong key', async () => {
			const { server } = fixture();
			const { line } = await makeLine();
			const [, url = ''] = /url="([^"]+)\/setup"/.exec(line) ?? [];
			const ask = async (address: string, key: string, method = 'GET') => {
				const response = await fetch(address, { method, headers: { authorization: `Bearer ${key}` } });
				return [response.status, await response.text()];
			};
			const wrong = 'x'.repeat(32);
			const unknown = await ask(`${server.url}/mikrotik/${'a'.repeat(24)}/setup`, wrong);
			expect(unknown).toEqual([404, '']);
			for (const file of ['setup', 'login.html', 'script-yes', 'nothing']) {
				expect(await ask(`${url}/${file}`, wrong), file).toEqual(unknown);
			}
			expect(await ask(`${url}/report`, wrong, 'POST')).toEqual(unknown);
			await router.paste(line);
			await step();
		});

		it('gets its line from the command line as well', async () => {
			const { server } = fixture();
			const named = ['by-command', '--router', String(id), '--kind', 'mikrotik-fetch'];
			const added = await cli(['gateways', 'add', ...named], server);
			const again = await cli(['gateways', 'rotate', 'by-command', '--token'], server);
			const lines = [added, again].map(({ stdout }) => /^{:local r .*$/m.exec(stdout)?.[0]);
			expect(lines[0]).toMatch(/\/mikrotik\/[\w-]{24}\/setup"/);
			expect(lines[1]).not.toBe(lines[0]);
			expect((await cli(['gateways', 'test', 'by-command'], server)).stdout).toContain(
				'MikroTik that fetches'
			);
			await cli(['gateways', 'remove', 'by-command'], server);
		});

		it('needs the line again after a new key was made', async () => {
			const { user } = await buy();
			const { line } = await makeLine();
			const { seen_at: seenAt } = await gatewayRow();
			expect(seenAt).toBeNull();
			await step();
			expect(router.output.at(-1)).toBe('airtill: no answer, or its script failed');
			expect((await gatewayRow())['seen_at']).toBeNull();
			await router.paste(line);
			await step();
			expect((await gatewayRow())['seen_at']).not.toBeNull();
			expect(router.rows('system scheduler')).toHaveLength(1);
			expect(router.user(user)).toBeDefined();
		});

		it('loses everything of Airtill by the removal line, and nothing else', async () => {
			const { line, removal } = await makeLine();
			await router.paste(line);
			await step();
			const { user, password } = await buy();
			expect(router.signIn(user, password)).toBe('online');
			router.rows('ip hotspot user').push({ name: 'guest', comment: 'the owner' });
			await router.paste(removal);
			const left = ['system scheduler', 'system script', 'ip hotspot walled-garden', 'ip hotspot active'];
			for (const menu of [...left, 'ip hotspot walled-garden ip', 'ipv6 firewall raw']) {
				expect(router.rows(menu), menu).toEqual([]);
			}
			expect(router.rows('ip hotspot user').map(({ comment }) => comment)).toEqual(['the owner']);
			expect(router.rows('ip hotspot user profile').map(({ name }) => name)).toEqual(['default']);
			expect(router.files.size).toBe(0);
		});
	});
});
