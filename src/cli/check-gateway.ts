import { endsByItself } from '#lib/domain/wifi.ts';
import type { App } from '#lib/server/app.ts';
import { type Finding, fail, ok, checkGateway, warn } from '#lib/server/checks.ts';
import { type RegisteredGateway, findClaims, findGatewayByName } from '#lib/server/gateways/gateways.ts';
import { type RouterRow, offlineReason, opensAt } from '#lib/server/routers/routers.ts';
import { findRouter } from './services.ts';
import { countPending } from '#lib/server/access/admissions.ts';
import { readGatewayStatus } from '#lib/server/gateway-setup.ts';

export async function* checkGatewayHere(app: App, gateway: RegisteredGateway): AsyncGenerator<Finding> {
	yield* addresses(app, gateway);
	yield* router(app, gateway);
	yield* accessPoints(app, gateway);
	yield* reachable(app, gateway);
	yield* checkGateway(app, (await findGatewayByName(app.gateways, gateway.name)) ?? gateway);
	yield* waiting(app, gateway);
}

/** By `status_reason` of a router; `%` is its id. */
const OFFLINE_ADVICE = {
	paused: 'its owner has closed it for today, or it is outside its opening hours; nothing is broken',
	disabled: 'no buyer sees it; enable it at /admin/routers/%',
	closed: 'import it again with the status online',
	gateway_unresponsive: 'check the power, the internet connection and the configuration of its gateways',
	access_unverified: 'it sells when this gateway has responded; or confirm its access at /admin/routers/%',
	network_password_missing: 'set the password at /owner/routers/%/edit'
} as const;

const MODE_TEXT = {
	browser: 'devices sign in with the browser',
	radius: 'it asks a RADIUS server, which asks Airtill',
	push: 'Airtill connects and disconnects its devices',
	poll: 'it fetches the list of devices from Airtill',
	fetch: 'it fetches a script from Airtill, and reports who is online',
	external: 'another system connects its devices'
} as const;

function* addresses({ config: { origin } }: App, { title, mode }: RegisteredGateway): Generator<Finding> {
	yield ok('kind', `${title}; ${MODE_TEXT[mode]}`);
	if (origin === null) {
		yield warn('portal', 'its address is unknown', 'set ORIGIN to the address that devices open');
	} else if (origin.startsWith('https:')) yield ok('portal', origin);
	else yield warn('portal', `${origin} has no https`, 'use https: it protects passwords');
}

function unsoldReason({ clock, config }: App, found: RouterRow): keyof typeof OFFLINE_ADVICE | null {
	const now = clock.now();
	if (found.disabled_at !== null) return 'disabled';
	return opensAt(found, config, now) === null ? offlineReason(found, config, now) : 'paused';
}

async function* router(
	app: App,
	{ kind, name: gatewayName, routerId }: RegisteredGateway
): AsyncGenerator<Finding> {
	const found = await findRouter(app, routerId);
	if (!found) {
		const advice = `choose one of /admin/routers with "gateways set ${gatewayName} --router ID"`;
		yield fail('router', `there is no router ${routerId}`, advice);
		return;
	}
	const { name, access_kind: sold } = found;
	const reason = unsoldReason(app, found);
	if (reason !== null) {
		const level = reason === 'paused' ? warn : fail;
		yield level(
			'router',
			`"${name}" does not sell now (${reason})`,
			OFFLINE_ADVICE[reason].replace('%', String(routerId))
		);
	}
	const wants = kind === 'hostapd' ? ['wpa_personal_per_client', 'wpa_enterprise'] : ['portal_login'];
	if (wants.includes(sold)) yield ok('router', `"${name}", ${sold}`);
	else {
		const advice = endsByItself(sold)
			? 'change the kind with "routers access", so that buyers get the right password'
			: 'Airtill cannot disconnect devices that share one password';
		yield fail('router', `"${name}" sells ${sold}, and this gateway needs ${wants.join(' or ')}`, advice);
	}
}

async function* accessPoints({ database }: App, gateway: RegisteredGateway): AsyncGenerator<Finding> {
	for (const { accessPoint, state, rivals } of await findClaims(database.db, gateway)) {
		const what =
			state === 'lost'
				? `${accessPoint} belongs to another account, as an administrator decided`
				: `${accessPoint} is also registered at router ${rivals.join(' and ')}, of another account; neither sells there`;
		yield fail('access points', what, `an administrator decides at /admin/routers/${gateway.routerId}`);
	}
}

async function* reachable(app: App, gateway: RegisteredGateway): AsyncGenerator<Finding> {
	const { mode, name } = gateway;
	if (mode === 'radius') yield* radiusEndpoint(app, gateway);
	const status = await readGatewayStatus(app.gatewaySetup, gateway);
	if (!status) return;
	const advice = status.reachable
		? `see "gateways config ${name}" for its requirements; "gateways rotate" sets a new key`
		: 'check its address, its power, and the network between it and this machine';
	for (const problem of status.problems) yield fail('gateway', problem.replace(/\.$/, ''), advice);
	if (status.problems.length > 0) return;
	const online = status.online === null ? '' : `; ${status.online} online`;
	yield ok('gateway', `it answers, and accepts our key${online}`);
}

async function* radiusEndpoint({ config }: App, { key, credentials: { token = '' } }: RegisteredGateway) {
	const url = `http://127.0.0.1:${config.port}/radius/${key}/check`;
	try {
		const { status } = await fetch(url, {
			method: 'POST',
			headers: { authorization: `Bearer ${token}` },
			signal: AbortSignal.timeout(5_000)
		});
		if (status === 204) yield ok('RADIUS', 'this installation accepts the token');
		else yield fail('RADIUS', `this installation answers with status ${status}`, 'see its log');
	} catch {
		yield fail(
			'RADIUS',
			`this installation does not answer at port ${config.port}`,
			'start it, with the same PORT'
		);
	}
}

async function* waiting({ database, clock }: App, { id }: RegisteredGateway): AsyncGenerator<Finding> {
	const { connecting, disconnecting, problem } = await countPending(database.db, id, clock.now());
	if (connecting + disconnecting === 0) {
		yield ok('devices', 'none waits to be connected or disconnected');
		return;
	}
	const what = `${connecting} wait to be connected, ${disconnecting} to be disconnected`;
	if (problem === null) yield ok('devices', what);
	else {
		const why = `${what}; last: ${problem.replace(/\.$/, '')}`;
		yield fail('devices', why, 'buyers who are not connected within ten minutes are refunded');
	}
}
