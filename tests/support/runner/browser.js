/**
 * The browser of the browser tests: one that the machine has, else one that can be installed. Every
 * candidate is asked for its version, because a file by that name may be a stub (Ubuntu's chromium-browser)
 * or lack libraries (a bare `playwright install`).
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { SetupError, root, run } from '../../../src/cli/bootstrap.js';
import { canInstall, install } from './apt.js';

const downloadLimitMs = 3 * 60_000;
const versionLimitMs = 30_000;
/** The kind that Playwright uses by default. It needs a quarter less CPU than Chromium, which draws its own window. */
const HEADLESS = 'chromium-headless-shell';

/** @returns {Promise<string>} path of a Chromium or Chrome that runs */
export async function ensureBrowser() {
	const wanted = process.env['AIRTILL_CHROMIUM'];
	if (wanted) {
		if (works(wanted)) return wanted;
		throw new SetupError(`AIRTILL_CHROMIUM=${wanted} is not a browser that runs.`);
	}
	const browser = onThisMachine() ?? (await playwrightBrowser()) ?? (await installed());
	if (!browser) {
		throw new SetupError(
			'The browser tests need Chromium or Chrome, and none could be installed here.\n' +
				'Debian: apt-get install chromium. Others: install Google Chrome, or run "npx playwright install chromium",\n' +
				'or set AIRTILL_CHROMIUM to the path of one.'
		);
	}
	ensureFonts();
	return browser;
}

/** @returns {Promise<string | null>} */
async function installed() {
	// Debian's package first: where there is no way to Playwright's servers, its attempt takes minutes.
	for (const name of canInstall() ? [HEADLESS, 'chromium'] : []) {
		if (!install([name, 'fontconfig', 'fonts-dejavu-core'])) continue;
		const browser = onThisMachine();
		if (browser) return browser;
	}
	console.error('Downloading Chromium for Playwright ...');
	const { code, output } = await run(
		process.execPath,
		[path.join(root, 'node_modules/@playwright/test/cli.js'), 'install', 'chromium'],
		{ cwd: root, timeout: downloadLimitMs }
	);
	if (code !== 0) console.error(output);
	return playwrightBrowser();
}

/** @returns {string | null} */
function onThisMachine() {
	const names = [HEADLESS, 'chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
	const folders = (process.env['PATH'] ?? '').split(path.delimiter);
	const candidates = [
		...names.flatMap((name) => folders.map((folder) => path.join(folder, name))),
		'/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
		'/Applications/Chromium.app/Contents/MacOS/Chromium'
	];
	return candidates.find((candidate) => existsSync(candidate) && works(candidate)) ?? null;
}

/** @returns {Promise<string | null>} the one that an earlier `playwright install` left, if any */
async function playwrightBrowser() {
	const { chromium } = await import('@playwright/test');
	const browser = chromium.executablePath();
	return existsSync(browser) && works(browser) ? browser : null;
}

/** @param {string} browser */
function works(browser) {
	return spawnSync(browser, ['--version'], { timeout: versionLimitMs, stdio: 'ignore' }).status === 0;
}

/** Without any font, Chromium draws empty boxes and text has no size. */
function ensureFonts() {
	const list = spawnSync('fc-list', { encoding: 'utf8' });
	if (process.platform !== 'linux' || list.stdout?.trim()) return;
	if (canInstall()) install(['fontconfig', 'fonts-dejavu-core']);
	else console.error('No fonts found: page measurements will be off. Install fonts-dejavu-core.');
}
