import { DAY_MS, MINUTE_MS, buckets, dateAt } from '../domain/time.ts';
import type { Base } from './base.ts';
import { maskPhone } from '../domain/phone.ts';
import { toMajor } from '../domain/money.ts';
import type { HttpClient, HttpOutcome } from './platform/http-client.ts';
import type { Queries, Reads, Tx } from './db/database.ts';
import { type Fenced, type JobHandlers, fenceHandlers } from './jobs.ts';
import type { Mailer } from './platform/mail.ts';
import { sha256 } from './platform/secrets.ts';
import type { Insertable, Updateable } from 'kysely';
import { first } from './db/queries.ts';
import type { Row, Schema } from './db/schema.ts';
import type { Config } from '#lib/server/config/config.ts';
import { z } from 'zod';

/**
 * Sends emails and SMS that a transaction has queued.
 *
 * States: `queued`, `sending`, then `sent`, `failed` or `uncertain`.
 * Guarantees: a reason (`key`) has one notification. An SMS costs money, so it is repeated only if the request reached
 * nobody; after a lost response or a crash it is `uncertain` and counts as paid, and a buyer may ask for the code once
 * more. An email is repeated after any error, because a second copy costs nothing.
 * Security: the content, which may have a code, is sealed and deleted after the last attempt.
 */

export type Channel = NotificationRow['channel'];

interface NewNotification {
	/** null for a buyer. */
	accountId: number | null;
	channel: Channel;
	kind: NotificationRow['kind'];
	key: string;
	address: string;
	subject: string;
	text: string;
}

export interface Notifications extends Base {
	mailer: Mailer;
	/** null: no SMS. */
	sms: SmsProvider | null;
}

const SEND_NOTIFICATION_JOB = 'notifications.send';
/** Groups of jobs, so that a slow mail server or SMS provider never delays payments. Webhook endpoints count from 1. */
const GROUPS: Readonly<Record<Channel, number>> = { email: 0, sms: -1 };

const MAX_TRIES = 5;
/** An older notification is of no use, for example in a restored database. */
const FRESH_MS = 6 * 60 * MINUTE_MS;
/** At most KEEP_NUMBERS_DAYS, whose minimum is 90. */
const KEEP_MS = 90 * DAY_MS;
/** For one purchase, however many SMS its number has got: only a number that paid gets codes. */
const CODE_TRIES = 2;
const MAY_BE_MISSING: readonly string[] = ['failed', 'uncertain'] satisfies NotificationRow['status'][];

export function createNotifications({
	http,
	...context
}: Base & { mailer: Mailer; http: HttpClient }): Notifications {
	const { sms } = context.config;
	return { ...context, sms: sms && createSmsProvider(sms, http) };
}

export const notificationJobs = (context: Notifications): JobHandlers =>
	fenceHandlers(context, { [SEND_NOTIFICATION_JOB]: sendNotification });

export const canSend = ({ mailer, sms }: Notifications, channel: Channel): boolean =>
	channel === 'email' ? mailer.problem === null : sms !== null;

/** Queues a notification in the caller's transaction, unless its reason has one. @returns whether it did */
export async function queueNotification(
	{ clock, config, secrets, jobs }: Notifications,
	trx: Tx,
	{ accountId, subject, text, ...notification }: NewNotification
): Promise<boolean> {
	const now = clock.now();
	const isSms = notification.channel === 'sms';
	const plain = isSms ? formatSmsText(text) : text;
	const content = JSON.stringify({ subject, text: plain });
	const id = await insertNotification(trx, {
		...notification,
		account_id: accountId,
		content_sealed: secrets.encrypt(content, formatSealContext(notification)),
		status: 'queued',
		price_minor: isSms ? countSmsParts(plain) * (config.sms?.priceMinor ?? 0) : 0,
		currency: config.currency,
		created_at: now
	});
	if (id === null) return false;
	const groupId = GROUPS[notification.channel];
	await jobs.scheduleAll(trx, [{ kind: SEND_NOTIFICATION_JOB, groupId, subjectId: id, runAt: now }]);
	return true;
}

