import { defineConfig } from '@playwright/test';
import { isAll } from '../support/all.ts';
import type { SetUp } from './support/portal.ts';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

const output = fileURLToPath(new URL('../output', import.meta.url));
const browser = process.env['AIRTILL_CHROMIUM'];

/** Starts a service and a portal of its own. */
const REMOTE_ONLY = 'limited.spec.ts';

/** Starts a server for each operator. The differences between databases are tested in tests/api. */
const OPERATORS_ONCE = 'operators.spec.ts';

/** The look of a page does not depend on the database. */
const PAGES_ONCE = /(engines|map|reach|keyboard|mini-browser|budgets|poster)\.spec\.ts$/;

/** Developer and owner pages are served beside the API, and a portal of a remote API refuses gateways. */
const BESIDE_THE_API = /(api-console|developer.*|owner|splash)\.spec\.ts$/;

/** One purchase with script, and one without; `npm test -- --all` repeats all pages. */
const PURCHASE = isAll ? {} : { grep: /@purchase/ };
/** And what only a remote API does. */
const REMOTE = isAll ? {} : { grep: /@purchase|@remote/ };

/** Each spec starts its own servers (tests/support/server/server.ts). `npm test` sets the path of the browser. */
export default defineConfig<object, { setUp: SetUp }>({
	testDir: '.',
	outputDir: `${output}/e2e`,
	reporter: [['list'], ['json', { outputFile: `${output}/e2e.json` }]],
	// A test that passes only on a retry has failed.
	retries: 0,
	// A test of a purchase waits half of its time, so two cores serve four workers.
	workers: 4,
	// On a busy machine the API console alone takes a minute.
	timeout: 120_000,
	forbidOnly: true,
	// First those that wait most, and last the one with the most files: otherwise one worker is left with the limits.
	projects: [
		{
			name: 'remote',
			use: { setUp: 'remote' },
			...REMOTE,
			testIgnore: [BESIDE_THE_API, OPERATORS_ONCE, PAGES_ONCE]
		},
		{
			name: 'postgres',
			use: { setUp: 'postgres' },
			...PURCHASE,
			testIgnore: [REMOTE_ONLY, OPERATORS_ONCE, PAGES_ONCE]
		},
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
