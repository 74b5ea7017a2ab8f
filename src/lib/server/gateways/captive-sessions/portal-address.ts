import { UNKNOWN, type ConfigContext } from '../gateway.ts';

/** The address at which devices reach this installation; `port` is '' for the protocol's default. */
export type PortalAddress = ReturnType<typeof portalAddress>;

export function portalAddress({ origin: text, port: ownPort }: Pick<ConfigContext, 'origin' | 'port'>) {
	if (text !== null) {
		const { origin, protocol, hostname, port } = new URL(text);
		return { origin, protocol, hostname, port };
	}
	// A URL would lower-case the placeholder.
	const port = ownPort === 80 ? '' : String(ownPort);
	const origin = `http://${UNKNOWN.machine}${port === '' ? '' : `:${port}`}`;
	return { origin, protocol: 'http:', hostname: UNKNOWN.machine, port };
}
