import { DAY_MS } from '#lib/domain/time.ts';
import type { Clock } from '#lib/server/platform/clock.ts';
import type { Database, Tx } from '#lib/server/db/database.ts';
import type { Row } from '#lib/server/db/schema.ts';
import { validationFailed, Refused } from '#lib/server/platform/errors.ts';
import { type Secrets, sha256 } from '#lib/server/platform/secrets.ts';

type AnswerRow = Row<'idempotent_answers'>;
type Scope = Pick<AnswerRow, 'account_id' | 'method' | 'path' | 'key'>;
export type StoredResponse = Pick<AnswerRow, 'status' | 'location' | 'body'>;

type Remember = (trx: Tx, response: StoredResponse) => Promise<void>;

/** Older answers are deleted with personal data. */
const KEEP_MS = DAY_MS;

const KEY = /^[A-Za-z0-9_:.-]{1,255}$/;

/** Accepts a bare or a quoted key. @throws Refused `validation_failed` */
export function parseIdempotencyKey(sent: string | undefined): string | null {
	if (sent === undefined) return null;
	const key = /^"(.*)"$/.exec(sent)?.[1] ?? sent;
	if (KEY.test(key)) return key;
	throw validationFailed([
		{
			in: 'header',
			pointer: '/Idempotency-Key',
			code: 'invalid_format',
			detail: 'Use 1 to 255 letters, digits and the characters "_", "-", ":", ".".'
		}
	]);
}

/** Binds the stored body to its request. */
const nameOf = ({ account_id, method, path, key }: Scope) =>
	`idempotent:${account_id}:${method}:${path}:${key}`;

/**
 * Gives repeated requests one effect (draft-ietf-httpapi-idempotency-key-header).
 *
 * A response is stored in the transaction of its effect, so neither exists without the other. Only successes
 * are stored, because a refused request had no effect and is evaluated again.
 */
export function createIdempotency(database: Database, clock: Clock, secrets: Secrets) {
	/** Requests in progress in this process. */
	const running = new Set<string>();

	async function find(scope: Scope, fingerprint: string) {
		const row = await database.db
			.selectFrom('idempotent_answers')
			.selectAll()
			.where(({ and }) => and(scope))
			.executeTakeFirst();
		if (!row || row.created_at <= clock.now() - KEEP_MS) return null;
		if (row.fingerprint !== fingerprint) throw new Refused('idempotency_key_reused');
		const { status, location } = row;
		return { status, location, body: secrets.decrypt(row.body, nameOf(scope)), replayed: true };
	}

	/** Fails on the primary key if the key already has a response. */
	async function keep(trx: Tx, scope: Scope, answer: StoredResponse & { fingerprint: string }) {
		const created_at = clock.now();
		await trx
			.deleteFrom('idempotent_answers')
			.where(({ and }) => and(scope))
			.where('created_at', '<=', created_at - KEEP_MS)
			.execute();
		// A body may contain a password or a secret.
		const body = secrets.encrypt(answer.body, nameOf(scope));
		await trx
			.insertInto('idempotent_answers')
			.values({ ...scope, ...answer, body, created_at })
			.execute();
	}

	return {
		/**
		 * @param sent the body of the request
		 * @param work calls `remember` inside the transaction of its effect
		 * @throws Refused `idempotency_key_reused | idempotency_key_in_use`
		 */
		async once(
			scope: Scope,
			sent: string,
			work: (remember: Remember) => Promise<StoredResponse>
		): Promise<StoredResponse & { replayed: boolean }> {
			const name = nameOf(scope);
			const fingerprint = sha256(sent);
			const known = await find(scope, fingerprint);
			if (known) return known;
			if (running.has(name)) throw new Refused('idempotency_key_in_use');
			running.add(name);
			try {
				const response = await work((trx, answer) => keep(trx, scope, { ...answer, fingerprint }));
				return { ...response, replayed: false };
			} catch (error) {
				// Another request with the same key finished first: return its response.
				if (!database.isUniqueViolation(error) && !(error instanceof Refused)) throw error;
				const stored = await find(scope, fingerprint);
				if (!stored) throw error;
				return stored;
			} finally {
				running.delete(name);
			}
		}
	};
}
