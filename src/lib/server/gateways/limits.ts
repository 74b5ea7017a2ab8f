import type { GatewayKind, GatewaySettings, Speed } from './gateway.ts';

/** The limits of an offer that a gateway holds. */
export interface HeldLimits {
	/** The highest speed limit in kbit/s that it takes; 0 if it limits no speed. */
	maxSpeedKbps: number;
	data: boolean;
}

/** WISPr attributes and RouterOS count bit/s in 32 bits. */
export const MOST_KBPS = 4_294_967;
/** The integration API takes 2 to this many kbit/s. */
const UNIFI_MOST_KBPS = 100_000;

/** Returns what a gateway holds. Each adapter that sends limits is listed here; see src/docs/routers-and-gateways.md. */
export const heldLimits = (gateway: { kind: GatewayKind; settings: GatewaySettings }): HeldLimits => ({
	maxSpeedKbps: maxSpeedOf(gateway),
	data: false
});

function maxSpeedOf({ kind, settings }: { kind: GatewayKind; settings: GatewaySettings }): number {
	switch (kind) {
		case 'mikrotik':
		case 'coova':
			return MOST_KBPS;
		case 'opennds':
			return settings.level === 4 || settings.ndsctl || settings.binauthLimits ? MOST_KBPS : 0;
		case 'unifi':
			return settings.api === undefined ? 0 : UNIFI_MOST_KBPS;
		case 'hostapd':
			return 0;
	}
}

export const isUnlimited = ({ down, up }: Speed): boolean => down === null && up === null;

/** Formats a speed as RouterOS does: from the device, then to it. Both are needed, so no limit is the highest one. */
export const routerOsRate = ({ down, up }: Speed): string => `${up ?? MOST_KBPS}k/${down ?? MOST_KBPS}k`;

/** Formats the limits for openNDS: kbit/s up and down, then kB up and down. 0 is no limit. */
export const openndsLimits = ({ down, up }: Speed): string => `${up ?? 0} ${down ?? 0} 0 0`;
