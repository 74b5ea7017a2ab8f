import { changeGatewaySettings, removeGatewayForOwner } from '#lib/server/access/gateway-changes.ts';
import type { AccessContext } from '#lib/server/access/provisioning.ts';
import { scheduleComparison } from '#lib/server/access/admissions.ts';
import { adoptPortalLogin, checkGatewayKind } from '#lib/server/access-kinds.ts';
import type { Base } from '#lib/server/base.ts';
import type { Tx } from '#lib/server/db/database.ts';
import { type Offers, requireHeldLimits } from '#lib/server/offers.ts';
import { type Routers, findRouterOrThrow } from '#lib/server/routers/routers.ts';
import {
	type ConfigPart,
	type GatewayStatus,
	type GatewayTransport,
	UNKNOWN,
	parsePortalAddress
} from './gateways/gateway.ts';
import {
	type Gateways,
	type RegisteredGateway,
	findAdapter,
	findGatewaysOfRouter,
	findRoutersSharing,
	recordStatus,
	refuseUnreadable
} from './gateways/gateways.ts';
import {
	type GatewayChange,
	type GatewayInput,
	NO_SETTINGS,
	createGateway,
	rotateGateway
} from './gateways/settings.ts';
import { fetchGatewayStatus } from './gateways/health.ts';
import type { Author } from '#lib/server/audit.ts';
import { refuseFields } from '#lib/server/platform/errors.ts';
import { gatewaySecret, sha256 } from '#lib/server/platform/secrets.ts';
import { formatLine, formatRemoval } from './gateways/mikrotik-fetch.ts';
import { installScript } from './gateways/opennds.ts';

/** The steps from a new gateway to one that works, for the command line and the owner pages. */
export interface GatewaySetup extends Base {
	gateways: Gateways;
	routers: Routers;
	access: AccessContext;
	offers: Offers;
	transport: GatewayTransport;
	/** Ids of gateways that are tested now. */
	testing: Set<number>;
}

/** Writes rows in the transaction of the change, which it can refuse. */
type Apply = (trx: Tx, after: RegisteredGateway) => Promise<void>;

/**
 * Registers a gateway, and requests the users of open passes there.
 * @returns `becamePortalLogin`: the router had no access kind of its own choice yet
 * @throws Refused with every wrong field
 */
export async function addGateway(context: GatewaySetup, input: GatewayInput, apply?: Apply) {
	await checkGatewayKind(context, input.routerId, input.kind);
	const gateway = await createGateway(context.gateways, input, async (trx, added) => {
		await requireHeldLimits(context.offers, trx, added.routerId, { gateway: { before: null, after: added } });
		await scheduleComparison(context, trx, added.id);
		await apply?.(trx, added);
	});
	return { gateway, becamePortalLogin: await adoptPortalLogin(context, gateway) };
}

/** Its portal address stays. @throws Refused with every wrong field */
export async function changeGateway(
	context: GatewaySetup,
	{ id, kind }: RegisteredGateway,
	change: GatewayChange
): Promise<RegisteredGateway> {
	const { routerId } = change;
	if (routerId !== undefined) await checkGatewayKind(context, routerId, kind);
	const gateway = await changeGatewaySettings(context.access, id, change);
	if (routerId !== undefined) await adoptPortalLogin(context, gateway);
	return gateway;
}

/** Returns its complete configuration, with its secrets. Parameters: see ConfigContext. @throws Refused without them */
export async function renderGatewayConfig(
	{ config, database }: GatewaySetup,
	gateway: RegisteredGateway,
	{
		origin = config.origin,
		apiOrigin = `http://127.0.0.1:${config.port}`,
		radiusServer = UNKNOWN.radius
	}: { origin?: string | null; apiOrigin?: string | undefined; radiusServer?: string | undefined }
): Promise<ConfigPart[]> {
	if (gateway.unreadable.length > 0) refuseUnreadable(gateway);
	const router = await findRouterOrThrow(database.db, gateway.routerId);
	return findAdapter(gateway.kind).configFor(gateway, {
		...{ portal: parsePortalAddress({ origin, port: config.port }), apiOrigin, radiusServer, gateway },
		router: { ssid: router.ssid, hidden: router.hidden === 1, accessKind: router.access_kind }
	});
}

/** Calls the gateway. Returns null for a gateway that Airtill does not call. Does not count as a response. */
export async function readGatewayStatus(
	{ gateways, transport }: Pick<GatewaySetup, 'gateways' | 'transport'>,
	gateway: RegisteredGateway
): Promise<GatewayStatus | null> {
	const status = await fetchGatewayStatus(gateway, transport);
	const clockOffsetMs = status?.clockOffsetMs ?? null;
	if (clockOffsetMs !== null) await recordStatus(gateways, gateway, { clockOffsetMs });
	return status;
}

/**
 * The gateways of an owner. Airtill calls them at public addresses only, with keys of their owner, and runs no program.
 * Callers check that the router is the owner's. Every change is in the audit log, without secrets.
 */
interface Change {
	/** Of the portal. */
	origin: string;
	author: Author;
}

