import { z } from 'zod';
import { sha256 } from '#lib/server/platform/secrets.ts';
import type {
	GatewayFacts,
	GatewayStatus,
	DeviceLogin,
	Reach,
	CommandResult,
	DeviceController
} from '../gateway.ts';

/**
 * Controls openNDS on this machine through `ndsctl` (tried with 9.10).
 * - `auth` of an authenticated client fails, so a new end needs `deauth` and `auth`, milliseconds apart.
 * - `deauth` forgets the client. `allow_preemptive_authentication` (set by our configuration) lets `auth` follow at once.
 * - `auth` counts in minutes: they are rounded up, and our `deauth` comes at the second.
 * - `token` belongs to one stay of a client, and the `hid` of a redirect is its hash. Only a matching `hid` identifies
 *   the client; the MAC address in a redirect proves nothing.
 */

const MINUTE_MS = 60_000;
/** openNDS counts in whole seconds. */
const SLACK_MS = 2_000;
/** Ends at openNDS lie at most so far behind the paid one, because it counts in whole minutes. */
const SURPLUS_MS = 2 * MINUTE_MS;
/** ndsctl runs one call at a time and fails with "locked" meanwhile. */
const TRIES = 3;

const clientShape = z.object({
	mac: z.string(),
	state: z.string(),
	token: z.string(),
	custom: z.string().optional(),
	session_end: z.string().optional()
});
const listShape = z.object({ clients: z.record(z.string(), clientShape) });
type Client = z.output<typeof clientShape>;

type Answer<T> = { kind: 'answer'; value: T } | { kind: 'unavailable'; reason: string };

const NOT_RUNNING =
	'openNDS does not respond: it is not running, or this machine is not the router. Without openNDS and the firewall ' +
	'guard of its configuration, devices are online unpaid.';

async function ndsctl(facts: GatewayFacts, reach: Reach, args: readonly string[]): Promise<Answer<string>> {
	const program = facts.settings.ndsctl ?? 'ndsctl';
	let output = '';
	for (let tries = 0; tries < TRIES; tries += 1) {
		const ran = await reach.run(program, args);
		if (ran.code === -1) return unavailable(`${program} did not start, or did not end in time.`);
		output = ran.output;
		if (!/locked/i.test(output)) break;
	}
	if (/locked/i.test(output)) return unavailable('ndsctl is busy with another call.');
	return { kind: 'answer', value: output };
}

const unavailable = (reason: string) => ({ kind: 'unavailable' as const, reason });

async function clientsOf(facts: GatewayFacts, reach: Reach): Promise<Answer<Client[]>> {
	const said = await ndsctl(facts, reach, ['json']);
	if (said.kind === 'unavailable') return said;
	// Programs that it runs print before and after the JSON.
	const text = said.value.slice(said.value.indexOf('{'), said.value.lastIndexOf('}') + 1);
	if (text === '') return unavailable(NOT_RUNNING);
	try {
		return { kind: 'answer', value: Object.values(listShape.parse(JSON.parse(text)).clients) };
	} catch {
		return unavailable('The output of "ndsctl json" is not a list of clients.');
	}
}

const customOf = (user: string) => Buffer.from(user).toString('base64');

/** Whether a client is the device of the captive session, and not one with a forged MAC address. */
const isSameDevice = (client: Client, device: DeviceLogin) =>
	sha256(client.token) === device.login['hid'] || (isOnline(client) && isOwn(client, device));
const isOnline = ({ state }: Client) => state === 'Authenticated';
const isOwn = ({ custom = '' }: Client, { user }: DeviceLogin) =>
	custom.replaceAll('%3d', '=') === customOf(user);

function endsAt(client: Client, untilMs: number): boolean {
	const endMs = Number(client.session_end) * 1000;
	return endMs >= untilMs - SLACK_MS && endMs <= untilMs + SURPLUS_MS;
}

async function authorize(
	device: DeviceLogin,
	untilMs: number,
	facts: GatewayFacts,
	reach: Reach
): Promise<CommandResult> {
	const known = await clientsOf(facts, reach);
	if (known.kind === 'unavailable') return known;
	const client = known.value.find(({ mac }) => mac.toLowerCase() === device.mac);
	if (!client) {
		return unavailable('openNDS does not know the device. It will after the device has opened a page.');
	}
	if (!isSameDevice(client, device)) {
		return unavailable('The device with this MAC address is not the one that opened the portal.');
	}
	if (isOnline(client)) {
		if (isOwn(client, device) && endsAt(client, untilMs)) return { kind: 'done' };
		const ended = await ndsctl(facts, reach, ['deauth', client.mac]);
		if (ended.kind === 'unavailable') return ended;
	}
	const minutes = Math.max(1, Math.ceil((untilMs - reach.now()) / MINUTE_MS));
	const words = ['auth', client.mac, String(minutes), '0', '0', '0', '0', customOf(device.user)];
	const said = await ndsctl(facts, reach, words);
	if (said.kind === 'unavailable') return said;
	return /\bauthenticated\./i.test(said.value)
		? { kind: 'done' }
		: unavailable('openNDS did not authorize the device. Set allow_preemptive_authentication.');
}

async function disconnect(device: DeviceLogin, facts: GatewayFacts, reach: Reach): Promise<CommandResult> {
	const known = await clientsOf(facts, reach);
	if (known.kind === 'unavailable') return known;
	const client = known.value.find(({ mac }) => mac.toLowerCase() === device.mac);
	if (!client || !isOnline(client) || !isSameDevice(client, device)) return { kind: 'done' };
	const said = await ndsctl(facts, reach, ['deauth', client.mac]);
	if (said.kind === 'unavailable') return said;
	return /deauthenticated|not found/i.test(said.value)
		? { kind: 'done' }
		: unavailable('openNDS did not disconnect the device.');
}

async function status(facts: GatewayFacts, reach: Reach): Promise<GatewayStatus> {
	const known = await clientsOf(facts, reach);
	if (known.kind === 'unavailable') {
		return { problems: [known.reason], reachable: false, clockOffsetMs: null, online: null };
	}
	const said = await ndsctl(facts, reach, ['status']);
	const text = said.kind === 'answer' ? said.value : '';
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
	if (/Version: 9\./.test(text) && /nf_tables/.test((await reach.run('iptables', ['-V'])).output)) {
		problems.push(
			'openNDS 9 needs the legacy iptables, but iptables here is the nftables variant. See its configuration.'
		);
	}
	return { problems, reachable: true, clockOffsetMs: null, online: known.value.filter(isOnline).length };
}

export const ndsctlController: DeviceController = { subject: 'device', authorize, disconnect, status };
