import { UNKNOWN, type ConfigSite } from '../gateway.ts';

/** The address at which devices reach this installation. A `URL` would lower-case THIS-MACHINE. */
export interface PortalAddress {
	origin: string;
	protocol: string;
	hostname: string;
	/** '' for the protocol's default. */
	port: string;
}

export function portalAddress({ origin, port }: Pick<ConfigSite, 'origin' | 'port'>): PortalAddress {
	if (origin !== null) {
		const { protocol, hostname, port: own } = new URL(origin);
		return { origin: new URL(origin).origin, protocol, hostname, port: own };
	}
	const own = port === 80 ? '' : String(port);
	return {
		origin: `http://${UNKNOWN.machine}${own === '' ? '' : `:${own}`}`,
		protocol: 'http:',
		hostname: UNKNOWN.machine,
		port: own
	};
}
