import { setTimeout as sleep } from 'node:timers/promises';
import { readProxySettings } from '#lib/server/http/client-address.ts';
import type { OperatorAdapter } from '#lib/server/billing/operators/operator.ts';
import { fail, ok, warn, type Finding } from '#lib/server/checks/finding.ts';
import { checkGateways } from '#lib/server/checks/gateways.ts';
import { checkAddresses, checkDisk } from '#lib/server/checks/installation.ts';
import { storedOperatorFindings } from '#lib/server/checks/operators.ts';
import { ConfigError, loadConfig, type Config } from '#lib/server/config/config.ts';
import { hasDemoAccounts } from '#lib/server/accounts/demo-accounts.ts';
import { NotAnArchive, readArchive } from '#lib/server/map/basemap.ts';
import { messageOf } from '#lib/server/platform/errors.ts';
import { checkDatabase } from '../doctor/database.ts';
import { defineCommand, type Context } from '../support/command.ts';
import { isExpected } from '../support/errors.ts';
import { report, REPORT_HELP } from '../support/output.ts';
import { openApp } from '../support/services.ts';

const MIB_BYTES = 1024 ** 2;
const OPERATOR_LIMIT_MS = 10 * 1000;

export const doctor = defineCommand({
	name: 'doctor',
	summary:
		'Check configuration, database, clock, disk, secret, operators, gateways, addresses, mail and map.',
	help: REPORT_HELP,
	run: ({ env }) => report(examine(env))
});

async function* examine(env: Context['env']): AsyncGenerator<Finding> {
	let config: Config;
	try {
		config = loadConfig(env);
	} catch (error) {
		yield* configurationFailures(error);
		return;
	}
	const { mode, currency, defaultRegion, reportTimezone } = config;
	yield ok('configuration', `${mode} mode, ${currency}, ${defaultRegion}, ${reportTimezone}`);
	const isUsable = yield* checkDatabase(config);
	yield* checkDisk(config);
	if (isUsable) yield* checkServices(config);
	else yield warn('operator', 'not checked', 'first correct what failed above');
	yield* checkAddresses(config, readProxySettings(env));
	yield* checkBasemap(config);
}

async function* checkServices(config: Config): AsyncGenerator<Finding> {
	const app = await openApp(config);
	try {
		if (config.mode === 'live' && (await hasDemoAccounts(app.accounts))) {
			yield fail('database', 'live mode refuses a database with demo data', 'use a new, empty database');
		}
		yield* await Promise.all(app.operators.all().map(operatorFinding));
		yield* storedOperatorFindings(app);
		// A remote API has its own routers and gateways.
		if (!config.remoteApi) yield* checkGateways(app);
	} finally {
		await app.stop();
	}
}

function* configurationFailures(error: unknown): Generator<Finding> {
	const advice = 'correct the environment variable; "settings list" describes it';
	if (error instanceof ConfigError) {
		for (const problem of error.problems) yield fail('configuration', problem, advice);
	} else if (isExpected(error)) {
		// The sandbox's secret could not be read or created.
		yield fail('configuration', messageOf(error), 'let this user read and write DATA_DIR');
	} else throw error;
}

async function operatorFinding(operator: OperatorAdapter): Promise<Finding> {
	const advice = "check the operator's credentials, and the connection to its address";
	const limit = sleep(OPERATOR_LIMIT_MS, `no answer in ${OPERATOR_LIMIT_MS / 1000} s`, { ref: false });
	try {
		const problem = await Promise.race([operator.health(), limit]);
		if (problem === null) return ok('operator', `${operator.id} answers`);
		return fail('operator', `${operator.id}: ${problem}`, advice);
	} catch (error) {
		return fail('operator', `${operator.id}: ${messageOf(error)}`, advice);
	}
}

async function* checkBasemap({ basemap, centre }: Config): AsyncGenerator<Finding> {
	if (!basemap) {
		yield ok('map', 'coasts and borders only; BASEMAP names a map with streets');
		return;
	}
	try {
		const { bytes, bounds, maxZoom } = await readArchive(basemap.path);
		const [south, west, north, east] = bounds;
		const what = `${basemap.path}, ${(bytes / MIB_BYTES).toFixed(1)} MiB, zoom up to ${maxZoom}, ${west},${south} to ${east},${north}`;
		const holdsCentre =
			centre.lat >= south && centre.lat <= north && centre.lon >= west && centre.lon <= east;
		yield holdsCentre
			? ok('map', what)
			: warn('map', `${what}: MAP_CENTRE is outside`, 'set MAP_CENTRE, or cut an extract of the right city');
	} catch (error) {
		if (!(error instanceof NotAnArchive || isExpected(error))) throw error;
		const advice =
			'make it again with "pmtiles extract", or correct BASEMAP; until then there are coasts and borders only';
		yield fail('map', `${basemap.path}: ${messageOf(error)}`, advice);
	}
}
