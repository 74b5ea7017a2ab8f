import { coova } from './coova.ts';
import type { GatewayAdapter, GatewayKind } from './gateway.ts';
import type { RegisteredGateway } from './gateway-record.ts';
import { hostapd } from './hostapd.ts';
import { mikrotik } from './mikrotik.ts';
import { opennds } from './opennds.ts';
import { unifi } from './unifi.ts';

const ADAPTERS: Readonly<Record<GatewayKind, GatewayAdapter>> = { opennds, mikrotik, coova, unifi, hostapd };

export const findAdapter = (kind: GatewayKind): GatewayAdapter => ADAPTERS[kind];

/** Returns a URL that makes a gateway redirect to its portal page once more, or null. */
export function buildStartAddress({ kind, loginHosts: [host] }: RegisteredGateway): string | null {
	const { defaultPort, startPath } = findAdapter(kind);
	if (host === undefined || startPath === null) return null;
	return new URL(startPath, `http://${host.includes(':') ? host : `${host}:${defaultPort}`}`).href;
}
