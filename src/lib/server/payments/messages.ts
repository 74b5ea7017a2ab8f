import type { OperatorMessagesTable } from '../db/schema.ts';
import type { PaymentsContext } from './context.ts';
import * as store from './store.ts';

/**
 * What operators said, kept as evidence: every submit and callback, and each status read that says something
 * new. Phone numbers and credentials do not belong in it.
 */

/** Long enough for every operator's answer, short enough that a hostile caller cannot fill the disk. */
const MAX_RAW_LENGTH = 4_096;
const MAX_CALLBACKS = 50;

type Kind = OperatorMessagesTable['kind'];

/**
 * Digits of a phone number but the last four, wherever eight or more stand in a row. NUL bytes go too:
 * PostgreSQL does not store them, and a stray one must not lose a message.
 */
const redact = (raw: string) =>
	raw
		.slice(0, MAX_RAW_LENGTH)
		.replaceAll('\0', '')
		.replace(/\d{8,}/g, (digits) => `…${digits.slice(-4)}`);

export async function keepMessage(
	context: PaymentsContext,
	paymentId: number,
	kind: Kind,
	outcome: string,
	raw: string | null
): Promise<void> {
	await store.insertMessage(context.database.db, {
		payment_id: paymentId,
		kind,
		outcome,
		raw: raw === null ? null : redact(raw),
		received_at: context.clock.now()
	});
}

/** Keeps an outcome only when it differs from the one before. */
export async function keepWhenNew(
	context: PaymentsContext,
	paymentId: number,
	kind: Kind,
	outcome: string,
	raw: string | null
): Promise<void> {
	const last = await store.lastOutcome(context.database.db, paymentId, kind);
	if (last !== outcome) await keepMessage(context, paymentId, kind, outcome, raw);
}

/** Keeps a callback as evidence; it has done its work already, so one too many, or a failure, is only logged. */
export async function keepCallback(
	context: PaymentsContext,
	paymentId: number,
	outcome: string,
	raw: string
): Promise<void> {
	const message = {
		payment_id: paymentId,
		kind: 'callback',
		outcome,
		raw: redact(raw),
		received_at: context.clock.now()
	} as const;
	try {
		await context.database.transact((trx) => store.insertMessageBelow(trx, message, MAX_CALLBACKS));
	} catch (error) {
		context.log.warn({ err: error, payment: paymentId }, 'callback not kept');
	}
}
