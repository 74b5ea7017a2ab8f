import { z } from 'zod';
import { gatewayKey } from '../platform/ids.ts';
import { sha256, type Secrets } from '../platform/secrets.ts';
import {
	credentialsShape,
	settingsShape,
	type GatewayCredentials,
	type GatewayFacts,
	type GatewayKind
} from './gateway.ts';
import { adapterOf } from './registry.ts';
import type { GatewayRow } from './store.ts';

/** A gateway with decrypted secrets. */
export interface RegisteredGateway extends GatewayFacts {
	id: number;
	routerId: number;
	kind: GatewayKind;
	title: string;
	name: string;
	/** 144 random bits, part of its portal address. */
	key: string;
	/** Last response on an authenticated channel; null before the first. */
	seenAt: number | null;
	unresponsiveSince: number | null;
	clockOffsetMs: number | null;
	/** A sentence about the last command if it failed; null if it succeeded. */
	trouble: string | null;
	onlineCount: number | null;
	createdAt: number;
	/** Last change of its settings or secrets. */
	updatedAt: number;
}

const hostList = z.array(z.string());

const keyContext = (keyHash: string) => `gateway-key:${keyHash}`;
const secretContext = (name: string) => `gateway-secret:${name}`;
const credentialsContext = (name: string) => `gateway-credentials:${name}`;

export function newKey(secrets: Secrets): Pick<GatewayRow, 'key_hash' | 'key_sealed'> {
	const key = gatewayKey();
	const key_hash = sha256(key);
	return { key_hash, key_sealed: secrets.encrypt(key, keyContext(key_hash)) };
}

export const sealSecret = (secrets: Secrets, name: string, secret: string): string =>
	secrets.encrypt(secret, secretContext(name));

export const sealCredentials = (
	secrets: Secrets,
	name: string,
	credentials: GatewayCredentials
): string | null =>
	Object.keys(credentials).length === 0
		? null
		: secrets.encrypt(JSON.stringify(credentials), credentialsContext(name));

export function openGateway(row: GatewayRow, secrets: Secrets): RegisteredGateway {
	return {
		id: row.id,
		routerId: row.router_id,
		kind: row.kind,
		title: adapterOf(row.kind).title,
		name: row.name,
		key: secrets.decrypt(row.key_sealed, keyContext(row.key_hash)),
		loginHosts: hostList.parse(JSON.parse(row.login_hosts)),
		secret: row.secret_sealed === null ? null : secrets.decrypt(row.secret_sealed, secretContext(row.name)),
		credentials:
			row.credentials_sealed === null
				? {}
				: credentialsShape.parse(
						JSON.parse(secrets.decrypt(row.credentials_sealed, credentialsContext(row.name)))
					),
		settings: settingsShape.parse(JSON.parse(row.settings)),
		// Derived from the secret, because the address of an installation may change.
		installation: secrets.derive('installation', 4).toString('hex'),
		seenAt: row.seen_at,
		unresponsiveSince: row.unresponsive_since,
		clockOffsetMs: row.clock_offset_ms,
		trouble: row.trouble,
		onlineCount: row.online_count,
		createdAt: row.created_at,
		updatedAt: row.updated_at
	};
}
