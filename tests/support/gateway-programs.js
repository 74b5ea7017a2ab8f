/**
 * The programs that routers and their RADIUS servers run, from Debian's packages: tests/gateways works with the real
 * ones. Nothing of them is started by their installation.
 */
import { existsSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { canInstall, install } from './apt.js';

/** What each package is needed for: a file of it, or the name of a program. */
const PACKAGES = {
	freeradius: 'freeradius',
	'freeradius-rest': '/usr/lib/freeradius/rlm_rest.so',
	'freeradius-utils': 'radclient',
	eapoltest: 'eapol_test',
	opennds: 'opennds',
	'dnsmasq-base': 'dnsmasq',
	iptables: 'xtables-legacy-multi',
	nftables: 'nft',
	iproute2: 'ip',
	'isc-dhcp-client': 'dhclient',
	'zbar-tools': 'zbarimg'
};

/** Daemons and tools of the network are often beyond a user's own PATH. */
const FOLDERS = [...(process.env['PATH'] ?? '').split(path.delimiter), '/usr/sbin', '/sbin'];

/** @param {string} program */
const isThere = (program) =>
	program.startsWith('/')
		? existsSync(program)
		: FOLDERS.some((folder) => existsSync(path.join(folder, program)));

/** @returns {string[]} packages whose programs are not there */
const missingPackages = () =>
	Object.entries(PACKAGES)
		.filter(([, program]) => !isThere(program))
		.map(([name]) => name);

/**
 * Installs what is missing, where that may be done.
 * @returns {string | null} what to do where it is still missing, for people
 */
export function ensureGatewayPrograms() {
	const before = missingPackages();
	if (before.length > 0 && canInstall()) install(before, { start: false });
	const missing = missingPackages();
	if (missing.length === 0) return null;
	return (
		`The tests with real gateways need Debian's packages ${missing.join(', ')}. As root: ` +
		`apt-get install --no-install-recommends ${missing.join(' ')}`
	);
}
