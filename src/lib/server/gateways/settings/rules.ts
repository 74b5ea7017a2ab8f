import { normaliseMac } from '#lib/domain/mac.ts';
import {
	GATEWAY_KINDS,
	type GatewayCredentials,
	type GatewayKind,
	type GatewaySettings
} from '../gateway.ts';
import { normaliseLoginHost } from '../captive-sessions/login-hosts.ts';
import { adapterOf } from '../registry.ts';
import {
	asksRadius,
	checkApiCredentials,
	checkReach,
	radiusSecretProblem,
	type ReachField,
	type ReachInput
} from './rules-reach.ts';

/** What somebody types to register a gateway, and the rules that it is held against. */

export interface GatewayInput extends ReachInput {
	name: string;
	routerId: number;
	kind: string;
	loginHosts: readonly string[];
	/** null: one is made where the kind needs one. */
	secret: string | null;
	level: string | null;
	site: string | null;
	accessPoints: readonly string[];
	/** Where Airtill lets no device online itself: something else does, and whoever registers it knows. */
	externalAccess: boolean;
}

export interface CheckedGateway {
	name: string;
	routerId: number;
	kind: GatewayKind;
	loginHosts: string[];
	secret: string | null;
	settings: GatewaySettings;
	/** Those that were typed. */
	credentials: GatewayCredentials;
}

export interface FieldProblem {
	field:
		| 'name'
		| 'router'
		| 'kind'
		| 'login-host'
		| 'secret'
		| 'level'
		| 'site'
		| 'access-point'
		| 'external-access'
		| 'token'
		| ReachField;
	reason: string;
}

/** What was typed cannot be registered: every field that is wrong, with its reason. */
export class GatewayInputError extends Error {
	readonly problems: readonly FieldProblem[];

	constructor(problems: readonly FieldProblem[]) {
		super(problems.map(({ field, reason }) => `${field}: ${reason}`).join('\n'));
		this.name = 'GatewayInputError';
		this.problems = problems;
	}
}

