import type { Selectable } from 'kysely';
import type { Queries } from '#lib/server/db/database.ts';
import type { AccountsTable } from '#lib/server/db/schema.ts';

export type Account = Selectable<AccountsTable>;

/** Returns null if the e-mail address is taken. */
export async function insert(queries: Queries, account: Omit<Account, 'id'>): Promise<Account | null> {
	const row = await queries
		.insertInto('accounts')
		.values(account)
		.onConflict((conflict) => conflict.column('email').doNothing())
		.returningAll()
		.executeTakeFirst();
	return row ?? null;
}

export async function find(queries: Queries, id: number): Promise<Account | null> {
	const row = await queries.selectFrom('accounts').selectAll().where('id', '=', id).executeTakeFirst();
	return row ?? null;
}

export async function findByEmail(queries: Queries, email: string): Promise<Account | null> {
	const row = await queries.selectFrom('accounts').selectAll().where('email', '=', email).executeTakeFirst();
	return row ?? null;
}

export async function withRole(queries: Queries, role: Account['role'], limit: number): Promise<Account[]> {
	return queries
		.selectFrom('accounts')
		.selectAll()
		.where('role', '=', role)
		.orderBy('id')
		.limit(limit)
		.execute();
}
