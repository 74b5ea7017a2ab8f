import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { normaliseMac } from '#lib/domain/mac.ts';
import { MINUTE_MS } from '#lib/domain/time/time.ts';
import { sha256 } from '#lib/server/platform/secrets.ts';
import {
	Unavailable,
	type DeviceController,
	type DeviceLogin,
	type GatewayFacts,
	type GatewayTransport
} from '../gateway.ts';
import { openndsLimits, UNSEEN_BYTES } from '../held-limits.ts';

/**
 * Controls openNDS on this machine through `ndsctl` (tested with 9.10).
 * - `auth` of an authenticated client fails, so a new end needs `deauth` and `auth`, milliseconds apart.
 * - `deauth` forgets the client. Our `allow_preemptive_authentication` lets `auth` follow at once.
 * - `auth` rounds up to minutes. Our `deauth` comes at the exact second.
 * - `token` belongs to one login of a client, and the `hid` of a redirect is its hash. Only a matching `hid`
 *   identifies the client; the MAC address in a redirect proves nothing.
 */

/** openNDS counts in whole seconds. */
const SLACK_MS = 2_000;
/** openNDS counts whole minutes, so its end is at most this far behind the paid one. */
const SURPLUS_MS = 2 * MINUTE_MS;
/** Exit code when another call runs. Before 9.1 ndsctl exits with 0 and prints "ndsctl is locked by another process". */
const BUSY = 4;
/** Many: a device is offline after `deauth`, and if `auth` then fails, only its next page lets it in. */
const TRIES = 20;
const PAUSE_MS = 200;

const clientShape = z.object({
	mac: z.string(),
	state: z.string(),
	token: z.string(),
	custom: z.string().optional(),
	session_end: z.string().optional(),
	/** In units of 1,024 bytes, counted every `checkinterval`. */
	download_this_session: z.string().default('0'),
	upload_this_session: z.string().default('0')
});
const listShape = z.object({ clients: z.record(z.string(), clientShape) });
type Client = z.output<typeof clientShape>;

const NOT_RUNNING =
	'openNDS does not respond: it is not running, or this machine is not the router. Without openNDS and the firewall ' +
	'guard of its configuration, devices are online unpaid.';

async function ndsctl(
	facts: GatewayFacts,
	transport: GatewayTransport,
	args: readonly string[]
): Promise<string> {
	const program = facts.settings.ndsctl ?? 'ndsctl';
	for (let tries = 0; tries < TRIES; tries += 1) {
		const { code, output } = await transport.run(program, args);
		if (code === -1) throw new Unavailable(`${program} did not start, or did not end in time.`);
		if (code !== BUSY && !output.includes('is locked by')) return output;
		// Waits of different lengths bring calls that were made together out of step.
		await sleep(PAUSE_MS * (0.5 + Math.random()));
	}
	throw new Unavailable('ndsctl is busy with another call.');
}

async function clientsOf(facts: GatewayFacts, transport: GatewayTransport): Promise<Client[]> {
	const output = await ndsctl(facts, transport, ['json']);
	// Programs that ndsctl runs print before and after the JSON.
	const text = output.slice(output.indexOf('{'), output.lastIndexOf('}') + 1);
	if (text === '') throw new Unavailable(NOT_RUNNING);
	try {
		return Object.values(listShape.parse(JSON.parse(text)).clients);
	} catch {
		throw new Unavailable('The output of "ndsctl json" is not a list of clients.');
	}
}

const clientOf = async ({ mac: wanted }: DeviceLogin, facts: GatewayFacts, transport: GatewayTransport) =>
	(await clientsOf(facts, transport)).find(({ mac }) => normaliseMac(mac) === wanted);

const customOf = (user: string) => Buffer.from(user).toString('base64');

/** Returns whether a client is the device of the captive session. A forged MAC address does not suffice. */
const isSameDevice = (client: Client, device: DeviceLogin) =>
	sha256(client.token) === device.login['hid'] || (isOnline(client) && isOwn(client, device));
const isOnline = ({ state }: Client) => state === 'Authenticated';
const isOwn = ({ custom = '' }: Client, { user }: DeviceLogin) =>
	custom.replaceAll('%3d', '=') === customOf(user);

function endsAt(client: Client, untilMs: number): boolean {
	const endMs = Number(client.session_end) * 1000;
	return endMs >= untilMs - SLACK_MS && endMs <= untilMs + SURPLUS_MS;
}

const connect: DeviceController['connect'] = async (device, untilMs, facts, transport) => {
	const client = await clientOf(device, facts, transport);
	if (!client) {
		throw new Unavailable('openNDS does not know the device. It will after the device has opened a page.');
	}
	if (!isSameDevice(client, device)) {
		throw new Unavailable('The device with this MAC address is not the one that opened the portal.');
	}
	if (isOnline(client)) {
		if (isOwn(client, device) && endsAt(client, untilMs)) return 'done';
		await ndsctl(facts, transport, ['deauth', client.mac]);
	}
	const minutes = Math.max(1, Math.ceil((untilMs - transport.now()) / MINUTE_MS));
	const dataLeft = device.dataLeft === null ? null : device.dataLeft + UNSEEN_BYTES;
	const limits = openndsLimits(device.speed, dataLeft).split(' ');
	const words = ['auth', client.mac, String(minutes), ...limits, customOf(device.user)];
	if (/\bauthenticated\./i.test(await ndsctl(facts, transport, words))) return 'done';
	throw new Unavailable('openNDS did not authorize the device. Set allow_preemptive_authentication.');
};

const disconnect: DeviceController['disconnect'] = async (device, facts, transport) => {
	const client = await clientOf(device, facts, transport);
	if (!client || !isOnline(client) || !isSameDevice(client, device)) return 'done';
	const output = await ndsctl(facts, transport, ['deauth', client.mac]);
	if (/deauthenticated|not found/i.test(output)) return 'done';
	throw new Unavailable('openNDS did not disconnect the device.');
};

const usage: DeviceController['usage'] = async (device, facts, transport) => {
	const client = await clientOf(device, facts, transport);
	if (!client || !isOnline(client) || !isOwn(client, device)) return null;
	return (Number(client.download_this_session) + Number(client.upload_this_session)) * 1_024;
};

const status: DeviceController['status'] = async (facts, transport) => {
	const clients = await clientsOf(facts, transport);
	const text = await ndsctl(facts, transport, ['status']).catch(() => '');
	const problems: string[] = [];
	const level = /Secure Level (\d)/.exec(text)?.[1];
	if (level !== String(facts.settings.level ?? 1)) {
		problems.push(
			`openNDS ${level === undefined ? 'has no portal' : `runs at level ${level}`} instead of level ${facts.settings.level ?? 1}. Install its configuration again.`
		);
	}
	if (!/Preemptive Authentication is Enabled/i.test(text)) {
		problems.push(
			'allow_preemptive_authentication is not set. Without it, added time disconnects devices for a moment.'
		);
	}
	if (/Version: 9\./.test(text) && /nf_tables/.test((await transport.run('iptables', ['-V'])).output)) {
		problems.push(
			'openNDS 9 needs the legacy iptables, but iptables here is the nftables variant. See its configuration.'
		);
	}
	return {
		problems,
		reachable: true,
		isUsable: true,
		clockOffsetMs: null,
		online: clients.filter(isOnline).length
	};
};

export const ndsctlController: DeviceController = { subject: 'device', connect, disconnect, usage, status };
