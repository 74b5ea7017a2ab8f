import {
	ACCESS_KINDS,
	hasNetworkPassword,
	isWifiPassword,
	type AccessKind
} from '#lib/domain/access-kind.ts';
import type { WifiSecurity } from '#lib/domain/wifi/wifi-qr.ts';
import { MAX_WIFI_PASSWORD, MIN_WIFI_PASSWORD, wifiPasswordProblem } from '#lib/domain/wifi/wifi-password.ts';
import type { Audit, Author } from '#lib/server/audit/audit.ts';
import type { Database, Queries, Tx } from '#lib/server/db/database.ts';
import type { GatewayKind } from '#lib/server/gateways/gateway.ts';
import type { Gateways } from '#lib/server/gateways/gateways.ts';
import type { Offers } from '#lib/server/offers/offers.ts';
import { binder } from '#lib/server/platform/bind.ts';
import { InputError, type FieldProblem } from '#lib/server/platform/errors.ts';
import type { RouterRow, Routers } from '#lib/server/routers/routers.ts';
import type { Passes } from './passes.ts';

/** Omitted members keep their value. */
interface AccessChange {
	kind?: string | undefined;
	/** null deletes it. */
	networkPassword?: string | null | undefined;
	maxDevices?: number | undefined;
	security?: RouterRow['security'] | undefined;
}

export interface RouterAccess {
	kind: AccessKind;
	ssid: string;
	security: WifiSecurity;
	/** null when the network has no password of its own. */
	networkPasswordKnown: boolean | null;
	maxDevices: number;
}

/** Enough for a family; more would resell the line. */
export const MAX_PASS_DEVICES = 10;

export const PASSWORD_RULE = `use ${MIN_WIFI_PASSWORD} to ${MAX_WIFI_PASSWORD} ASCII letters, digits and symbols`;

const KEY_INSTEAD = '64 hex digits are the key, which phones and QR codes do not accept: use the passphrase';

interface AccessKindsContext {
	audit: Audit;
	database: Database;
	gateways: Gateways;
	routers: Routers;
	passes: Pick<Passes, 'sharePassword'>;
	offers: Pick<Offers, 'checkHeld'>;
}

/** Manages access kinds: how bought passwords work on a router. */
export function createAccessKinds(context: AccessKindsContext) {
	const bind = binder(context);
	return {
		set: bind(setAccess),
		choices: bind(accessChoices),
		checkGateway: bind(checkGateway),
		noteGateway: bind(noteGateway)
	};
}

/**
 * Existing orders keep their terms. Open passes with the owner's Wi-Fi password get the new one.
 * @throws InputError with every invalid field; then nothing changes
 */
function setAccess(
	context: AccessKindsContext,
	routerId: number,
	change: AccessChange,
	author: Author
): Promise<RouterAccess> {
	const { database, routers, passes, offers } = context;
	return database.transact(async (trx) => {
		const known = await routers.findOrThrow(trx, routerId);
		const row = { ...known, security: change.security ?? known.security };
		const before = routers.networkPassword(row);
		const kind = ACCESS_KINDS.find((known) => known === (change.kind ?? row.access_kind));
		const wifiGateway = await wifiGatewayOf(context, trx, routerId);
		// A password from before the Wi-Fi took bought passwords may not work any more.
		const kept = hasNetworkPassword(known.access_kind, known.security) ? before : null;
		const wanted = change.networkPassword === undefined ? kept : change.networkPassword;
		const problems = [
			...kindProblems(row, kind, wifiGateway?.name ?? null),
			...(kind === undefined ? [] : passwordProblems(row, kind, change.networkPassword, wanted)),
			...deviceProblems(change.maxDevices)
		];
		if (kind === undefined || problems.length > 0) throw new InputError(problems);
		const shown = hasNetworkPassword(kind, row.security);
		// Orders and passes of before still need it, if the network keeps one.
		const isKept = !shown && row.security === 'wpa' && change.networkPassword === undefined;
		const networkPassword = shown ? wanted : isKept ? before : null;
		const maxDevices = change.maxDevices ?? row.max_devices;
		const { ssid, security } = row;
		const after = { access_kind: kind, security, max_devices: maxDevices };
		await routers.setAccess(trx, routerId, after, networkPassword);
		const field = kind === row.access_kind ? 'max-devices' : 'kind';
		await offers.checkHeld(trx, routerId, { field, router: known });
		if (networkPassword !== null && networkPassword !== before) {
			await passes.sharePassword(trx, routerId, networkPassword);
		}
		await record(context, trx, author, {
			...{ routerId, isNewPassword: networkPassword !== before },
			before: { access_kind: known.access_kind, security: known.security, max_devices: known.max_devices },
			after
		});
		return {
			kind,
			ssid,
			security,
			networkPasswordKnown: shown ? networkPassword !== null : null,
			maxDevices
		};
	});
}

type AccessColumns = Pick<RouterRow, 'access_kind' | 'security' | 'max_devices'>;

