import { EntryRefused, type GatewayAdapter } from '../gateway.ts';
import { hostapdConfig } from './config.ts';

/**
 * Access points that ask a RADIUS server and have no captive portal: hostapd, OpenWrt, enterprise models. A
 * pass's password is the Wi-Fi password (`wpa_personal_per_client`) or the 802.1X one (`wpa_enterprise`).
 */
export const hostapd: GatewayAdapter = {
	title: 'Access point with RADIUS',
	secretName: null,
	defaultPort: null,
	startPath: null,
	controlMode: () => 'radius',
	controller: null,
	configFor: hostapdConfig,
	parseEntry() {
		throw new EntryRefused('missing', 'Access points do not redirect');
	}
};
