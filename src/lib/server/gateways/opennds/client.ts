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
 * openNDS on this machine, told by its `ndsctl` (seen with 9.10). What it does, and what follows from it:
 * - `auth` of a client that is signed in already fails: another end means `deauth` and `auth` again, milliseconds apart;
 * - `deauth` forgets the client, and only `allow_preemptive_authentication` (which our configuration sets) lets `auth`
 *   take it again at once;
 * - minutes are the finest unit: they are rounded up, and `deauth` comes at the second;
 * - `token` belongs to one stay of a client, and `hid` is its hash: who handed that over is that very client. The MAC
 *   address of a visit alone proves nothing, so no client is let in, or put out, because of it.
 */

const MINUTE_MS = 60_000;
/** Its clock is ours, but it counts in seconds. */
const SLACK_MS = 2_000;
/** Told ends lie so far behind the paid one at most: whole minutes, and the slack of a time that is about to begin. */
const SURPLUS_MS = 2 * MINUTE_MS;
/** It answers one call at a time, and says so. */
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
	'openNDS does not answer: it does not run, or this machine is not the router. Without it and without the guard of ' +
	'its configuration, devices have the internet unpaid.';

async function ndsctl(facts: GatewayFacts, reach: Reach, args: readonly string[]): Promise<Answer<string>> {
	const program = facts.settings.ndsctl ?? 'ndsctl';
	let output = '';
	for (let tries = 0; tries < TRIES; tries += 1) {
		const ran = await reach.run(program, args);
		if (ran.code === -1) return unavailable(`${program} did not start, or took too long.`);
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
	// Other programs that it runs write around its answer.
	const text = said.value.slice(said.value.indexOf('{'), said.value.lastIndexOf('}') + 1);
	if (text === '') return unavailable(NOT_RUNNING);
	try {
		return { kind: 'answer', value: Object.values(listShape.parse(JSON.parse(text)).clients) };
	} catch {
		return unavailable('ndsctl json answered something that is no list of clients.');
	}
}

const customOf = (user: string) => Buffer.from(user).toString('base64');

/** Whether a client that the router knows is the device of a device, and not one that only claimed its address. */
const isGuest = (client: Client, device: DeviceLogin) =>
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
	if (!client)
		return unavailable('openNDS does not know the device now; it does as soon as it opens a page.');
	if (!isGuest(client, device)) {
		return unavailable('The device at this address is not the one that came to the portal.');
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
		: unavailable('openNDS did not let the device in; is allow_preemptive_authentication set?');
}

async function disconnect(device: DeviceLogin, facts: GatewayFacts, reach: Reach): Promise<CommandResult> {
	const known = await clientsOf(facts, reach);
	if (known.kind === 'unavailable') return known;
	const client = known.value.find(({ mac }) => mac.toLowerCase() === device.mac);
	if (!client || !isOnline(client) || !isGuest(client, device)) return { kind: 'done' };
	const said = await ndsctl(facts, reach, ['deauth', client.mac]);
	if (said.kind === 'unavailable') return said;
	return /deauthenticated|not found/i.test(said.value)
		? { kind: 'done' }
		: unavailable('openNDS did not put the device out.');
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
			`openNDS ${level === undefined ? 'sends devices to no portal' : `runs at level ${level}`}, not at level ${facts.settings.level ?? 1}: print its configuration again.`
		);
	}
	if (!/Preemptive Authentication is Enabled/i.test(text)) {
		problems.push(
			'allow_preemptive_authentication is not set: added time would put devices out for a moment.'
		);
	}
	if (/Version: 9\./.test(text) && /nf_tables/.test((await reach.run('iptables', ['-V'])).output)) {
		problems.push(
			'openNDS 9 needs the legacy iptables, and here iptables is the one of nftables: see the configuration.'
		);
	}
	return { problems, reachable: true, clockOffsetMs: null, online: known.value.filter(isOnline).length };
}

export const ndsctlController: DeviceController = { subject: 'device', authorize, disconnect, status };
