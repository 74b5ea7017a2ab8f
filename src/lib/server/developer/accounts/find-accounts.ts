import { sql } from 'kysely';
import type { Account, AccountsContext } from './accounts.ts';

export interface AccountFilter {
	/** A part of the e-mail address; '' for any. */
	email: string;
	role: Account['role'] | null;
	status: Account['status'] | null;
}

/** Lists accounts of people, newest first. @param before an id; null for the newest */
export function findAccounts(
	{ database: { db } }: AccountsContext,
	{ email, role, status }: AccountFilter,
	{ before, limit }: { before: number | null; limit: number }
): Promise<Account[]> {
	const part = `%${email.toLowerCase().replace(/[\\%_]/g, '\\$&')}%`;
	return db
		.selectFrom('accounts')
		.selectAll()
		.where('plan', '<>', 'portal')
		.$if(email !== '', (query) => query.where(sql<boolean>`email like ${part} escape '\\'`))
		.$if(role !== null, (query) => query.where('role', '=', role ?? 'app'))
		.$if(status !== null, (query) => query.where('status', '=', status ?? 'active'))
		.$if(before !== null, (query) => query.where('id', '<', before ?? 0))
		.orderBy('id', 'desc')
		.limit(limit)
		.execute();
}