/** The audit log says that the password changed, not what it is. */
async function record(
	{ audit }: AccessKindsContext,
	trx: Tx,
	{ by, note }: Author,
	change: { routerId: number; isNewPassword: boolean; before: AccessColumns; after: AccessColumns }
): Promise<void> {
	const { routerId, isNewPassword, before, after } = change;
	const changed = ACCESS_COLUMNS.filter((column) => before[column] !== after[column]);
	if (changed.length === 0 && !isNewPassword) return;
	const valuesOf = (columns: AccessColumns) => ({
		router_id: routerId,
		...Object.fromEntries(changed.map((column) => [column, columns[column]]))
	});
	await audit.record(trx, {
		...{ actor: by, action: 'router.access_changed', reason: note, before: valuesOf(before) },
		after: { ...valuesOf(after), ...(isNewPassword && { network_password: 'changed' }) }
	});
}

const ACCESS_COLUMNS = ['access_kind', 'security', 'max_devices'] as const;

/**
 * Lists the kinds that an owner may choose, because buyers get access with them: the gateways hold them, or the router
 * sells nothing before its first gateway responds. An administrator's confirmation counts for the current kind only.
 */
async function accessChoices(
	{ database, gateways, routers }: AccessKindsContext,
	routerId: number
): Promise<AccessKind[]> {
	const row = await routers.findOrThrow(database.db, routerId);
	const kinds = (await gateways.ofRouter(database.db, routerId)).map(({ kind }) => kind);
	const isHeld = (access: AccessKind) =>
		kinds.length > 0
			? kinds.every((kind) => (kind === 'hostapd' ? isWifiPassword(access) : access === 'portal_login'))
			: row.access_confirmed_at === null || access === 'shared_password';
	return ACCESS_KINDS.filter((access) => access === row.access_kind || isHeld(access));
}

/** @throws InputError with field `router` when the router cannot have this kind of gateway */
async function checkGateway(
	{ database, routers }: AccessKindsContext,
	routerId: number,
	kind: string
): Promise<void> {
	const row = await routers.findOrThrow(database.db, routerId);
	if (kind !== 'hostapd' || isWifiPassword(row.access_kind)) return;
	const reason =
		`router ${routerId} is ${row.access_kind}, but hostapd authenticates on the Wi-Fi itself: first run ` +
		`"routers access ${routerId} --kind wpa_personal_per_client" (or wpa_enterprise)`;
	throw new InputError([{ field: 'router', reason }]);
}

/** When a captive portal is added, sets a never chosen kind to `portal_login`. Returns whether it did. */
function noteGateway(
	context: AccessKindsContext,
	routerId: number,
	{ kind, elsewhere }: { kind: GatewayKind; elsewhere: boolean }
): Promise<boolean> {
	const { database, routers } = context;
	return database.transact(async (trx) => {
		const row = await routers.findOrThrow(trx, routerId);
		// With external access control, the Wi-Fi itself may take the password.
		const isUsual = row.access_kind === 'wpa_personal_per_client' && !elsewhere && kind !== 'hostapd';
		if (!isUsual || (await wifiGatewayOf(context, trx, routerId)) !== null) return false;
		const access = { ...row, access_kind: 'portal_login' } as const;
		await routers.setAccess(trx, routerId, access, routers.networkPassword(row));
		return true;
	});
}

/** hostapd authenticates on the Wi-Fi itself. */
const wifiGatewayOf = async ({ gateways }: AccessKindsContext, queries: Queries, routerId: number) =>
	(await gateways.ofRouter(queries, routerId)).find(({ kind }) => kind === 'hostapd') ?? null;

function kindProblems(
	row: RouterRow,
	kind: AccessKind | undefined,
	wifiGateway: string | null
): FieldProblem[] {
	const wrong = (reason: string): FieldProblem[] => [{ field: 'kind', reason }];
	if (kind === undefined) return wrong(`use one of ${ACCESS_KINDS.join(', ')}`);
	if (row.security === 'nopass' && kind !== 'portal_login') {
		return wrong(`the network of router ${row.id} is open (security nopass): only portal_login works there`);
	}
	if (wifiGateway !== null && !isWifiPassword(kind)) {
		return wrong(
			`its gateway "${wifiGateway}" authenticates on the Wi-Fi itself: use wpa_personal_per_client or wpa_enterprise`
		);
	}
	return [];
}

function passwordProblems(
	row: RouterRow,
	kind: AccessKind,
	given: string | null | undefined,
	wanted: string | null
): FieldProblem[] {
	const wrong = (reason: string): FieldProblem[] => [{ field: 'network-password', reason }];
	if (typeof given === 'string' && row.security === 'nopass') {
		return wrong('the network is open and has no password');
	}
	if (typeof given === 'string' && isWifiPassword(kind)) {
		return wrong('the bought password is the network password with this kind: leave this out');
	}
	if (kind === 'shared_password' && wanted === null) {
		return wrong('buyers are shown this password: give it with --network-password-file');
	}
	const problem = typeof given === 'string' ? wifiPasswordProblem(given) : null;
	return problem === null ? [] : wrong(problem === 'hex' ? KEY_INSTEAD : PASSWORD_RULE);
}

function deviceProblems(wanted: number | undefined): FieldProblem[] {
	if (wanted === undefined || (Number.isSafeInteger(wanted) && wanted >= 1 && wanted <= MAX_PASS_DEVICES)) {
		return [];
	}
	return [{ field: 'max-devices', reason: `use a whole number from 1 to ${MAX_PASS_DEVICES}` }];
}
