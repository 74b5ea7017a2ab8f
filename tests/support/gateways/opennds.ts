/** Devices behind an openNDS, as it hands them over. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import { createAuthmon } from '../../simulators/gateway/authmon.ts';
import { eventually } from '../server/fixture.ts';
import type { TestServer } from '../server/server.ts';
import { printedConfig, type Registered } from './gateways.ts';

export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
export const base64 = (text: string): string => Buffer.from(text).toString('base64');

export interface NdsDevice {
	/** The router's name for its stay. */
	token: string;
	hid: string;
	mac: string;
}

let count = 0;

/** A device that comes to the portal for the first time. */
export function newDevice(): NdsDevice {
	count += 1;
	const token = count.toString(16).padStart(8, '0');
	return { token, hid: sha256(token), mac: `02:00:00:00:01:${count.toString(16).padStart(2, '0')}` };
}

/** The token that the BinAuth script of a gateway sends. */
export const tokenOf = ({ text }: Pick<Registered, 'text'>): string =>
	/^Token [^\n]*:\n(\S+)/m.exec(text)?.[1] ?? '';

/**
 * Calls us as the BinAuth script of a gateway does on a router without curl.
 * @param fields `method`, and what it needs
 */
export const callBinauth = (
	url: string,
	gateway: Pick<Registered, 'key' | 'text'>,
	{ mac, token }: Pick<NdsDevice, 'mac' | 'token'>,
	fields: Record<string, string>
): Promise<Response> =>
	fetch(`${url}/opennds/${gateway.key}/binauth`, {
		method: 'POST',
		body: new URLSearchParams({ key: tokenOf(gateway), mac, token, ...fields })
	});

/** Reports a device after `ndsctl auth`. @param user of its pass, as the item named it @returns the status */
export const reportAuth = async (
	url: string,
	gateway: Pick<Registered, 'key' | 'text'>,
	device: Pick<NdsDevice, 'mac' | 'token'>,
	user = 'na',
	method: 'ndsctl_auth' | 'client_deauth' = 'ndsctl_auth'
): Promise<number> => (await callBinauth(url, gateway, device, { method, custom: base64(user) })).status;

/** Runs the printed BinAuth script for a sign-in, as an openNDS of that version does. @returns what it printed */
export async function runBinauth(
	server: TestServer,
	gateway: Pick<Registered, 'name'>,
	{ mac, token }: Pick<NdsDevice, 'mac' | 'token'>,
	pass: number,
	version = '10.3.1'
): Promise<string> {
	const bin = path.join(server.dataDir, `opennds-${version}`);
	mkdirSync(bin, { recursive: true });
	writeFileSync(path.join(bin, 'opennds'), `#!/bin/sh\necho "This is openNDS version ${version}"\n`);
	chmodSync(path.join(bin, 'opennds'), 0o755);
	const parts = await printedConfig(server, gateway.name);
	const text = parts.find(({ file }) => file?.endsWith('airtill-binauth.sh'))?.text ?? '';
	const words = ['auth_client', mac, '-', '-', '192.168.8.50', token, base64(`s${pass}`)];
	const env = { ...process.env, PATH: `${bin}:${process.env['PATH'] ?? ''}` };
	const { stdout } = await promisify(execFile)('sh', ['-c', text, 'script', ...words], { env });
	return stdout.trim();
}

/** Name of a device that only its gateway and Airtill can compute. */
export const rhidOf = ({ secret }: Pick<Registered, 'secret'>, { hid }: Pick<NdsDevice, 'hid'>): string =>
	sha256(hid + secret);

/** Awaits the devices that wait at a gateway of level 4, and lets none in. @returns the list as authmon reads it */
export const waitingAt = ({ portal }: Pick<Registered, 'portal'>): Promise<string> => {
	const router = createAuthmon(portal, '10.3.0');
	return eventually('a device is listed', async () => {
		const { items } = await router.poll();
		return items !== '*' && decodeURIComponent(items);
	});
};

/** Path of the page that a device is sent to. @param original address that the device asked for */
export function ndsEntry(
	{ key }: { key: string },
	{ hid, mac }: Pick<NdsDevice, 'hid' | 'mac'>,
	host: string,
	original?: string
): string {
	const items = [
		`hid=${hid}`,
		'clientip=192.168.8.50',
		`clientmac=${mac}`,
		'gatewayname=Stand-in%20Node%3a02aabbccddee%20',
		`gatewayaddress=${host}:2050`,
		...(original === undefined ? [] : [`originurl=${encodeURIComponent(original)}`])
	];
	return `/splash/${key}?fas=${base64(items.join(', '))}`;
}
