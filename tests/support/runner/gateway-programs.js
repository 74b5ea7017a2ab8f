/**
 * The programs that routers, their RADIUS servers and proxies run, from Debian's packages: tests/gateways works with the
 * real ones. Nothing of them is started by their installation.
 */
import { existsSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { canInstall, install } from './apt.js';

/** Debian packages, each with a file or a program that shows that it is installed. */
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
	'zbar-tools': 'zbarimg',
	'nginx-light': 'nginx',
	systemd: 'systemd-analyze'
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
 * Queries and changes the machine; replaced in tests.
 * @typedef {{
 *   isRoot: () => boolean,
 *   missing: () => string[],
 *   canInstall: () => boolean,
 *   install: (packages: string[]) => unknown
 * }} TestMachine
 */

/** @type {TestMachine} */
const thisMachine = {
	isRoot: () => process.platform === 'linux' && process.getuid?.() === 0,
	missing: missingPackages,
	canInstall,
	install: (packages) => install(packages, { start: false })
};

/**
 * Installs what is missing, where that may be done.
 * @returns {string | null} what keeps these tests from running, and what to do about it, for people
 */
export function ensureGatewayPrograms(machine = thisMachine) {
	const before = machine.missing();
	if (before.length > 0 && machine.canInstall()) machine.install(before);
	const missing = machine.missing();
	/** @type {string[]} */
	const needs = [];
	if (missing.length > 0) {
		needs.push(
			`Debian's packages ${missing.join(', ')}. As root: ` +
				`apt-get install --no-install-recommends ${missing.join(' ')}`
		);
	}
	// Network namespaces, and the configuration of FreeRADIUS, which its own group may read.
	if (!machine.isRoot()) needs.push('root, on Linux: run this command as root, for example by sudo');
	return needs.length === 0 ? null : `The tests with real gateways need\n\t- ${needs.join('\n\t- ')}`;
}
