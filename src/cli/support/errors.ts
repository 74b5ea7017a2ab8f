import { AccessInputError } from '#lib/server/access/access.ts';
import { ConfigError } from '#lib/server/config/config.ts';
import { NewerDatabaseError } from '#lib/server/db/migrate.ts';
import { GatewayInputError } from '#lib/server/gateways/settings/gateway-input.ts';
import { CsvFileError } from '#lib/server/platform/csv.ts';

/** The command could not do its work, for a reason that the message explains. */
export class CommandError extends Error {}

const EXPECTED = [
	AccessInputError,
	CommandError,
	ConfigError,
	CsvFileError,
	GatewayInputError,
	NewerDatabaseError
];

/** Of Node's own error codes those that the world can cause; its others mean a bug in the call. */
const EXPECTED_NODE_CODES = new Set(['ERR_SQLITE_ERROR', 'ERR_INVALID_URL']);

/**
 * True for what can go wrong without a bug: refusals that are written for people, and errors of the system, the
 * network and the databases, which all carry a code.
 */
export function isExpected(error: unknown): error is Error {
	if (!(error instanceof Error)) return false;
	if (EXPECTED.some((kind) => error instanceof kind)) return true;
	if (!('code' in error) || typeof error.code !== 'string') return false;
	return !error.code.startsWith('ERR_') || EXPECTED_NODE_CODES.has(error.code);
}

/** What to show of an expected error. A failed connection is several errors at once, and itself says nothing. */
export function messageOf(error: unknown): string {
	if (error instanceof AggregateError && error.message === '') return error.errors.map(messageOf).join('; ');
	return error instanceof Error ? error.message : String(error);
}
