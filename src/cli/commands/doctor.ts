import { existsSync } from 'node:fs';
import { access, constants, statfs } from 'node:fs/promises';
import { BlockList, isIP } from 'node:net';
import { dirname, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isoTime, systemClock } from '#lib/server/clock.ts';
import { ConfigError, loadConfig, type Config } from '#lib/server/config.ts';
import { openDatabase, type Database } from '#lib/server/db/database.ts';
import { inspectDatabase, type Inspection } from '#lib/server/db/inspect.ts';
import type { OperatorAdapter } from '#lib/server/operators/operator.ts';
import { createSecrets } from '#lib/server/secrets.ts';
import { canReadPasswords } from '#lib/server/sessions/password-check.ts';
import { parseCommand, positionals, type Command, type Context } from '../command.ts';
import { isExpected, messageOf } from '../errors.ts';
import { plain, print } from '../output.ts';
import { databaseName, withApp } from '../services.ts';

/** One line of the report. `advice` says what to do, where there is something to do. */
interface Finding {
	level: 'ok' | 'warn' | 'FAIL';
	name: string;
	what: string;
	advice?: string;
}

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const GIB_BYTES = 1024 ** 3;

/** This was written after; a clock before has lost its battery. */
const EARLIEST_TIME = Date.UTC(2026, 0, 1);
const LATEST_TIME = Date.UTC(2100, 0, 1);
const CLOCK_WARN_MS = 2 * SECOND_MS;
const CLOCK_FAIL_MS = 30 * SECOND_MS;
const FUTURE_RECORD_MS = MINUTE_MS;
const DISK_WARN_BYTES = GIB_BYTES;
const DISK_FAIL_BYTES = GIB_BYTES / 10;
const OPERATOR_LIMIT_MS = 10 * SECOND_MS;

export const doctor: Command = {
	name: 'doctor',
	parameters: '',
	summary: 'Check configuration, database, clock, disk, secret, operators and addresses; say what to do.',
	help: 'One line for each check: ok, warn or FAIL, what was found, and what to do. The exit code is 1 after a FAIL.',
	async run(args, context) {
		positionals(parseCommand(args, {}).positionals, []);
		let failed = false;
		for await (const { level, name, what, advice } of examine(context)) {
			failed ||= level === 'FAIL';
			await print(plain(`${level} ${name}: ${what}${advice ? ` - ${advice}` : ''}`));
		}
		return failed ? 1 : 0;
	}
};

async function* examine({ env }: Context): AsyncGenerator<Finding> {
	let config: Config;
	try {
		config = loadConfig(env);
	} catch (error) {
		yield* configurationFailures(error);
		return;
	}
	const { mode, currency, defaultRegion, reportTimezone } = config;
	yield ok('configuration', `${mode} mode, ${currency}, ${defaultRegion}, ${reportTimezone}`);
	const isUsable = yield* databaseFindings(config);
	yield* diskFindings(config);
	yield* operatorFindings(config, isUsable);
	yield* addressFindings(config);
}

function* configurationFailures(error: unknown): Generator<Finding> {
	const advice = 'correct the environment variable; the README lists them all';
	if (error instanceof ConfigError) {
		for (const problem of error.problems) yield fail('configuration', problem, advice);
	} else if (isExpected(error)) {
		// The sandbox's secret could not be read or made.
		yield fail('configuration', messageOf(error), 'let this user read and write DATA_DIR');
	} else {
		throw error;
	}
}

/**
 * Database, clock and secret. The database is opened without the application, which derives a key from the secret
 * and stores it: with a wrong secret that would take the running server's key away.
 * @returns false when the application must not be built on this database
 */
