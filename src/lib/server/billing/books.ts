import { sql } from 'kysely';
import type { Database, Reads } from '../db/database.ts';
import type { Row } from '../db/schema.ts';
import { formatMinor } from '#lib/domain/money.ts';

/**
 * The books: one entry for each value that moves, from a credited account to a debited one, with the fee that moves for it,
 * so that each balances by its shape. Triggers post the entries in the transaction that changes their source row, once, and nothing changes them
 * afterwards (migration 0006-books, src/docs/decisions/books.md). Earnings and statements are sums of entries.
 *
 * Accounts, each for an owner (`owner_account_id`):
 *
 *   operator:ID   money that arrived at an operator, less what it returned
 *   owner         mobile money that the platform owes the owner
 *   platform      fees of the platform
 *   buyers        money that bought nothing and is returned to its buyer
 *   by_hand       money that a person returned in another way than the operator; for a voucher it is cash of the owner
 *   till          cash of the owner and of those who sell for them
 *   vouchers      cash for vouchers that are not redeemed
 *   sales         income in cash: redeemed vouchers
 *   sellers       commission due to sellers of vouchers
 *   commission    its cost
 *   difference    cash that was missing, or too much, when it was counted
 *   payout:…      payouts to owners, by operator or file
 *
 * Kinds by source:
 *
 *   payment       payment: it bought time
 *                 correction: no gateway let the buyer in, so the time counts as never sold. It has the time of the
 *                 payment, so that no period shows one without the other
 *                 refund: the money of sold time went back, and the fee with it
 *                 unapplied_payment, unapplied_refund: money that bought nothing, and its return
 *   voucher       voucher: it was sold, with the seller's commission as fee. voucher_void: and voided
 *   cash closing  cash_difference
 *   payout        payout: it was approved. payout_failed: its money is back. payout_late: the owner has got it all the same
 */

type EntryRow = Omit<Row<'due_entries'>, 'source'>;

export interface BooksCheck {
	entries: number;
	/** Sentences, one for each entry that is not as its source row says, and one for each total that is wrong. */
	problems: string[];
}

const COLUMNS = [
	...['kind', 'source_id', 'at', 'debit', 'credit', 'amount_minor', 'fee_debit', 'fee_credit', 'fee_minor'],
	...['currency', 'owner_account_id', 'router_id', 'offer_name', 'payment_method']
] as (keyof EntryRow)[];

/** All entries that follow from the rows. */
const DUE = sql`(select ${columnsOf()} from due_entries union all select ${columnsOf()} from due_payouts)`;

/** Recomputes all entries and totals from the source rows, and compares them with the books. */
export async function checkBooks({ db }: { db: Reads }): Promise<BooksCheck> {
	const columns = columnsOf();
	// One statement, so that nothing is posted in between.
	const { rows } = await sql<EntryRow & { is_posted: number }>`
		select 1 as is_posted, posted.* from
			(select ${columns} from book_entries except select ${columns} from ${DUE} as due_rows) as posted
		union all select 0, due.* from
			(select ${columns} from ${DUE} as due_rows except select ${columns} from book_entries) as due
		order by kind, source_id, is_posted desc`.execute(db);
	const { count } = await db
		.selectFrom('book_entries')
		.select(({ fn }) => fn.countAll<number>().as('count'))
		.executeTakeFirstOrThrow();
	const byEntry = Map.groupBy(rows, ({ kind, source_id }) => `${kind} ${source_id}`);
	return {
		entries: count,
		problems: [...[...byEntry.values()].map(describeProblem), ...describeTotals(rows)]
	};
}

/** Posts the entries that are missing, for example after a restore without triggers. Returns their number. */
export async function postMissing({ db }: Pick<Database, 'db'>): Promise<number> {
	const { numInsertedOrUpdatedRows: posted } = await db
		.insertInto('book_entries')
		.columns(COLUMNS)
		.expression((from) =>
			from
				.selectFrom(sql<EntryRow>`${DUE}`.as('due'))
				.select(COLUMNS)
				// SQLite reads `on conflict` after a select without `where` as a join.
				.where(sql`1`, '=', sql`1`)
		)
		.onConflict((conflict) => conflict.doNothing())
		.executeTakeFirstOrThrow();
	return Number(posted ?? 0);
}

function describeProblem([one, other]: (EntryRow & { is_posted: number })[]): string {
	if (!one) return '';
	const name = `${nameSource(one)}: the entry "${one.kind}"`;
	if (!other) {
		const text = `${name} of ${formatMinor(one.amount_minor, one.currency, 'en')}`;
		return one.is_posted === 1 ? `${text} does not follow from its row.` : `${text} is missing.`;
	}
	const differences = COLUMNS.filter((column) => one[column] !== other[column]).map(
		(column) => `${column} is ${one[column]} in the books and ${other[column]} by its row`
	);
	return `${name} differs: ${differences.join('; ')}.`;
}

function columnsOf() {
	return sql.join(COLUMNS.map((name) => sql.ref(name)));
}

const nameSource = ({ kind, source_id: id }: EntryRow): string => {
	if (kind.startsWith('payout')) return `Payout ${id}`;
	if (kind === 'cash_difference') return `Cash closing ${id}`;
	return `${kind.startsWith('voucher') ? 'Voucher' : 'Payment'} ${id}`;
};

/** Entries that agree cancel out, so the others show by how much each account differs. */
function describeTotals(rows: readonly (EntryRow & { is_posted: number })[]): string[] {
	const totals = new Map<string, { account: string; currency: string; owner: number; minor: number }>();
	for (const { is_posted, currency, owner_account_id: owner, ...row } of rows) {
		for (const [account, minor] of [
			[row.debit, row.amount_minor],
			[row.credit, -row.amount_minor],
			[row.fee_debit ?? '', row.fee_minor],
			[row.fee_credit ?? '', -row.fee_minor]
		] as const) {
			const key = `${account} ${currency} ${owner}`;
			const total = totals.get(key) ?? { account, currency, owner, minor: 0 };
			total.minor += is_posted === 1 ? minor : -minor;
			totals.set(key, total);
		}
	}
	return [...totals.values()]
		.filter(({ minor }) => minor !== 0)
		.map(({ account, currency, owner, minor }) => {
			const more = minor > 0 ? 'more' : 'less';
			const text = formatMinor(Math.abs(minor), currency, 'en');
			return `Account "${account}" of owner ${owner}: the books debit ${text} ${more} than the rows.`;
		});
}
