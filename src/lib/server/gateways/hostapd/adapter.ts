import { EntryRefused, type Gateway } from '../gateway.ts';
import { hostapdConfig } from './config.ts';

/**
 * Access points that ask a RADIUS server themselves, without a portal of their own: hostapd and OpenWrt, and enterprise
 * access points. The bought password is that of the Wi-Fi (`wpa_personal_per_client`), or signs in to it
 * (`wpa_enterprise`).
 */
export const hostapd: Gateway = {
	kind: 'hostapd',
	title: 'Access point with RADIUS',
	secretName: null,
	defaultPort: null,
	finishes: () => 'waits',
	controlMode: () => 'radius',
	takesPassword: () => true,
	controller: null,
	configFor: hostapdConfig,
	parseEntry() {
		throw new EntryRefused('missing', 'This kind sends no devices');
	},
	finish: () => ({ kind: 'waits' }),
	startAddress: () => null
};
