import { normaliseMac } from '#lib/domain/mac.ts';
import { normaliseLoginHost } from '../captive-sessions/login-hosts.ts';
import {
	GATEWAY_KINDS,
	type GatewayCredentials,
	type GatewayKind,
	type GatewaySettings
} from '../gateway.ts';
import { adapterOf } from '../registry.ts';
import { checkConnection, checkSecret, usesRadius, type Check } from './connection.ts';
import type { GatewayInput } from './input.ts';
import { refuseForeign } from './options.ts';
import { InputError, type FieldProblem, type Report } from '#lib/server/platform/errors.ts';

export const isSite = (text: string): boolean => SITE.test(text);

export type CheckedGateway = ReturnType<typeof checkGateway>;

const MAX_LOGIN_HOSTS = 5;
const MAX_ACCESS_POINTS = 200;
const NAME = /^[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?$/;
const SITE = /^[A-Za-z0-9_-]{1,32}$/;

export const hasSharedSecret = (kind: GatewayKind): boolean => adapterOf(kind).secretName !== null;

export function generatedCredentials(kind: GatewayKind, settings: GatewaySettings) {
	const radiusSecret = usesRadius(kind, settings);
	return { radiusSecret, token: radiusSecret || kind === 'opennds' };
}

/** Accepts missing credentials (generated later). @throws InputError with every wrong field */
export function checkGateway(input: GatewayInput) {
	const problems: FieldProblem[] = [];
	const report: Report = (field, reason) => problems.push({ field, reason });

	if (!NAME.test(input.name)) report('name', 'use up to 40 lower-case letters, digits and hyphens');
	if (!Number.isSafeInteger(input.routerId) || input.routerId < 1) report('router', 'use the id of a router');
	const kind = GATEWAY_KINDS.find((known) => known === input.kind);
	if (kind === undefined) {
		report('kind', `use one of ${GATEWAY_KINDS.join(', ')}`);
		throw new InputError(problems);
	}
	const settings: GatewaySettings = {};
	const credentials: GatewayCredentials = {};
	const check = { input, kind, settings, credentials, report };
	refuseForeign(input, { ...input, kind }, report);
	const loginHosts = checkLoginHosts(check);
	if (hasSharedSecret(kind)) checkSecret('secret', kind, input.secret, report);
	if (kind === 'opennds') checkLevel(check);
	if (kind === 'unifi') checkSite(check);
	checkConnection(check);

	if (problems.length > 0) throw new InputError(problems);
	const { name, routerId, secret } = input;
	return { name, routerId, kind, loginHosts, secret, settings, credentials };
}

function checkLoginHosts({ input: { loginHosts: hosts }, kind, report }: Check): string[] {
	const { defaultPort } = adapterOf(kind);
	if (defaultPort === null) return [];
	const found = hosts.map(normaliseLoginHost);
	for (const [index, host] of found.entries()) {
		if (host === null) report('login-host', `"${hosts[index]}" is not a host name or IPv4 address`);
	}
	if (hosts.length === 0) {
		report(
			'login-host',
			`give the host of the sign-in page as the gateway sends it, for example 10.5.50.1 or 10.5.50.1:${defaultPort}`
		);
	}
	if (hosts.length > MAX_LOGIN_HOSTS) report('login-host', `give at most ${MAX_LOGIN_HOSTS}`);
	return [...new Set(found.filter((host) => host !== null))];
}

function checkLevel({ input: { level }, settings, report }: Check): void {
	if (level === null || level === '1') settings.level = 1;
	else if (level === '4') settings.level = 4;
	else report('level', 'use 1 (portal in the same network) or 4 (portal elsewhere, by https)');
}

function checkSite({ input: { site, accessPoints, publicApi }, settings, report }: Check): void {
	if (site !== null && isSite(site)) settings.site = site;
	else report('site', 'give the name in the address of the site, for example default');
	// Sites of most consoles have the same name, and owners do not know each other.
	if (publicApi && accessPoints.length === 0) {
		report('access-point', 'give the MAC addresses of its access points');
	}
	if (accessPoints.length > MAX_ACCESS_POINTS) report('access-point', `give at most ${MAX_ACCESS_POINTS}`);
	const macs = accessPoints.map(normaliseMac);
	for (const [index, mac] of macs.entries()) {
		if (mac === null) report('access-point', `"${accessPoints[index]}" is not a MAC address`);
	}
	if (macs.length > 0) settings.accessPoints = macs.filter((mac) => mac !== null);
}
