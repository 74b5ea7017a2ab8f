import type { Selectable } from 'kysely';
import type { Queries } from '#lib/server/db/database.ts';
import type { IdempotentAnswersTable } from '#lib/server/db/schema.ts';

export type AnswerRow = Selectable<IdempotentAnswersTable>;
export type Scope = Pick<AnswerRow, 'account_id' | 'method' | 'path' | 'key'>;

export const find = (queries: Queries, scope: Scope): Promise<AnswerRow | undefined> =>
	queries
		.selectFrom('idempotent_answers')
		.selectAll()
		.where(({ and }) => and(scope))
		.executeTakeFirst();

/** Fails on the primary key if the key already has a response. */
export const insert = (queries: Queries, answer: AnswerRow) =>
	queries.insertInto('idempotent_answers').values(answer).execute();

export const removeStale = (queries: Queries, scope: Scope, before: number) =>
	queries
		.deleteFrom('idempotent_answers')
		.where(({ and }) => and(scope))
		.where('created_at', '<=', before)
		.execute();
