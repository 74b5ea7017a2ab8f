import { coova } from './coova/adapter.ts';
import type { Gateway, GatewayKind } from './gateway.ts';
import { hostapd } from './hostapd/adapter.ts';
import { mikrotik } from './mikrotik/adapter.ts';
import { opennds } from './opennds/adapter.ts';
import { unifi } from './unifi/adapter.ts';

const ADAPTERS: Readonly<Record<GatewayKind, Gateway>> = { opennds, mikrotik, coova, unifi, hostapd };

export const adapterOf = (kind: GatewayKind): Gateway => ADAPTERS[kind];
