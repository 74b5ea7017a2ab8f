/**
 * The programs that the tests work with, beside Node: browsers, gateways, and those that run the samples of the
 * documentation. What is missing is installed from Debian's packages where that may be done: as root, where there is
 * apt-get. Nothing of it is started by its installation.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { SetupError, root, run } from '../../src/cli/bootstrap.js';

/** The browser that needs half of the CPU time: Chromium draws a window of its own. */
const HEADLESS = 'chromium-headless-shell';

/** Debian's packages for a part of the tests, each with a program or file that shows that it is installed. */
const PACKAGES = {
	/** tests/api runs the samples of the documentation. */
	api: { curl: 'curl', python3: 'python3', 'php-cli': 'php', pgbouncer: 'pgbouncer' },
	gateways: {
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
	},
	/** The other two engines; WebKitGTK needs a screen (Xvfb). Without any font, text has no size. */
	e2e: {
		[HEADLESS]: HEADLESS,
		'firefox-esr': 'firefox-esr',
		'webkit2gtk-driver': 'WebKitWebDriver',
		xvfb: 'Xvfb',
		'fonts-dejavu-core': '/usr/share/fonts/truetype/dejavu'
	}
};

const installLimitMs = 15 * 60_000;
const downloadLimitMs = 3 * 60_000;
const versionLimitMs = 30_000;

/** Daemons and tools of the network are often beyond a user's own PATH. */
const FOLDERS = [...(process.env['PATH'] ?? '').split(path.delimiter), '/usr/sbin', '/sbin'];

/** @param {string} program a name, or a path @returns {string | null} its path */
function find(program) {
	const candidates = program.startsWith('/')
		? [program]
		: FOLDERS.map((folder) => path.join(folder, program));
	return candidates.find((candidate) => existsSync(candidate)) ?? null;
}

/** @param {(keyof typeof PACKAGES)[]} parts @returns {string[]} */
export const missingPackages = (...parts) =>
	parts.flatMap((part) =>
		Object.entries(PACKAGES[part])
			.filter(([, program]) => find(program) === null)
			.map(([name]) => name)
	);

/** @param {(keyof typeof PACKAGES)[]} parts */
export const installMissing = (...parts) => install(missingPackages(...parts));

/** What keeps tests/gateways from running, and what to do about it, for people; null if nothing does. */
export function gatewaysNeed() {
	const missing = missingPackages('gateways');
	const packages = `Debian's packages ${missing.join(', ')}: apt-get install --no-install-recommends ${missing.join(' ')}`;
	const isRoot = process.platform === 'linux' && process.getuid?.() === 0;
	const needs = [
		...(missing.length > 0 ? [packages] : []),
		// Network namespaces, and the configuration of FreeRADIUS, which its own group may read.
		...(isRoot ? [] : ['root, on Linux: run this command as root, for example by sudo'])
	];
	return needs.length === 0 ? null : `The tests with real gateways need\n\t- ${needs.join('\n\t- ')}`;
}

/** Asked by Debian's packages before they start a daemon; 101 says no (invoke-rc.d(8)). */
const policy = '/usr/sbin/policy-rc.d';

/**
 * Installs packages without their recommendations, if that may be done here; what apt prints is shown only when it
 * fails.
 * @param {string[]} packages
 */
export function install(packages) {
	if (packages.length === 0 || process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) return;
	console.error(`Installing ${packages.join(', ')} with apt-get ...`);
	// An existing policy file is kept.
	const isOurs = !existsSync(policy);
	if (isOurs) writeFileSync(policy, '#!/bin/sh\nexit 101\n', { mode: 0o755 });
	try {
		// A failed update alone may still leave a usable list of packages.
		aptGet('update', '-qq');
		const args = ['install', '-y', '-qq', '--no-install-recommends'];
		const failed = aptGet(...args, ...packages);
		// One that this system does not have must not keep the others away.
		if (failed && packages.length > 1) {
			for (const name of packages) console.error(aptGet(...args, name) ?? '');
		} else if (failed) console.error(failed);
	} finally {
		if (isOurs) rmSync(policy, { force: true });
	}
}

