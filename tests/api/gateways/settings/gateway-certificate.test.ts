/** The API of a gateway with a certificate of its own: only who shows that very one is told anything. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startUniFi, type UniFiConsole } from '../../../simulators/gateway/unifi-console.ts';
import { selfSigned } from '../../../support/gateways/certificates.ts';
import { buyAtUniFi, newMac, UNIFI_KEY, UNIFI_ROUTER } from '../../../support/gateways/consoles.ts';
import { cli } from '../../../support/server/cli.ts';
import { startTlsFront, type TlsFront } from '../../../support/gateways/tls-front.ts';
import { eventually, useFixture } from '../../../support/server/fixture.ts';

const [OWN, OTHER] = [selfSigned('unifi.local'), selfSigned('unifi.local')];

const fixture = useFixture({ database: 'sqlite' });
let unifi: UniFiConsole;
let front: TlsFront;

const written = (name: string, text: string) => {
	const file = path.join(fixture().server.dataDir, name);
	writeFileSync(file, text, { mode: 0o600 });
	return file;
};
const add = (name: string, ...more: string[]) =>
	cli(
		[
			...['gateways', 'add', name, '--router', String(UNIFI_ROUTER), '--kind', 'unifi', '--site', 'default'],
			...['--api', front.url, '--api-key-file', written('api.key', `${UNIFI_KEY}\n`), ...more]
		],
		fixture().server
	);
const test = (name: string) => cli(['gateways', 'test', name], fixture().server);
const refusal = (reason: string) => `The certificate of ${new URL(front.url).host} ${reason}`;
const NOT_OURS = 'is not the one in --api-certificate-file, or it has expired';
const statusOf = async (id: number) =>
	(await fixture().sql.all('select status from sessions where id = ?', id))[0]?.['status'];

beforeAll(async () => {
	unifi = await startUniFi(UNIFI_KEY);
	front = await startTlsFront(unifi.url, OWN);
});
afterAll(async () => {
	await front?.stop();
	await unifi?.stop();
});

it('one that nobody has signed is refused, and no key is shown to it', async () => {
	expect((await add('unpinned')).code).toBe(0);
	const { code, stdout } = await test('unpinned');
	expect(code).toBe(1);
	const reason = 'is not trusted on this machine. Give it with --api-certificate-file';
	expect(stdout).toContain(`FAIL gateway: ${refusal(reason)}`);
	expect(unifi.asked).toEqual([]);
	expect((await cli(['gateways', 'remove', 'unpinned'], fixture().server)).code).toBe(0);
});

it('is reached when its certificate is pinned, by our commands and by the grant of a purchase', async () => {
	expect((await add('console', '--api-certificate-file', written('own.pem', OWN.cert))).code).toBe(0);
	const tested = await test('console');
	expect(tested.stdout).toMatch(/^ok gateway: it answers, and accepts our key/m);
	expect(tested.code).toBe(0);
	const mac = newMac();
	unifi.join(mac);
	const bought = await buyAtUniFi(fixture(), mac);
	await eventually('the device is in', async () => (await statusOf(bought.sessionId)) === 'active');
	expect(unifi.isIn(mac)).toBe(true);
});

it('another certificate of the same name is refused with the reason, until the right one is back', async () => {
	const before = unifi.asked.length;
	front.show(OTHER);
	const { code, stdout } = await test('console');
	expect(code).toBe(1);
	expect(stdout).toContain(`FAIL gateway: ${refusal(NOT_OURS)}`);
	const mac = newMac();
	unifi.join(mac);
	const bought = await buyAtUniFi(fixture(), mac);
	await eventually('the reason is noted', async () => {
		const [grant] = await fixture().sql.all(
			'select last_error from grants where pass_id = ?',
			bought.sessionId
		);
		return grant?.['last_error'] === `${refusal(NOT_OURS)}.`;
	});
	expect(await statusOf(bought.sessionId)).toBe('activating');
	expect(unifi.asked.length).toBe(before);
	front.show(OWN);
	await eventually('the device is in', async () => (await statusOf(bought.sessionId)) === 'active');
	expect(unifi.isIn(mac)).toBe(true);
});

it('a file without a certificate is refused at registration', async () => {
	const { code, stderr } = await add('broken', '--api-certificate-file', written('no.pem', OWN.key));
	expect(code).toBe(1);
	expect(stderr).toContain('api-certificate: the file is not a certificate in PEM');
});
