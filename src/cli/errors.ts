/** The command could not do its work, for a reason that the message explains. */
export class CommandError extends Error {}

const EXPECTED = new Set(['ConfigError', 'NewerDatabaseError', 'CsvFileError']);

/**
 * True for what can go wrong without a bug: refusals that are written for people, and errors of the system, the
 * network and the database drivers, which all carry a code.
 */
export function isExpected(error: unknown): error is Error {
	if (!(error instanceof Error)) return false;
	return error instanceof CommandError || EXPECTED.has(error.name) || 'code' in error;
}

/** What to show of an expected error. A failed connection is several errors at once, and itself says nothing. */
export function messageOf(error: unknown): string {
	if (error instanceof AggregateError && error.message === '') return error.errors.map(messageOf).join('; ');
	return error instanceof Error ? error.message : String(error);
}
