import type { Selectable } from 'kysely';
import type { Queries } from '#lib/server/db/database.ts';
import type { IdempotentAnswersTable } from '#lib/server/db/schema.ts';

export type AnswerRow = Selectable<IdempotentAnswersTable>;
export type Scope = Pick<AnswerRow, 'account_id' | 'method' | 'path' | 'key'>;

export async function find(queries: Queries, scope: Scope): Promise<AnswerRow | null> {
	const row = await queries
		.selectFrom('idempotent_answers')
		.selectAll()
		.where('account_id', '=', scope.account_id)
		.where('method', '=', scope.method)
		.where('path', '=', scope.path)
		.where('key', '=', scope.key)
		.executeTakeFirst();
	return row ?? null;
}

/** Fails on the primary key if the key already has a response. */
export const insert = (queries: Queries, answer: AnswerRow) =>
	queries.insertInto('idempotent_answers').values(answer).execute();

export const removeStale = (queries: Queries, scope: Scope, before: number) =>
	queries
		.deleteFrom('idempotent_answers')
		.where('account_id', '=', scope.account_id)
		.where('method', '=', scope.method)
		.where('path', '=', scope.path)
		.where('key', '=', scope.key)
		.where('created_at', '<=', before)
		.execute();