const formatSealContext = ({ key }: Pick<NewNotification, 'key'>) => `notification:${key}`;

/** @returns when to try again, or null */
async function sendNotification(context: Fenced<Notifications>, id: number): Promise<number | null> {
	const { database, clock, log, secrets } = context;
	const notification = await findNotification(database.db, id);
	if (!notification || notification.content_sealed === null) return null;
	const { channel, kind, tries, status, created_at } = notification;
	const facts = { notification: id, channel, kind, to: maskPhone(notification.address) };
	const store = (to: Updateable<Schema['notifications']>) =>
		database.transact((trx) => trx.updateTable('notifications').set(to).where('id', '=', id).execute());
	const finish = async (as: 'sent' | 'failed' | 'uncertain', reason?: string) => {
		await store({ status: as, content_sealed: null });
		if (as !== 'sent') log.warn({ ...facts, reason }, `notification ${as}`);
		return null;
	};
	const now = clock.now();
	if (status === 'sending' && channel === 'sms') return finish('uncertain', 'interrupted');
	if (now - created_at > FRESH_MS) return finish('failed', 'too old');
	const content = openContent(secrets, notification, notification.content_sealed);
	if (content === null) return finish('failed', 'no accepted secret opens it');
	await store({ status: 'sending', tries: tries + 1 });
	const outcome = await deliver(context, notification, content);
	if (outcome.kind === 'sent') return finish('sent');
	if (outcome.kind === 'uncertain') return finish('uncertain', outcome.reason);
	if (outcome.kind === 'refused' || tries + 1 >= MAX_TRIES) return finish('failed', outcome.reason);
	await store({ status: 'queued' });
	return clock.now() + MINUTE_MS * 2 ** tries;
}

type Content = Pick<NewNotification, 'subject' | 'text'>;

function openContent(secrets: Notifications['secrets'], notification: NotificationRow, sealed: string) {
	try {
		return JSON.parse(secrets.decrypt(sealed, formatSealContext(notification))) as Content;
	} catch {
		return null;
	}
}

async function deliver(
	{ sms, mailer }: Pick<Notifications, 'sms' | 'mailer'>,
	{ channel, address }: NotificationRow,
	content: Content
): Promise<SmsOutcome> {
	if (channel === 'sms') {
		if (sms === null) return { kind: 'refused', reason: 'no provider' };
		return sms.send({ to: address, text: content.text });
	}
	try {
		await mailer.send({ to: address, ...content });
		return { kind: 'sent' };
	} catch (error) {
		// A mail server quotes what it refuses, so its words stay out of the log.
		return { kind: 'unsent', reason: error instanceof Error ? error.name : 'mail error' };
	}
}

/** Sums the SMS of an account that were or may have been sent this month. @returns `price` in major units */
export async function sumSmsOfMonth({ database, clock, config }: Notifications, accountId: number) {
	const today = dateAt(clock.now(), config.reportTimezone);
	const [month] = buckets('monthly', { from: today, to: today }, today, config.reportTimezone) ?? [];
	const rows = await findRecentNotifications(database.db, { accountId, channel: 'sms' }, month?.from ?? 0);
	const paid = rows.filter(
		({ status, currency }) => (status === 'sent' || status === 'uncertain') && currency === config.currency
	);
	const sum = paid.reduce((total, { price_minor }) => total + price_minor, 0);
	return { count: paid.length, price: toMajor(sum, config.currency) };
}

const listCodeKeys = (token: string) =>
	Array.from({ length: CODE_TRIES }, (_, attempt) => `purchase ${sha256(token)} ${attempt}`);

/**
 * Returns the state of the SMS with a purchase's code, and the number it went to: null before the first. `mayAsk`: a
 * click sends one.
 */
export async function findCodeSms({ database, config }: Notifications, token: string) {
	if (!config.sms?.buyerCodes) return null;
	const sent = await findByKeys(database.db, listCodeKeys(token));
	const newest = sent.at(-1);
	const status = newest?.status ?? null;
	return {
		status,
		phone: newest?.address ?? null,
		mayAsk: sent.length < CODE_TRIES && (status === null || MAY_BE_MISSING.includes(status))
	};
}

