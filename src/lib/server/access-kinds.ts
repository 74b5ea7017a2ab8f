import {
	ACCESS_KINDS,
	type AccessKind,
	MAX_WIFI_PASSWORD,
	MIN_WIFI_PASSWORD,
	hasNetworkPassword,
	isWifiPassword,
	wifiPasswordProblem
} from '#lib/domain/wifi.ts';
import type { Author } from './audit.ts';
import type { Base } from './base.ts';
import type { Queries } from './db/database.ts';
import { type Gateways, type RegisteredGateway, findGatewaysOfRouter } from './gateways/gateways.ts';
import { type Offers, requireHeldLimits } from './offers.ts';
import { sharePassword } from './passes.ts';
import { refuseFields } from './platform/errors.ts';
import {
	type RouterRow,
	type Routers,
	findRouterOrThrow,
	openNetworkPassword,
	setRouterAccess,
	lockRouterOrThrow
} from './routers/routers.ts';

/**
 * Access kinds: how the passwords that a router sells work (`AccessKind`). An owner chooses only a kind with which a
 * buyer gets access: each gateway of the router must hold it.
 *
 * A change applies to later orders; sold passes keep their kind. Only the Wi-Fi's shared password changes for passes
 * that are open, because all guests use it.
 */

/** Omitted members keep their value. */
interface AccessChange {
	kind?: string | undefined;
	/** null deletes it. */
	networkPassword?: string | null | undefined;
	maxDevices?: number | undefined;
	security?: RouterRow['security'] | undefined;
}

/** `networkPasswordKnown`: null when the network has no password of its own. */
type RouterAccess = Pick<RouterRow, 'ssid' | (typeof ACCESS_COLUMNS)[number]> & {
	networkPasswordKnown: boolean | null;
};

const ACCESS_COLUMNS = ['access_kind', 'security', 'max_devices'] as const;

/** Enough for a family; more would resell the line. */
export const MAX_PASS_DEVICES = 10;

const PASSWORD_RULE = `use ${MIN_WIFI_PASSWORD} to ${MAX_WIFI_PASSWORD} ASCII letters, digits and symbols`;

const KEY_INSTEAD = '64 hex digits are the key, which phones and QR codes do not accept: use the passphrase';

/** Access kinds: how bought passwords work on a router. */
interface AccessKindsContext extends Base {
	gateways: Gateways;
	routers: Routers;
	offers: Offers;
}

/**
 * Existing orders keep their terms. Open passes with the owner's Wi-Fi password get the new one.
 * @throws Refused with every invalid field; then nothing changes
 */
export function changeAccess(
	context: AccessKindsContext,
	routerId: number,
	change: AccessChange,
	author: Author
): Promise<RouterAccess> {
	const { audit, database, routers, offers } = context;
	return database.transact(async (trx) => {
		const router = await lockRouterOrThrow(trx, routerId);
		const before = { ...router, networkPassword: openNetworkPassword(routers, router) };
		const wifiGateway = await findWifiGateway(context, trx, routerId);
		const { networkPassword, ...after } = computeAccess(before, change, wifiGateway?.name ?? null);
		await setRouterAccess(routers, trx, routerId, after, networkPassword);
		const field = after.access_kind === before.access_kind ? 'max-devices' : 'kind';
		await requireHeldLimits(offers, trx, routerId, { field, router });
		const isNewPassword = networkPassword !== before.networkPassword;
		if (networkPassword !== null && isNewPassword) await sharePassword(context, trx, router, networkPassword);
		const changed = ACCESS_COLUMNS.filter((column) => before[column] !== after[column]);
		const pickChanged = (columns: typeof after | typeof before) => ({
			router_id: routerId,
			...Object.fromEntries(changed.map((column) => [column, columns[column]]))
		});
		if (changed.length > 0 || isNewPassword) {
			await audit.record(trx, {
				...{ actor: author.by, action: 'router.access_changed', reason: author.note },
				before: pickChanged(before),
				// Not what the password is.
				after: { ...pickChanged(after), ...(isNewPassword && { network_password: 'changed' }) }
			});
		}
		const isShown = hasNetworkPassword(after.access_kind, after.security);
		return { ssid: router.ssid, ...after, networkPasswordKnown: isShown ? networkPassword !== null : null };
	});
}

