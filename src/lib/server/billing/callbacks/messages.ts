import type { OperatorMessagesTable } from '#lib/server/db/schema.ts';
import type { StatusOutcome, SubmitOutcome } from '../operators/operator.ts';
import type { BillingContext } from '../context.ts';
import type { PaymentRow } from '../payments/store.ts';
import * as store from './store.ts';

/** Keeps evidence: every submission and callback, and each status read with a new outcome. */

/** Characters: enough for every operator's response, and a hostile caller cannot fill the disk. */
const MAX_RAW_LENGTH = 4_096;
const MAX_CALLBACKS = 50;

type Payment = Pick<PaymentRow, 'id' | 'phone'>;

interface Message {
	kind: OperatorMessagesTable['kind'];
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

export const keepMessage = (context: BillingContext, payment: Payment, message: Message): Promise<void> =>
	store.insertMessage(context.database.unsynced, rowOf(context, payment, message));

const rowOf = ({ clock }: BillingContext, { id, phone }: Payment, { raw, ...message }: Message) => ({
	...message,
	payment_id: id,
	raw: redactMessage(raw, phone),
	received_at: clock.now()
});

/** Returns false, and keeps nothing, if the last message of this kind had the same outcome. */
export async function keepWhenNew(
	context: BillingContext,
	payment: Payment,
	message: Message
): Promise<boolean> {
	const last = await store.lastMessage(context.database.db, payment.id, message.kind);
	if (last?.outcome === message.outcome) return false;
	await keepMessage(context, payment, message);
	return true;
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
	const message = { kind, outcome, raw: 'raw' in answer ? answer.raw : answer.cause };
	if (kind === 'submit') await keepMessage(context, payment, message);
	else if (!(await keepWhenNew(context, payment, message))) return;
	if (!isOurs) return;
	const { id, operator, phone } = payment;
	const fields = { operator, payment: id, answer: redactMessage(answer.message, phone) };
	context.log.warn(fields, 'the operator refuses our account or settings: run "doctor"');
}

/** Stores up to MAX_CALLBACKS per payment. Only logs a failure: the callback has already taken effect. */
export async function keepCallback(
	context: BillingContext,
	payment: Payment,
	outcome: string,
	raw: string
): Promise<void> {
	const { database } = context;
	const message = rowOf(context, payment, { kind: 'callback', outcome, raw });
	try {
		// Not serializable: its counts would make purchases fail and run again.
		await database.db.transaction().execute(async (trx) => {
			// The next callback of this payment counts after this commit.
			await database.lock(trx, -payment.id);
			await store.insertMessageBelow(trx, message, MAX_CALLBACKS);
		});
	} catch (error) {
		context.log.warn({ err: error, payment: payment.id }, 'callback not stored');
	}
}