const MAX_LOGIN_HOSTS = 5;
const MAX_ACCESS_POINTS = 200;
const NAME = /^[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?$/;
const SITE = /^[A-Za-z0-9_-]{1,32}$/;

/** openNDS takes letters and digits only; CoovaChilli puts its secret on a command line. */
const SECRETS: Partial<Record<GatewayKind, { pattern: RegExp; rule: string }>> = {
	opennds: { pattern: /^[A-Za-z0-9]{16,64}$/, rule: 'use 16 to 64 letters and digits' },
	coova: { pattern: /^[A-Za-z0-9_-]{16,64}$/, rule: 'use 16 to 64 letters, digits, hyphens or underscores' }
};

export const sharesSecret = (kind: GatewayKind): boolean => SECRETS[kind] !== undefined;

/** @throws GatewayInputError */
export function checkGateway(input: GatewayInput): CheckedGateway {
	const problems: FieldProblem[] = [];
	const wrong = (field: FieldProblem['field'], reason: string) => problems.push({ field, reason });

	if (!NAME.test(input.name)) wrong('name', 'use up to 40 lower-case letters, digits and hyphens');
	if (!Number.isSafeInteger(input.routerId) || input.routerId < 1) wrong('router', 'use the id of a router');
	const kind = GATEWAY_KINDS.find((known) => known === input.kind);
	if (kind === undefined) wrong('kind', `use one of ${GATEWAY_KINDS.join(', ')}`);
	const loginHosts = checkHosts(input.loginHosts, kind, wrong);
	if (input.secret !== null && kind !== undefined) checkSecret(kind, input.secret, wrong);
	const settings = checkSettings(input, kind, wrong);
	const credentials = kind === undefined ? {} : checkReach(input, kind, settings, wrong);
	if (kind !== undefined) checkLettingIn(input, kind, settings, wrong);

	if (kind === undefined || problems.length > 0) throw new GatewayInputError(problems);
	const { name, routerId, secret } = input;
	return { name, routerId, kind, loginHosts, secret, settings, credentials };
}

/** Which secrets are made for a gateway, where none was typed. */
export const madeFor = (kind: GatewayKind, settings: GatewaySettings) => ({
	radiusSecret: asksRadius(kind, settings),
	token: asksRadius(kind, settings) || kind === 'opennds'
});

/** Nothing is sold where nobody would be let online: buyers would pay, and stay outside. */
function checkLettingIn(
	{ externalAccess, api }: GatewayInput,
	kind: GatewayKind,
	settings: GatewaySettings,
	wrong: Wrong
): void {
	if (kind !== 'unifi' || api !== null) {
		if (externalAccess) wrong('external-access', 'Airtill lets devices online here: leave it out');
		return;
	}
	if (externalAccess) settings.external = true;
	else {
		wrong(
			'api',
			'say where the API of its console is: else Airtill cannot let devices online, and buyers would pay and stay ' +
				'offline. If something else lets them in, e.g. the Wi-Fi itself takes the bought password, add --external-access'
		);
	}
}

type Wrong = (field: FieldProblem['field'], reason: string) => void;

function checkHosts(hosts: readonly string[], kind: GatewayKind | undefined, wrong: Wrong): string[] {
	const found = hosts.map(normaliseLoginHost);
	for (const [index, host] of found.entries()) {
		if (host === null) wrong('login-host', `"${hosts[index]}" is no host name or IPv4 address`);
	}
	if (kind === undefined) return [];
	const { defaultPort } = adapterOf(kind);
	if (defaultPort === null && hosts.length > 0) wrong('login-host', `${kind} has none: leave it out`);
	if (defaultPort !== null && hosts.length === 0) {
		wrong('login-host', `say where its sign-in is, e.g. 10.5.50.1 or wifi.example:${defaultPort}`);
	}
	if (hosts.length > MAX_LOGIN_HOSTS) wrong('login-host', `at most ${MAX_LOGIN_HOSTS}`);
	return [...new Set(found.filter((host) => host !== null))];
}

export function checkSecret(kind: GatewayKind, secret: string, wrong: Wrong): void {
	const rule = SECRETS[kind];
	if (!rule) wrong('secret', `${kind} shares none: leave it out`);
	else if (!rule.pattern.test(secret)) wrong('secret', rule.rule);
}

function checkSettings(input: GatewayInput, kind: GatewayKind | undefined, wrong: Wrong): GatewaySettings {
	const settings: GatewaySettings = {};
	if (input.level !== null) {
		if (kind !== 'opennds') wrong('level', 'only openNDS has levels');
		else if (input.level === '1' || input.level === '4') settings.level = input.level === '1' ? 1 : 4;
		else wrong('level', 'use 1 (portal on the same network) or 4 (portal elsewhere, by https)');
	} else if (kind === 'opennds') settings.level = 1;

	if (kind === 'unifi') {
		if (input.site === null || !SITE.test(input.site)) {
			wrong('site', 'give the name in the address of its site, e.g. default');
		} else settings.site = input.site;
	} else if (input.site !== null) wrong('site', 'only UniFi has sites');

	if (input.accessPoints.length > 0 && kind !== 'unifi') wrong('access-point', 'only UniFi needs them');
	if (input.accessPoints.length > MAX_ACCESS_POINTS) wrong('access-point', `at most ${MAX_ACCESS_POINTS}`);
	const points = input.accessPoints.map(normaliseMac);
	for (const [index, point] of points.entries()) {
		if (point === null) wrong('access-point', `"${input.accessPoints[index]}" is no MAC address`);
	}
	if (points.length > 0) settings.accessPoints = points.filter((point) => point !== null);
	return settings;
}

/** What is renewed; for each secret a text to take over, `new` to make one, or null to leave it. */
export interface Rotation {
	key: boolean;
	secret: string | null;
	radiusSecret: string | null;
	token: string | null;
	/** These two are made elsewhere. */
	apiKey: string | null;
	apiUser: string | null;
}

/** @throws GatewayInputError */
export function checkRotation({ kind, settings, credentials }: RotatedGateway, what: Rotation): void {
	const problems: FieldProblem[] = [];
	const wrong = (field: FieldProblem['field'], reason: string) => problems.push({ field, reason });
	if (what.secret === 'new') {
		if (!sharesSecret(kind)) wrong('secret', `${kind} shares none: leave it out`);
	} else if (what.secret !== null) checkSecret(kind, what.secret, wrong);

	const made = madeFor(kind, settings);
	if (what.radiusSecret !== null && !made.radiusSecret) {
		wrong('radius-secret', 'it asks no RADIUS server: leave it out');
	} else if (what.radiusSecret !== null && what.radiusSecret !== 'new') {
		const problem = radiusSecretProblem(what.radiusSecret);
		if (problem !== null) wrong('radius-secret', problem);
	}
	if (what.token !== null && !made.token) wrong('token', `${kind} has none: leave it out`);

	if (what.apiKey !== null || what.apiUser !== null) {
		const { apiKey = null, apiUser = null } = credentials;
		if (settings.api === undefined) wrong('api-key', 'it was registered without --api');
		else
			checkApiCredentials({ apiKey: what.apiKey ?? apiKey, apiUser: what.apiUser ?? apiUser }, kind, wrong);
	}
	if (problems.length > 0) throw new GatewayInputError(problems);
}

type RotatedGateway = Pick<CheckedGateway, 'kind' | 'settings' | 'credentials'>;
