import { coova } from './coova.ts';
import type { Gateway, GatewayKind } from './gateway.ts';
import { hostapd } from './hostapd.ts';
import { mikrotik } from './mikrotik.ts';
import { opennds } from './opennds.ts';
import { unifi } from './unifi.ts';

const ADAPTERS: Readonly<Record<GatewayKind, Gateway>> = { opennds, mikrotik, coova, unifi, hostapd };

/** The adapter of a kind of gateway. */
export const adapterOf = (kind: GatewayKind): Gateway => ADAPTERS[kind];
