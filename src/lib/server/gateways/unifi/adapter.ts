import { normaliseMac } from '#lib/domain/mac.ts';
import { checkSize, clientMacOf, field, webAddressOf } from '../captive-sessions/fields.ts';
import { EntryRefused, type Gateway } from '../gateway.ts';
import { unifiConfig } from './config.ts';
import { unifiController } from './client.ts';

/**
 * UniFi's external portal: `/guest/s/<site>/?ap=<MAC>&id=<client's MAC>&t=<unix>&url=<asked for>&ssid=<name>`, unsigned.
 * It can be given a host, not a path, so it is found by its site (and access point) instead of its key. There is no
 * sign-in in the browser: the controller is told to let the client in.
 */
export const unifi: Gateway = {
	kind: 'unifi',
	title: 'UniFi',
	secretName: null,
	defaultPort: null,
	finishes: () => 'waits',
	controlMode: ({ settings }) => (settings.api === undefined ? 'external' : 'push'),
	takesPassword: ({ settings }) => settings.api === undefined,
	controller: unifiController,
	configFor: unifiConfig,

	parseEntry(request) {
		checkSize(request);
		const { fields } = request;
		const clientMac = clientMacOf(field(fields, 'id'));
		if (clientMac === null) throw new EntryRefused('missing', 'There is no id');
		const accessPoint = normaliseMac(field(fields, 'ap'));
		return {
			state: 'new',
			problem: null,
			clientMac,
			// UniFi does not say it.
			clientIp: null,
			originalUrl: webAddressOf(field(fields, 'url')),
			login: accessPoint === null ? {} : { accessPoint }
		};
	},

	finish: () => ({ kind: 'waits' }),
	startAddress: () => null
};
