import { normaliseMac } from '#lib/domain/mac.ts';
import { checkSize, clientMacOf, field, webAddressOf } from '../captive-sessions/fields.ts';
import { EntryRefused, type GatewayAdapter } from '../gateway.ts';
import { unifiConfig } from './config.ts';
import { unifiController } from './client.ts';

/**
 * UniFi's external portal, with unsigned redirects:
 * `/guest/s/<site>/?ap=<MAC>&id=<client's MAC>&t=<unix>&url=<requested>&ssid=<name>`
 * The console accepts a portal host but no path, so site and access point identify the gateway, not its key.
 * The browser does not sign in: we authorize the client at the console.
 */
export const unifi: GatewayAdapter = {
	title: 'UniFi',
	secretName: null,
	defaultPort: null,
	startPath: null,
	controlMode: ({ settings }) => (settings.api === undefined ? 'external' : 'push'),
	controller: unifiController,
	configFor: unifiConfig,

	parseEntry(request) {
		checkSize(request);
		const { fields } = request;
		const clientMac = clientMacOf(field(fields, 'id'));
		if (clientMac === null) throw new EntryRefused('missing', 'id is missing');
		const accessPoint = normaliseMac(field(fields, 'ap'));
		return {
			state: 'new',
			problem: null,
			clientMac,
			// Missing from the redirect.
			clientIp: null,
			originalUrl: webAddressOf(field(fields, 'url')),
			login: accessPoint === null ? {} : { accessPoint }
		};
	}
};
