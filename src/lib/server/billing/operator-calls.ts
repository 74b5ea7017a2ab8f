import { sql, type RawBuilder } from 'kysely';
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '#lib/domain/time.ts';
import type { Base } from '../base.ts';
import type { Queries, Reads } from '../db/database.ts';
import { first } from '../db/queries.ts';
import type { Schema } from '../db/schema.ts';
import { equalSecrets, hmac } from '../platform/secrets.ts';
import type { AttemptReference, StatusOutcome, SubmitOutcome } from './operators/operator.ts';
import {
	type BillingContext,
	type BillingJob,
	type PaymentRow,
	type RefundRow,
	parseClaim
} from './payments.ts';

/**
 * What every request to an operator has: the address for its callback, the times of its status reads, and the answers that
 * are kept as evidence.
 */

/**
 * Callback addresses: one per payment and refund, or one per operator that takes the address in its portal.
 * The token is derived from the secret: nobody can guess it, and it needs no column.
 */
type AddressContext = Pick<BillingContext, 'secrets' | 'config'>;

/** Hex: base64url could spell words that Daraja asks to avoid in addresses (`exe`, `sql`). */
const computeToken = (key: Buffer, subject: string): string =>
	Buffer.from(hmac(key, subject), 'base64url').toString('hex');

const deriveToken = ({ secrets }: AddressContext, subject: string): string =>
	computeToken(secrets.derive('callback', 32), subject);

/** Token subject for all payments of an operator; no reference has this form. */
const formatOperatorSubject = (operator: string) => `operator:${operator}`;

export const formatCallbackUrl = (context: AddressContext, operator: string, reference: string): string =>
	`${context.config.callbackUrl}/callbacks/${operator}/${reference}/${deriveToken(context, reference)}`;

export const formatPortalCallbackUrl = (context: AddressContext, operator: string): string =>
	`${context.config.callbackUrl}/callbacks/${operator}/${deriveToken(context, formatOperatorSubject(operator))}`;

/** Checks that Airtill issued an address. A null `reference` means the operator's portal address. */
export const isOurCallback = (
	{ secrets }: AddressContext,
	{ operator, reference, token: given }: { operator: string; reference: string | null; token: string }
): boolean =>
	secrets
		.deriveAll('callback', 32)
		.some((key) => equalSecrets(given, computeToken(key, reference ?? formatOperatorSubject(operator))));

/** For the status read of a payment or a refund. */
export const describeAttempt = (row: PaymentRow | RefundRow): AttemptReference => ({
	reference: row.reference,
	operatorReference: row.operator_reference,
	submittedAt: row.submitted_at,
	claim: parseClaim(row)
});

/** A request that is on its way for longer was lost with its process: it counts as uncertain. */
export const SUBMITTING_MAX_MS = 60_000;

/** Reads often while the payer looks at the screen, then rarely: callbacks make most reads unnecessary. */
const STEPS: readonly { untilAge: number; delay: number }[] = [
	{ untilAge: 3 * SECOND_MS, delay: 3 * SECOND_MS },
	{ untilAge: 8 * SECOND_MS, delay: 5 * SECOND_MS },
	{ untilAge: 16 * SECOND_MS, delay: 8 * SECOND_MS },
	{ untilAge: 29 * SECOND_MS, delay: 13 * SECOND_MS },
	{ untilAge: 49 * SECOND_MS, delay: 20 * SECOND_MS },
	{ untilAge: 79 * SECOND_MS, delay: 30 * SECOND_MS },
	{ untilAge: 10 * MINUTE_MS, delay: MINUTE_MS },
	{ untilAge: 30 * MINUTE_MS, delay: 5 * MINUTE_MS },
	{ untilAge: 2 * HOUR_MS, delay: 15 * MINUTE_MS },
	{ untilAge: 12 * HOUR_MS, delay: HOUR_MS },
	{ untilAge: Infinity, delay: 6 * HOUR_MS }
];

/** The operator may lack the request, so the payer may have no prompt: ask often. */
const UNCERTAIN_DELAY = 5 * SECOND_MS;
const UNCERTAIN_UNTIL_AGE = 2 * MINUTE_MS;

/** A refused or declined payment is only watched for a late success. */
const FAILED_DELAY = 5 * MINUTE_MS;

/** Relative spread of longer delays, so that payments started together are not always read together. */
const JITTER = 0.1;
const JITTER_FROM = 20 * SECOND_MS;

export function computePollDelayMs(attempt: { ageMs: number; uncertain: boolean; hasFailed: boolean }) {
	const step = STEPS.find(({ untilAge }) => attempt.ageMs < untilAge);
	let delay = step?.delay ?? 6 * HOUR_MS;
	if (attempt.uncertain && attempt.ageMs < UNCERTAIN_UNTIL_AGE) delay = Math.min(delay, UNCERTAIN_DELAY);
	if (attempt.hasFailed) delay = Math.max(delay, FAILED_DELAY);
	if (delay >= JITTER_FROM) delay *= 1 + JITTER * (2 * Math.random() - 1);
	return Math.round(delay);
}

