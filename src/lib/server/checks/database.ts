import { HOUR_MS } from '#lib/format/time.ts';
import { createAudit } from '../audit/audit.ts';
import type { Config } from '../config/config.ts';
import type { Database, Queries } from '../db/database.ts';
import { isoTime, systemClock } from '../platform/clock.ts';
import { messageOf } from '../platform/errors.ts';
import { ok, warn, type Finding } from './finding.ts';

/** Action of the entries in the audit log. */
export const BACKUP_ACTION = 'database.backup';

/** A daily backup that failed twice. */
const MAX_AGE_HOURS = 48;

/** Knows the backups of `airtill backup` only. */
export const lastBackupAt = (queries: Queries) => createAudit(systemClock).newest(queries, BACKUP_ACTION);

export function backupFinding({ mode }: Config, at: number | null): Finding {
	const hours = at === null ? null : Math.max(0, Math.floor((systemClock.now() - at) / HOUR_MS));
	const what = hours === null ? 'none so far' : `the last one is ${hours} hours old (${isoTime(at)})`;
	if (mode === 'sandbox' || (hours !== null && hours <= MAX_AGE_HOURS)) return ok('backup', what);
	return warn('backup', what, 'run "airtill backup FILE" every day');
}

export async function* checkReplica({ database }: { database: Database }): AsyncGenerator<Finding> {
	if (!database.checkReplica) return;
	try {
		await database.checkReplica();
		yield ok('replica', 'it has all that the primary has');
	} catch (error) {
		const advice =
			'let it follow the primary, or correct DATABASE_REPLICA_URL; until then reports read the primary';
		yield warn('replica', messageOf(error), advice);
	}
}
