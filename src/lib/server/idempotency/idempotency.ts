import { DAY_MS } from '#lib/format/time.ts';
import type { Clock } from '#lib/server/platform/clock.ts';
import type { Database, Tx } from '#lib/server/db/database.ts';
import { sealedTable } from '#lib/server/db/sealed/sealed-table.ts';
import { AppError } from '#lib/server/platform/errors.ts';
import { sha256, type Secrets } from '#lib/server/platform/secrets.ts';
import * as store from './store.ts';

export type StoredResponse = Pick<store.AnswerRow, 'status' | 'location' | 'body'>;

type Remember = (trx: Tx, response: StoredResponse) => Promise<void>;

/** Older answers are deleted with personal data. */
const KEEP_MS = DAY_MS;

/** Binds the stored body to its request. */
const nameOf = ({ account_id, method, path, key }: store.Scope) =>
	`idempotent:${account_id}:${method}:${path}:${key}`;

export const SEALED_ANSWERS = sealedTable<store.AnswerRow>(
	'idempotent_answers',
	['account_id', 'method', 'path', 'key'],
	{ body: nameOf }
);

/**
 * Gives repeated requests one effect (draft-ietf-httpapi-idempotency-key-header).
 *
 * A response is stored in the transaction of its effect, so neither exists without the other. Only successes
 * are stored, because a refused request had no effect and is evaluated again.
 */
export function createIdempotency(database: Database, clock: Clock, secrets: Secrets) {
	/** Requests in progress in this process. */
	const running = new Set<string>();

	async function find(scope: store.Scope, fingerprint: string) {
		const row = await store.find(database.db, scope);
		if (!row || row.created_at <= clock.now() - KEEP_MS) return null;
		if (row.fingerprint !== fingerprint) throw new AppError('idempotency_key_reused');
		const { status, location } = row;
		return { status, location, body: secrets.decrypt(row.body, nameOf(scope)), replayed: true };
	}

	return {
		/**
		 * @param sent the body of the request
		 * @param work calls `remember` inside the transaction of its effect
		 * @throws AppError `idempotency_key_reused | idempotency_key_in_use`
		 */
		async once(
			scope: store.Scope,
			sent: string,
			work: (remember: Remember) => Promise<StoredResponse>
		): Promise<StoredResponse & { replayed: boolean }> {
			const name = nameOf(scope);
			const fingerprint = sha256(sent);
			const known = await find(scope, fingerprint);
			if (known) return known;
			if (running.has(name)) throw new AppError('idempotency_key_in_use');
			running.add(name);
			try {
				const response = await work(async (trx, { body, ...rest }) => {
					const created_at = clock.now();
					await store.removeStale(trx, scope, created_at - KEEP_MS);
					// A body may contain a password or a secret.
					const sealed = secrets.encrypt(body, name);
					await store.insert(trx, { ...scope, ...rest, body: sealed, fingerprint, created_at });
				});
				return { ...response, replayed: false };
			} catch (error) {
				// Another request with the same key finished first: return its response.
				if (!database.isUniqueViolation(error) && !(error instanceof AppError)) throw error;
				const stored = await find(scope, fingerprint);
				if (!stored) throw error;
				return stored;
			} finally {
				running.delete(name);
			}
		}
	};
}
