import { DAY_MS, MINUTE_MS, buckets, dateAt } from '../../domain/time.ts';
import type { Base } from '../base.ts';
import { maskPhone } from '../../domain/phone.ts';
import { toMajor } from '../../domain/money.ts';
import type { HttpClient } from '../platform/http-client.ts';
import type { Queries, Reads, Tx } from '../db/database.ts';
import { type Fenced, fenceHandlers } from '../jobs.ts';
import type { Mailer } from '../platform/mail.ts';
import { binder } from '../platform/bind.ts';
import { sha256 } from '../platform/secrets.ts';
import { type SmsOutcome, type SmsProvider, createProvider, partsOf, smsText } from './sms.ts';
import type { Insertable, Selectable, Updateable } from 'kysely';
import { first } from '../db/queries.ts';
import type { NotificationsTable } from '../db/schema.ts';

/**
 * Sends emails and SMS that a transaction has queued.
 *
 * States: `queued`, `sending`, then `sent`, `failed` or `uncertain`.
 * Guarantees: a reason (`key`) has one notification. An SMS costs money, so it is repeated only if the request reached
 * nobody; after a lost response or a crash it is `uncertain` and counts as paid, and a buyer may ask for the code once
 * more. An email is repeated after any error, because a second copy costs nothing.
 * Security: the content, which may have a code, is sealed and deleted after the last attempt.
 */
export type Notifications = ReturnType<typeof createNotifications>;

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

