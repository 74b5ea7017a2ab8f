/** openNDS of level 1: the BinAuth script, which asks at each sign-in. */
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { binauthScript } from '../../../src/lib/server/gateways/opennds.ts';
import { browse } from '../../support/pages/browsing.ts';
import { registerGateway, type Registered } from '../../support/gateways/gateways.ts';
import { ndsBuyers } from '../../support/gateways/nds-buyers.ts';
import { base64, newDevice, sha256, type NdsDevice, tokenOf } from '../../support/gateways/opennds.ts';
import { DATABASES, eventually, useFixture } from '../../support/server/fixture.ts';

const LOGIN_HOST = '192.168.8.1';
const MINUTE = 60_000;

describe.each(DATABASES)('on %s', (database) => {
	const fixture = useFixture({ database });
	const { open, buy, newest, inState } = ndsBuyers(fixture, LOGIN_HOST);

	let gateway: Registered;
	let token: string;

	beforeAll(async () => {
		gateway = await registerGateway(fixture().server, 'opennds', { loginHost: LOGIN_HOST });
		token = tokenOf(gateway);
		expect(token).not.toBe('');
	});

	const ask = async (fields: Record<string, string>, shown = token, key = gateway.key) => {
		const response = await fetch(`${fixture().server.url}/opennds/${key}/binauth`, {
			method: 'POST',
			headers: { authorization: `Bearer ${shown}` },
			body: new URLSearchParams({ method: 'auth_client', ip: '192.168.8.50', ...fields })
		});
		return `${response.status} ${await response.text()}`;
	};
	const of = ({ mac, token: stay }: NdsDevice, user: string) => ({
		mac,
		token: stay,
		custom: base64(user)
	});

	it('lets only the device that paid in, for the seconds left', async () => {
		const [device, other] = [newDevice(), newDevice()];
		await buy(gateway, device);
		const { pass_id } = await inState('active');
		const user = `s${String(pass_id)}`;
		expect(await ask(of(device, user))).toMatch(/^200 3(600|59\d)$/);
		// Another device, another's MAC address, another stay, another's purchase.
		expect(await ask(of(other, user))).toBe('403 ');
		expect(await ask(of({ ...other, mac: device.mac }, user))).toBe('403 ');
		expect(await ask(of({ ...device, mac: other.mac }, user))).toBe('403 ');
		await buy(gateway, other);
		const theirs = await eventually('the other one runs', async () => {
			const row = await newest();
			return row['pass_id'] !== pass_id && row['status'] === 'active' ? row : null;
		});
		expect(await ask(of(other, user))).toBe('403 ');
		expect(await ask(of(device, `s${String(theirs['pass_id'])}`))).toBe('403 ');
		for (const nobody of ['s0', 's999999999', 'x', 's1 or 1=1']) {
			expect(await ask(of(device, nobody)), nobody).toBe('403 ');
		}

		await fixture().server.advance(30 * MINUTE);
		// The end is the one that was paid, however often it signs in.
		expect(await ask(of(device, user))).toMatch(/^200 1(800|79\d)$/);
		await fixture().server.advance(31 * MINUTE);
		expect(await ask(of(device, user))).toBe('403 ');
	});

	it('refuses a second device until the first one has left', async () => {
		const [device, second] = [newDevice(), newDevice()];
		const path = await buy(gateway, device);
		const { pass_id } = await inState('active');
		const user = `s${String(pass_id)}`;
		expect(await ask(of(device, user))).toMatch(/^200 /);
		const opened = await open(gateway, second, path);
		expect(await ask(of(second, user))).toBe('403 ');
		await fixture().server.advance(10 * MINUTE);
		expect(await ask(of(second, user))).toBe('403 ');
		const { get } = browse(fixture().server.url);
		expect((await get(opened.path)).text).toContain('in use on another device');
		// A page that names no device of the purchase speaks for the one with the slot, and gives nothing away.
		for (const own of [path, `${path}/${'a'.repeat(24)}`]) {
			expect((await get(own)).text).not.toMatch(/in use on another device|Use it on this device instead/);
		}
		expect(await ask({ ...of(device, user), method: 'client_deauth' })).toBe('204 ');
		expect(await ask(of(second, user))).toMatch(/^200 /);
	});

	it('moves to a phone that changed its address, once in an hour', async () => {
		const [device, second, third] = [newDevice(), newDevice(), newDevice()];
		const path = await buy(gateway, device);
		const { pass_id } = await inState('active');
		const user = `s${String(pass_id)}`;
		const person = browse(fixture().server.url);
		expect(await ask(of(device, user))).toMatch(/^200 /);
		const move = async (to: NdsDevice) => {
			const own = await open(gateway, to, path, person);
			expect(own.text).toContain('Use it on this device instead');
			return person.post(`${own.path}?/move`);
		};
		expect((await move(second)).path).toMatch(/\?moved$/);
		expect(await ask(of(second, user))).toMatch(/^200 /);
		// The first one is still in, and cannot be put out.
		const refused = await move(third);
		expect(refused.path).toMatch(/\?later$/);
		expect(refused.text).toContain('Your pass was moved to another device a short time ago.');
		expect(await ask(of(third, user))).toBe('403 ');
		// The router reports that it has left.
		expect(await ask({ ...of(device, user), method: 'client_deauth' })).toBe('204 ');
		expect((await move(third)).path).toMatch(/\?moved$/);
		expect(await ask(of(third, user))).toMatch(/^200 /);
		expect(await ask(of(second, user))).toBe('403 ');
		// One that has left is in no more, and costs no move.
		expect(await ask({ ...of(third, user), method: 'client_deauth' })).toBe('204 ');
		expect(await ask(of(second, user))).toMatch(/^200 /);
	});

	it('frees only the slot of the device that was disconnected', async () => {
		const [device, other] = [newDevice(), newDevice()];
		const path = await buy(gateway, device);
		const { pass_id } = await inState('active');
		const user = `s${String(pass_id)}`;
		expect(await ask(of(device, user))).toMatch(/^200 /);
		await open(gateway, other, path);
		const elsewhere = await registerGateway(fixture().server, 'opennds', {
			loginHost: LOGIN_HOST,
			router: 4
		});
		const itsToken = tokenOf(elsewhere);
		const deauth = { ...of(device, user), method: 'client_deauth' };
		expect(await ask(deauth, itsToken, elsewhere.key)).toBe('204 ');
		expect(await ask(of(other, user))).toBe('403 ');
		// It came again, under a new token, and was faster than the report about its stay before.
		const again = { ...device, token: `${device.token}ff`, hid: sha256(`${device.token}ff`) };
		await open(gateway, again, path);
		expect(await ask(of(again, user))).toMatch(/^200 /);
		await open(gateway, other, path);
		expect(await ask(deauth)).toBe('204 ');
		expect(await ask(of(other, user))).toBe('403 ');
		expect(await ask({ ...of(again, user), method: 'client_deauth' })).toBe('204 ');
		expect(await ask(of(other, user))).toMatch(/^200 /);
	});

	it('frees the slot of a disconnected device that is at the portal again', async () => {
		const [device, other] = [newDevice(), newDevice()];
		const path = await buy(gateway, device);
		const { pass_id } = await inState('active');
		const user = `s${String(pass_id)}`;
		expect(await ask(of(device, user))).toMatch(/^200 /);
		const hid = sha256(`${device.token}ff`);
		for (const one of [{ ...device, hid }, other]) await open(gateway, one, path);
		expect(await ask({ ...of(device, user), method: 'client_deauth' })).toBe('204 ');
		expect(await ask(of(other, user))).toMatch(/^200 /);
	});

	it('answers only with the token of that gateway', async () => {
		const device = newDevice();
		expect(await ask(of(device, 's1'), 'wrong')).toBe('403 ');
		expect(await ask(of(device, 's1'), '')).toBe('403 ');
		expect(await ask(of(device, 's1'), token, 'A'.repeat(24))).toBe('404 ');
		expect(await ask({ mac: 'no', token: 'x', custom: '' })).toBe('400 ');
	});
});

it.each([
	['GNU Wget 1.21.3', '-q -t 1 -T 10 '],
	['BusyBox v1.36.1', '-q -T 10 ']
])('asks once, because openNDS waits (without curl, with %s)', async (version, options) => {
	const bin = mkdtempSync(path.join(tmpdir(), 'binauth-'));
	const wget = `#!/bin/sh\n[ "$1" = --version ] && echo "${version}" && exit\necho "$*" >"$0.called"\necho 60\n`;
	writeFileSync(path.join(bin, 'wget'), wget, { mode: 0o755 });
	const words = ['auth_client', '02:00:00:00:00:01', '-', '-', '192.0.2.2', '0', 'czE='];
	const script = binauthScript('http://192.0.2.1/', 'token');
	const env = { PATH: bin };
	const { stdout } = await promisify(execFile)('/bin/sh', ['-c', script, 'script', ...words], { env });
	expect(stdout).toBe('60\n');
	expect(readFileSync(path.join(bin, 'wget.called'), 'utf8').startsWith(options)).toBe(true);
	rmSync(bin, { recursive: true });
});
