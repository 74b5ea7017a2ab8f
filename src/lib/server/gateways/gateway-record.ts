import { z } from 'zod';
import { InputError } from '../platform/errors.ts';
import { type Secrets, gatewayKey, sha256 } from '../platform/secrets.ts';
import {
	credentialsShape,
	settingsShape,
	type ControlMode,
	type GatewayCredentials,
	type GatewayFacts,
	type GatewayKind,
	type GatewaySettings
} from './gateway.ts';
import { adapterOf } from './registry.ts';
import { generatedCredentials } from './settings.ts';
import type { GatewayRow } from './store.ts';

/** A gateway with decrypted secrets. */
export interface RegisteredGateway extends GatewayFacts {
	id: number;
	routerId: number;
	kind: GatewayKind;
	title: string;
	mode: ControlMode;
	name: string;
	/** 144 random bits, part of its portal address. */
	key: string;
	/** Last response on an authenticated channel; null before the first. */
	seenAt: number | null;
	unresponsiveSince: number | null;
	clockOffsetMs: number | null;
	/** A sentence about the last command if it failed; null if it succeeded. */
	trouble: string | null;
	/** Options of "gateways rotate" that replace what AIRTILL_SECRET does not open; empty if all is readable. */
	unreadable: readonly string[];
	onlineCount: number | null;
	/** How and when it last named a device that is no MAC address; null if never. */
	unreadDevice: { notation: string; at: number } | null;
	/** Last change of its settings or secrets. */
	updatedAt: number;
}

const hostList = z.array(z.string());

const keyContext = (keyHash: string) => `gateway-key:${keyHash}`;
const secretContext = (name: string) => `gateway-secret:${name}`;
const credentialsContext = (name: string) => `gateway-credentials:${name}`;

/** Derived from the secret, because the address of an installation may change. */
function installationOf(secrets: Secrets, { installation, key_sealed, key_hash }: GatewayRow): string {
	if (installation !== null) return installation;
	const position = Math.max(0, secrets.keyIndex(key_sealed, keyContext(key_hash)));
	return secrets.deriveAll('installation', 4)[position]?.toString('hex') ?? '';
}

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

export const settingsOf = ({ settings }: GatewayRow): GatewaySettings =>
	settingsShape.parse(JSON.parse(settings));

/**
 * Opens a gateway. One whose key or secrets do not open with AIRTILL_SECRET lacks them, and counts as a gateway that
 * does not respond.
 */
export function openGateway(row: GatewayRow, secrets: Secrets): RegisteredGateway {
	const unreadable: string[] = [];
	function open<T>(sealed: string | null, context: string, missing: T, renewals: readonly string[]) {
		try {
			return sealed === null ? missing : secrets.decrypt(sealed, context);
		} catch {
			unreadable.push(...renewals);
			return missing;
		}
	}
	const { kind, name } = row;
	const settings = settingsOf(row);
	const key = open(row.key_sealed, keyContext(row.key_hash), '', ['--key']);
	const secret = open(row.secret_sealed, secretContext(name), null, ['--secret']);
	const renewals = credentialRenewals(kind, settings);
	const credentials = open(row.credentials_sealed, credentialsContext(name), '{}', renewals);
	const isReadable = unreadable.length === 0;
	const { title, controlMode } = adapterOf(kind);
	return {
		...{ id: row.id, routerId: row.router_id, kind, title, mode: controlMode({ settings }) },
		...{ name, key, secret, settings, unreadable },
		loginHosts: hostList.parse(JSON.parse(row.login_hosts)),
		credentials: credentialsShape.parse(JSON.parse(credentials)),
		installation: installationOf(secrets, row),
		seenAt: row.seen_at,
		unresponsiveSince: row.unresponsive_since ?? (isReadable ? null : (row.seen_at ?? row.created_at)),
		clockOffsetMs: row.clock_offset_ms,
		trouble: isReadable ? row.trouble : unreadableText({ name, unreadable }),
		onlineCount: row.online_count,
		unreadDevice:
			row.unread_device === null ? null : { notation: row.unread_device, at: row.unread_device_at ?? 0 },
		updatedAt: row.updated_at
	};
}

function credentialRenewals(kind: GatewayKind, settings: GatewaySettings): string[] {
	const { radiusSecret, token } = generatedCredentials(kind, settings);
	return [
		...(radiusSecret ? ['--radius-secret'] : []),
		...(token ? ['--token'] : []),
		...(settings.api === undefined ? [] : ['--api-key-file FILE']),
		...(settings.api !== undefined && kind === 'mikrotik' ? ['--api-user NAME'] : [])
	];
}

/** Returns whether the gateway connects only devices that Airtill names, so a purchase needs a device. */
export const namesDevices = ({ kind, mode }: Pick<RegisteredGateway, 'kind' | 'mode'>): boolean =>
	mode === 'poll' || (mode === 'push' && adapterOf(kind).controller?.subject === 'device');

/** Returns whether devices sign in with the browser. Otherwise the gateway connects them without it. */
export const signsInBrowser = (gateway: Pick<RegisteredGateway, 'kind' | 'mode'>): boolean =>
	adapterOf(gateway.kind).signInUrl !== undefined && !namesDevices(gateway);

export const unreadableText = ({ name, unreadable }: Pick<RegisteredGateway, 'name' | 'unreadable'>) =>
	'The key or secrets of this gateway do not open with AIRTILL_SECRET. Restore AIRTILL_SECRET, or replace them: ' +
	`gateways rotate ${name} ${unreadable.join(' ')}`;

export function refuseUnreadable(gateway: RegisteredGateway): never {
	throw new InputError([{ field: 'name', reason: unreadableText(gateway) }]);
}
