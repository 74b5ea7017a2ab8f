import { sql } from 'kysely';
import type { Queries } from '#lib/server/db/database.ts';
import { countOf, first } from '#lib/server/db/first.ts';
import type { OperatorMessagesTable } from '#lib/server/db/schema.ts';
import type { StatusOutcome, SubmitOutcome } from '../operators/operator.ts';
import type { BillingContext } from '../context.ts';
import type { PaymentRow } from '../payments/store.ts';

/** Keeps evidence: every submission and callback, and each status read with a new outcome. */

/** Characters: enough for every operator's response, and a hostile caller cannot fill the disk. */
const MAX_RAW_LENGTH = 4_096;
const MAX_CALLBACKS = 50;
/** The same callback brings a read forward again after this time: a person may have asked the operator to repeat it. */
const REPEATED_MS = 60_000;
/** Characters of an unreadable callback in the log. */
const LOGGED_LENGTH = 200;

type Payment = Pick<PaymentRow, 'id' | 'phone'>;

type Kind = OperatorMessagesTable['kind'];

interface Message {
	kind: Kind;
	outcome: string;
	raw: string;
}

/**
 * Masks the payer's number in any spelling and other possible numbers, except for the last four digits. Keeps
 * the operator's ids, because reviews need them. Removes NUL, which PostgreSQL cannot store.
 */
export function redactMessage(raw: string, phone: string): string {
	const last = phone.slice(-8);
	const country = phone.slice(1, 4);
	const isNumber = (digits: string) =>
		digits.includes(last) || (digits.startsWith(country) && Math.abs(digits.length - phone.length) <= 2);
	return raw
		.slice(0, MAX_RAW_LENGTH)
		.replaceAll('\0', '')
		.replace(/\d{8,}/g, (digits) => (isNumber(digits) ? `…${digits.slice(-4)}` : digits));
}

const rowOf = ({ clock }: BillingContext, { id, phone }: Payment, { raw, ...message }: Message) => ({
	...message,
	payment_id: id,
	raw: redactMessage(raw, phone),
	received_at: clock.now()
});

/**
 * Keeps a message.
 * @param onlyNews not if the last message of this kind had the same outcome
 * @returns whether it was kept
 */
export async function keepMessage(
	context: BillingContext,
	payment: Payment,
	message: Message,
	onlyNews = false
): Promise<boolean> {
	const { db, unsynced } = context.database;
	const last = onlyNews ? await first(newestOfKind(db, payment.id, message.kind)) : null;
	if (last?.outcome === message.outcome) return false;
	await unsynced
		.insertInto('operator_messages')
		.values(rowOf(context, payment, message))
		.execute();
	return true;
}

/** Returns what the operator answered, or why it did not. */
export function rawOf(answer: SubmitOutcome | StatusOutcome): string {
	if (!('cause' in answer)) return answer.raw;
	return ('raw' in answer && answer.raw) || answer.cause;
}

/** Our account or settings are wrong: payments fail until a person corrects them. */
export const MERCHANT_ERROR = 'merchant_error';

/** Keeps a submission, or a status read with a new outcome. Warns of a MERCHANT_ERROR, which is its own outcome. */
export async function keepAnswer(
	context: BillingContext,
	payment: Payment & { operator: string },
	kind: 'submit' | 'status',
	answer: SubmitOutcome | StatusOutcome
): Promise<void> {
	const isOurs = 'reason' in answer && answer.reason === MERCHANT_ERROR;
	const outcome = isOurs ? MERCHANT_ERROR : answer.kind;
	const message = { kind, outcome, raw: rawOf(answer) };
	const isKept = await keepMessage(context, payment, message, kind === 'status');
	if (!isKept || !isOurs) return;
	const { id, operator, phone } = payment;
	const fields = { operator, payment: id, answer: redactMessage(answer.message, phone) };
	context.log.warn(fields, 'the operator refuses our account or settings: run "doctor"');
}

/**
 * Stores up to MAX_CALLBACKS per payment; a failure is only logged. Warns of the first one that says nothing we can read.
 * @returns whether the same has come a moment ago
 */
export async function keepCallback(
	context: BillingContext,
	payment: Payment,
	outcome: string,
	raw: string
): Promise<boolean> {
	const { database, log } = context;
	const message = rowOf(context, payment, { kind: 'callback', outcome, raw });
	const { payment_id, kind, received_at } = message;
	try {
		// Not serializable: its counts would make purchases fail and run again.
		const { alike, isKept } = await database.db.transaction().execute(async (trx) => {
			// The next callback of this payment counts after this commit.
			await database.lock(trx, -payment.id);
			const kept = trx.selectFrom('operator_messages').where(({ and }) => and({ payment_id, kind }));
			const alike = await kept.select(['raw', 'received_at']).where('outcome', '=', outcome).execute();
			const isKept = (await countOf(kept)) < MAX_CALLBACKS;
			if (isKept) await trx.insertInto('operator_messages').values(message).execute();
			return { alike, isKept };
		});
		if (isKept && alike.length === 0 && outcome.endsWith('unknown')) {
			const fields = { payment: payment.id, outcome, body: message.raw.slice(0, LOGGED_LENGTH) };
			log.warn(fields, 'callback cannot be read; reads of the status go on as planned');
		}
		return alike.some((one) => one.raw === message.raw && received_at - one.received_at < REPEATED_MS);
	} catch (error) {
		log.warn({ err: error, payment: payment.id }, 'callback not stored');
		return false;
	}
}

export const messagesOf = (queries: Queries, paymentId: number) =>
	queries
		.selectFrom('operator_messages')
		.selectAll()
		.where('payment_id', '=', paymentId)
		.orderBy('id')
		.execute();

/** Messages with an outcome about the newest `most` payments, newest first. */
export const newestMessages = (
	queries: Queries,
	{ outcome, since, most }: { outcome: string; since: number; most: number }
) =>
	queries
		.selectFrom('operator_messages as message')
		.innerJoin('payments as payment', 'payment.id', 'message.payment_id')
		.select(['payment.operator', 'message.received_at', 'message.raw'])
		.where('payment.id', '>', (where) =>
			where
				.selectFrom('payments')
				.select(({ fn }) => sql<number>`${fn.coalesce(fn.max('id'), sql`0`)} - ${most}`.as('first'))
		)
		.where('message.outcome', '=', outcome)
		.where('message.received_at', '>', since)
		.orderBy('message.id', 'desc')
		.execute();

const newestOfKind = (queries: Queries, payment_id: number, kind: Kind) =>
	queries
		.selectFrom('operator_messages')
		.select('outcome')
		.where(({ and }) => and({ payment_id, kind }))
		.orderBy('id', 'desc');

/** Returns the outcome of the last status read that the operator answered. */
export const lastStatusAnswer = (queries: Queries, paymentId: number) =>
	first(newestOfKind(queries, paymentId, 'status').where('outcome', '<>', 'unavailable'));