async function* databaseFindings(config: Config): AsyncGenerator<Finding, boolean> {
	const name = databaseName(config);
	let database: Database;
	try {
		database = await openDatabase(config.databaseUrl, { poolSize: 1 });
	} catch (error) {
		if (!isExpected(error)) throw error;
		yield fail('database', `${name} cannot be opened: ${messageOf(error)}`, databaseAdvice(config));
		yield* clockFindings(null);
		return false;
	}
	try {
		const inspection = await inspectDatabase(database, () => systemClock.now());
		const { server, schemaVersion, problems } = inspection;
		yield problems.length > 0
			? fail('database', `${name}: ${problems.join('; ')}`, databaseAdvice(config))
			: ok('database', `${name}, ${server}, schema version ${schemaVersion}, a test write went through`);
		yield* clockFindings(inspection);
		const readable = await canReadPasswords(database.db, createSecrets(config.secret));
		yield readable === false
			? fail(
					'secret',
					'the secret does not open the Wi-Fi password of an active session',
					'put back the AIRTILL_SECRET (or, in a sandbox, the DATA_DIR) that the sessions were made with'
				)
			: ok(
					'secret',
					readable ? 'opens stored passwords' : 'no session is active, so there is nothing to try it on'
				);
		return readable !== false;
	} catch (error) {
		if (!isExpected(error)) throw error;
		yield fail('database', `${name} does not work: ${messageOf(error)}`, databaseAdvice(config));
		return false;
	} finally {
		await database.close();
	}
}

const databaseAdvice = ({ databaseUrl }: Config) =>
	databaseUrl.startsWith('file:')
		? 'see that the file is intact and writable (or restore a backup), or correct DATABASE_URL'
		: 'see that PostgreSQL 15 or newer runs there and lets this user in, or correct DATABASE_URL';

function* clockFindings(inspection: Inspection | null): Generator<Finding> {
	const now = systemClock.now();
	const advice = 'set the clock, best by NTP (timedatectl set-ntp true)';
	const time = isoTime(now);
	const aheadMs = Math.abs(inspection?.clockAheadMs ?? 0);
	const newestAt = inspection?.newestRecordAt ?? 0;
	if (now < EARLIEST_TIME || now > LATEST_TIME) {
		yield fail('clock', `${time} cannot be`, advice);
	} else if (newestAt > now + FUTURE_RECORD_MS) {
		yield fail('clock', `${time} is before the newest record, ${isoTime(newestAt)}`, advice);
	} else if (aheadMs > CLOCK_WARN_MS) {
		const what = `${time} is ${Math.round(aheadMs / SECOND_MS)} s away from the database server's clock`;
		yield (aheadMs > CLOCK_FAIL_MS ? fail : warn)('clock', what, `${advice}, on both machines`);
	} else {
		yield ok('clock', time + (inspection?.clockAheadMs == null ? '' : ", as the database server's"));
	}
}

async function* diskFindings({ dataDir, databaseUrl }: Config): AsyncGenerator<Finding> {
	const folders = new Map([[resolve(dataDir), 'files']]);
	if (databaseUrl.startsWith('file:')) {
		const folder = dirname(resolve(databaseUrl.slice('file:'.length)));
		folders.set(folder, folders.has(folder) ? 'files and database' : 'database');
	}
	for (const [folder, use] of folders) yield await diskFinding(folder, use);
}

async function diskFinding(folder: string, use: string): Promise<Finding> {
	const existing = nearestExisting(folder);
	try {
		await access(existing, constants.R_OK | constants.W_OK | constants.X_OK);
		const { bavail, bsize } = await statfs(existing);
		const freeBytes = bavail * bsize;
		const what = `${(freeBytes / GIB_BYTES).toFixed(1)} GiB free for ${use} in ${folder}`;
		const advice = 'make room, or move it to a larger disk';
		if (freeBytes < DISK_FAIL_BYTES) return fail('disk', what, advice);
		return freeBytes < DISK_WARN_BYTES ? warn('disk', what, advice) : ok('disk', what);
	} catch (error) {
		if (!isExpected(error)) throw error;
		return fail('disk', `${folder} (${use}): ${messageOf(error)}`, 'let this user read and write there');
	}
}

/** The folder itself, or the nearest one above it: Airtill makes its folders when it needs them. */
function nearestExisting(folder: string): string {
	return existsSync(folder) ? folder : nearestExisting(dirname(folder));
}

