import { lockById, lockName } from '../db/locks.ts';
import { lockRouter } from '../routers/routers.ts';
import { normaliseMac, isPublicAddress, normaliseIp } from '#lib/domain/address.ts';
import {
	GATEWAY_KINDS,
	type GatewayCredentials,
	type GatewayKind,
	type GatewaySettings,
	normaliseLoginHost
} from './gateway.ts';
import * as store from './gateways.ts';
import {
	type Gateways,
	type RegisteredGateway,
	MAX_LOGIN_HOSTS,
	createGatewayKey,
	decideGeneratedCredentials,
	findAdapter,
	findGatewaysOfSite,
	isSite,
	openGateway,
	readSettings,
	refuseUnreadable,
	sealCredentials,
	sealSecret,
	usesRadius
} from './gateways.ts';
import { type FieldProblem, refuseFields, type Report } from '#lib/server/platform/errors.ts';
import { withoutNulls } from '#lib/server/db/queries.ts';
import { X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import type { Tx } from '../db/database.ts';
import { gatewaySecret } from '../platform/secrets.ts';

type CheckedGateway = ReturnType<typeof checkGateway>;

const MAX_ACCESS_POINTS = 200;
const NAME = /^[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?$/;

const hasSharedSecret = (kind: GatewayKind): boolean => findAdapter(kind).secretName !== null;

/** Accepts missing credentials (generated later). @throws Refused with every wrong field */
export function checkGateway(input: GatewayInput) {
	const problems: FieldProblem[] = [];
	const report: Report = (field, reason) => problems.push({ field, reason });

	if (!NAME.test(input.name)) report('name', 'use up to 40 lower-case letters, digits and hyphens');
	if (!Number.isSafeInteger(input.routerId) || input.routerId < 1) report('router', 'use the id of a router');
	const kind = GATEWAY_KINDS.find((known) => known === input.kind);
	if (kind === undefined) {
		report('kind', `use one of ${GATEWAY_KINDS.join(', ')}`);
		throw refuseFields(...problems);
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

	if (problems.length > 0) throw refuseFields(...problems);
	const { name, routerId, secret } = input;
	return { name, routerId, kind, loginHosts, secret, settings, credentials };
}

function checkLoginHosts({ input: { loginHosts: hosts }, kind, report }: Check): string[] {
	const { defaultPort } = findAdapter(kind);
	if (defaultPort === null) return [];
	const found = hosts.map(normaliseLoginHost);
	for (const [index, host] of found.entries()) {
		if (host === null) report('login-host', `"${hosts[index]}" is not a host name or IPv4 address`);
	}
	// It reports them.
	if (hosts.length === 0 && kind !== 'mikrotik-fetch') {
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

const API_FIELDS = ['api', 'apiUser', 'apiKey', 'apiCertificate'] as const;

/** Returns the complete input of a changed gateway. Drops old settings that its new connection does not use. */
function buildChangedInput(gateway: RegisteredGateway, change: GatewayChange): GatewayInput {
	const next = { ...readInput(gateway), ...change };
	// With an address of its API, Airtill controls the gateway itself.
	if (change.api != null && change.externalAccess === undefined) next.externalAccess = false;
	const { kind } = gateway;
	const usesApi = kind === 'unifi' ? !next.externalAccess : next.control === 'rest';
	const unused: (keyof GatewayChange)[] = [
		...(usesApi ? [] : API_FIELDS),
		...(kind === 'mikrotik' && usesApi ? (['nas'] as const) : []),
		...(next.api?.startsWith('http:') ? (['apiCertificate'] as const) : [])
	];
	const dropped = unused.filter((field) => change[field] === undefined);
	const apiInsecure = change.apiInsecure ?? (usesApi && next.apiInsecure);
	return { ...next, ...Object.fromEntries(dropped.map((field) => [field, null])), apiInsecure };
}

/** Leaves out generated secrets, which do not change. */
function readInput(gateway: RegisteredGateway): GatewayInput {
	const { name, routerId, kind, mode, loginHosts, settings, credentials } = gateway;
	const { level, nas, nasPort, api, site, accessPoints, control, apiCertificate } = settings;
	const { apiUser, apiKey } = credentials;
	const address = nas?.includes(':') ? `[${nas}]` : nas;
	return {
		...{ ...NO_SETTINGS, name, routerId, kind, loginHosts },
		...withoutNulls({ site, accessPoints, control, api, apiUser, apiKey, apiCertificate }),
		level: level === undefined ? null : String(level),
		externalAccess: mode === 'external',
		nas: (nasPort === undefined ? nas : `${address}:${nasPort}`) ?? null,
		apiInsecure: api?.startsWith('http:') ?? false,
		publicApi: settings.publicApi === true
	};
}

/** The settings as entered; null for omitted fields. */
export const NO_SETTINGS = {
	loginHosts: [] as readonly string[],
	/** null: generate one if the kind needs it. */
	secret: null as string | null,
	level: null as string | null,
	site: null as string | null,
	accessPoints: [] as readonly string[],
	externalAccess: false,
	control: null as string | null,
	/** RADIUS: `ADDRESS[:PORT]` of the gateway. */
	nas: null as string | null,
	api: null as string | null,
	apiUser: null as string | null,
	apiKey: null as string | null,
	apiCertificate: null as string | null,
	apiInsecure: false,
	/** An owner gives the address. */
	publicApi: false,
	/** null: generate one. */
	radiusSecret: null as string | null
};

export type GatewayInput = typeof NO_SETTINGS & { name: string; routerId: number; kind: string };

/** New settings of a registered gateway; null deletes one. Omitted members keep their value. */
export type GatewayChange = Partial<Omit<GatewayInput, 'name' | 'kind' | 'secret' | 'radiusSecret'>>;

/** `publicApi` says who typed the others. */
type Option = Exclude<keyof typeof NO_SETTINGS, 'publicApi'>;

/** These decide which options a gateway has. */
type Place = Pick<GatewayInput, 'api' | 'control'> & { kind: GatewayKind };

const RADIUS: readonly Option[] = ['nas', 'radiusSecret'];
const API: readonly Option[] = ['api', 'apiKey', 'apiCertificate', 'apiInsecure'];

function listOptions({ kind, api, control }: Place): readonly Option[] {
	switch (kind) {
		case 'opennds':
			return ['loginHosts', 'secret', 'level'];
		case 'coova':
			return ['loginHosts', 'secret', ...RADIUS];
		case 'mikrotik':
			return ['loginHosts', 'control', ...(control === 'rest' ? ([...API, 'apiUser'] as const) : RADIUS)];
		case 'mikrotik-fetch':
			return ['loginHosts'];
		case 'unifi':
			return ['site', 'accessPoints', ...(api === null ? (['externalAccess'] as const) : API)];
		case 'hostapd':
			return RADIUS;
	}
}

/** By kind, the option that decides whether a gateway has these others. */
const DECIDED_BY: Partial<Record<GatewayKind, { by: string; options: readonly Option[] }>> = {
	mikrotik: { by: '--control', options: [...RADIUS, ...API, 'apiUser'] },
	unifi: { by: '--api', options: ['externalAccess', ...API] }
};

/** Reports the given options that a gateway does not have, by their names on the command line. */
function refuseForeign(given: Partial<GatewayInput>, place: Place, report: Report): void {
	const known: readonly string[] = ['publicApi', ...listOptions(place)];
	for (const name of Object.keys(NO_SETTINGS) as Option[]) {
		const value = given[name] ?? false;
		if (value === false || (Array.isArray(value) && value.length === 0) || known.includes(name)) continue;
		const field = name
			.replace(/(Host|Point)s$/, '$1')
			.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
		const decided = DECIDED_BY[place.kind];
		const hint = decided?.options.includes(name) ? `, or change ${decided.by}` : '';
		report(field, `${place.kind} with these options does not use it; leave it out${hint}`);
	}
}

const MAX_CERTIFICATE_LENGTH = 16_384;
const API_USER = /^[\x21-\x39\x3b-\x7e]{1,64}$/;
/** Printable ASCII, because it becomes an HTTP header. */
const API_KEY = /^[\x20-\x7e]{1,256}$/;
/** FreeRADIUS accepts these without quotes, and CoovaChilli on a command line. RFC 2865 asks for at least 16 characters. */
const SECRET = /^[A-Za-z0-9_-]{16,64}$/;
const OPENNDS_SECRET = /^[A-Za-z0-9]{16,64}$/;

interface Check {
	input: GatewayInput;
	kind: GatewayKind;
	settings: GatewaySettings;
	credentials: GatewayCredentials;
	report: Report;
}

/** Checks how the gateway and Airtill reach each other. Options that it does not have were refused. */
function checkConnection(check: Check): void {
	const { input, kind, settings, report } = check;
	const { control } = input;
	if (kind === 'mikrotik' && control !== null) {
		if (control === 'radius' || control === 'rest') settings.control = control;
		else report('control', 'use radius, or rest (RouterOS 7 without a RADIUS server)');
	}
	if (usesRadius(kind, settings)) checkRadius(check);
	if (kind === 'unifi' || settings.control === 'rest') checkApi(check);
}

/** @param secret null for one that is generated */
function checkSecret(
	field: 'secret' | 'radius-secret',
	kind: GatewayKind,
	secret: string | null,
	report: Report
): void {
	const isOpennds = kind === 'opennds';
	if (secret === null || (isOpennds ? OPENNDS_SECRET : SECRET).test(secret)) return;
	report(
		field,
		`use 16 to 64 letters${isOpennds ? ' and' : ','} digits${isOpennds ? '' : ', hyphens or underscores'}`
	);
}

function checkRadius({ input: { nas, radiusSecret }, kind, settings, credentials, report }: Check): void {
	checkSecret('radius-secret', kind, radiusSecret, report);
	if (radiusSecret !== null) credentials.radiusSecret = radiusSecret;
	if (nas === null) return;
	const found = parseNas(nas);
	if (found) Object.assign(settings, found);
	else report('nas', `"${nas}" is not an address or address:port; for example 10.8.0.2 or 10.8.0.2:3799`);
}

function checkApi(check: Check): void {
	const { input, kind, settings, report } = check;
	const { api, apiCertificate, apiInsecure, externalAccess, publicApi } = input;
	const isUnifi = kind === 'unifi';
	if (api === null) {
		if (!isUnifi) report('api', 'give the URL of its REST API, for example https://10.8.0.2');
		else if (!externalAccess) report('api', NOBODY_CONNECTS);
		return;
	}
	const rules = { onlyTls: isUnifi && !apiInsecure, onlyPublic: publicApi };
	const path = isUnifi ? '/proxy/network/integration/v1' : '/rest';
	const { address, problem } = parseApiAddress(api, path, rules);
	if (problem !== null) report('api', problem);
	else Object.assign(settings, { api: address, ...(publicApi && { publicApi }) });
	if (apiCertificate !== null) {
		const pem = parseCertificate(apiCertificate);
		if (pem === null) report('api-certificate', 'the file is not a certificate in PEM format');
		else if (address.startsWith('http:'))
			report('api-certificate', 'an http API has no certificate; leave it out');
		else settings.apiCertificate = pem;
	}
	checkApiCredentials(check);
}

const NOBODY_CONNECTS =
	'give the address of the console’s API. Without it Airtill cannot let devices online: buyers would pay and stay ' +
	'offline. If another system lets them online, add --external-access';

function checkApiCredentials({
	input: { apiUser, apiKey },
	kind,
	credentials,
	report
}: Pick<Check, 'kind' | 'credentials' | 'report'> & {
	input: Pick<GatewayInput, 'apiUser' | 'apiKey'>;
}): void {
	if (kind === 'mikrotik') {
		if (apiUser === null) report('api-user', 'give the RouterOS user that may use the REST API');
		else if (!API_USER.test(apiUser)) report('api-user', 'use up to 64 characters without spaces and colons');
		else credentials.apiUser = apiUser;
	}
	if (apiKey === null) {
		const content = kind === 'unifi' ? 'the API key' : "the API user's password";
		report('api-key', `give a file with ${content} (--api-key-file)`);
	} else if (!API_KEY.test(apiKey)) {
		report('api-key', 'the file must contain one line of up to 256 printable ASCII characters');
	} else credentials.apiKey = apiKey;
}

function parseCertificate(pem: string): string | null {
	if (pem.length > MAX_CERTIFICATE_LENGTH) return null;
	try {
		return new X509Certificate(pem).toString();
	} catch {
		return null;
	}
}

const MAX_API_LENGTH = 300;

/** Reads `10.8.0.2`, `10.8.0.2:3799`, `fd00::2` or `[fd00::2]:3799`. Returns null for anything else. */
function parseNas(text: string): { nas: string; nasPort?: number } | null {
	const trimmed = text.trim().toLowerCase();
	if (isIP(trimmed) !== 0) return { nas: trimmed };
	const [, six, four, port = ''] = /^(?:\[([^\]]+)\]|([\d.]+)):(\d{1,5})$/.exec(trimmed) ?? [];
	const nas = six ?? four ?? '';
	const nasPort = Number(port);
	return isIP(nas) !== 0 && nasPort >= 1 && nasPort <= 65_535 ? { nas, nasPort } : null;
}

type ApiAddress = { address: string; problem: null } | { address: ''; problem: string };

/**
 * Accepts http only in private networks: each request carries the key.
 * @param path default of the URL
 * @param rules.onlyPublic refuses addresses of internal networks; names are checked at each connection
 */
function parseApiAddress(
	text: string,
	path: string,
	{ onlyTls, onlyPublic }: { onlyTls: boolean; onlyPublic: boolean }
): ApiAddress {
	const wrong = (problem: string): ApiAddress => ({ address: '', problem });
	if (text.length > MAX_API_LENGTH || !URL.canParse(text)) {
		return wrong('use a URL, for example https://10.8.0.2');
	}
	const url = new URL(text);
	if (url.protocol !== 'https:' && url.protocol !== 'http:') {
		return wrong('begin the URL with https:// or http://');
	}
	if (url.username !== '' || url.password !== '') {
		return wrong('leave the username and password out of the URL; the key comes in a file');
	}
	if (url.search !== '' || url.hash !== '') return wrong('leave out ? and # and everything behind them');
	if (url.protocol === 'http:') {
		if (onlyTls) return wrong('use https; --api-insecure allows http in a private network');
		if (onlyPublic || !isPrivateHost(url.hostname))
			return wrong('use https; http is allowed in private networks only');
	}
	if (onlyPublic && isPrivateHost(url.hostname)) return wrong('use a public address');
	if (onlyPublic && !isPublicPort(url))
		return wrong(`use port ${PUBLIC_PORTS.join(', ')}, or ${FORWARDED_FROM} or higher`);
	const own = url.pathname.replace(/\/+$/, '');
	return { address: `${url.origin}${own === '' ? path : own}`, problem: null };
}

/** Of RouterOS, UniFi consoles and UniFi OS Server, and what is usual for https beside 443. */
const PUBLIC_PORTS = [443, 4443, 8443, 9443, 10_443, 11_443];
/** Owners forward these to their gateway. RFC 6335: no service is registered there. */
const FORWARDED_FROM = 49_152;

/** Whether an owner may name the port: Airtill must not call the mail or database servers of others. */
const isPublicPort = ({ port }: URL): boolean =>
	port === '' || PUBLIC_PORTS.includes(Number(port)) || Number(port) >= FORWARDED_FROM;

function isPrivateHost(hostname: string): boolean {
	const host = hostname.replace(/^\[|\]$/g, '');
	return host === 'localhost' || (isIP(host) !== 0 && !isPublicAddress(host));
}

/** The secrets to replace: a text to use, `new` to generate one, or null to keep the old one. */
interface Rotation {
	key: boolean;
	secret: string | null;
	radiusSecret: string | null;
	token: string | null;
	/** The gateway creates its `apiKey` and `apiUser`: never `new`. */
	apiKey: string | null;
	apiUser: string | null;
}

type RotatedGateway = Pick<CheckedGateway, 'kind' | 'settings' | 'credentials'>;

/** @throws Refused with every wrong field */
function checkRotation({ kind, settings, credentials }: RotatedGateway, rotation: Rotation): void {
	const problems: FieldProblem[] = [];
	const report: Report = (field, reason) => problems.push({ field, reason });
	const { secret, radiusSecret, token, apiKey, apiUser } = rotation;
	const { api = null, control = null } = settings;
	const given = (text: string | null) => (text === 'new' ? null : text);
	refuseForeign({ secret, radiusSecret, apiKey, apiUser }, { kind, api, control }, report);
	if (hasSharedSecret(kind)) checkSecret('secret', kind, given(secret), report);
	if (decideGeneratedCredentials(kind, settings).radiusSecret)
		checkSecret('radius-secret', kind, given(radiusSecret), report);
	if (token !== null && !decideGeneratedCredentials(kind, settings).token) {
		report('token', `${kind} has no token; leave it out`);
	}
	if (api !== null && (apiKey !== null || apiUser !== null)) {
		const input = {
			apiKey: apiKey ?? credentials.apiKey ?? null,
			apiUser: apiUser ?? credentials.apiUser ?? null
		};
		checkApiCredentials({ input, kind, credentials: {}, report });
	}
	if (problems.length > 0) throw refuseFields(...problems);
}

/** `audit` writes rows in the same transaction. @throws Refused with every wrong field */
export async function createGateway(
	context: Gateways,
	input: GatewayInput,
	audit?: (trx: Tx, gateway: RegisteredGateway) => Promise<void>
): Promise<RegisteredGateway> {
	const { database, secrets } = context;
	const checked = checkGateway(input);
	const { kind, name } = checked;
	const secret = checked.secret ?? (hasSharedSecret(kind) ? gatewaySecret() : null);
	const settings = buildSettingValues(context, checked, {});
	const values = {
		...{ kind, name, ...createGatewayKey(secrets), ...settings, created_at: settings.updated_at },
		secret_sealed: secret === null ? null : sealSecret(secrets, name, secret)
	};
	try {
		return await database.transact(async (trx) => {
			await lockRouter(trx, checked.routerId);
			await checkUnique(trx, checked);
			const gateway = openGateway(await store.insertGateway(trx, values), secrets);
			await audit?.(trx, gateway);
			return gateway;
		});
	} catch (error) {
		if (!database.isUniqueViolation(error)) throw error;
		throw refuseFields({ field: 'name', reason: `"${name}" is already in use; choose another name` });
	}
}

/** @param known credentials of a registered gateway, which keeps those that it still needs */
function buildSettingValues(
	{ clock, secrets }: Gateways,
	{ routerId, kind, name, loginHosts, settings, credentials }: CheckedGateway,
	known: GatewayCredentials
) {
	const generated = decideGeneratedCredentials(kind, settings);
	// That of a MikroTik that fetches is made with its line.
	const token = known.token ?? (kind === 'mikrotik-fetch' ? undefined : gatewaySecret());
	return {
		router_id: routerId,
		login_hosts: JSON.stringify(loginHosts),
		settings: JSON.stringify(settings),
		credentials_sealed: sealCredentials(secrets, name, {
			...(generated.radiusSecret && { radiusSecret: known.radiusSecret ?? gatewaySecret() }),
			...(generated.token && token !== undefined && { token }),
			...credentials
		}),
		updated_at: clock.now()
	};
}

/** A change of settings. `isReconnected`: Airtill reaches the gateway in another way. */
interface SettingsChange {
	before: RegisteredGateway;
	after: RegisteredGateway;
	isReconnected: boolean;
}

/**
 * Changes settings. A gateway that Airtill reaches in another way counts as new: in live mode nothing is sold
 * there until it has responded.
 * @throws Refused with every wrong field
 */
export async function setGateway(
	context: Gateways,
	trx: Tx,
	id: number,
	change: GatewayChange
): Promise<SettingsChange> {
	const before = await lockExisting(context, trx, id);
	if (before.unreadable.length > 0) refuseUnreadable(before);
	const checked = checkGateway(buildChangedInput(before, change));
	if (before.settings.binauthLimits && checked.settings.level === 1) checked.settings.binauthLimits = true;
	await checkUnique(trx, checked, id);
	const values = buildSettingValues(context, checked, before.credentials);
	const after = openGateway(await store.updateGateway(trx, id, values), context.secrets);
	if (describeConnection(before) === describeConnection(after))
		return { before, after, isReconnected: false };
	const row = await store.updateGateway(trx, id, { seen_at: null });
	await store.updateResponded(trx, before.routerId);
	await store.updateResponded(trx, after.routerId);
	return { before, after: openGateway(row, context.secrets), isReconnected: true };
}

async function lockExisting({ secrets }: Gateways, trx: Tx, id: number): Promise<RegisteredGateway> {
	const row = await lockById(trx, 'gateways', id);
	if (!row) throw new Error(`Gateway ${id} is gone`);
	return openGateway(row, secrets);
}

const describeConnection = ({ routerId, settings, credentials }: RegisteredGateway): string => {
	const { level, site, control, api, apiCertificate } = settings;
	const { apiUser, apiKey } = credentials;
	return JSON.stringify([routerId, level, site, control, api, apiCertificate, apiUser, apiKey]);
};

/** @throws Refused if a redirect or a RADIUS request would match several gateways */
async function checkUnique(
	trx: Tx,
	{ settings, routerId }: CheckedGateway,
	ownId: number | null = null
): Promise<void> {
	await lockName(trx, 'sites and addresses of gateways');
	const { site, accessPoints = [], nas } = settings;
	const atSite = site === undefined ? [] : await findGatewaysOfSite(trx, site);
	// Access points distinguish the gateways of one UniFi site.
	const owners = await store.findOwners(trx, [routerId, ...atSite.map(({ row }) => row.router_id)]);
	const sharesSite = atSite.find(({ row, settings: { accessPoints: known = [] } }) => {
		if (row.id === ownId) return false;
		if (known.length === 0 || accessPoints.length === 0) return true;
		// Of two accounts, the second may be the rightful one: see gateways.ts.
		if (owners.get(row.router_id) !== owners.get(routerId)) return false;
		return known.some((point) => accessPoints.includes(point));
	});
	if (sharesSite) {
		const reason = `"${sharesSite.row.name}" has the same site; give each gateway the MAC addresses of its own access points`;
		throw refuseFields({ field: 'access-point', reason });
	}
	if (nas === undefined) return;
	for await (const row of store.iterateGateways(trx)) {
		const other = readSettings(row);
		// FreeRADIUS identifies clients by address, and does not start if two have the same.
		if (row.id === ownId || !other.nas || normaliseIp(other.nas) !== normaliseIp(nas)) continue;
		const reason = `"${row.name}" already sends RADIUS requests from ${nas}; give each gateway its own address`;
		throw refuseFields({ field: 'nas', reason });
	}
}

/**
 * Replaces the key or secrets. The old ones stop working at once, and the gateway counts as new: in live mode
 * nothing is sold there until it has responded with the new ones. `audit` writes rows in the same transaction.
 * @throws Refused
 */
export function rotateGateway(
	context: Gateways,
	id: number,
	rotation: Rotation,
	audit?: (trx: Tx) => Promise<void>
): Promise<RegisteredGateway> {
	const { database, clock, secrets } = context;
	const fresh = (given: string | null) => (given === 'new' ? gatewaySecret() : given);
	const secret = fresh(rotation.secret);
	const { apiKey, apiUser } = rotation;
	const credentials = withoutNulls({
		...{ radiusSecret: fresh(rotation.radiusSecret), token: fresh(rotation.token), apiKey, apiUser }
	});
	return database.transact(async (trx) => {
		const gateway = await lockExisting(context, trx, id);
		checkRotation(gateway, rotation);
		const row = await store.updateGateway(trx, id, {
			...(rotation.key ? { ...createGatewayKey(secrets), installation: gateway.installation } : {}),
			...(secret ? { secret_sealed: sealSecret(secrets, gateway.name, secret) } : {}),
			...(Object.keys(credentials).length > 0 && {
				credentials_sealed: sealCredentials(secrets, gateway.name, { ...gateway.credentials, ...credentials })
			}),
			...{ updated_at: clock.now(), seen_at: null }
		});
		await store.updateResponded(trx, gateway.routerId);
		await audit?.(trx);
		return openGateway(row, secrets);
	});
}
