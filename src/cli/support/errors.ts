import { DecisionRefused } from '#lib/server/billing/reviews/reviews.ts';
import { StatementError } from '#lib/server/billing/statements/statement.ts';
import { ConfigError } from '#lib/server/config/config.ts';
import { BackupError } from '#lib/server/db/backup/kind.ts';
import { UnusableDatabaseError } from '#lib/server/db/migrate.ts';
import { CsvFileError } from '#lib/server/platform/csv.ts';
import { InputError } from '#lib/server/platform/errors.ts';
import { KeyRefused } from '#lib/server/developer/api-keys/api-keys.ts';

export class CommandError extends Error {}

/** The command line is wrong. The usage is printed with the message. */
export class UsageError extends Error {}

const EXPECTED = [
	BackupError,
	CommandError,
	ConfigError,
	CsvFileError,
	DecisionRefused,
	InputError,
	KeyRefused,
	UnusableDatabaseError,
	StatementError
];

/** Node's own error codes that input can cause. Others mean a bug. */
const EXPECTED_NODE_CODES = new Set(['ERR_SQLITE_ERROR', 'ERR_INVALID_URL']);

/** Accepts refusals written for people, and coded errors of the system, the network or a database. */
export function isExpected(error: unknown): error is Error {
	if (!(error instanceof Error)) return false;
	if (EXPECTED.some((kind) => error instanceof kind)) return true;
	if (!('code' in error) || typeof error.code !== 'string') return false;
	return !error.code.startsWith('ERR_') || EXPECTED_NODE_CODES.has(error.code);
}
