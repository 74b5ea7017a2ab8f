import { DAY_MS } from '#lib/format/time.ts';
import type { Clock } from '#lib/server/platform/clock.ts';
import type { Database, Tx } from '#lib/server/db/database.ts';
import { sealedTable } from '#lib/server/db/sealed/sealed-table.ts';
import { AppError } from '#lib/server/platform/errors.ts';
import { sha256, type Secrets } from '#lib/server/platform/secrets.ts';
import * as store from './store.ts';

interface IdempotentRequest {
	accountId: number;
	method: string;
	path: string;
	key: string;
	body: string;
}

export interface StoredResponse {
	status: number;
	location: string | null;
	body: string;
}

type Remember = (trx: Tx, response: StoredResponse) => Promise<void>;

interface IdempotencyContext {
	database: Database;
	clock: Clock;
	secrets: Secrets;
	/** Requests in progress in this process. */
	running: Set<string>;
}

/** `name` binds the stored body to its request. */
interface Request {
	scope: store.Scope;
	name: string;
	fingerprint: string;
}

/** Older answers are deleted with personal data. */
const KEEP_MS = DAY_MS;

/**
 * Gives repeated requests one effect (draft-ietf-httpapi-idempotency-key-header).
 *
 * A response is stored in the transaction of its effect, so neither exists without the other. Only successes
 * are stored, because a refused request had no effect and is evaluated again.
 */
export function createIdempotency(database: Database, clock: Clock, secrets: Secrets) {
	const context: IdempotencyContext = { database, clock, secrets, running: new Set() };
	return {
		/**
		 * @param work calls `remember` inside the transaction of its effect
		 * @throws AppError `idempotency_key_reused | idempotency_key_in_use`
		 */
		once: (request: IdempotentRequest, work: (remember: Remember) => Promise<StoredResponse>) =>
			once(context, requestOf(request), work)
	};
}

function requestOf({ accountId, method, path, key, body }: IdempotentRequest): Request {
	const scope = { account_id: accountId, method, path, key };
	return { scope, name: nameOf(scope), fingerprint: sha256(body) };
}

const nameOf = ({ account_id, method, path, key }: store.Scope) =>
	`idempotent:${account_id}:${method}:${path}:${key}`;

export const SEALED_ANSWERS = sealedTable<store.AnswerRow>(
	'idempotent_answers',
	['account_id', 'method', 'path', 'key'],
	{ body: nameOf }
);

async function once(
	context: IdempotencyContext,
	request: Request,
	work: (remember: Remember) => Promise<StoredResponse>
): Promise<StoredResponse & { replayed: boolean }> {
	const { database, running } = context;
	const known = await find(context, request);
	if (known) return { ...known, replayed: true };
	if (running.has(request.name)) throw new AppError('idempotency_key_in_use');
	running.add(request.name);
	try {
		return { ...(await work((trx, response) => remember(context, request, trx, response))), replayed: false };
	} catch (error) {
		// Another request with the same key finished first: return its response.
		if (!database.isUniqueViolation(error) && !(error instanceof AppError)) throw error;
		const stored = await find(context, request);
		if (!stored) throw error;
		return { ...stored, replayed: true };
	} finally {
		running.delete(request.name);
	}
}

async function find(
	{ database, clock, secrets }: IdempotencyContext,
	request: Request
): Promise<StoredResponse | null> {
	const row = await store.find(database.db, request.scope);
	if (!row || row.created_at <= clock.now() - KEEP_MS) return null;
	if (row.fingerprint !== request.fingerprint) throw new AppError('idempotency_key_reused');
	return { status: row.status, location: row.location, body: secrets.decrypt(row.body, request.name) };
}

async function remember(
	{ clock, secrets }: IdempotencyContext,
	{ scope, name, fingerprint }: Request,
	trx: Tx,
	response: StoredResponse
): Promise<void> {
	const created_at = clock.now();
	await store.removeStale(trx, scope, created_at - KEEP_MS);
	// A body may contain a password or a secret.
	const body = secrets.encrypt(response.body, name);
	await store.insert(trx, { ...scope, ...response, fingerprint, body, created_at });
}
