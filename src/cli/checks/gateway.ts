import type { App } from '#lib/server/app.ts';
import { endsByItself } from '#lib/domain/access-kind.ts';
import type { RegisteredGateway } from '#lib/server/gateways/gateways.ts';
import { createReach } from '#lib/server/gateways/reach.ts';
import { adapterOf } from '#lib/server/gateways/registry.ts';
import { routerOfGateway } from '../support/router-of-gateway.ts';
import { fail, ok, warn, type Finding } from './finding.ts';

/** Everything about one gateway that can be seen from here. */
export async function* checkGatewayHere(app: App, gateway: RegisteredGateway): AsyncGenerator<Finding> {
	yield* addresses(app, gateway);
	yield* router(app, gateway);
	yield* credentials(gateway);
	yield* reachable(app, gateway);
	yield* lately(app, gateway);
	yield* waiting(app, gateway);
}

const MODE_TEXT = {
	browser: 'the sign-in in the browser lets devices in',
	radius: 'it asks a RADIUS server, which asks us',
	push: 'we tell it who may be online',
	poll: 'it comes for a list of who may be online',
	external: 'something else lets its devices in'
} as const;

const MINUTE_MS = 60_000;
/** A clock that is off by more makes reports useless; nobody loses time by it. */
const MAX_OFFSET_MS = MINUTE_MS;

/** Whether DHCP option 114 can be of use: the API behind it knows a device by its address, which others hide. */
const announces = ({ kind }: RegisteredGateway) => kind === 'mikrotik' || kind === 'coova';

const optionWords = (gateway: RegisteredGateway) =>
	announces(gateway)
		? 'DHCP option 114 may announce it where no NAT lies between it and the devices'
		: 'DHCP option 114 is not to be set: it would know no device apart';

function* addresses({ config }: App, gateway: RegisteredGateway): Generator<Finding> {
	const mode = adapterOf(gateway.kind).controlMode(gateway);
	yield ok('kind', `${gateway.title}; ${MODE_TEXT[mode]}`);
	if (config.origin === null) {
		yield warn('portal', 'its address is not known', 'set ORIGIN to the address that devices open');
		return;
	}
	if (config.origin.startsWith('https:')) {
		yield ok('portal', `${config.origin}; ${optionWords(gateway)}`);
		return;
	}
	const advice = announces(gateway)
		? 'serve it by https: passwords are not read on the way then, and DHCP option 114 can be set'
		: 'serve it by https: passwords are not read on the way then';
	if (gateway.settings.level === 4)
		yield fail('portal', `${config.origin} has no https, and level 4 needs it`, advice);
	else yield warn('portal', `${config.origin} has no https`, advice);
}

async function* router(app: App, { kind, routerId }: RegisteredGateway): AsyncGenerator<Finding> {
	const found = await routerOfGateway(app, routerId);
	if (!found) {
		yield fail(
			'router',
			`there is no router ${routerId}`,
			'remove the gateway, and add it with one of "routers list"'
		);
		return;
	}
	if (!found.sells) yield fail('router', `"${found.name}" sells nothing now`, 'it is offline or disabled');
	const wants = kind === 'hostapd' ? ['wpa_personal_per_client', 'wpa_enterprise'] : ['portal_login'];
	if (wants.includes(found.accessKind)) yield ok('router', `"${found.name}", ${found.accessKind}`);
	else {
		const what = `"${found.name}" sells ${found.accessKind}, and this gateway lets in by ${wants.join(' or ')}`;
		const advice = endsByItself(found.accessKind)
			? 'give the router that kind, so that buyers are told what their password is'
			: 'with the one password of the Wi-Fi nobody can be put out at the end';
		yield fail('router', what, advice);
	}
}

function* credentials(gateway: RegisteredGateway): Generator<Finding> {
	const { kind, credentials: given, settings, secret, name } = gateway;
	const adapter = adapterOf(kind);
	const mode = adapter.controlMode(gateway);
	const missing = [
		...(adapter.secretName !== null && secret === null ? [`${adapter.secretName} (--secret)`] : []),
		...(mode === 'radius' && !given.radiusSecret ? ['RADIUS secret (--radius-secret)'] : []),
		...((mode === 'radius' || mode === 'poll') && !given.token ? ['token (--token)'] : [])
	];
	if (missing.length > 0) {
		yield fail('secrets', `missing: ${missing.join(', ')}`, `airtill gateways rotate ${name} makes them`);
	} else yield ok('secrets', 'all there');
	if (mode !== 'radius') return;
	if (settings.nas === undefined) {
		const advice =
			'remove it and add it again with --nas: else nobody can be put out before the time is over';
		yield warn('RADIUS client', 'its address is not known', advice);
	} else
		yield ok('RADIUS client', `${settings.nas}, Disconnect-Requests to port ${settings.nasPort ?? 3799}`);
}

