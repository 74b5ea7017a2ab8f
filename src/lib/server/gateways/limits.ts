import type { GatewayKind, GatewaySettings, Speed } from './gateway.ts';

/** The limits of an offer that a gateway holds. */
export interface HeldLimits {
	/** The highest speed limit in kbit/s that it takes; 0 if it limits no speed. */
	maxSpeedKbps: number;
	/** Whether it reports the data of a pass, and ends all its devices when none is left. */
	data: boolean;
}

/** WISPr attributes and RouterOS count bit/s in 32 bits. */
export const MOST_KBPS = 4_294_967;
/** The integration API takes 2 to this many kbit/s. */
const UNIFI_MOST_KBPS = 100_000;

/** Returns what a gateway holds. Each adapter that sends limits is listed here; see src/docs/routers-and-gateways.md. */
export const heldLimits = (gateway: { kind: GatewayKind; settings: GatewaySettings }): HeldLimits => ({
	maxSpeedKbps: maxSpeedOf(gateway),
	data: holdsData(gateway)
});

/** With RADIUS, only a Disconnect-Request ends all devices of a pass that has no data left. */
function holdsData({ kind, settings }: { kind: GatewayKind; settings: GatewaySettings }): boolean {
	return asksRadius({ kind, settings }) && settings.nas !== undefined;
}

export const asksRadius = ({ kind, settings }: { kind: GatewayKind; settings: GatewaySettings }): boolean =>
	kind === 'coova' || kind === 'hostapd' || (kind === 'mikrotik' && settings.control !== 'rest');

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

/** RADIUS integers have 32 bits. */
const GIGAWORD = 2 ** 32;

/** Splits an amount of data for RADIUS. The low word is never 0, which gateways read as no limit. */
export const dataWords = (bytes: number): { octets: number; gigawords: number } => ({
	octets: Math.max(1, bytes % GIGAWORD),
	gigawords: Math.floor(bytes / GIGAWORD)
});

/** Formats the limits for openNDS: kbit/s up and down, then kB up and down. 0 is no limit. */
export const openndsLimits = ({ down, up }: Speed): string => `${up ?? 0} ${down ?? 0} 0 0`;
