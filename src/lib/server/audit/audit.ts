import type { Clock } from '../platform/clock.ts';
import type { Queries, Tx } from '../db/database.ts';

export interface AuditEntry {
	/** `reconciler`, `refunds`, or the name that an administrator gave on the command line. */
	actor: string;
	/** For example `payment.success`. */
	action: string;
	paymentId: number | null;
	refundId?: number;
	/** For people. */
	reason: string;
	before: Readonly<Record<string, unknown>>;
	after: Readonly<Record<string, unknown>>;
}

export type Audit = ReturnType<typeof createAudit>;

/**
 * The log of decisions that moved money: actor, reason, state before and after. Entries are written in the
 * transaction of the change and are never changed or deleted.
 */
export const createAudit = (clock: Clock) => ({
	async record(trx: Tx, entry: AuditEntry): Promise<void> {
		await trx
			.insertInto('audit_log')
			.values({
				at: clock.now(),
				actor: entry.actor,
				action: entry.action,
				payment_id: entry.paymentId,
				refund_id: entry.refundId ?? null,
				reason: entry.reason,
				before: JSON.stringify(entry.before),
				after: JSON.stringify(entry.after)
			})
			.execute();
	},
	/** Lists the entries about a payment, oldest first. */
	ofPayment: (queries: Queries, paymentId: number) =>
		queries.selectFrom('audit_log').selectAll().where('payment_id', '=', paymentId).orderBy('id').execute()
});
