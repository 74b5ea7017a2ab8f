import type { AccessKind } from '#lib/domain/wifi.ts';
import type { RegisteredGateway } from './gateway-record.ts';
import type { Speed } from './gateway.ts';

/** WISPr attributes and RouterOS count bit/s in 32 bits. */
const MAX_KBPS = 4_294_967;
/** The integration API takes 2 to this many kbit/s. */
const UNIFI_MOST_KBPS = 100_000;

type Limiting = Pick<RegisteredGateway, 'kind' | 'mode' | 'settings'>;

/** Returns the highest speed limit that a gateway takes. */
export const maxSpeedKbps = ({ kind }: Pick<Limiting, 'kind'>): number =>
	kind === 'unifi' ? UNIFI_MOST_KBPS : MAX_KBPS;

/** Returns why a gateway does not hold a limit of speed; null if it does. See src/docs/routers-and-gateways.md. */
export function unheldSpeed({ kind, mode, settings }: Limiting, kbps: number) {
	if (mode === 'external' || kind === 'hostapd') return 'unable';
	if (mode === 'browser' && !settings.binauthLimits) return 'needs_script';
	return kbps > maxSpeedKbps({ kind }) ? 'too_fast' : null;
}

/** As `unheldSpeed`, for a limit of data that so many devices share. */
export function unheldData({ kind, mode, settings }: Limiting, access: AccessKind, devices: number) {
	switch (mode) {
		case 'external':
			return 'unable';
		case 'radius':
			// Only a Disconnect-Request ends all devices of a pass.
			if (settings.nas === undefined) return 'needs_address';
			return kind === 'hostapd' && access !== 'wpa_enterprise' ? 'needs_enterprise' : null;
		case 'push':
			if (kind !== 'mikrotik') return null;
			break;
		case 'browser':
			if (!settings.binauthLimits) return 'needs_script';
			break;
		case 'poll':
	}
	// The gateway ends each device at what was left of the pass when that device came, and may report at its end only.
	return devices === 1 ? null : 'one_device_only';
}

/**
 * Bytes that a device can use between two reads of its counter, at 80 Mbit/s. A gateway that forgets the counter of a
 * device that it ends gets this much above what is left, so that we read the counter before.
 */
export const UNSEEN_BYTES = 150_000_000;

export const isUnlimited = ({ down, up }: Speed): boolean => down === null && up === null;

/** Formats a speed as RouterOS does: from the device, then to it. Both are needed, so no limit is the highest one. */
export const routerOsRate = ({ down, up }: Speed): string => `${up ?? MAX_KBPS}k/${down ?? MAX_KBPS}k`;

/** RADIUS integers have 32 bits. */
const GIGAWORD = 2 ** 32;

/** Splits an amount of data for RADIUS. The low word is never 0, which gateways read as no limit. */
export const dataWords = (bytes: number): { octets: number; gigawords: number } => ({
	octets: Math.max(1, bytes % GIGAWORD),
	gigawords: Math.floor(bytes / GIGAWORD)
});

/**
 * Formats the limits for openNDS: kbit/s up and down, then units of 1,024 bytes up and down; 0 is no limit. It counts
 * each direction on its own, so each gets all that is left. Rounded up: what openNDS ends has used its limit.
 */
export function openndsLimits({ down, up }: Speed, dataLeft: number | null): string {
	const quota = dataLeft === null ? 0 : Math.max(1, Math.ceil(dataLeft / 1_024));
	return `${up ?? 0} ${down ?? 0} ${quota} ${quota}`;
}