const recordGatewayChange = (
	{ audit }: GatewaySetup,
	trx: Tx,
	{ by, note }: Author,
	action: string,
	{ id, name, kind, routerId }: RegisteredGateway
) =>
	audit.record(trx, {
		...{ actor: by, action: `gateway.${action}`, reason: note },
		after: { gateway_id: id, gateway: name, kind, router_id: routerId }
	});

/** @throws Refused with every wrong field; field `limit` if the router has MAX_OWN_GATEWAYS */
export async function addOwnGateway(
	context: GatewaySetup,
	named: { name: string; routerId: number; kind: OwnKind },
	own: OwnInput,
	{ origin, author }: Change
): Promise<RegisteredGateway> {
	const { gateways } = context;
	const { gateway } = await addGateway(context, buildOwnInput(named, own, origin), async (trx, added) => {
		if ((await findGatewaysOfRouter(gateways, trx, added.routerId)).length > MAX_OWN_GATEWAYS) {
			throw refuseFields({ field: 'limit', reason: `a router has at most ${MAX_OWN_GATEWAYS} gateways` });
		}
		if ((await findRouterOrThrow(trx, added.routerId)).access_kind !== 'portal_login') {
			throw refuseFields({ field: 'access', reason: 'only portal_login works with this gateway' });
		}
		await refuseShared(trx, added);
		await recordGatewayChange(context, trx, author, 'added', added);
	});
	return gateway;
}

/**
 * Changes a gateway. Its portal address and secrets stay.
 * @param version of the input that the form showed; '' if it is not known
 * @throws Refused with every wrong field; field `moved` if the input is newer
 */
export const changeOwnGateway = (
	context: GatewaySetup,
	gateway: RegisteredGateway,
	own: OwnInput,
	author: Author,
	version = ''
) =>
	changeGatewaySettings(context.access, gateway.id, ownChange(gateway, own), async (trx, after) => {
		const current = computeInputVersion(gateway);
		// They are the same if the form was sent twice.
		if (version !== '' && version !== current && computeInputVersion(after) !== current) {
			throw refuseFields({ field: 'moved', reason: 'somebody else has changed the gateway' });
		}
		await refuseShared(trx, after);
		await recordGatewayChange(context, trx, author, 'changed', after);
	});

/**
 * Replaces the secrets. The portal address stays, unless it cannot be read.
 * @param apiKey UniFi: the new key of the console
 * @throws Refused
 */
export function rotateOwnGateway(
	context: GatewaySetup,
	gateway: RegisteredGateway,
	apiKey: string,
	author: Author
): Promise<RegisteredGateway> {
	const { id, kind, credentials, unreadable } = gateway;
	const generated = kind === 'opennds' ? 'new' : null;
	const rotation = {
		...{ key: unreadable.includes('--key'), radiusSecret: null, secret: generated, token: generated },
		apiKey: kind === 'opennds' ? null : kind === 'mikrotik' ? gatewaySecret() : apiKey,
		apiUser: kind === 'mikrotik' ? (credentials.apiUser ?? ROUTER_OS_USER) : null
	};
	return rotateGateway(context.gateways, id, rotation, (trx) =>
		recordGatewayChange(context, trx, author, 'rotated', gateway)
	);
}

/** @throws Refused with the field `in_use` while buyers need it, otherwise if an offer needs it */
export const removeOwnGateway = (context: GatewaySetup, gateway: RegisteredGateway, author: Author) =>
	removeGatewayForOwner(context.access, gateway, (trx) =>
		recordGatewayChange(context, trx, author, 'removed', gateway)
	);

/** Returns the configuration with its secrets, and records who saw it. */
export async function showOwnGatewayConfig(
	context: GatewaySetup,
	gateway: RegisteredGateway,
	{ origin, author }: Change
): Promise<ConfigPart[]> {
	const parts = await renderGatewayConfig(context, gateway, { origin });
	await context.database.transact((trx) =>
		recordGatewayChange(context, trx, author, 'config_shown', gateway)
	);
	return gateway.kind === 'opennds'
		? [installScript(parts, new URL(origin).hostname, gateway.settings.level ?? 1), ...notesOf(parts)]
		: parts;
}

/**
 * Makes a new key of a MikroTik that fetches. The router that has the earlier one is refused from now on.
 * @returns the line for its terminal, shown once, and the line that removes what it makes
 */
export async function makeTerminalLine(
	context: GatewaySetup,
	gateway: RegisteredGateway,
	origin: string | null,
	apply?: (trx: Tx) => Promise<void>
): Promise<{ line: string; removal: string }> {
	const token = gatewaySecret();
	const rotation = {
		...{ key: gateway.unreadable.includes('--key'), secret: null, radiusSecret: null, token: sha256(token) },
		...{ apiKey: null, apiUser: null }
	};
	const renewed = await rotateGateway(context.gateways, gateway.id, rotation, apply);
	const portal = parsePortalAddress({ origin, port: context.config.port });
	const line = formatLine({ address: `${portal.origin}/mikrotik/${renewed.key}`, token });
	return { line, removal: formatRemoval(renewed) };
}