async function* operatorFindings(config: Config, isDatabaseRight: boolean): AsyncGenerator<Finding> {
	if (!isDatabaseRight) {
		yield warn('operator', 'not checked', 'first correct what failed above');
		return;
	}
	const findings = await withApp(config, (app) => Promise.all(app.operators.all().map(operatorFinding)));
	yield* findings;
	if (findings.length === 0) {
		yield fail(
			'operator',
			'no mobile-money operator is configured, so nobody can pay',
			'configure one (AIRTILL_MODE=sandbox needs none)'
		);
	}
}

async function operatorFinding(operator: OperatorAdapter): Promise<Finding> {
	const advice = "see the operator's credentials and whether this machine reaches its address";
	const limit = sleep(OPERATOR_LIMIT_MS, null, { ref: false });
	try {
		const health = await Promise.race([operator.health(), limit]);
		if (health?.ok) return ok('operator', `${operator.id} answers`);
		const reason = health
			? (health.reason ?? 'it is not well')
			: `no answer in ${OPERATOR_LIMIT_MS / SECOND_MS} s`;
		return fail('operator', `${operator.id}: ${reason}`, advice);
	} catch (error) {
		return fail('operator', `${operator.id}: ${messageOf(error)}`, advice);
	}
}

/** Where buyers and operators reach this installation. */
function* addressFindings({ mode, origin, callbackUrl }: Config): Generator<Finding> {
	if (origin?.startsWith('https:')) yield ok('address', origin);
	else if (mode === 'sandbox') yield ok('address', origin ?? 'links follow the Host header, over plain http');
	else {
		const what = origin ? `${origin} is plain http` : 'ORIGIN is not set, so links use plain http';
		yield warn('address', what, 'set ORIGIN to the public https address');
	}

	if (mode === 'sandbox') yield ok('callbacks', `the sandbox operator calls ${callbackUrl}`);
	else if (isLocal(callbackUrl)) {
		const what = `operators cannot reach ${callbackUrl} from outside`;
		yield fail('callbacks', what, 'set ORIGIN or CALLBACK_URL to the public address');
	} else if (!callbackUrl.startsWith('https:')) {
		yield warn(
			'callbacks',
			`${callbackUrl} is plain http`,
			'most operators call https addresses only: set CALLBACK_URL'
		);
	} else yield ok('callbacks', `operators call ${callbackUrl}`);
}

/** An address that means something on this machine or in its own network only. */
function isLocal(url: string): boolean {
	const host = new URL(url).hostname.replace(/^\[|\]$/g, '');
	const family = isIP(host);
	if (family === 0) return host === 'localhost' || host.endsWith('.localhost') || !host.includes('.');
	return LOCAL_ADDRESSES.check(host, family === 4 ? 'ipv4' : 'ipv6');
}

/** Unspecified, loopback, private (RFC 1918, RFC 4193) and link-local addresses. */
const LOCAL_ADDRESSES = new BlockList();
LOCAL_ADDRESSES.addSubnet('0.0.0.0', 8, 'ipv4');
LOCAL_ADDRESSES.addSubnet('127.0.0.0', 8, 'ipv4');
LOCAL_ADDRESSES.addSubnet('10.0.0.0', 8, 'ipv4');
LOCAL_ADDRESSES.addSubnet('172.16.0.0', 12, 'ipv4');
LOCAL_ADDRESSES.addSubnet('192.168.0.0', 16, 'ipv4');
LOCAL_ADDRESSES.addSubnet('169.254.0.0', 16, 'ipv4');
LOCAL_ADDRESSES.addSubnet('::', 127, 'ipv6');
LOCAL_ADDRESSES.addSubnet('fc00::', 7, 'ipv6');
LOCAL_ADDRESSES.addSubnet('fe80::', 10, 'ipv6');

const ok = (name: string, what: string): Finding => ({ level: 'ok', name, what });
const warn = (name: string, what: string, advice: string): Finding => ({ level: 'warn', name, what, advice });
const fail = (name: string, what: string, advice: string): Finding => ({ level: 'FAIL', name, what, advice });