/**
 * Sends a purchase's code, unless `codeOf` forbids it. Repeating it sends nothing.
 * @param sms.phone the number that paid, in E.164
 */
export async function sendCodeSms(
	context: Notifications,
	token: string,
	sms: { phone: string; text: string }
): Promise<void> {
	const { database, config } = context;
	if (!config.sms?.buyerCodes) return;
	await database.transact(async (trx) => {
		const keys = listCodeKeys(token);
		const sent = await findByKeys(trx, keys);
		const key = keys[sent.length];
		if (key === undefined || sent.some(({ status }) => !MAY_BE_MISSING.includes(status))) return;
		const about = { accountId: null, channel: 'sms', kind: 'buyer', key, subject: '' } as const;
		await queueNotification(context, trx, { ...about, address: sms.phone, text: sms.text });
	});
}

type NotificationRow = Row<'notifications'>;

/** Returns null if a notification with the key exists. */
async function insertNotification(queries: Queries, notification: Insertable<Schema['notifications']>) {
	const row = await queries
		.insertInto('notifications')
		.values(notification)
		.onConflict((conflict) => conflict.column('key').doNothing())
		.returning('id')
		.executeTakeFirst();
	return row?.id ?? null;
}

const findNotification = (queries: Reads, id: number) =>
	first(queries.selectFrom('notifications').selectAll().where('id', '=', id));

const findByKeys = (queries: Queries, keys: readonly string[]) =>
	queries.selectFrom('notifications').selectAll().where('key', 'in', keys).orderBy('id').execute();

/** Lists the notifications of an account, failed ones included. */
export const findRecentNotifications = (
	queries: Queries,
	of: { accountId: number; channel: NotificationRow['channel'] },
	since: number
) =>
	queries
		.selectFrom('notifications')
		.select(['kind', 'status', 'price_minor', 'currency', 'created_at'])
		.where('account_id', '=', of.accountId)
		.where('channel', '=', of.channel)
		.where('created_at', '>=', since)
		.execute();

const MAX_DELETED = 1_000;

export const deleteOldNotifications = ({ database, clock }: Notifications) =>
	database.db
		.deleteFrom('notifications')
		.where('id', 'in', (old) =>
			old
				.selectFrom('notifications')
				.select('id')
				.where('created_at', '<', clock.now() - KEEP_MS)
				.orderBy('created_at')
				.limit(MAX_DELETED)
		)
		.execute();

/** `unsent`: nothing arrived, so it may be sent again. `uncertain`: it may have been sent and paid for. */
type SmsOutcome =
	{ kind: 'sent'; reason?: never } | { kind: 'refused' | 'unsent' | 'uncertain'; reason: string };

interface SmsProvider {
	/** Sends one request. Never throws. @param to E.164 */
	send(sms: { to: string; text: string }): Promise<SmsOutcome>;
}

type SmsConfig = NonNullable<Config['sms']>;
type AfricasTalkingConfig = Extract<SmsConfig['provider'], { kind: 'africastalking' }>;
type HttpProviderConfig = Extract<SmsConfig['provider'], { kind: 'http' }>;

/** The outcome of a request without a success: only an answer 4xx, or no connection, says that nothing was sent. */
function classifyFailure(outcome: HttpOutcome): SmsOutcome {
	if (outcome.kind === 'failure') {
		return { kind: outcome.sent ? 'uncertain' : 'unsent', reason: outcome.cause };
	}
	const { status } = outcome;
	const reason = `HTTP ${status}`;
	if (status === 429) return { kind: 'unsent', reason };
	return { kind: status >= 400 && status < 500 ? 'refused' : 'uncertain', reason };
}