async function* reachable(app: App, gateway: RegisteredGateway): AsyncGenerator<Finding> {
	const { kind, name, clockOffsetMs } = gateway;
	const adapter = adapterOf(kind);
	const mode = adapter.controlMode(gateway);
	if (mode === 'radius') yield* radiusEndpoint(app, gateway);
	if (mode !== 'push' || !adapter.controller) {
		if (clockOffsetMs !== null) yield clockFinding(clockOffsetMs);
		return;
	}
	const reach = createReach(app.clock);
	try {
		const {
			problems,
			reachable: isThere,
			online,
			...found
		} = await adapter.controller.status(gateway, reach);
		const advice = isThere
			? `"airtill gateways config ${name}" says what it needs; "gateways rotate" takes a new key`
			: 'look at its address, its power, and what is between it and this machine';
		for (const problem of problems) yield fail('gateway', problem.replace(/\.$/, ''), advice);
		if (problems.length === 0) {
			yield ok('gateway', `it answers, and takes our key${online === null ? '' : `; ${online} online`}`);
		}
		if (found.clockOffsetMs !== null) {
			await app.gateways.recordStatus(gateway.id, { clockOffsetMs: found.clockOffsetMs });
			yield clockFinding(found.clockOffsetMs);
		}
	} finally {
		await reach.stop();
	}
}

/** Whether our own endpoint answers who has the token, and nobody else. */
async function* radiusEndpoint({ config }: App, { key, credentials: { token = '' } }: RegisteredGateway) {
	const url = `http://127.0.0.1:${config.port}/radius/${key}/authorize`;
	const ask = async (bearer: string) => {
		const answer = await fetch(url, {
			method: 'POST',
			headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' },
			body: JSON.stringify({ user: 's0', mac: '02:00:00:00:00:00' }),
			signal: AbortSignal.timeout(5_000)
		});
		await answer.body?.cancel();
		return answer.status;
	};
	try {
		const status = await ask(token);
		// Nobody has the name that was asked for: a calm no is the right answer.
		if (status < 500 && status !== 403 && status !== 400)
			yield ok('RADIUS', 'our side answers who has the token');
		else yield fail('RADIUS', `our side answers with status ${status}`, 'see the log of the service');
	} catch {
		yield fail(
			'RADIUS',
			`this installation does not answer at port ${config.port}`,
			'start it, with the same PORT'
		);
	}
}

function clockFinding(offsetMs: number): Finding {
	const seconds = Math.round(offsetMs / 1000);
	const what = `its clock is ${Math.abs(seconds)} s ${seconds < 0 ? 'behind' : 'ahead of'} ours`;
	return Math.abs(offsetMs) <= MAX_OFFSET_MS
		? ok('clock', what)
		: warn('clock', what, 'let it use NTP; nobody loses time by it, but its reports are dated wrong');
}

function* lately({ clock }: App, gateway: RegisteredGateway): Generator<Finding> {
	const { seenAt, unresponsiveSince, trouble } = gateway;
	if (trouble !== null) yield fail('last attempt', trouble.replace(/\.$/, ''), 'it is tried again by itself');
	if (seenAt === null && unresponsiveSince !== null) {
		yield fail('heard of', 'never yet', 'its router is not sold before it is; look at its configuration');
	} else if (unresponsiveSince !== null) {
		const minutes = Math.round((clock.now() - unresponsiveSince) / MINUTE_MS);
		yield fail('heard of', `silent for ${minutes} minutes`, 'its router is not sold while that lasts');
	} else if (seenAt === null) {
		yield warn('heard of', 'never yet', 'normal before the first buyer; then look at its configuration');
	} else {
		yield ok('heard of', `${Math.max(0, Math.round((clock.now() - seenAt) / MINUTE_MS))} minutes ago`);
	}
}

async function* waiting({ access }: App, { id }: RegisteredGateway): AsyncGenerator<Finding> {
	const { granting, revoking, failed, lastError } = await access.pendingAt(id);
	if (granting + revoking + failed === 0) {
		yield ok('guests', 'nobody waits to be let in, or put out');
		return;
	}
	const what = `${granting} wait to be let in, ${revoking} to be put out, ${failed} could not be put out`;
	const why = lastError === null ? what : `${what}; last: ${lastError.replace(/\.$/, '')}`;
	if (lastError === null && failed === 0) yield ok('guests', what);
	else yield fail('guests', why, 'buyers who are not let in get their money back after ten minutes');
}
