import { defineConfig } from '@playwright/test';
import { isAll } from '../support/all.ts';
import type { SetUp } from './support/portal.ts';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

const output = fileURLToPath(new URL('../output', import.meta.url));
const browser = process.env['AIRTILL_CHROMIUM'];

/** Starts a service and a portal of its own. */
const REMOTE_ONLY = 'limited.spec.ts';

/** One purchase with script, one without and one at a kiosk, and what only a remote API does. */
const REMOTE = /@purchase|@remote/;
/** And, in `npm test -- --all`, each end of a purchase over HTTP. */
const REMOTE_ALL = new RegExp(`${REMOTE.source}|portal/(buy|extend)`);

/** Each spec starts its own servers (tests/support/server/server.ts). `npm test` sets the path of the browser. */
export default defineConfig<object, { setUp: SetUp }>({
	testDir: '.',
	globalSetup: '../support/temporary-folder.ts',
	outputDir: `${output}/e2e`,
	reporter: [['list'], ['json', { outputFile: `${output}/e2e.json` }]],
	// A test that passes only on a retry has failed.
	retries: 0,
	// A test of a purchase waits half of its time, so two cores serve four workers.
	workers: 4,
	// A busy machine is up to five times slower: the first view of the API console then takes half a minute.
	timeout: 240_000,
	expect: { timeout: 60_000 },
	forbidOnly: true,
	// First those that wait most, and last the one with the most files: otherwise one worker is left with the limits.
	projects: [
		{ name: 'remote', use: { setUp: 'remote' }, grep: isAll ? REMOTE_ALL : REMOTE },
		// Pages do not depend on the database, and tests/api has what does.
		{ name: 'postgres', use: { setUp: 'postgres' }, grep: /@purchase/ },
		{ name: 'sqlite', use: { setUp: 'sqlite' }, testIgnore: REMOTE_ONLY }
	],
	use: {
		trace: 'off',
		screenshot: 'only-on-failure',
		// What moves without end is drawn sixty times a second. reach.spec.ts and the map look at motion.
		contextOptions: { reducedMotion: 'reduce' },
		launchOptions: {
			...(browser === undefined ? {} : { executablePath: browser }),
			args: [
				// Chromium's sandbox does not work for root, the user in most CI containers.
				...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
				// No requests to servers outside of the tests.
				'--disable-background-networking',
				'--disable-component-update',
				'--disable-sync',
				'--no-first-run',
				'--disable-quic',
				'--disable-gpu'
			]
		}
	}
});
