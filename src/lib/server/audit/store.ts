import type { Insertable, Selectable } from 'kysely';
import type { Queries } from '../db/database.ts';
import type { AuditLogTable } from '../db/schema.ts';

export type AuditRow = Selectable<AuditLogTable>;

export async function insert(queries: Queries, entry: Insertable<AuditLogTable>): Promise<void> {
	await queries.insertInto('audit_log').values(entry).execute();
}

export async function ofPayment(queries: Queries, paymentId: number): Promise<AuditRow[]> {
	return queries
		.selectFrom('audit_log')
		.selectAll()
		.where('payment_id', '=', paymentId)
		.orderBy('id')
		.execute();
}
