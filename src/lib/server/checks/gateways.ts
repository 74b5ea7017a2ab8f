import { DAY_MS, MINUTE_MS } from '#lib/domain/time/time.ts';
import { levelProblem, type RegisteredGateway } from '../gateways/gateways.ts';
import { adapterOf } from '../gateways/registry.ts';
import { isoTime } from '../platform/clock.ts';
import type { ChecksContext } from './checks.ts';
import { fail, ok, warn, type Finding } from './finding.ts';
import { listUnverifiedRouters } from '../routers/routers.ts';

const MAX_NAMED = 5;
/** With a larger offset, a gateway refuses Disconnect-Requests (RFC 5176) and misdates its reports. */
const MAX_OFFSET_MS = MINUTE_MS / 2;

/** Reads stored data and calls no gateway. */
export async function* checkGateways(app: ChecksContext): AsyncGenerator<Finding> {
	let count = 0;
	let problems = 0;
	for await (const gateway of app.gateways.list()) {
		count += 1;
		for (const { level, name, what, advice } of storedFindings(app, gateway)) {
			if (level === 'ok') continue;
			problems += 1;
			// Only a warning, because the other gateways keep working.
			const ofAll = { name: 'gateways', what: `${gateway.name}, ${name}: ${what}`, advice };
			yield { ...ofAll, level: name === 'secrets' ? level : 'warn' };
		}
	}
	if (count === 0) yield ok('gateways', 'none is registered');
	else if (problems === 0) yield ok('gateways', `${count}, without problems`);
	const open = await listUnverifiedRouters(app.routers, MAX_NAMED + 1);
	if (open.length === 0) return;
	const names = open.slice(0, MAX_NAMED).map(({ id, name }) => `${id} ${name}`);
	const more = open.length > MAX_NAMED ? ' and more' : '';
	const what = `routers of which no gateway has responded: ${names.join(', ')}${more}`;
	// A sandbox has made-up routers.
	if (app.config.mode === 'sandbox') yield ok('access', `${what}; only a sandbox sells them`);
	else {
		const advice = 'connect a gateway, or confirm at /admin/routers that buyers get access';
		yield fail('access', `${what}; they do not sell`, advice);
	}
}

export function* storedFindings(
	context: Pick<ChecksContext, 'clock' | 'config'>,
	gateway: RegisteredGateway
): Generator<Finding> {
	if (gateway.unreadable.length > 0) {
		const advice = `restore it, or run "gateways rotate ${gateway.name} ${gateway.unreadable.join(' ')}"`;
		yield fail('secrets', 'AIRTILL_SECRET does not open its key or secrets; nothing is sold there', advice);
		return;
	}
	yield* credentials(gateway);
	const problem = levelProblem(gateway.settings, context.config.origin);
	if (problem !== null) yield fail('level', problem.what, problem.advice);
	yield* lately(context, gateway);
	yield* deviceNames(context, gateway);
	if (gateway.clockOffsetMs !== null) yield clockFinding(gateway.clockOffsetMs);
}

function* credentials(gateway: RegisteredGateway): Generator<Finding> {
	const { mode, credentials: given, settings, secret, name } = gateway;
	const { secretName } = adapterOf(gateway.kind);
	const missing = [
		...(secretName !== null && secret === null ? [`${secretName} (--secret)`] : []),
		...(mode === 'radius' && !given.radiusSecret ? ['RADIUS secret (--radius-secret)'] : []),
		...((mode === 'radius' || mode === 'poll') && !given.token ? ['token (--token)'] : [])
	];
	if (missing.length > 0) {
		yield fail('secrets', `missing: ${missing.join(', ')}`, `create them with "gateways rotate ${name}"`);
	} else yield ok('secrets', 'complete');
	if (mode !== 'radius') return;
	if (settings.nas === undefined) {
		const advice = `give it with "gateways set ${name} --nas ADDRESS": without it devices cannot be disconnected early`;
		yield warn('RADIUS client', 'its address is unknown', advice);
	} else
		yield ok('RADIUS client', `${settings.nas}, Disconnect-Requests to port ${settings.nasPort ?? 3799}`);
}

/** Later, the gateway may have been configured anew. */
const UNREAD_SHOWN_MS = 7 * DAY_MS;

function* deviceNames({ clock }: Pick<ChecksContext, 'clock'>, { unreadDevice }: RegisteredGateway) {
	if (unreadDevice === null || clock.now() - unreadDevice.at > UNREAD_SHOWN_MS) return;
	const { notation, at } = unreadDevice;
	const what =
		notation === ''
			? 'it named a device by nothing'
			: `it named a device by "${notation.replace(/[^ -~]/g, '?')}", which is no MAC address`;
	const advice =
		'let it send the MAC address as Calling-Station-Id: a device without one takes a device slot at each sign-in';
	yield warn('device names', `${what} (${isoTime(at)})`, advice);
}

function clockFinding(offsetMs: number): Finding {
	const seconds = Math.round(offsetMs / 1000);
	const what = `its clock is ${Math.abs(seconds)} s ${seconds < 0 ? 'behind' : 'ahead of'} ours`;
	return Math.abs(offsetMs) <= MAX_OFFSET_MS
		? ok('clock', what)
		: warn('clock', what, 'let it use NTP; its reports have wrong dates, but buyers lose no time');
}

function* lately(
	{ clock, config }: Pick<ChecksContext, 'clock' | 'config'>,
	gateway: RegisteredGateway
): Generator<Finding> {
	const { mode, seenAt, unresponsiveSince, trouble } = gateway;
	const minutesSince = (at: number) => Math.max(0, Math.round((clock.now() - at) / MINUTE_MS));
	const advice = 'its router does not sell until it responds; check its configuration, power and internet';
	if (trouble !== null) {
		yield fail('last attempt', trouble.replace(/\.$/, ''), 'Airtill tries again automatically');
	}
	if (unresponsiveSince !== null) {
		const outage =
			seenAt === null ? 'none yet' : `unresponsive for ${minutesSince(unresponsiveSince)} minutes`;
		yield fail('last message', outage, advice);
	} else if (seenAt !== null) yield ok('last message', `${minutesSince(seenAt)} minutes ago`);
	else if (mode === 'browser' || mode === 'external') {
		yield ok('last message', 'this kind sends none');
	} else {
		const normal = 'normal before the first buyer; otherwise check its configuration';
		const unsold = 'its splash page sells nothing before the first one; check its configuration';
		yield warn('last message', 'none yet', config.mode === 'live' ? unsold : normal);
	}
}
