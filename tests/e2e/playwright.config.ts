import { defineConfig } from '@playwright/test';
import type { SetUp } from './support/portal.ts';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

const output = fileURLToPath(new URL('../output', import.meta.url));
const browser = process.env['AIRTILL_CHROMIUM'];

/** Starts a service and a portal of its own. */
const REMOTE_ONLY = 'limited.spec.ts';

/** Start servers of their own, one for each operator; what differs between databases is in tests/api. */
const OPERATORS_ONCE = 'operators.spec.ts';

/** What a page is in a browser does not depend on where its data comes from. */
const PAGES_ONCE =
	/(engines|map|reach|keyboard|small-screens|mini-browser|budgets|lighthouse|poster)\.spec\.ts$/;

/** How the portal reaches the API makes no difference to the developer area and owner pages, which stand beside the API. */
const BESIDE_THE_API = /(developer.*|owner)\.spec\.ts$/;

/** Each spec starts its own servers (tests/support/server.ts). `npm test` finds the browser and sets its path. */
export default defineConfig<object, { setUp: SetUp }>({
	testDir: '.',
	outputDir: `${output}/e2e`,
	reporter: [['list'], ['json', { outputFile: `${output}/e2e.json` }]],
	// A test that passes the second time has failed.
	retries: 0,
	workers: 2,
	timeout: 60_000,
	forbidOnly: true,
	projects: [
		{ name: 'sqlite', use: { setUp: 'sqlite' }, testIgnore: REMOTE_ONLY },
		{ name: 'postgres', use: { setUp: 'postgres' }, testIgnore: [REMOTE_ONLY, OPERATORS_ONCE, PAGES_ONCE] },
		{ name: 'remote', use: { setUp: 'remote' }, testIgnore: [BESIDE_THE_API, OPERATORS_ONCE, PAGES_ONCE] }
	],
	use: {
		trace: 'off',
		screenshot: 'only-on-failure',
		launchOptions: {
			...(browser === undefined ? {} : { executablePath: browser }),
			args: [
				// Chromium's sandbox does not work for root, which is what CI containers run as.
				...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
				// The tests are alone with their servers: nothing is looked up or updated behind their back.
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
