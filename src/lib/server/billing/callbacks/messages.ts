import type { OperatorMessagesTable } from '#lib/server/db/schema.ts';
import type { PaymentsContext } from '../payments/context.ts';
import * as store from '../payments/store.ts';

/**
 * What operators said, kept as evidence: every submit and callback, and each status read that says something
 * new. Phone numbers and credentials do not belong in it.
 */

/** Long enough for every operator's answer, short enough that a hostile caller cannot fill the disk. */
const MAX_RAW_LENGTH = 4_096;
const MAX_CALLBACKS = 50;

type Kind = OperatorMessagesTable['kind'];

/**
 * The payer's number but its last four digits, however an operator writes it, and what may be another number; an
 * operator's ids stay, because a person needs them. NUL bytes go too: PostgreSQL does not store them, and a stray one
 * must not lose a message.
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

export async function keepMessage(
	context: PaymentsContext,
	payment: { id: number; phone: string },
	kind: Kind,
	outcome: string,
	raw: string | null
): Promise<void> {
	await store.insertMessage(context.database.db, {
		payment_id: payment.id,
		kind,
		outcome,
		raw: raw === null ? null : redactMessage(raw, payment.phone),
		received_at: context.clock.now()
	});
}

/** Keeps an outcome only when it differs from the one before. */
export async function keepWhenNew(
	context: PaymentsContext,
	payment: { id: number; phone: string },
	kind: Kind,
	outcome: string,
	raw: string | null
): Promise<void> {
	const last = await store.lastOutcome(context.database.db, payment.id, kind);
	if (last !== outcome) await keepMessage(context, payment, kind, outcome, raw);
}

/** Keeps a callback as evidence; it has done its work already, so one too many, or a failure, is only logged. */
export async function keepCallback(
	context: PaymentsContext,
	payment: { id: number; phone: string },
	outcome: string,
	raw: string
): Promise<void> {
	const message = {
		payment_id: payment.id,
		kind: 'callback',
		outcome,
		raw: redactMessage(raw, payment.phone),
		received_at: context.clock.now()
	} as const;
	try {
		await context.database.transact((trx) => store.insertMessageBelow(trx, message, MAX_CALLBACKS));
	} catch (error) {
		context.log.warn({ err: error, payment: payment.id }, 'callback not kept');
	}
}
