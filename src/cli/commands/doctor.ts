import { readProxySettings } from '#lib/server/api/http/client-address.ts';
import { checkAddresses } from '#lib/server/checks/addresses.ts';
import { checkDisk } from '#lib/server/checks/disk.ts';
import { fail, ok, warn, type Finding } from '#lib/server/checks/finding.ts';
import { checkGateways } from '#lib/server/checks/gateways.ts';
import { checkReplica } from '#lib/server/checks/replica.ts';
import { ConfigError, loadConfig, type Config } from '#lib/server/config/config.ts';
import { hasDemoAccounts } from '#lib/server/demo/accounts.ts';
import { messageOf } from '#lib/server/platform/errors.ts';
import { checkBasemap } from '../doctor/basemap.ts';
import { checkDatabase } from '../doctor/database.ts';
import { checkOperators } from '../doctor/operators.ts';
import { report, REPORT_HELP } from '../doctor/report.ts';
import { defineCommand, type Context } from '../support/command.ts';
import { isExpected } from '../support/errors.ts';
import { openApp } from '../support/services.ts';

export const doctor = defineCommand({
	name: 'doctor',
	parameters: '',
	summary:
		'Check configuration, database, clock, disk, secret, operators, gateways, addresses, mail and map.',
	help: REPORT_HELP,
	options: {},
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
		yield* checkReplica(app);
		yield* checkOperators(app);
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
