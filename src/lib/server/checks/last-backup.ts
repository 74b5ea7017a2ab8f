import { HOUR_MS } from '#lib/format/time.ts';
import { createAudit } from '../audit/audit.ts';
import type { Config } from '../config/config.ts';
import type { Queries } from '../db/database.ts';
import { isoTime, systemClock } from '../platform/clock.ts';
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
