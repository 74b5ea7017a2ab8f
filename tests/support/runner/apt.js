/** Debian's and Ubuntu's package manager, used only where it may be: as root, on a machine that has it. */
import { spawnSync } from 'node:child_process';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import process from 'node:process';

const limitMs = 15 * 60_000;

/** Asked by Debian's packages before they start a daemon; 101 says no (invoke-rc.d(8)). */
const policy = '/usr/sbin/policy-rc.d';

export function canInstall() {
	return process.getuid?.() === 0 && existsSync('/usr/bin/apt-get');
}

/**
 * Installs packages without their recommendations; what apt prints is shown only when it fails.
 * @param {string[]} packages
 * @param {{ start: boolean }} [daemons] whether the daemons in them are started
 * @returns {boolean} whether it worked
 */
export function install(packages, { start } = { start: true }) {
	// An existing policy file is kept.
	const isOurs = !start && !existsSync(policy);
	if (isOurs) writeFileSync(policy, '#!/bin/sh\nexit 101\n', { mode: 0o755 });
	try {
		return aptGet(packages);
	} finally {
		if (isOurs) rmSync(policy, { force: true });
	}
}

/** @param {string[]} packages */
function aptGet(packages) {
	console.error(`Installing ${packages.join(', ')} with apt-get ...`);
	// Another apt (unattended upgrades) may hold the lock for a while.
	const wait = ['-o', 'DPkg::Lock::Timeout=120'];
	for (const args of [
		['update', '-qq'],
		['install', '-y', '-qq', '--no-install-recommends', ...packages]
	]) {
		const { status, stdout, stderr } = spawnSync('apt-get', [...wait, ...args], {
			env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
			encoding: 'utf8',
			timeout: limitMs
		});
		// A failed update alone may still leave a usable list of packages.
		if (status === 0 || args[0] === 'update') continue;
		console.error(`${stdout}${stderr}apt-get could not install them (code ${status}).`);
		return false;
	}
	return true;
}
