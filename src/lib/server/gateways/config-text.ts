/** Placeholders for unknown addresses. Gateways reject them, so an unfinished file fails at import. */
export const UNKNOWN = {
	machine: 'THIS-MACHINE',
	radius: 'ADDRESS-OF-RADIUS',
	gateway: 'ADDRESS-OF-GATEWAY',
	airtill: 'ADDRESS-OF-AIRTILL'
} as const;

const MEANINGS: Record<keyof typeof UNKNOWN, string> = {
	machine: 'the address of this installation (or set ORIGIN)',
	radius: 'the address at which the gateway reaches the RADIUS server (or use --radius-server)',
	gateway: 'the address from which the gateway sends RADIUS requests (register it with --nas)',
	airtill: 'the address from which Airtill sends Disconnect-Requests'
};

/** Returns the placeholders in a text, and what to put there. */
export const findPlaceholders = (text: string): { name: string; what: string }[] =>
	Object.entries(UNKNOWN).flatMap(([key, name]) =>
		text.includes(name) ? [{ name, what: MEANINGS[key as keyof typeof UNKNOWN] }] : []
	);

/** Returns the text of a file, with comments about its placeholders after the first line. */
export function formatFile(firstLine: string, lines: readonly string[]): string {
	const text = lines.join('\n');
	const notes = findPlaceholders(text).map(({ name, what }) => `# ${name}: ${what}.`);
	return `${[firstLine, ...notes, text].join('\n')}\n`;
}

/** The address at which devices reach this installation; `port` is '' for the protocol's default. */
export type PortalAddress = ReturnType<typeof parsePortalAddress>;

export function parsePortalAddress({ origin: text, port: ownPort }: { origin: string | null; port: number }) {
	if (text !== null) {
		const { origin, protocol, hostname, port } = new URL(text);
		return { origin, protocol, hostname, port };
	}
	// A URL would lower-case the placeholder.
	const port = ownPort === 80 ? '' : String(ownPort);
	const origin = `http://${UNKNOWN.machine}${port === '' ? '' : `:${port}`}`;
	return { origin, protocol: 'http:', hostname: UNKNOWN.machine, port };
}
