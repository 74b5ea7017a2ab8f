import { DAY_MS, MINUTE_MS } from '#lib/domain/time.ts';
import type { Base } from '#lib/server/base.ts';
import { sql } from 'kysely';
import type { Database } from '#lib/server/db/database.ts';
import { type EndpointRow, failPending } from './webhook-delivery.ts';
import { isoTime } from '#lib/server/platform/clock.ts';
import type { Mail, Mailer } from '#lib/server/platform/mail.ts';
import { findAccount } from '../accounts/accounts.ts';

/** Disables endpoints that keep failing, notifies their accounts, and deletes deliveries older than a month. */

/** The first migration creates the job's row. */
export const UPKEEP_JOB = 'webhooks.upkeep';

const EVERY_MS = MINUTE_MS;
export const NOTIFY_AFTER_MS = 3 * DAY_MS;
export const DISABLE_AFTER_MS = 5 * DAY_MS;
/** An endpoint with fewer failures in five days is not disabled. */
export const MIN_FAILURES = 10;
export const KEEP_MS = 30 * DAY_MS;
/** Rows per statement, so that it stays short. */
const BATCH = 2_000;
const NOTICE_LEASE_MS = 5 * MINUTE_MS;

interface UpkeepContext extends Pick<Base, 'database' | 'clock' | 'log'> {
	/** Is called again after an error. `notice`: it fails for three days, or it is disabled. */
	notify(endpoint: EndpointRow): Promise<void>;
}

/** Returns when to run again. */
export async function keepWebhooks(context: UpkeepContext): Promise<number> {
	const now = context.clock.now();
	await disableFailing(context.database, now);
	await notifyAccounts(context, now);
	await deleteOld(context.database, now);
	return now + EVERY_MS;
}

async function disableFailing({ db }: Database, now: number): Promise<void> {
	await db
		.updateTable('webhook_endpoints')
		.set({ status: 'disabled', disabled_reason: 'failing', notice: 'disabled', updated_at: now })
		.where('status', '=', 'active')
		.where('failing_since', '<=', now - DISABLE_AFTER_MS)
		.where(
			sql<boolean>`(select count(*) from (
					select 1 from webhook_attempts a join webhook_deliveries d on d.id = a.delivery_id
					where d.endpoint_id = webhook_endpoints.id and d.type <> 'webhook.test'
						and a.started_at >= webhook_endpoints.failing_since
					limit ${MIN_FAILURES}) as failures) >= ${MIN_FAILURES}`
		)
		.execute();
	// Includes endpoints that were disabled during a delivery.
	await failPending(db)
		.where('endpoint_id', 'in', (from) =>
			from.selectFrom('webhook_endpoints').select('id').where('status', '=', 'disabled')
		)
		.execute();
	await db
		.updateTable('webhook_endpoints')
		.set({ failing_noticed: 1, notice: 'failing' })
		.where('status', '=', 'active')
		.where('failing_noticed', '=', 0)
		.where('failing_since', '<=', now - NOTIFY_AFTER_MS)
		.execute();
}

/** Leases each notification, so that one process sends it, and clears it afterwards. */
async function notifyAccounts({ database: { db }, log, notify }: UpkeepContext, now: number): Promise<void> {
	const due = await db
		.updateTable('webhook_endpoints')
		.set({ notice_lease_until: now + NOTICE_LEASE_MS })
		.where('notice', 'is not', null)
		.where((where) =>
			where.or([where('notice_lease_until', 'is', null), where('notice_lease_until', '<=', now)])
		)
		.returningAll()
		.execute();
	for (const endpoint of due) {
		const { id, account_id: account, notice } = endpoint;
		try {
			await notify(endpoint);
			log.warn({ endpoint: id, account, notice }, 'webhook fails');
			await db
				.updateTable('webhook_endpoints')
				.set({ notice: null, notice_lease_until: null })
				.where('id', '=', id)
				.where('notice', '=', notice)
				.execute();
		} catch (error) {
			log.warn({ err: error, endpoint: id }, 'notice not sent; it will be tried again');
		}
	}
}

async function deleteOld({ db }: Database, now: number): Promise<void> {
	const before = now - KEEP_MS;
	await sql`delete from webhook_deliveries where id in (select id from webhook_deliveries
			where updated_at < ${before} and status <> 'pending' limit ${BATCH})`.execute(db);
	await sql`delete from webhook_attempts where id in (select id from webhook_attempts
			where started_at < ${before} limit ${BATCH})`.execute(db);
	await sql`update events set data = '{}' where id in (select id from events
			where created_at + 0 < ${before} and data <> '{}' limit ${BATCH})`.execute(db);
	await db
		.updateTable('webhook_endpoints')
		.set({ old_secret_sealed: null, old_secret_until: null })
		.where('old_secret_until', '<=', now)
		.execute();
}

/** Sends the email about an endpoint. Without a mail server, only the log has the notice. */
export async function sendNotice(context: Base & { mailer: Mailer }, endpoint: EndpointRow): Promise<void> {
	const { config, mailer } = context;
	const account = await findAccount(context, endpoint.account_id);
	if (!account || mailer.problem !== null) return;
	await mailer.send(formatNotice(endpoint, { email: account.email, origin: config.origin }));
}

/** Writes the email about a failing webhook. @param origin address of the developer area, if known */
export function formatNotice(
	{
		id,
		url,
		notice,
		failing_since: failingSince,
		disabled_reason: reason
	}: Pick<EndpointRow, 'id' | 'url' | 'notice' | 'failing_since' | 'disabled_reason'>,
	to: { email: string; origin: string | null }
): Mail {
	const { host, origin } = new URL(url);
	const where = to.origin === null ? 'the developer area' : `${to.origin}/developer/webhooks/${id}`;
	const isDisabled = notice === 'disabled';
	const isGone = reason === 'gone';
	return {
		to: to.email,
		subject: isDisabled ? `Webhook to ${host} is disabled` : `Webhook to ${host} has failed for three days`,
		text: [
			`Your webhook number ${id} does not take our events:`,
			'',
			// The whole address may contain a secret of the receiver.
			`${host}${url === origin ? '' : '/…'}`,
			'',
			...(isGone ? ['It answered 410 Gone, so we have stopped.'] : []),
			...(isGone || failingSince === null
				? []
				: [`No attempt has succeeded since ${isoTime(failingSince)}.`]),
			isDisabled
				? 'It is disabled now. Its events are kept for 30 days and not sent.'
				: 'If that goes on, it will be disabled after five days.',
			'',
			`What was sent and answered, and how to ${isDisabled ? 'enable it and send it again' : 'test it'}: ${where}`
		].join('\n')
	};
}
