import type { Selectable } from 'kysely';
import type { Database } from '#lib/server/db/database.ts';
import type { SandboxChargesTable, SandboxRefundsTable } from '#lib/server/db/schema.ts';

/** The sandbox's records outlive the process, like a real operator's. */

type ChargeRow = Selectable<SandboxChargesTable>;
/** A charge with a person's decision about it. */
export type Charge = ChargeRow & { outcome: string | null; instructed_at: number | null };
export type Refund = Selectable<SandboxRefundsTable>;

export const findCharge = (database: Database, reference: string): Promise<Charge | undefined> =>
	database.db
		.selectFrom('sandbox_charges')
		.leftJoin('sandbox_instructions', 'sandbox_instructions.charge_reference', 'sandbox_charges.reference')
		.selectAll('sandbox_charges')
		.select(['sandbox_instructions.outcome', 'sandbox_instructions.instructed_at'])
		.where('reference', '=', reference)
		.executeTakeFirst();

export async function insertCharge(database: Database, charge: ChargeRow): Promise<Charge> {
	await database.db
		.insertInto('sandbox_charges')
		.values(charge)
		.onConflict((conflict) => conflict.column('reference').doNothing())
		.execute();
	return (await findCharge(database, charge.reference)) ?? { ...charge, outcome: null, instructed_at: null };
}

export async function instruct(
	database: Database,
	instruction: { reference: string; outcome: string; now: number }
): Promise<void> {
	const { reference, outcome, now } = instruction;
	await database.db
		.insertInto('sandbox_instructions')
		.values({ charge_reference: reference, outcome, instructed_at: now })
		.onConflict((conflict) =>
			conflict.column('charge_reference').doUpdateSet({ outcome, instructed_at: now })
		)
		.execute();
}

export const queueCharge = (database: Database, reference: string, queuedAt: number) =>
	database.db
		.updateTable('sandbox_charges')
		.set({ queued_at: queuedAt })
		.where('reference', '=', reference)
		.where('queued_at', 'is', null)
		.execute();

export const findRefund = (database: Database, reference: string): Promise<Refund | undefined> =>
	database.db.selectFrom('sandbox_refunds').selectAll().where('reference', '=', reference).executeTakeFirst();

export const insertRefund = (database: Database, refund: Refund) =>
	database.db
		.insertInto('sandbox_refunds')
		.values(refund)
		.onConflict((conflict) => conflict.column('reference').doNothing())
		.execute();