/** @param {string[]} args @returns {string | null} what it printed, if it failed */
function aptGet(...args) {
	// Another apt (unattended upgrades) may hold the lock for a while.
	const { status, stdout, stderr } = spawnSync('apt-get', ['-o', 'DPkg::Lock::Timeout=120', ...args], {
		env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
		encoding: 'utf8',
		timeout: installLimitMs
	});
	return status === 0 ? null : `${stdout}${stderr}apt-get ${args.join(' ')} failed (code ${status}).`;
}

/**
 * Finds a Chromium or Chrome that runs, or installs one. Every candidate is asked for its version, because a file by
 * that name may be a stub (Ubuntu's chromium-browser) or lack libraries (a bare `playwright install`).
 * @returns {Promise<string>} its path; AIRTILL_CHROMIUM overrides it
 */
export async function ensureBrowser() {
	const wanted = process.env['AIRTILL_CHROMIUM'];
	if (wanted) {
		if (works(wanted)) return wanted;
		throw new SetupError(`AIRTILL_CHROMIUM=${wanted} is not a browser that runs.`);
	}
	if (!find(HEADLESS)) install([HEADLESS]);
	const found = findBrowser() ?? (await downloadBrowser());
	if (found) return found;
	throw new SetupError(
		'The browser tests need Chromium or Chrome, and none could be installed here.\n' +
			'Debian: apt-get install chromium. Others: install Google Chrome, or run "npx playwright install chromium",\n' +
			'or set AIRTILL_CHROMIUM to the path of one.'
	);
}

function findBrowser() {
	const names = [HEADLESS, 'chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
	const candidates = [
		...names.map(find),
		'/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
		'/Applications/Chromium.app/Contents/MacOS/Chromium'
	];
	return candidates.find((candidate) => candidate !== null && works(candidate)) ?? null;
}

/** @returns {Promise<string | null>} the one that an earlier `playwright install` left, or a new one */
async function downloadBrowser() {
	const { chromium } = await import('@playwright/test');
	const browser = chromium.executablePath();
	if (works(browser)) return browser;
	console.error('Downloading Chromium for Playwright ...');
	const script = path.join(root, 'node_modules/@playwright/test/cli.js');
	const { code, output } = await run(process.execPath, [script, 'install', 'chromium'], {
		cwd: root,
		timeout: downloadLimitMs
	});
	if (code !== 0) console.error(output);
	return works(browser) ? browser : null;
}

/** @param {string} browser */
const works = (browser) =>
	existsSync(browser) &&
	spawnSync(browser, ['--version'], { timeout: versionLimitMs, stdio: 'ignore' }).status === 0;

/** @returns {string | null} path of a Firefox; AIRTILL_FIREFOX overrides it */
export const findFirefox = () =>
	process.env['AIRTILL_FIREFOX'] ??
	find('firefox-esr') ??
	find('firefox') ??
	find('/Applications/Firefox.app/Contents/MacOS/firefox');

/** @returns {{ driver: string, browser: string, screen: string } | null} paths of WebKitGTK's programs */
export function findWebKit() {
	const [driver, screen] = [find('WebKitWebDriver'), find('Xvfb')];
	const browser = ['/usr/lib/x86_64-linux-gnu', '/usr/lib/aarch64-linux-gnu', '/usr/libexec']
		.map((folder) => find(path.join(folder, 'webkit2gtk-4.1/MiniBrowser')))
		.find((found) => found !== null);
	return driver && screen && browser ? { driver, browser, screen } : null;
}

/** Reasons for skipping a test: how to install a missing engine. */
export const MISSING = {
	firefox:
		'needs Firefox: "apt-get install firefox-esr" on Debian, or set AIRTILL_FIREFOX to the path of one',
	webkit: 'needs WebKitGTK and a screen: "apt-get install webkit2gtk-driver xvfb" on Debian'
};