/** @throws Refused with every invalid field */
function computeAccess(
	before: RouterRow & { networkPassword: string | null },
	change: AccessChange,
	wifiGateway: string | null
) {
	const row = { ...before, security: change.security ?? before.security };
	const kind = ACCESS_KINDS.find((one) => one === (change.kind ?? before.access_kind));
	// A password from before the Wi-Fi took bought passwords may not work any more.
	const kept = hasNetworkPassword(before.access_kind, before.security) ? before.networkPassword : null;
	const wanted = change.networkPassword === undefined ? kept : change.networkPassword;
	const problems = {
		kind: checkKind(row, kind, wifiGateway),
		'network-password': kind && checkPassword(row, kind, change.networkPassword, wanted),
		'max-devices': checkDevices(change.maxDevices)
	};
	const wrong = Object.entries(problems).flatMap(([field, reason]) => (reason ? [{ field, reason }] : []));
	if (kind === undefined || wrong.length > 0) throw refuseFields(...wrong);
	const isShown = hasNetworkPassword(kind, row.security);
	// Orders and passes of before still need it, if the network keeps one.
	const isKept = !isShown && row.security === 'wpa' && change.networkPassword === undefined;
	return {
		...{ access_kind: kind, security: row.security, max_devices: change.maxDevices ?? row.max_devices },
		networkPassword: isShown ? wanted : isKept ? before.networkPassword : null
	};
}

/**
 * Lists the kinds that an owner may choose, because buyers get access with them: the gateways hold them, or the router
 * sells nothing before its first gateway responds. An administrator's confirmation counts for the current kind only.
 */
export async function listAccessChoices({ database, gateways }: AccessKindsContext, routerId: number) {
	const row = await findRouterOrThrow(database.db, routerId);
	const kinds = (await findGatewaysOfRouter(gateways, database.db, routerId)).map(({ kind }) => kind);
	const isHeld = (access: AccessKind) =>
		kinds.length > 0
			? kinds.every((kind) => (kind === 'hostapd' ? isWifiPassword(access) : access === 'portal_login'))
			: row.access_confirmed_at === null || access === 'shared_password';
	return ACCESS_KINDS.filter((access) => access === row.access_kind || isHeld(access));
}

/** @throws Refused with field `router` when the router cannot have this kind of gateway */
export async function checkGatewayKind({ database }: AccessKindsContext, routerId: number, kind: string) {
	const row = await findRouterOrThrow(database.db, routerId);
	if (kind !== 'hostapd' || isWifiPassword(row.access_kind)) return;
	const reason =
		`router ${routerId} is ${row.access_kind}, but hostapd authenticates on the Wi-Fi itself: first run ` +
		`"routers access ${routerId} --kind wpa_personal_per_client" (or wpa_enterprise)`;
	throw refuseFields({ field: 'router', reason });
}

/** When a captive portal is added, sets a never chosen kind to `portal_login`. Returns whether it did. */
export function adoptPortalLogin(context: AccessKindsContext, { routerId, kind, mode }: RegisteredGateway) {
	const { database, routers } = context;
	return database.transact(async (trx) => {
		const row = await lockRouterOrThrow(trx, routerId);
		// With external access control, the Wi-Fi itself may take the password.
		const isUsual =
			row.access_kind === 'wpa_personal_per_client' && mode !== 'external' && kind !== 'hostapd';
		if (!isUsual || (await findWifiGateway(context, trx, routerId)) !== null) return false;
		const access = { ...row, access_kind: 'portal_login' } as const;
		await setRouterAccess(routers, trx, routerId, access, openNetworkPassword(routers, row));
		return true;
	});
}

/** hostapd authenticates on the Wi-Fi itself. */
const findWifiGateway = async ({ gateways }: AccessKindsContext, queries: Queries, routerId: number) =>
	(await findGatewaysOfRouter(gateways, queries, routerId)).find(({ kind }) => kind === 'hostapd') ?? null;

function checkKind(row: RouterRow, kind: AccessKind | undefined, wifiGateway: string | null): string | null {
	if (kind === undefined) return `use one of ${ACCESS_KINDS.join(', ')}`;
	if (row.security === 'nopass' && kind !== 'portal_login') {
		return `the network of router ${row.id} is open (security nopass): only portal_login works there`;
	}
	return wifiGateway === null || isWifiPassword(kind)
		? null
		: `its gateway "${wifiGateway}" authenticates on the Wi-Fi itself: use wpa_personal_per_client or wpa_enterprise`;
}

function checkPassword(
	row: RouterRow,
	kind: AccessKind,
	given: string | null | undefined,
	wanted: string | null
): string | null {
	if (kind === 'shared_password' && wanted === null) {
		return `buyers are shown this password: set it at /owner/routers/${row.id}/edit`;
	}
	if (typeof given !== 'string') return null;
	if (row.security === 'nopass') return 'the network is open and has no password';
	if (isWifiPassword(kind)) {
		return 'the bought password is the network password with this kind: leave this out';
	}
	const problem = wifiPasswordProblem(given);
	return problem && (problem === 'hex' ? KEY_INSTEAD : PASSWORD_RULE);
}

const checkDevices = (wanted = 1): string | null =>
	Number.isSafeInteger(wanted) && wanted >= 1 && wanted <= MAX_PASS_DEVICES
		? null
		: `use a whole number from 1 to ${MAX_PASS_DEVICES}`;
