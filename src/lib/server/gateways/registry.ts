import { coova } from './coova/adapter.ts';
import {
	Unavailable,
	type Gateway,
	type GatewayKind,
	type GatewayFacts,
	type GatewayStatus,
	type Reach
} from './gateway.ts';
import { hostapd } from './hostapd/adapter.ts';
import { mikrotik } from './mikrotik/adapter.ts';
import { opennds } from './opennds/adapter.ts';
import { unifi } from './unifi/adapter.ts';

const ADAPTERS: Readonly<Record<GatewayKind, Gateway>> = { opennds, mikrotik, coova, unifi, hostapd };

export const adapterOf = (kind: GatewayKind): Gateway => ADAPTERS[kind];

/** Returns null for gateways that we never call. */
export async function gatewayStatus(
	kind: GatewayKind,
	facts: GatewayFacts,
	reach: Reach
): Promise<GatewayStatus | null> {
	try {
		return (await adapterOf(kind).controller?.status(facts, reach)) ?? null;
	} catch (error) {
		if (!(error instanceof Unavailable)) throw error;
		return {
			problems: [error.message],
			reachable: false,
			isUsable: false,
			clockOffsetMs: null,
			online: null
		};
	}
}
