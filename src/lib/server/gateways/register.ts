import type { Database, Tx } from '../db/database.ts';
import type { Clock } from '../platform/clock.ts';
import { gatewaySecret } from '../platform/ids.ts';
import { InputError } from '../platform/errors.ts';
import type { Secrets } from '../platform/secrets.ts';
import {
	newKey,
	openGateway,
	sealCredentials,
	sealSecret,
	type RegisteredGateway
} from './gateway-record.ts';
import type { GatewayCredentials } from './gateway.ts';
import { changedInput, type GatewayChange } from './settings/changed-input.ts';
import { checkRotation, type Rotation } from './settings/rotation.ts';
import {
	checkGateway,
	generatedCredentials,
	hasSharedSecret,
	type CheckedGateway,
	type GatewayInput
} from './settings/gateway-input.ts';
import { isSameAddress } from './settings/addresses.ts';
import * as store from './store.ts';

export interface GatewaysContext {
	database: Database;
	clock: Clock;
	secrets: Secrets;
}

/** Bounds the gateways that lists and checks read. */
export const MAX_LISTED = 1_000;

/** `audit` writes rows in the same transaction. @throws InputError with every wrong field */
export async function addGateway(
	context: GatewaysContext,
	input: GatewayInput,
	audit?: (trx: Tx, gateway: RegisteredGateway) => Promise<void>
): Promise<RegisteredGateway> {
	const { database, secrets } = context;
	const checked = checkGateway(input);
	await checkUnique(context, checked);
	const values = rowValues(context, checked);
	try {
		return await database.transact(async (trx) => {
			const gateway = openGateway(await store.insertGateway(trx, values), secrets);
			await audit?.(trx, gateway);
			return gateway;
		});
	} catch (error) {
		if (!database.isUniqueViolation(error)) throw error;
		throw new InputError([
			{ field: 'name', reason: `"${checked.name}" is already in use; choose another name` }
		]);
	}
}

function rowValues(context: GatewaysContext, checked: CheckedGateway) {
	const { secrets } = context;
	const { name, kind } = checked;
	const secret = checked.secret ?? (hasSharedSecret(kind) ? gatewaySecret() : null);
	const settings = settingValues(context, checked, {});
	return {
		...{ kind, name, ...newKey(secrets), ...settings, created_at: settings.updated_at },
		secret_sealed: secret === null ? null : sealSecret(secrets, name, secret)
	};
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

/**
 * Changes settings. A gateway that Airtill reaches in another way counts as new: in live mode nothing is sold
 * there until it has responded.
 * @param apply runs in the transaction, which it can refuse
 * @throws InputError with every wrong field
 */
export async function setGateway(
	context: GatewaysContext,
	before: RegisteredGateway,
	change: GatewayChange,
	apply: (trx: Tx, after: RegisteredGateway, isReconnected: boolean) => Promise<void>
): Promise<RegisteredGateway> {
	const { database, secrets } = context;
	const checked = checkGateway(changedInput(before, change));
	// The BinAuth script on the router may be older than what a new gateway is set up with.
	if (before.settings.level === 4 && !before.settings.binauthConfirms)
		delete checked.settings.binauthConfirms;
	if (before.settings.binauthLimits && checked.settings.level === 1) checked.settings.binauthLimits = true;
	await checkUnique(context, checked, before.id);
	const values = settingValues(context, checked, before.credentials);
	return database.transact(async (trx) => {
		const set = openGateway(await store.updateGateway(trx, before.id, values), secrets);
		const isReconnected = connectionOf(before) !== connectionOf(set);
		await apply(trx, set, isReconnected);
		if (!isReconnected) return set;
		const row = await store.updateGateway(trx, before.id, { seen_at: null });
		await store.updateResponded(trx, before.routerId);
		await store.updateResponded(trx, set.routerId);
		return openGateway(row, secrets);
	});
}

const connectionOf = ({ routerId, settings, credentials }: RegisteredGateway): string => {
	const { level, site, control, api, apiCertificate, ndsctl, external } = settings;
	const { apiUser, apiKey } = credentials;
	return JSON.stringify([
		...[routerId, level, site, control, api, apiCertificate],
		...[ndsctl, external, apiUser, apiKey]
	]);
};

/** @throws InputError if a redirect or a RADIUS request would match several gateways */
async function checkUnique(
	context: GatewaysContext,
	{ settings }: CheckedGateway,
	ownId: number | null = null
): Promise<void> {
	const { database, secrets } = context;
	const { site, accessPoints = [], nas } = settings;
	const isOther = ({ id }: { id: number }) => id !== ownId;
	const atSite = site === undefined ? [] : (await gatewaysOfSite(context, site)).filter(isOther);
	// Access points distinguish the gateways of one UniFi site.
	const sharesSite = atSite.find(({ settings: { accessPoints: own = [] } }) => {
		return own.length === 0 || accessPoints.length === 0 || own.some((point) => accessPoints.includes(point));
	});
	if (sharesSite) {
		const reason = `"${sharesSite.name}" has the same site; give each gateway the MAC addresses of its own access points`;
		throw new InputError([{ field: 'access-point', reason }]);
	}
	if (nas === undefined) return;
	const rows = (await store.listGateways(database.db, MAX_LISTED)).filter(isOther);
	const all = rows.map((row) => openGateway(row, secrets));
	// FreeRADIUS identifies clients by address, and does not start if two have the same.
	const sharesNas = all.find((other) => other.settings.nas && isSameAddress(other.settings.nas, nas));
	if (!sharesNas) return;
	const reason = `"${sharesNas.name}" already sends RADIUS requests from ${nas}; give each gateway its own address`;
	throw new InputError([{ field: 'nas', reason }]);
}

export const gatewaysOfSite = async (
	{ database, secrets }: GatewaysContext,
	site: string
): Promise<RegisteredGateway[]> =>
	(await store.gatewaysOfKind(database.db, 'unifi', MAX_LISTED))
		.map((row) => openGateway(row, secrets))
		.filter(({ settings }) => settings.site === site);

/**
 * Replaces the key or secrets. The old ones stop working at once, and the gateway counts as new: in live mode
 * nothing is sold there until it has responded with the new ones. `audit` writes rows in the same transaction.
 * @throws InputError
 */
export async function rotateGateway(
	{ database, clock, secrets }: GatewaysContext,
	gateway: RegisteredGateway,
	rotation: Rotation,
	audit?: (trx: Tx) => Promise<void>
): Promise<RegisteredGateway> {
	checkRotation(gateway, rotation);
	const fresh = (given: string | null) => (given === 'new' ? gatewaySecret() : given);
	const [secret, radiusSecret, token] = [rotation.secret, rotation.radiusSecret, rotation.token].map(fresh);
	const credentials = {
		...(radiusSecret && { radiusSecret }),
		...(token && { token }),
		...(rotation.apiKey !== null && { apiKey: rotation.apiKey }),
		...(rotation.apiUser !== null && { apiUser: rotation.apiUser })
	};
	const change = {
		...(rotation.key ? newKey(secrets) : {}),
		...(secret ? { secret_sealed: sealSecret(secrets, gateway.name, secret) } : {}),
		...(Object.keys(credentials).length > 0 && {
			credentials_sealed: sealCredentials(secrets, gateway.name, { ...gateway.credentials, ...credentials })
		}),
		updated_at: clock.now()
	};
	return database.transact(async (trx) => {
		const row = await store.updateGateway(trx, gateway.id, { ...change, seen_at: null });
		await store.updateResponded(trx, gateway.routerId);
		await audit?.(trx);
		return openGateway(row, secrets);
	});
}
