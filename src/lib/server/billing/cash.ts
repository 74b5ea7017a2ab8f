import { sql } from 'kysely';
import { accountActor } from '../audit.ts';
import type { Base } from '../base.ts';
import { first, insertRow, retryUniqueViolation } from '../db/queries.ts';
import type { Row } from '../db/schema.ts';
import { Refused } from '../platform/errors.ts';
import type { BillingContext } from './payments.ts';
import type { VoucherActor, VoucherRefusal } from './vouchers.ts';

/**
 * The cash that people have of vouchers they sold, and its counts. A count sets `closing_id` of the vouchers in it.
 */

/** Sums the cash that a person has of vouchers sold since the last count, in minor units. */
export const sumCashInHand = (
	{ config, database: { db } }: Pick<Base, 'config' | 'database'>,
	{ accountId, personId }: VoucherActor
) =>
	db
		.selectFrom('vouchers')
		.innerJoin('voucher_batches as batch', 'batch.id', 'vouchers.batch_id')
		.select(({ fn }) => [
			fn.countAll<number>().as('count'),
			sql<number>`coalesce(sum(batch.amount_minor), 0)`.as('sum')
		])
		.where('vouchers.sold_by', '=', personId)
		.where('vouchers.closing_id', 'is', null)
		.where('vouchers.status', '<>', 'void')
		.where('batch.owner_account_id', '=', accountId)
		.where('batch.currency', '=', config.currency)
		.executeTakeFirstOrThrow();

/** The same form may arrive twice at once. */
const MAX_TRIES = 2;

interface CashCount {
	countedMinor: number;
	note: string;
	/** Names the form. */
	form: string;
}

/**
 * Closes the cash of a person: the vouchers sold since the last time are counted, and their cash is no longer in hand.
 * The same form again changes nothing.
 * @returns the closing; `expected_minor` and `counted_minor` differ if cash is missing or too much
 */
export const closeCash = (
	context: BillingContext,
	{ accountId, personId }: VoucherActor,
	{ countedMinor, note, form }: CashCount
): Promise<Row<'cash_closings'>> =>
	retryUniqueViolation(context.database, MAX_TRIES, () =>
		context.database.transact(async (trx) => {
			const { audit, clock, config } = context;
			const known = await first(trx.selectFrom('cash_closings').selectAll().where('form', '=', form));
			if (known && known.account_id !== personId) throw new Refused<VoucherRefusal>('unknown_voucher');
			if (known) return known;
			const closing = await insertRow(trx, 'cash_closings', {
				...{ owner_account_id: accountId, account_id: personId, vouchers: 0, expected_minor: 0 },
				...{ counted_minor: countedMinor, currency: config.currency, note, form, created_at: clock.now() }
			});
			const counted = await trx
				.updateTable('vouchers')
				.set({ closing_id: closing.id })
				.where('sold_by', '=', personId)
				.where('closing_id', 'is', null)
				.where('status', '<>', 'void')
				.where('batch_id', 'in', (batches) =>
					batches
						.selectFrom('voucher_batches')
						.select('id')
						.where('owner_account_id', '=', accountId)
						.where('currency', '=', config.currency)
				)
				.returning('batch_id')
				.execute();
			const ids = [...new Set(counted.map(({ batch_id: id }) => id))];
			const batches = trx.selectFrom('voucher_batches').select(['id', 'amount_minor']);
			const rows = ids.length === 0 ? [] : await batches.where('id', 'in', ids).execute();
			const priceOf = new Map(rows.map(({ id, amount_minor: price }) => [id, price]));
			const vouchers = counted.length;
			const expected_minor = counted.reduce((sum, { batch_id: id }) => sum + (priceOf.get(id) ?? 0), 0);
			await audit.record(trx, {
				...{ actor: accountActor(personId), action: 'cash.closed', reason: note },
				after: { closing: closing.id, vouchers, expected_minor, counted_minor: countedMinor }
			});
			return trx
				.updateTable('cash_closings')
				.set({ vouchers, expected_minor })
				.where('id', '=', closing.id)
				.returningAll()
				.executeTakeFirstOrThrow();
		})
	);

/** Lists counts of cash, newest first. @param personId null: of everybody */
export const listClosings = (
	{ database: { db } }: Pick<Base, 'database'>,
	accountId: number,
	personId: number | null,
	{ before, limit }: { before: number | null; limit: number }
) =>
	db
		.selectFrom('cash_closings')
		.innerJoin('accounts', 'accounts.id', 'cash_closings.account_id')
		.selectAll('cash_closings')
		.select('accounts.email')
		.where('owner_account_id', '=', accountId)
		.where('cash_closings.id', '<', before ?? Number.MAX_SAFE_INTEGER)
		.$if(personId !== null, (query) => query.where('account_id', '=', personId ?? 0))
		.orderBy('cash_closings.id', 'desc')
		.limit(limit)
		.execute();