/** The GSM 7-bit alphabet (3GPP TS 23.038, 6.2.1) without its extension. Other characters take 16 bits. */
const GSM = /^[@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !"#¤%&'()*+,\-./0-9:;<=>?¡A-ZÄÖÑÜ§¿a-zäöñüà]*$/;

const SEVEN_BIT = { whole: 160, part: 153 };
const SIXTEEN_BIT = { whole: 70, part: 67 };

/** Typographic characters of pages, which would more than double the price, by their plain form. */
const PLAIN: readonly [RegExp, string][] = [
	[/[\u2060\u2066-\u2069]/g, ''],
	[/[\u00a0\u202f]/g, ' '],
	[/[\u2010\u2011\u2013\u2212]/g, '-'],
	[/[‘’]/g, "'"],
	[/[“”«»]/g, '"']
];

export const formatSmsText = (text: string): string =>
	PLAIN.reduce((plain, [pattern, instead]) => plain.replace(pattern, instead), text);

/** Counts the SMS that providers charge for. */
export function countSmsParts(text: string): number {
	const { whole, part } = GSM.test(text) ? SEVEN_BIT : SIXTEEN_BIT;
	return text.length <= whole ? 1 : Math.ceil(text.length / part);
}

export const httpProvider = ({ url, headers, body }: HttpProviderConfig, http: HttpClient): SmsProvider => ({
	async send({ to, text }) {
		const values: Record<string, string> = { number: to, digits: to.slice(1), text };
		const written = isForm(headers) ? encodeURIComponent : inJson;
		const outcome = await http.send({
			method: 'POST',
			url,
			headers,
			body: body.replace(/\{(number|digits|text)\}/g, (_, name: string) => written(values[name] ?? ''))
		});
		const isSent = outcome.kind === 'response' && outcome.status >= 200 && outcome.status < 300;
		return isSent ? { kind: 'sent' } : classifyFailure(outcome);
	}
});

const isForm = (headers: Record<string, string>): boolean =>
	Object.entries(headers).some(
		([name, value]) => name.toLowerCase() === 'content-type' && value.includes('urlencoded')
	);

/** Without the quotes, which the template has. */
const inJson = (text: string): string => JSON.stringify(text).slice(1, -1);

/** Source: developers.africastalking.com/docs/sms/sending/bulk */

const ANSWER = z.object({
	SMSMessageData: z.object({
		Message: z.string().default(''),
		Recipients: z.array(z.object({ statusCode: z.number(), status: z.string().default('') }))
	})
});

/** Processed, sent, queued. */
const ACCEPTED = [100, 101, 102];

const africasTalking = (
	{ url, username, apiKey, sender }: AfricasTalkingConfig,
	http: HttpClient
): SmsProvider => ({
	async send({ to, text }) {
		const form = { username, to, message: text, ...(sender !== null && { from: sender }) };
		const outcome = await http.send({
			method: 'POST',
			url: `${url}/version1/messaging`,
			headers: {
				apiKey,
				accept: 'application/json',
				'content-type': 'application/x-www-form-urlencoded'
			},
			body: new URLSearchParams(form).toString()
		});
		const isAnswer = outcome.kind === 'response' && outcome.status >= 200 && outcome.status < 300;
		return isAnswer ? read(outcome.text) : classifyFailure(outcome);
	}
});

/** Without recipients, the message says why none got it, such as an invalid sender. */
function read(body: string): SmsOutcome {
	let data: z.output<typeof ANSWER>['SMSMessageData'];
	try {
		data = ANSWER.parse(JSON.parse(body)).SMSMessageData;
	} catch {
		return { kind: 'uncertain', reason: 'unreadable answer' };
	}
	const [recipient] = data.Recipients;
	if (!recipient) return { kind: 'refused', reason: data.Message };
	if (ACCEPTED.includes(recipient.statusCode)) return { kind: 'sent' };
	return { kind: 'refused', reason: `${recipient.statusCode} ${recipient.status}` };
}

const createSmsProvider = ({ provider }: SmsConfig, http: HttpClient): SmsProvider =>
	provider.kind === 'africastalking' ? africasTalking(provider, http) : httpProvider(provider, http);
