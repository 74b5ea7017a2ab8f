import type { App } from '#lib/server/app.ts';
import { isoTime } from '#lib/server/platform/clock.ts';
import type { GatewayCredentials } from '#lib/server/gateways/gateway.ts';
import type { RegisteredGateway } from '#lib/server/gateways/gateways.ts';
import { adapterOf } from '#lib/server/gateways/registry.ts';
import { fail, ok, warn, type Finding } from './finding.ts';

/** With a larger offset a gateway refuses Disconnect-Requests (RFC 5176), or ends sessions at the wrong time. */
const CLOCK_OFF_MS = 30_000;
const MAX_NAMED = 5;

/** Checks that the gateways respond and have their credentials. */
export async function* checkGateways(app: App): AsyncGenerator<Finding> {
	const gateways = await app.gateways.list();
	const findings = gateways.flatMap((gateway) => [...findingsOf(gateway)]);
	yield* findings;
	if (gateways.length === 0) yield ok('gateways', 'none is registered');
	else if (findings.length === 0) yield ok('gateways', `${gateways.length}, without problems`);
	const open = await app.usage.routersWithoutGateway(MAX_NAMED + 1);
	if (open.length === 0) return;
	const names = open.slice(0, MAX_NAMED).map(({ id, name }) => `${id} ${name}`);
	const more = open.length > MAX_NAMED ? ' and more' : '';
	const what = `routers that sell have no gateway: ${names.join(', ')}${more}`;
	// Only a warning, because another program may connect buyers there. A sandbox has made-up routers.
	if (app.config.mode === 'sandbox') yield ok('access', what);
	else yield warn('access', what, 'register their gateways, unless another system connects their buyers');
}

function* findingsOf(gateway: RegisteredGateway): Generator<Finding> {
	const { name, kind, unresponsiveSince, seenAt, trouble, clockOffsetMs } = gateway;
	const mode = adapterOf(kind).controlMode(gateway);
	const missing = missingOf(gateway);
	const test = `see "gateways test ${name}"`;
	if (missing.length > 0) {
		const what = `${name} has no ${missing.join(' and no ')}`;
		yield fail('gateways', what, 'remove it and register it again with what its kind needs');
	}
	if (seenAt === null && mode !== 'browser' && mode !== 'external') {
		const what = `${name} has never responded${unresponsiveSince === null ? '' : ': its router may not sell'}`;
		yield warn('gateways', what, `configure it as "gateways config ${name}" prints; ${test}`);
	} else if (unresponsiveSince !== null) {
		const what = `${name} has been silent since ${isoTime(unresponsiveSince)}: its router may not sell`;
		yield warn('gateways', what, `check its power and internet; ${test}`);
	}
	if (trouble !== null) yield warn('gateways', `${name}: ${trouble}`, test);
	if (clockOffsetMs !== null && Math.abs(clockOffsetMs) > CLOCK_OFF_MS) {
		const seconds = Math.round(Math.abs(clockOffsetMs) / 1000);
		const what = `${name}: its clock is ${seconds} s ${clockOffsetMs > 0 ? 'ahead of' : 'behind'} this machine's`;
		yield warn('gateways', what, 'let it set its clock by NTP');
	}
}

/** Returns the missing credentials that its control mode requires. */
function missingOf(gateway: RegisteredGateway): string[] {
	const mode = adapterOf(gateway.kind).controlMode(gateway);
	const named: [keyof GatewayCredentials, string][] =
		mode === 'radius'
			? [
					['radiusSecret', 'RADIUS secret'],
					['token', 'token']
				]
			: mode === 'push' && gateway.settings.api !== undefined
				? [['apiKey', 'API key']]
				: [];
	return named.flatMap(([key, words]) => (gateway.credentials[key] === undefined ? [words] : []));
}
