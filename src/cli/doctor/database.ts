import { SECOND_MS } from '#lib/domain/time/time.ts';
import { isoTime, systemClock } from '#lib/server/platform/clock.ts';
import type { Config } from '#lib/server/config/config.ts';
import { openDatabase, type Database } from '#lib/server/db/database.ts';
import { inspectDatabase, type Inspection } from '#lib/server/db/inspect.ts';
import { UnusableDatabaseError } from '#lib/server/db/migrate.ts';
import { messageOf } from '#lib/server/platform/errors.ts';
import { createSecrets } from '#lib/server/platform/secrets.ts';
import { readablePasswords } from '#lib/server/passes/passwords.ts';
import { isDerivedFrom, PORTAL_KEY } from '#lib/server/developer/api-keys/api-keys.ts';
import { isExpected } from '../support/errors.ts';
import { databaseName } from '../support/services.ts';
import { fail, ok, warn, type Finding } from '#lib/server/checks/finding.ts';
import { checkBackup } from '#lib/server/checks/installation.ts';

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
export async function* checkDatabase(config: Config): AsyncGenerator<Finding, boolean> {
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
	error instanceof UnusableDatabaseError
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
