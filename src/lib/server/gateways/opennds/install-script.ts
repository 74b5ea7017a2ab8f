import type { ConfigPart } from '../gateway.ts';
import { firstReport } from './binauth-script.ts';

/** No line of the files. */
const END = 'AIRTILL-END';

const NEEDED = /^\/(etc\/config|usr\/lib\/opennds|etc\/nftables\.d)\//;

/**
 * Returns one block to paste on OpenWrt with openNDS 10: it writes the files, looks up the portal, starts openNDS, and
 * lets the BinAuth script contact Airtill. The subshell keeps a failure from closing the terminal.
 */
export function installScript(parts: readonly ConfigPart[], hostname: string, level: 1 | 4): ConfigPart {
	const files = parts.flatMap(({ file, text }) =>
		file !== null && NEEDED.test(file) ? [{ file, text }] : []
	);
	const script = files.find(({ file }) => file.endsWith('.sh'))?.file ?? '';
	const names = files.map(({ file }) => file).join(' ');
	const lines = [
		'# OpenWrt with openNDS 10 (opkg update && opkg install opennds). Contains secrets.',
		'(',
		'set -e',
		'umask 077',
		...files.flatMap(({ file, text }) => [
			`mkdir -p ${file.replace(/\/[^/]*$/, '')}`,
			`cat >${file} <<'${END}'`,
			text.replace(/\n$/, ''),
			END
		]),
		`chmod 700 ${script}`,
		`if grep -q IP-OF- ${names}; then`,
		`\tip=$(resolveip -4 ${hostname} | head -n 1)`,
		'\t[ -n "$ip" ]',
		`\tsed -i "s/IP-OF-${hostname}/$ip/; s/# ip daddr $ip/ip daddr $ip/" ${names}`,
		'fi',
		// Without the guard, devices would be online unpaid if openNDS stops.
		'fw4 check',
		'fw4 reload',
		'/etc/init.d/opennds enable',
		'/etc/init.d/opennds restart',
		firstReport(script, level),
		')',
		''
	];
	return { title: 'OpenWrt: paste this as root', file: 'airtill-opennds.sh', text: lines.join('\n') };
}
