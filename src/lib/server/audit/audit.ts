import type { Clock } from '../platform/clock.ts';
import type { Queries, Tx } from '../db/database.ts';
import * as store from './store.ts';

/**
 * Who moved money, why, and what was so before and after. Written in the transaction of the change, so that there is
 * no change without its row and no row without its change; never changed or deleted.
 */
export interface Audit {
	record(trx: Tx, entry: AuditEntry): Promise<void>;
	/** The entries about a payment, oldest first. */
	ofPayment(queries: Queries, paymentId: number): Promise<store.AuditRow[]>;
}

export interface AuditEntry {
	/** `reconciler`, `refunds`, or the name that a person gave at the command line. */
	actor: string;
	/** What was done, e.g. `payment.success`. */
	action: string;
	paymentId: number | null;
	refundId?: number;
	/** Why, for people. */
	reason: string;
	before: Readonly<Record<string, unknown>>;
	after: Readonly<Record<string, unknown>>;
}

export const createAudit = (clock: Clock): Audit => ({
	record: (trx, entry) =>
		store.insert(trx, {
			at: clock.now(),
			actor: entry.actor,
			action: entry.action,
			payment_id: entry.paymentId,
			refund_id: entry.refundId ?? null,
			reason: entry.reason,
			before: JSON.stringify(entry.before),
			after: JSON.stringify(entry.after)
		}),
	ofPayment: store.ofPayment
});
