import { createFileReader, formatFault, formatMinor } from '#lib/domain/money.ts';
import { plainText } from '#lib/domain/text.ts';
import type { Queries } from '../db/database.ts';
import { SHORTENED, looksShortened, readCsv } from '../platform/csv.ts';
import { refuse } from '../platform/errors.ts';
import type { StatementColumns } from './operators/operator.ts';
import {
	type BillingContext,
	type PaymentRow,
	RECONCILE_JOB,
	changePayment,
	findPaymentByReference,
	selectOfOperator
} from './payments.ts';
import { openReview } from './reviews.ts';

/**
 * Compares an operator's list of settled payments with ours, both ways. It settles nothing: differences open
 * reviews, and a listed payment that is not paid here is read from the operator at once.
 */
interface StatementFile {
	operator: string;
	columns: StatementColumns;
	bytes: Buffer;
	/** The covered time, in ms since the epoch. */
	from: number;
	to: number;
}

/**
 * Clocks differ, so a payment near the edge may be in either of two lists. The search for missing payments
 * covers the time of the list, moved back by this much.
 */
const EDGE_MS = 60 * 60 * 1000;

interface StatementRow {
	reference: string | null;
	/** Start of our reference, if the list holds only that. */
	start: string | null;
	transaction: string;
	amountMinor: number;
	line: number;
}

type TextRow = Omit<StatementRow, 'amountMinor'> & { amount: string };

/**
 * Counts the settled rows of the list: `unknown` are no payment of ours, `notPaid` are not paid here, `amount` differ
 * in it. `missing` are paid here, but not in the list.
 * @throws Refused; nothing is changed then
 */
export async function checkStatement(context: BillingContext, file: StatementFile) {
	const rows = await readRows(file, context.config.currency);
	const result = { rows: rows.length, matched: 0, unknown: 0, notPaid: 0, amount: 0, missing: 0 };
	const listed = new Set(rows.map(({ transaction }) => transaction));
	const seen = new Map<number, string>();
	for (const row of rows) result[await compareRow(context, file.operator, row, { listed, seen })] += 1;
	const span = { from: file.from - EDGE_MS, to: file.to - EDGE_MS };
	for (const payment of await findMissing(context.database.db, file.operator, span)) {
		const detail = `paid here as ${payment.provider_reference ?? 'a transaction without id'}, in no statement`;
		await openReview(context, context.database.db, payment.id, 'statement_missing', detail);
		result.missing += 1;
	}
	return result;
}

/**
 * @param of.listed transactions of the list
 * @param of.seen transactions of earlier rows by payment; this row is added
 */
async function compareRow(
	context: BillingContext,
	operator: string,
	row: StatementRow,
	{ listed, seen }: { listed: ReadonlySet<string>; seen: Map<number, string> }
): Promise<'matched' | 'unknown' | 'notPaid' | 'amount'> {
	const { database, jobs, clock } = context;
	const payment = await findListedPayment(context, operator, row);
	const known = payment?.provider_reference ?? '';
	const paidBy = listed.has(known) ? known : payment && seen.get(payment.id);
	if (!payment || (paidBy !== undefined && paidBy !== row.transaction)) {
		const why = payment ? `payment ${payment.id} was paid by ${paidBy} already` : 'no payment of ours';
		const about = { subject: `${operator} transaction ${row.transaction}` };
		const detail = `${why}; line ${row.line} of the statement`;
		await openReview(context, database.db, about, 'statement_unknown', detail);
		return 'unknown';
	}
	seen.set(payment.id, row.transaction);
	await changePayment(database.db, { id: payment.id }, { statement_at: clock.now() });
	if (payment.paid_at === null) {
		const detail = `the statement has it as ${row.transaction}; here it is ${payment.status}`;
		await openReview(context, database.db, payment.id, 'statement_paid', detail);
		await jobs.wake(RECONCILE_JOB, payment.id);
		return 'notPaid';
	}
	const settled = payment.settled_minor ?? payment.amount_minor;
	if (row.amountMinor !== settled) {
		const money = (minor: number) => formatMinor(minor, payment.currency, 'en');
		const detail = `the statement says ${money(row.amountMinor)}, here it is ${money(settled)}`;
		await openReview(context, database.db, payment.id, 'statement_amount', detail);
		return 'amount';
	}
	return 'matched';
}

