import { DAY_MS } from '#lib/domain/time/time.ts';
import type { Author } from '../audit.ts';
import { isoTime } from '../platform/clock.ts';
import type { Base } from '../base.ts';
import { accessRecords, type AccessRecord, type RecordSearch } from './records.ts';
import * as store from './store.ts';

/**
 * Deletes personal data when its retention ends.
 *
 * Policy: sessions, payments, refunds and passes stay, because earnings and accounts need them. They lose the phone
 * number, the code of the address and the operator's messages, once no money of the session is open. Data of devices
 * is deleted.
 * Guarantees: a run deletes at most a batch of each kind and can be repeated, also by several processes at once.
 */

/** Scheduled by the first migration. */
const DELETION_JOB = 'personal-data.delete';
const EVERY_MS = 60_000;
/** While a run finds a full batch. */
const AGAIN_MS = 1_000;

/** Of an exported address in the audit log, which is never deleted. */
const LAST_CHARACTERS = 5;

interface Export extends Author {
	records: readonly AccessRecord[];
	/** Of the encrypted file, hex. */
	sha256: string;
}

interface PersonalDataContext extends Pick<Base, 'database' | 'clock' | 'audit'> {
	config: Pick<Base['config'], 'keepDays'>;
}

export const createPersonalData = (context: PersonalDataContext) => ({
	records: (search: RecordSearch) => accessRecords(context.database.db, search),
	noteExport: (search: RecordSearch, made: Export) => noteExport(context, search, made),
	// Without the fence: a second run deletes nothing that the first would keep.
	jobs: { [DELETION_JOB]: () => deleteOld(context) }
});

/** @returns when to run again */
async function deleteOld({ database, clock, config: { keepDays } }: PersonalDataContext): Promise<number> {
	const now = clock.now();
	const numbersBefore = now - keepDays.numbers * DAY_MS;
	const isLeft = [
		await store.deleteDevices(database.db, now, keepDays.devices),
		await store.deleteNumbersOfSessions(database, numbersBefore),
		await store.deleteNumbersOfPurchases(database.db, numbersBefore)
	];
	return clock.now() + (isLeft.includes(true) ? AGAIN_MS : EVERY_MS);
}

/** Names the sessions instead of the address, because the audit log is never deleted. */
const noteExport = (
	{ audit, database }: PersonalDataContext,
	{ kind, address, from, to }: RecordSearch,
	{ by, note, records, sha256 }: Export
): Promise<void> =>
	database.transact((trx) =>
		audit.record(trx, {
			...{ actor: by, action: 'personal-data.exported', reason: note },
			after: {
				[kind]: `…${address.slice(-LAST_CHARACTERS)}`,
				...{ from: isoTime(from), to: isoTime(to), rows: records.length, sha256 },
				sessions: [...new Set(records.map(({ session_id }) => session_id))]
			}
		})
	);
