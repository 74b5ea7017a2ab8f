/**
 * The other two engines of the browser tests, from Debian's packages: Firefox ESR, and WebKitGTK with its WebDriver,
 * which needs a screen (Xvfb). Chromium, which the whole browser suite runs in, is found by browser.js.
 */
import { existsSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { canInstall, install } from './apt.js';

/** @typedef {{ driver: string, browser: string, screen: string }} WebKit programs, by their paths */

/** @returns {string | null} path of a Firefox; AIRTILL_FIREFOX overrides it */
export function findFirefox() {
	return (
		process.env['AIRTILL_FIREFOX'] ??
		firstOf([
			...onPath('firefox-esr'),
			...onPath('firefox'),
			'/Applications/Firefox.app/Contents/MacOS/firefox'
		])
	);
}

/** @returns {WebKit | null} */
export function findWebKit() {
	const driver = firstOf(onPath('WebKitWebDriver'));
	const screen = firstOf(onPath('Xvfb'));
	const browser = firstOf(
		['/usr/lib/x86_64-linux-gnu', '/usr/lib/aarch64-linux-gnu', '/usr/libexec'].map((folder) =>
			path.join(folder, 'webkit2gtk-4.1/MiniBrowser')
		)
	);
	return driver && screen && browser ? { driver, browser, screen } : null;
}

/** Reasons for skipping a test: how to install a missing engine. */
export const MISSING = {
	firefox:
		'needs Firefox: "apt-get install firefox-esr" on Debian, or set AIRTILL_FIREFOX to the path of one',
	webkit: 'needs WebKitGTK and a screen: "apt-get install webkit2gtk-driver xvfb" on Debian'
};

/**
 * Installs the engines that are missing, where that may be done. Where it may not, their tests are skipped with
 * the reason, and CI fails because it allows no skipped tests.
 */
export function ensureEngines() {
	if (canInstall()) {
		if (!findFirefox()) install(['firefox-esr']);
		if (!findWebKit()) install(['webkit2gtk-driver', 'xvfb']);
	}
	if (!findFirefox()) console.error(`A part of the browser tests ${MISSING.firefox}.`);
	if (!findWebKit()) console.error(`A part of the browser tests ${MISSING.webkit}.`);
}

/** @param {string} name */
const onPath = (name) =>
	(process.env['PATH'] ?? '').split(path.delimiter).map((folder) => path.join(folder, name));

/**
 * @param {string[]} candidates
 * @returns {string | null}
 */
const firstOf = (candidates) => candidates.find((candidate) => existsSync(candidate)) ?? null;
