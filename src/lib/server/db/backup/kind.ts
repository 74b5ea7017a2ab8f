/** Refuses a backup or a restore. The message is for the administrator; nothing has changed. */
export class BackupError extends Error {}

/** Copies and replaces one kind of database. */
export interface Kind {
	/** Writes one moment of the database into the existing, empty file. */
	copyTo(file: string): Promise<void>;
	/** Reads all of the file. @returns the schema version. @throws BackupError, UnusableDatabaseError */
	check(file: string): Promise<number>;
	/**
	 * Checks the file, then replaces all data by it.
	 * @param options.stamp names where the replaced data is kept
	 * @returns the schema version and where the replaced data is kept (null: there was none)
	 */
	replaceBy(file: string, options: { force: boolean; stamp: string }): Promise<Restored>;
}

export interface Restored {
	version: number;
	kept: string | null;
}

/**
 * Added to the last id of every table by a restore. Ids that were issued after the backup are on posters (routers)
 * and in the databases of API clients (sessions): a second use would show a buyer another buyer's password.
 */
export const ID_GAP = 1_000_000;

/** A payment or refund that was waiting to be sent may have been sent after the backup: the operator is asked first. */
export const ASK_ABOUT_UNSENT = ['payments', 'refunds']
	.map(
		(table) => `update ${table}
			set submit_state = 'uncertain', submitted_at = coalesce(submitted_at, created_at)
			where status = 'pending' and submit_state = 'created'`
	)
	.join(';');
