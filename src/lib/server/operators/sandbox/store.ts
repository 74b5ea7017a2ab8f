import type { Selectable } from 'kysely';
import type { Database } from '../../db/database.ts';
import type { SandboxChargesTable, SandboxRefundsTable } from '../../db/schema.ts';

/** The sandbox operator's own books. They outlive the process, as a real operator's do. */

export type Charge = Selectable<SandboxChargesTable>;
export type Refund = Selectable<SandboxRefundsTable>;

export async function findCharge(database: Database, reference: string): Promise<Charge | null> {
	const row = await database.db
		.selectFrom('sandbox_charges')
		.selectAll()
		.where('reference', '=', reference)
		.executeTakeFirst();
	return row ?? null;
}

/** Notes a charge once; the one already there wins. */
export async function insertCharge(database: Database, charge: Charge): Promise<Charge> {
	await database.db
		.insertInto('sandbox_charges')
		.values(charge)
		.onConflict((conflict) => conflict.column('reference').doNothing())
		.execute();
	return (await findCharge(database, charge.reference)) ?? charge;
}

export async function queueCharge(database: Database, reference: string, queuedAt: number): Promise<void> {
	await database.db
		.updateTable('sandbox_charges')
		.set({ queued_at: queuedAt })
		.where('reference', '=', reference)
		.where('queued_at', 'is', null)
		.execute();
}

export async function findRefund(database: Database, reference: string): Promise<Refund | null> {
	const row = await database.db
		.selectFrom('sandbox_refunds')
		.selectAll()
		.where('reference', '=', reference)
		.executeTakeFirst();
	return row ?? null;
}

export async function insertRefund(database: Database, refund: Refund): Promise<void> {
	await database.db
		.insertInto('sandbox_refunds')
		.values(refund)
		.onConflict((conflict) => conflict.column('reference').doNothing())
		.execute();
}
