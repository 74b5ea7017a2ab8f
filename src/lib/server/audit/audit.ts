import type { Clock } from '../platform/clock.ts';
import type { Queries, Tx } from '../db/database.ts';
import { first } from '../db/first.ts';
import { searchAudit, usedActions } from './search.ts';

export type { AuditFilter, AuditPosition, FoundEntry } from './search.ts';

/** Makes a change: the name of a person, or `account` with its id. */
export interface Author {
	by: string;
	/** The reason. */
	note: string;
}

interface AuditEntry {
	/** `reconciler`, `refunds`, `account` with its id, or the name that an administrator gave on the command line. */
	actor: string;
	/** For example `payment.success`. */
	action: string;
	paymentId?: number | null;
	refundId?: number;
	reason?: string;
	before?: Readonly<Record<string, unknown>>;
	/** With `router_id`, the entry is found by its router. */
	after: Readonly<Record<string, unknown>> & { router_id?: number };
}

/** The actor of a change that the person of an account makes. */
export const accountActor = (accountId: number): string => `account ${accountId}`;

export function accountIdOf(actor: string): number | null {
	const id = /^account (\d{1,15})$/.exec(actor)?.[1];
	return id === undefined ? null : Number(id);
}

export type Audit = ReturnType<typeof createAudit>;

/** Logs decisions about money and access in the transaction of the change. Entries are never changed or deleted. */
export const createAudit = (clock: Clock) => ({
	async record(trx: Tx, entry: AuditEntry): Promise<void> {
		await trx
			.insertInto('audit_log')
			.values({
				at: clock.now(),
				actor: entry.actor,
				action: entry.action,
				payment_id: entry.paymentId ?? null,
				refund_id: entry.refundId ?? null,
				router_id: entry.after.router_id ?? null,
				reason: entry.reason ?? '',
				before: JSON.stringify(entry.before ?? {}),
				after: JSON.stringify(entry.after)
			})
			.execute();
	},
	/** When the newest entry of this action was made; null without any. */
	async newest(queries: Queries, action: string): Promise<number | null> {
		const entries = queries.selectFrom('audit_log').select('at').where('action', '=', action);
		return (await first(entries.orderBy('at', 'desc')))?.at ?? null;
	},
	ofPayment: (queries: Queries, paymentId: number) =>
		queries.selectFrom('audit_log').selectAll().where('payment_id', '=', paymentId).orderBy('id').execute(),
	search: searchAudit,
	usedActions
});
