import type { Clock } from '#lib/server/platform/clock.ts';
import type { Database, Tx } from '#lib/server/db/database.ts';
import { AppError } from '#lib/server/platform/errors.ts';
import { sha256, type Secrets } from '#lib/server/platform/secrets.ts';
import * as store from './store.ts';

export interface IdempotentRequest {
	accountId: number;
	method: string;
	path: string;
	key: string;
	body: string;
}

export interface Answer {
	status: number;
	location: string | null;
	body: string;
}

export type Remember = (trx: Tx, answer: Answer) => Promise<void>;

const KEEP_MS = 24 * 60 * 60 * 1000;
const CLEAN_EVERY_MS = 10 * 60 * 1000;

/**
 * Gives repeated requests one effect (draft-ietf-httpapi-idempotency-key-header).
 *
 * A response is stored in the transaction of its effect, so neither exists without the other. Only successes
 * are stored, because a refused request had no effect and is evaluated again.
 */
export function createIdempotency(database: Database, clock: Clock, secrets: Secrets) {
	/** Requests in progress in this process. */
	const running = new Set<string>();
	let cleanedAt = -Infinity;

	async function find(scope: store.Scope, fingerprint: string): Promise<Answer | null> {
		const row = await store.find(database.db, scope);
		if (!row || row.created_at <= clock.now() - KEEP_MS) return null;
		if (row.fingerprint !== fingerprint) {
			throw new AppError('idempotency_key_reused', 'This key was used with a different body. Use a new key.');
		}
		return { status: row.status, location: row.location, body: secrets.decrypt(row.body, context(scope)) };
	}

	async function clean(): Promise<void> {
		const now = clock.now();
		if (now - cleanedAt < CLEAN_EVERY_MS) return;
		cleanedAt = now;
		await store.removeBefore(database.db, now - KEEP_MS);
	}

	const context = (scope: store.Scope) =>
		`idempotent:${scope.account_id}:${scope.method}:${scope.path}:${scope.key}`;

	return {
		/**
		 * @param work calls `remember` inside the transaction of its effect
		 * @throws AppError `idempotency_key_reused | idempotency_key_in_use`
		 */
		async once(
			request: IdempotentRequest,
			work: (remember: Remember) => Promise<Answer>
		): Promise<Answer & { replayed: boolean }> {
			const scope = {
				account_id: request.accountId,
				method: request.method,
				path: request.path,
				key: request.key
			};
			const fingerprint = sha256(request.body);
			const name = context(scope);
			const known = await find(scope, fingerprint);
			if (known) return { ...known, replayed: true };
			if (running.has(name)) {
				throw new AppError(
					'idempotency_key_in_use',
					'The first request with this key is still being processed.'
				);
			}
			running.add(name);
			try {
				await clean();
				const answer = await work(async (trx, { status, location, body }) => {
					const created_at = clock.now();
					await store.removeStale(trx, scope, created_at - KEEP_MS);
					// A body may contain a password or a secret.
					await store.insert(trx, {
						...scope,
						fingerprint,
						status,
						location,
						body: secrets.encrypt(body, name),
						created_at
					});
				});
				return { ...answer, replayed: false };
			} catch (error) {
				// Another request with the same key finished first: return its response.
				if (!database.isUniqueViolation(error) && !(error instanceof AppError)) throw error;
				const stored = await find(scope, fingerprint);
				if (!stored) throw error;
				return { ...stored, replayed: true };
			} finally {
				running.delete(name);
			}
		}
	};
}