/** Characters: enough for every operator's response, and a hostile caller cannot fill the disk. */
const MAX_RAW_LENGTH = 4_096;
type Payment = Pick<PaymentRow, 'id' | 'phone'>;

type Kind = Schema['operator_messages']['kind'];

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

export const describeMessage = (
	{ clock }: Pick<BillingContext, 'clock'>,
	{ id, phone }: Payment,
	{ raw, ...message }: Message
) => ({
	...message,
	payment_id: id,
	raw: redactMessage(raw, phone),
	received_at: clock.now()
});

/**
 * Keeps a message: it is evidence, so also the answer to a run that has lost its lease.
 * @param onlyNews not if the last message of this kind had the same outcome
 * @returns whether it was kept
 */
export async function keepMessage(context: BillingJob, payment: Payment, message: Message, onlyNews = false) {
	const { unsynced } = context.database.unfenced;
	const values = describeMessage(context, payment, message);
	const last = selectNewestOfKind(unsynced, values.payment_id, values.kind).limit(1);
	const isNews = onlyNews ? sql<boolean>`coalesce(${last}, '') <> ${values.outcome}` : sql<boolean>`1 = 1`;
	return insertMessageIf(unsynced, values, isNews);
}

/** @returns whether the condition held, so that the message was stored */
export async function insertMessageIf(
	queries: Queries,
	values: ReturnType<typeof describeMessage>,
	condition: RawBuilder<boolean>
): Promise<boolean> {
	const names = ['payment_id', 'kind', 'outcome', 'raw', 'received_at'] as const;
	const message = queries
		.selectNoFrom(({ val }) => names.map((name) => val(values[name]).as(name)))
		.where(condition);
	const kept = await queries
		.insertInto('operator_messages')
		.columns(names)
		.expression(message)
		.executeTakeFirst();
	return (kept.numInsertedOrUpdatedRows ?? 0n) > 0n;
}

/** Returns what the operator answered, or why it did not. */
export function formatRaw(answer: SubmitOutcome | StatusOutcome): string {
	if (!('cause' in answer)) return answer.raw;
	return ('raw' in answer && answer.raw) || answer.cause;
}

/** Our account or settings are wrong: payments fail until a person corrects them. */
const MERCHANT_ERROR = 'merchant_error';

/** Keeps a submission, or a status read with a new outcome. Warns of a MERCHANT_ERROR, which is its own outcome. */
export async function keepAnswer(
	context: BillingJob,
	payment: Payment & { operator: string },
	kind: 'submit' | 'status',
	answer: SubmitOutcome | StatusOutcome
): Promise<void> {
	const isOurs = 'reason' in answer && answer.reason === MERCHANT_ERROR;
	const outcome = isOurs ? MERCHANT_ERROR : answer.kind;
	const message = { kind, outcome, raw: formatRaw(answer) };
	const isKept = await keepMessage(context, payment, message, kind === 'status');
	if (!isKept || !isOurs) return;
	const { id, operator, phone } = payment;
	const fields = { operator, payment: id, answer: redactMessage(answer.message, phone) };
	context.log.warn(fields, 'the operator refuses our account or settings: run "doctor"');
}

export const findMessages = (queries: Queries, paymentId: number) =>
	queries
		.selectFrom('operator_messages')
		.selectAll()
		.where('payment_id', '=', paymentId)
		.orderBy('id')
		.execute();

/** Messages with an outcome about the newest `most` payments, newest first. */
const findNewestMessages = (
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

const selectNewestOfKind = (queries: Reads, payment_id: number, kind: Kind) =>
	queries
		.selectFrom('operator_messages')
		.select('outcome')
		.where(({ and }) => and({ payment_id, kind }))
		.orderBy('id', 'desc');

/** Returns the outcome of the last status read that the operator answered. */
export const findLastStatusAnswer = (queries: Reads, paymentId: number) =>
	first(selectNewestOfKind(queries, paymentId, 'status').where('outcome', '<>', 'unavailable'));

/** Limits the count, because messages have no index by time. */
const COUNTED_PAYMENTS = 5_000;

/** Returns what operators said of our accounts in the last 24 hours, newest first. */
export const findMerchantErrors = ({ database, clock }: Pick<Base, 'database' | 'clock'>) =>
	findNewestMessages(database.db, {
		outcome: MERCHANT_ERROR,
		since: clock.now() - DAY_MS,
		most: COUNTED_PAYMENTS
	});