export const makeOwnLine = (context: GatewaySetup, gateway: RegisteredGateway, { origin, author }: Change) =>
	makeTerminalLine(context, gateway, origin, (trx) =>
		recordGatewayChange(context, trx, author, 'rotated', gateway)
	);

/** Tests a gateway, once at a time. */
export async function testOwnGateway(
	context: GatewaySetup,
	gateway: RegisteredGateway
): Promise<{ result: TestResult; problems: readonly string[] }> {
	const { testing } = context;
	if (gateway.mode !== 'push') {
		const { seenAt, unresponsiveSince } = gateway;
		if (seenAt === null) return { result: 'unseen', problems: [] };
		return { result: unresponsiveSince === null ? 'seen' : 'unreachable', problems: [] };
	}
	if (testing.has(gateway.id)) return { result: 'busy', problems: [] };
	testing.add(gateway.id);
	try {
		const status = await readGatewayStatus(context, gateway);
		const problems = status?.problems ?? [];
		if (!status?.reachable) return { result: 'unreachable', problems };
		return { result: problems.length === 0 ? 'ready' : 'unready', problems };
	} finally {
		testing.delete(gateway.id);
	}
}

/** Names what a form shows of a gateway. */
export const computeInputVersion = (gateway: RegisteredGateway): string =>
	sha256(JSON.stringify(showOwnInput(gateway)));

/** Names its secrets, so that a form that comes again replaces none. */
export const computeSecretsVersion = ({ secret, credentials }: RegisteredGateway): string =>
	sha256(JSON.stringify([secret, credentials]));

export type TestResult = 'ready' | 'unready' | 'unreachable' | 'seen' | 'unseen' | 'busy';

const notesOf = (parts: readonly ConfigPart[]) => parts.filter(({ file }) => file === null);

/**
 * An admission at one gateway of a console counts at all of them: another owner's console would mix their buyers.
 */
async function refuseShared(trx: Tx, gateway: RegisteredGateway): Promise<void> {
	const { owner_account_id: owner } = await findRouterOrThrow(trx, gateway.routerId);
	for (const routerId of new Set(await findRoutersSharing(trx, gateway))) {
		if ((await findRouterOrThrow(trx, routerId)).owner_account_id === owner) continue;
		throw refuseFields({ field: 'shared', reason: 'another account has a gateway with this console' });
	}
}

/** The kinds that need no program, file or server of the administrator. */
export const OWN_KINDS = ['opennds', 'mikrotik', 'mikrotik-fetch', 'unifi'] as const;
export type OwnKind = (typeof OWN_KINDS)[number];

/** Per router. */
export const MAX_OWN_GATEWAYS = 5;

/** The fields of an owner's form; '' for an omitted one. */
export interface OwnInput {
	loginHost: string;
	api: string;
	/** UniFi only: Airtill makes the password of RouterOS' user. */
	apiKey: string;
	apiCertificate: string;
	site: string;
	/** Separated by spaces or commas. */
	accessPoints: string;
}

const ROUTER_OS_USER = 'airtill';

const splitList = (text: string) => text.split(/[\s,;]+/).filter((one) => one !== '');

/** @param origin address of this installation: with https, openNDS needs level 4 */
function buildOwnInput(
	{ name, routerId, kind }: { name: string; routerId: number; kind: OwnKind },
	own: OwnInput,
	origin: string
): GatewayInput {
	const isRouterOs = kind === 'mikrotik';
	return {
		...NO_SETTINGS,
		...{ name, routerId, kind },
		...buildOwnSettings(kind, own),
		...(kind === 'opennds' && { level: origin.startsWith('https:') ? '4' : '1' }),
		...(isRouterOs && { control: 'rest', apiUser: ROUTER_OS_USER, apiKey: gatewaySecret() }),
		...(kind === 'unifi' && { apiKey: own.apiKey || null })
	};
}

/** Secrets stay, see `rotate`. */
const ownChange = ({ kind }: RegisteredGateway, own: OwnInput): GatewayChange =>
	buildOwnSettings(kind as OwnKind, own);

function buildOwnSettings(kind: OwnKind, { loginHost, api, apiCertificate, site, accessPoints }: OwnInput) {
	// It reports where its login page is.
	if (kind === 'mikrotik-fetch') return {};
	return {
		...(kind !== 'unifi' && { loginHosts: splitList(loginHost) }),
		...(kind !== 'opennds' && { api: api || null, apiCertificate: apiCertificate || null, publicApi: true }),
		...(kind === 'unifi' && { site: site || null, accessPoints: splitList(accessPoints) })
	};
}

export const showOwnInput = ({ loginHosts, settings }: RegisteredGateway): OwnInput => ({
	...{ loginHost: loginHosts.join(' '), api: settings.api ?? '', apiKey: '' },
	...{ apiCertificate: settings.apiCertificate ?? '', site: settings.site ?? '' },
	accessPoints: (settings.accessPoints ?? []).join(' ')
});

/** False if an administrator has given it a key, which its router's owner must not see or send elsewhere. */
export const isOwnGateway = ({ kind, settings }: RegisteredGateway): boolean =>
	kind === 'opennds' || kind === 'mikrotik-fetch' || settings.publicApi === true;