interface NotificationsContext extends Base {
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

export function createNotifications({ http, ...context }: Base & { mailer: Mailer; http: HttpClient }) {
	const { sms } = context.config;
	const own: NotificationsContext = { ...context, sms: sms && createProvider(sms, http) };
	const bind = binder(own);
	return {
		canSend: (channel: Channel) => (channel === 'email' ? context.mailer.problem === null : sms !== null),
		queue: bind(queue),
		/** Lists the notifications of an account, failed ones included. */
		recent: (trx: Tx, of: { accountId: number; channel: Channel }, since: number) =>
			ofAccount(trx, of, since),
		smsOfMonth: bind(smsOfMonth),
		codeOf: bind(codeOf),
		sendCode: bind(sendCode),
		deleteOld: () => deleteOld(context.database.db, context.clock.now() - KEEP_MS),
		jobs: fenceHandlers(own, { [SEND_NOTIFICATION_JOB]: send })
	};
}

/** Queues a notification in the caller's transaction, unless its reason has one. @returns whether it did */
async function queue(
	{ clock, config, secrets, jobs }: NotificationsContext,
	trx: Tx,
	{ accountId, subject, text, ...notification }: NewNotification
): Promise<boolean> {
	const now = clock.now();
	const isSms = notification.channel === 'sms';
	const plain = isSms ? smsText(text) : text;
	const content = JSON.stringify({ subject, text: plain });
	const id = await insert(trx, {
		...notification,
		account_id: accountId,
		content_sealed: secrets.encrypt(content, contentOf(notification)),
		status: 'queued',
		price_minor: isSms ? partsOf(plain) * (config.sms?.priceMinor ?? 0) : 0,
		currency: config.currency,
		created_at: now
	});
	if (id !== null)
		await jobs.scheduleInGroup(trx, SEND_NOTIFICATION_JOB, GROUPS[notification.channel], [id], now);
	return id !== null;
}

const contentOf = ({ key }: Pick<NewNotification, 'key'>) => `notification:${key}`;

/** @returns when to try again, or null */
async function send(context: Fenced<NotificationsContext>, id: number): Promise<number | null> {
	const { database, clock, log, secrets } = context;
	const notification = await find(database.db, id);
	if (!notification || notification.content_sealed === null) return null;
	const { channel, kind, tries, status, created_at } = notification;
	const facts = { notification: id, channel, kind, to: maskPhone(notification.address) };
	const store = (to: Updateable<NotificationsTable>) =>
		database.write((trx) => trx.updateTable('notifications').set(to).where('id', '=', id).execute());
	const finish = async (as: 'sent' | 'failed' | 'uncertain', reason?: string) => {
		await store({ status: as, content_sealed: null });
		if (as !== 'sent') log.warn({ ...facts, reason }, `notification ${as}`);
		return null;
	};
	const now = clock.now();
	if (status === 'sending' && channel === 'sms') return finish('uncertain', 'interrupted');
	if (now - created_at > FRESH_MS) return finish('failed', 'too old');
	const content = contentIn(secrets, notification, notification.content_sealed);
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

function contentIn(
	secrets: NotificationsContext['secrets'],
	notification: NotificationRow,
	sealed: string
): Content | null {
	try {
		return JSON.parse(secrets.decrypt(sealed, contentOf(notification))) as Content;
	} catch {
		return null;
	}
}

async function deliver(
	{ sms, mailer }: Pick<NotificationsContext, 'sms' | 'mailer'>,
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
async function smsOfMonth({ database, clock, config }: NotificationsContext, accountId: number) {
	const today = dateAt(clock.now(), config.reportTimezone);
	const [month] = buckets('monthly', { from: today, to: today }, today, config.reportTimezone) ?? [];
	const rows = await ofAccount(database.db, { accountId, channel: 'sms' }, month?.from ?? 0);
	const paid = rows.filter(
		({ status, currency }) => (status === 'sent' || status === 'uncertain') && currency === config.currency
	);
	const sum = paid.reduce((total, { price_minor }) => total + price_minor, 0);
	return { count: paid.length, price: toMajor(sum, config.currency) };
}

const codeKeys = (token: string) =>
	Array.from({ length: CODE_TRIES }, (_, attempt) => `purchase ${sha256(token)} ${attempt}`);

/**
 * Returns the state of the SMS with a purchase's code, and the number it went to: null before the first. `mayAsk`: a
 * click sends one.
 */
async function codeOf({ database, config }: NotificationsContext, token: string) {
	if (!config.sms?.buyerCodes) return null;
	const sent = await byKeys(database.db, codeKeys(token));
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
async function sendCode(
	context: NotificationsContext,
	token: string,
	sms: { phone: string; text: string }
): Promise<void> {
	const { database, config } = context;
	if (!config.sms?.buyerCodes) return;
	await database.transact(async (trx) => {
		const keys = codeKeys(token);
		const sent = await byKeys(trx, keys);
		const key = keys[sent.length];
		if (key === undefined || sent.some(({ status }) => !MAY_BE_MISSING.includes(status))) return;
		const about = { accountId: null, channel: 'sms', kind: 'buyer', key, subject: '' } as const;
		await queue(context, trx, { ...about, address: sms.phone, text: sms.text });
	});
}

type NotificationRow = Selectable<NotificationsTable>;

/** Returns null if a notification with the key exists. */
async function insert(
	queries: Queries,
	notification: Insertable<NotificationsTable>
): Promise<number | null> {
	const row = await queries
		.insertInto('notifications')
		.values(notification)
		.onConflict((conflict) => conflict.column('key').doNothing())
		.returning('id')
		.executeTakeFirst();
	return row?.id ?? null;
}

const find = (queries: Reads, id: number) =>
	first(queries.selectFrom('notifications').selectAll().where('id', '=', id));

const byKeys = (queries: Queries, keys: readonly string[]) =>
	queries.selectFrom('notifications').selectAll().where('key', 'in', keys).orderBy('id').execute();

const ofAccount = (
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

const deleteOld = (queries: Queries, before: number) =>
	queries
		.deleteFrom('notifications')
		.where('id', 'in', (old) =>
			old
				.selectFrom('notifications')
				.select('id')
				.where('created_at', '<', before)
				.orderBy('created_at')
				.limit(MAX_DELETED)
		)
		.execute();