async function findListedPayment(
	{ database }: BillingContext,
	operator: string,
	{ reference, start, transaction }: StatementRow
): Promise<PaymentRow | undefined> {
	if (reference !== null) {
		const named = await findPaymentByReference(database.db, operator, reference);
		if (named) return named;
	}
	const ofOperator = selectOfOperator(database.db, operator).limit(1);
	const paid = await ofOperator.where('provider_reference', '=', transaction).executeTakeFirst();
	if (paid || reference === null) return paid;
	return findLikeStatement(database.db, operator, { operatorReference: reference, start });
}

/** Reads the payments of a list. Its amounts tell together which decimal mark it has. */
async function readRows({ bytes, columns }: StatementFile, currency: string): Promise<StatementRow[]> {
	const rows: TextRow[] = [];
	let header: string[] = [];
	const plain = (text: string) => text.toLowerCase().replace(/[^a-z0-9]/g, '');
	const columnIn = (cells: readonly string[], names: readonly string[]) =>
		cells.findIndex((cell) => names.some((name) => plain(name) === plain(cell)));
	const columnOf = (names: readonly string[]) => columnIn(header, names);
	const needed = (names: readonly string[]): number => {
		const column = columnOf(names);
		if (column >= 0) return column;
		throw refuse(
			`The file has no column ${names.map((name) => `"${name}"`).join(' or ')}; it has ${header.join(', ')}.`
		);
	};
	let indexes = { reference: -1, transaction: -1, amount: -1, status: -1 };
	const fault = (line: number, column: number, reason: string) =>
		refuse(`Line ${line}, ${header[column]}: ${reason}.`);
	await readCsv([bytes], {
		// M-Pesa's portal writes the organisation and the period above the header.
		isHeader: (cells) => columnIn(cells, columns.providerReference) >= 0,
		header(cells) {
			header = cells;
			indexes = {
				reference: columnOf(columns.reference),
				transaction: needed(columns.providerReference),
				amount: needed(columns.amount),
				status: columns.status ? columnOf(columns.status.names) : -1
			};
		},
		row(cells, line) {
			const status = indexes.status < 0 ? null : plain(cells[indexes.status] ?? '');
			if (status !== null && !columns.status?.settled.some((word) => plain(word) === status)) return;
			const amount = plainText(cells[indexes.amount] ?? '');
			if (/^[-–—]?$/.test(amount)) return;
			const transaction = (cells[indexes.transaction] ?? '').trim();
			if (looksShortened(transaction)) throw refuse(`Line ${line}: ${SHORTENED}`);
			const reference = (cells[indexes.reference] ?? '').trim() || null;
			const start = reference === null ? null : (columns.referenceStart?.(reference) ?? null);
			rows.push({
				reference,
				start: start !== null && /^[0-9a-f-]{8,}$/.test(start) ? start : null,
				transaction,
				amount,
				line
			});
		},
		problem(line, reason) {
			throw refuse(`Line ${line}: ${reason}.`);
		}
	});
	const read = createFileReader(
		rows.map(({ amount }) => amount),
		currency
	);
	return rows.flatMap(({ amount, ...row }) => {
		const amountMinor = read(amount);
		if (typeof amountMinor === 'string') {
			const reason = `"${amount.slice(0, 40)}" ${formatFault(amountMinor, amount, currency)}`;
			throw fault(row.line, indexes.amount, reason);
		}
		// Many lists contain outgoing money too: refunds, withdrawals, charges.
		if (amountMinor <= 0) return [];
		if (row.transaction === '') throw fault(row.line, indexes.transaction, 'the transaction id is missing');
		return [{ ...row, amountMinor }];
	});
}

/** Matches the operator's reference or the start of ours. Returns undefined unless exactly one matches. */
async function findLikeStatement(
	queries: Queries,
	operator: string,
	row: { operatorReference: string; start: string | null }
): Promise<PaymentRow | undefined> {
	const rows = await selectOfOperator(queries, operator)
		.where((where) =>
			where.or([
				where('operator_reference', '=', row.operatorReference),
				...(row.start === null ? [] : [where('reference', 'like', `${row.start}%`)])
			])
		)
		.limit(2)
		.execute();
	return rows.length === 1 ? rows[0] : undefined;
}

const findMissing = (queries: Queries, operator: string, paid: { from: number; to: number }) =>
	selectOfOperator(queries, operator)
		.where('paid_at', '>=', paid.from)
		.where('paid_at', '<', paid.to)
		.where('statement_at', 'is', null)
		.orderBy('id')
		.execute();
