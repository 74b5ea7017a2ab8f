import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { SECOND_MS } from '#lib/domain/time.ts';
import { hasDemoAccounts } from '#lib/server/accounts/accounts.ts';
import type { OperatorAdapter } from '#lib/server/billing/operators/operator.ts';
import {
	type Finding,
	checkAddresses,
	checkBackup,
	checkDisk,
	checkGateways,
	fail,
	ok,
	checkOperators,
	warn
} from '#lib/server/checks.ts';
import { type Config, loadConfig, loadDatabaseConfig } from '#lib/server/config/config.ts';
import { type Database, openDatabase } from '#lib/server/db/database.ts';
import { inspectDatabase, type Inspection } from '#lib/server/db/inspect.ts';
import { PORTAL_KEY, isDerivedFrom } from '#lib/server/developer/api-keys.ts';
import { readProxySettings } from '#lib/server/http/client-address.ts';
import { readArchive } from '#lib/server/basemap.ts';
import { readablePasswords } from '#lib/server/passes.ts';
import { isoTime, systemClock } from '#lib/server/platform/clock.ts';
import { messageOf, Refused } from '#lib/server/platform/errors.ts';
import { createSecrets } from '#lib/server/platform/secrets.ts';
import { type Context, defineCommand, START } from './command.ts';
import { databaseName, openApp } from './services.ts';
import { isExpected, report, REPORT_HELP } from './terminal.ts';

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
		loadDatabaseConfig(env);
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
		if (config.mode === 'live' && (await hasDemoAccounts(app))) {
			yield fail('database', 'live mode refuses a database with demo data', 'use a new, empty database');
		}
		yield* await Promise.all(app.operators.all().map(operatorFinding));
		yield* checkOperators(app);
		// A remote API has its own routers and gateways.
		if (!config.remoteApi) yield* checkGateways(app);
	} finally {
		await app.stop();
	}
}

function* configurationFailures(error: unknown): Generator<Finding> {
	const advice = 'correct the environment variable; "settings list" describes it';
	if (error instanceof Refused && error.fields.length > 0) {
		for (const { reason } of error.fields) yield fail('configuration', reason, advice);
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
	if (!basemap.isNamed && !existsSync(basemap.path)) {
		yield ok('map', `no streets; "${START} basemap extract" fetches those of a city`);
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
		if (!isExpected(error)) throw error;
		const advice =
			'make it again with "basemap extract", or correct BASEMAP; until then the map has no streets';
		yield fail('map', `${basemap.path}: ${messageOf(error)}`, advice);
	}
}

/** An earlier clock is wrong, because this file is newer. */
const EARLIEST_TIME = Date.UTC(2026, 0, 1);
const LATEST_TIME = Date.UTC(2100, 0, 1);
/** Between this machine and the database server. */
const DIFFERENCE_WARN_MS = 2 * SECOND_MS;
const DIFFERENCE_FAIL_MS = 30 * SECOND_MS;
/** A record this far in the future means that a clock was set back. */
const FUTURE_RECORD_MS = 60 * SECOND_MS;

/**
 * Does not build the application, which stores a key derived from the secret.
 * A wrong secret would replace the running server's key.
 * @returns false if the application must not be built on this database
 */
async function* checkDatabase(config: Config): AsyncGenerator<Finding, boolean> {
	const name = databaseName(config);
	let database: Database;
	try {
		database = await openDatabase(config.databaseUrl, { poolSize: 1 });
	} catch (error) {
		if (!isExpected(error)) throw error;
		yield fail('database', `${name} cannot be opened: ${messageOf(error)}`, openingAdvice(config, error));
		yield* checkClock(null);
		return false;
	}
	try {
		const inspection = await inspectDatabase(database, () => systemClock.now());
		const { server, schemaVersion, problems } = inspection;
		yield problems.length > 0
			? fail('database', `${name}: ${problems.join('; ')}`, databaseAdvice(config))
			: ok('database', `${name}, ${server}, schema version ${schemaVersion}, a test write succeeded`);
		yield* checkClock(inspection);
		yield* checkBackup(config, database);
		const secrets = createSecrets(config.secret, config.secretFallback);
		const readable = await readablePasswords(database.db, secrets, systemClock.now());
		if (readable === 'new') {
			yield warn(
				'secret',
				'it does not open the Wi-Fi passwords of earlier buyers, whose time still runs',
				'set the AIRTILL_SECRET from before as AIRTILL_SECRET_FALLBACK, and restart'
			);
			return true;
		}
		const isRight =
			readable === null ? await isDerivedFrom(database.db, secrets, PORTAL_KEY) : readable === 'all';
		yield secretFinding(config, isRight);
		return readable !== 'none';
	} catch (error) {
		if (!isExpected(error)) throw error;
		yield fail('database', `${name} does not work: ${messageOf(error)}`, databaseAdvice(config));
		return false;
	} finally {
		await database.close();
	}
}

function secretFinding({ secretFallback }: Config, isRight: boolean | null): Finding {
	if (isRight === null) return ok('secret', 'not checked, because Airtill has not run on this database');
	if (isRight) {
		const help = secretFallback === null ? '' : ', with AIRTILL_SECRET_FALLBACK';
		return ok('secret', `opens what this database keeps sealed${help}`);
	}
	return fail(
		'secret',
		'it does not open the Wi-Fi passwords and other secrets of this database',
		'put back the AIRTILL_SECRET (in a sandbox, the DATA_DIR) with which they were stored'
	);
}

const openingAdvice = (config: Config, error: Error) =>
	error instanceof Refused
		? 'use the version of Airtill that made it, or another database'
		: databaseAdvice(config);

const databaseAdvice = ({ databaseUrl }: Config) =>
	databaseUrl.startsWith('file:')
		? 'see that the file is intact and writable (or restore a backup), or correct DATABASE_URL'
		: 'see that PostgreSQL 15 or newer runs there and lets this user in, or correct DATABASE_URL';

/** @param inspection null if the database cannot be read */
function* checkClock(inspection: Inspection | null): Generator<Finding> {
	const now = systemClock.now();
	const advice = 'set the clock, preferably with NTP (timedatectl set-ntp true)';
	const time = isoTime(now);
	const differenceMs = Math.abs(inspection?.clockAheadMs ?? 0);
	const newestAt = inspection?.newestRecordAt ?? 0;
	if (now < EARLIEST_TIME || now > LATEST_TIME) {
		yield fail('clock', `${time} cannot be`, advice);
	} else if (newestAt > now + FUTURE_RECORD_MS) {
		const what = `${time} is before the newest record, ${isoTime(newestAt)}`;
		yield fail('clock', what, `${advice}; if it is right now, restart Airtill`);
	} else if (differenceMs > DIFFERENCE_WARN_MS) {
		const what = `${time} is ${Math.round(differenceMs / SECOND_MS)} s away from the database server's clock`;
		yield (differenceMs > DIFFERENCE_FAIL_MS ? fail : warn)('clock', what, `${advice}, on both machines`);
	} else {
		yield ok('clock', time + (inspection?.clockAheadMs == null ? '' : ", as the database server's"));
	}
}
