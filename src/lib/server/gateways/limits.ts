import type { GatewayKind, GatewaySettings } from './gateway.ts';

/** The limits of an offer that a gateway holds. */
export interface HeldLimits {
	speed: boolean;
	data: boolean;
}

/** Returns what a gateway holds. Each adapter that sends limits is listed here; see src/docs/prices.md. */
export function heldLimits(_gateway: { kind: GatewayKind; settings: GatewaySettings }): HeldLimits {
	return { speed: false, data: false };
}
