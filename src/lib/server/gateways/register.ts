import { normaliseIp } from '#lib/domain/address.ts';
import type { Base } from '../base.ts';
import type { Queries, Tx } from '../db/database.ts';
import { withoutNulls } from '../db/queries.ts';
import { gatewaySecret } from '../platform/secrets.ts';
import { InputError } from '../platform/errors.ts';
import {
	newKey,
	openGateway,
	refuseUnreadable,
	sealCredentials,
	sealSecret,
	settingsOf,
	type RegisteredGateway
} from './gateway-record.ts';
import type { GatewayCredentials } from './gateway.ts';
import {
	type CheckedGateway,
	type GatewayChange,
	type GatewayInput,
	type Rotation,
	changedInput,
	checkGateway,
	checkRotation,
	generatedCredentials,
	hasSharedSecret
} from './settings.ts';
import * as store from './store.ts';

export type GatewaysContext = Pick<Base, 'database' | 'clock' | 'secrets'>;

/** `audit` writes rows in the same transaction. @throws InputError with every wrong field */
export async function addGateway(
	context: GatewaysContext,
	input: GatewayInput,
	audit?: (trx: Tx, gateway: RegisteredGateway) => Promise<void>
): Promise<RegisteredGateway> {
	const { database, secrets } = context;
	const checked = checkGateway(input);
	const { kind, name } = checked;
	const secret = checked.secret ?? (hasSharedSecret(kind) ? gatewaySecret() : null);
	const settings = settingValues(context, checked, {});
	const values = {
		...{ kind, name, ...newKey(secrets), ...settings, created_at: settings.updated_at },
		secret_sealed: secret === null ? null : sealSecret(secrets, name, secret)
	};
	try {
		return await database.transact(async (trx) => {
			await checkUnique(trx, checked);
			const gateway = openGateway(await store.insertGateway(trx, values), secrets);
			await audit?.(trx, gateway);
			return gateway;
		});
	} catch (error) {
		if (!database.isUniqueViolation(error)) throw error;
		throw new InputError([{ field: 'name', reason: `"${name}" is already in use; choose another name` }]);
	}
}

/** @param known credentials of a registered gateway, which keeps those that it still needs */
function settingValues(
	{ clock, secrets }: GatewaysContext,
	{ routerId, kind, name, loginHosts, settings, credentials }: CheckedGateway,
	known: GatewayCredentials
) {
	const generated = generatedCredentials(kind, settings);
	return {
		router_id: routerId,
		login_hosts: JSON.stringify(loginHosts),
		settings: JSON.stringify(settings),
		credentials_sealed: sealCredentials(secrets, name, {
			...(generated.radiusSecret && { radiusSecret: known.radiusSecret ?? gatewaySecret() }),
			...(generated.token && { token: known.token ?? gatewaySecret() }),
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
 * @throws InputError with every wrong field
 */
export async function setGateway(
	context: GatewaysContext,
	trx: Tx,
	id: number,
	change: GatewayChange
): Promise<SettingsChange> {
	const before = await existing(context, trx, id);
	if (before.unreadable.length > 0) refuseUnreadable(before);
	const checked = checkGateway(changedInput(before, change));
	if (before.settings.binauthLimits && checked.settings.level === 1) checked.settings.binauthLimits = true;
	await checkUnique(trx, checked, id);
	const values = settingValues(context, checked, before.credentials);
	const after = openGateway(await store.updateGateway(trx, id, values), context.secrets);
	if (connectionOf(before) === connectionOf(after)) return { before, after, isReconnected: false };
	const row = await store.updateGateway(trx, id, { seen_at: null });
	await store.updateResponded(trx, before.routerId);
	await store.updateResponded(trx, after.routerId);
	return { before, after: openGateway(row, context.secrets), isReconnected: true };
}

async function existing({ secrets }: GatewaysContext, trx: Tx, id: number): Promise<RegisteredGateway> {
	const row = await store.findGateway(trx, 'id', id);
	if (!row) throw new Error(`Gateway ${id} is gone`);
	return openGateway(row, secrets);
}

const connectionOf = ({ routerId, settings, credentials }: RegisteredGateway): string => {
	const { level, site, control, api, apiCertificate } = settings;
	const { apiUser, apiKey } = credentials;
	return JSON.stringify([routerId, level, site, control, api, apiCertificate, apiUser, apiKey]);
};

/** @throws InputError if a redirect or a RADIUS request would match several gateways */
async function checkUnique(
	queries: Queries,
	{ settings, routerId }: CheckedGateway,
	ownId: number | null = null
): Promise<void> {
	const { site, accessPoints = [], nas } = settings;
	const atSite = site === undefined ? [] : await gatewaysOfSite(queries, site);
	// Access points distinguish the gateways of one UniFi site.
	const owners = await store.ownersOf(queries, [routerId, ...atSite.map(({ row }) => row.router_id)]);
	const sharesSite = atSite.find(({ row, settings: { accessPoints: known = [] } }) => {
		if (row.id === ownId) return false;
		if (known.length === 0 || accessPoints.length === 0) return true;
		// Of two accounts, the second may be the rightful one: see access-points.ts.
		if (owners.get(row.router_id) !== owners.get(routerId)) return false;
		return known.some((point) => accessPoints.includes(point));
	});
	if (sharesSite) {
		const reason = `"${sharesSite.row.name}" has the same site; give each gateway the MAC addresses of its own access points`;
		throw new InputError([{ field: 'access-point', reason }]);
	}
	if (nas === undefined) return;
	for await (const row of store.everyGateway(queries)) {
		const other = settingsOf(row);
		// FreeRADIUS identifies clients by address, and does not start if two have the same.
		if (row.id === ownId || !other.nas || normaliseIp(other.nas) !== normaliseIp(nas)) continue;
		const reason = `"${row.name}" already sends RADIUS requests from ${nas}; give each gateway its own address`;
		throw new InputError([{ field: 'nas', reason }]);
	}
}

export async function gatewaysOfSite(queries: Queries, site: string) {
	const rows = await store.gatewaysWith(queries, 'site', site);
	return rows
		.map((row) => ({ row, settings: settingsOf(row) }))
		.filter(({ settings }) => settings.site === site);
}

/**
 * Replaces the key or secrets. The old ones stop working at once, and the gateway counts as new: in live mode
 * nothing is sold there until it has responded with the new ones. `audit` writes rows in the same transaction.
 * @throws InputError
 */
export function rotateGateway(
	context: GatewaysContext,
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
		const gateway = await existing(context, trx, id);
		checkRotation(gateway, rotation);
		const row = await store.updateGateway(trx, id, {
			...(rotation.key ? { ...newKey(secrets), installation: gateway.installation } : {}),
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
