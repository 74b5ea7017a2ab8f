import { normaliseMac } from '../../mac.ts';
import { GATEWAY_KINDS, type GatewayKind, type GatewaySettings } from './gateway.ts';
import { normaliseLoginHost } from './login-hosts.ts';
import { adapterOf } from './registry.ts';

/** What somebody types to register a gateway, and the rules that it is held against. */

export interface GatewayInput {
	name: string;
	routerId: number;
	kind: string;
	loginHosts: readonly string[];
	/** null: one is made where the kind needs one. */
	secret: string | null;
	level: string | null;
	site: string | null;
	accessPoints: readonly string[];
	/** Where Airtill itself lets no device online: something else does, and whoever registers it knows. */
	letInElsewhere: boolean;
}

export interface CheckedGateway {
	name: string;
	routerId: number;
	kind: GatewayKind;
	loginHosts: string[];
	secret: string | null;
	settings: GatewaySettings;
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
		| 'let-in-elsewhere';
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
	if (kind !== undefined) checkLettingIn(input, kind, settings, wrong);

	if (kind === undefined || problems.length > 0) throw new GatewayInputError(problems);
	return { name: input.name, routerId: input.routerId, kind, loginHosts, secret: input.secret, settings };
}

/** Nothing is sold where nobody would be let online: buyers would pay, and stay outside. */
function checkLettingIn(
	input: GatewayInput,
	kind: GatewayKind,
	settings: GatewaySettings,
	wrong: Wrong
): void {
	const letsIn =
		adapterOf(kind).finishes({ loginHosts: [], secret: null, credentials: {}, settings }) === 'navigate';
	if (letsIn && input.letInElsewhere) {
		wrong('let-in-elsewhere', 'devices are let online in the browser here: leave it out');
	}
	if (letsIn || input.letInElsewhere) return;
	const [field, what] =
		kind === 'opennds'
			? (['level', 'openNDS at level 4'] as const)
			: (['kind', adapterOf(kind).title] as const);
	wrong(
		field,
		`Airtill cannot let devices online through ${what} yet: buyers would pay and stay offline. ` +
			'If something else lets them in, e.g. the Wi-Fi itself takes the bought password, add --let-in-elsewhere'
	);
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
