import { lockName } from '#lib/server/db/locks.ts';
import { findCrowdedPools } from './billing/prompt-limits.ts';
import { sumBreakdown } from './billing/earnings.ts';
import { randomInt } from 'node:crypto';
import { DAY_MS, HOUR_MS, MINUTE_MS, dateAt, hourAt } from '#lib/domain/time.ts';
import { type Locale, isLocale } from '#lib/i18n/locales.ts';
import type { Base } from '#lib/server/base.ts';
import {
	type Channel,
	type Notifications,
	canSend,
	deleteOldNotifications,
	findRecentNotifications,
	queueNotification
} from './notifications.ts';
import { type Fenced, type JobHandlers, fenceHandlers, isLeaseLost } from '#lib/server/jobs.ts';
import { equalSecrets, hmac, sha256 } from '#lib/server/platform/secrets.ts';
import type { Queries, Reads, Tx } from '#lib/server/db/database.ts';
import { type Updateable, sql } from 'kysely';
import type { Row, Schema } from '#lib/server/db/schema.ts';

export type { Channel } from './notifications.ts';

/**
 * Alerts of owners and administrators. Each channel of an account has one address and the events that it gets; it is
 * off until the person has entered a code that was sent to the address.
 */

/** `reviews` is for administrators only. */
export const EVENTS = ['gateway', 'earnings', 'reviews'] as const;
export type AlertEvent = (typeof EVENTS)[number];

export interface Alerts extends Base {
	notifications: Notifications;
}

const CODE_MS = 15 * 60_000;
const CODE_DIGITS = 6;
/** With CODES_A_DAY, a guesser succeeds with a chance of 15 in 1,000,000 a day. */
const MAX_CODE_TRIES = 5;
const CODES_A_DAY = 3;

export const alertJobs = (context: Alerts, write: WriteAlert): JobHandlers =>
	fenceHandlers(context, { [FIND_ALERTS_JOB]: (fenced) => findAlerts(fenced, write) });

interface Own {
	accountId: number;
	channel: Channel;
}

export async function listAlertChannels({ database, notifications }: Alerts, accountId: number) {
	const rows = await findChannels(database.db, accountId);
	const all: readonly Channel[] = ['email', 'sms'];
	return all.map((channel) => {
		const row = rows.find((one) => one.channel === channel);
		return {
			channel,
			canSend: canSend(notifications, channel),
			address: row?.address ?? null,
			isConfirmed: row?.confirmed_at != null,
			events: row ? parseEvents(row) : []
		};
	});
}

const parseEvents = ({ events }: ChannelRow) => JSON.parse(events) as AlertEvent[];

/**
 * Replaces the address and sends a code to it. Nothing else is sent there before `confirm`.
 * @param address email address, or E.164
 * @returns false if too many codes were sent
 */
export function setAlertAddress(
	context: Alerts,
	{ accountId, channel }: Own,
	{
		address,
		locale,
		write
	}: { address: string; locale: Locale; write: (code: string) => { subject: string; text: string } }
): Promise<boolean> {
	const { database, clock, notifications } = context;
	const now = clock.now();
	return database.transact(async (trx) => {
		await lockName(trx, `alerts of ${accountId} by ${channel}`);
		const recent = await findRecentNotifications(trx, { accountId, channel }, now - DAY_MS);
		const codes = recent.filter(({ kind }) => kind === 'code');
		if (codes.length >= CODES_A_DAY) return false;
		const code = String(randomInt(10 ** CODE_DIGITS)).padStart(CODE_DIGITS, '0');
		const { id } = await storeAddress(
			trx,
			{ account_id: accountId, channel },
			{ address, locale, code_hash: hashCode(context, address, code), code_until: now + CODE_MS }
		);
		const key = `channel ${id} code ${now} ${codes.length}`;
		await queueNotification(notifications, trx, {
			accountId,
			channel,
			kind: 'code',
			key,
			address,
			...write(code)
		});
		return true;
	});
}

const hashCode = ({ secrets }: Alerts, address: string, code: string) =>
	hmac(secrets.derive('alert code', 32), `${address}:${code}`);

/**
 * Turns on the events for a channel that has none.
 * @returns false if the code is wrong, too old, or was tried too often
 */
export function confirmAlertChannel(
	context: Alerts,
	{ accountId, channel }: Own,
	{ code, events }: { code: string; events: readonly AlertEvent[] }
) {
	const { database, clock } = context;
	return database.transact(async (trx) => {
		await lockName(trx, `alerts of ${accountId} by ${channel}`);
		const row = (await findChannels(trx, accountId)).find((one) => one.channel === channel);
		// The form came twice.
		if (row?.code_hash === null && row.confirmed_at !== null) return true;
		if (!row || row.code_hash === null || (row.code_until ?? 0) <= clock.now()) return false;
		if (row.code_tries >= MAX_CODE_TRIES) return false;
		if (!equalSecrets(hashCode(context, row.address, code), row.code_hash)) {
			await updateChannel(trx, row.id, { code_tries: row.code_tries + 1 });
			return false;
		}
		const chosen = parseEvents(row).length > 0 ? row.events : JSON.stringify(events);
		const confirmed = { confirmed_at: clock.now(), code_hash: null, code_until: null, events: chosen };
		await updateChannel(trx, row.id, confirmed);
		return true;
	});
}

/** Sets the events and the language of alerts. Changes nothing before `confirm`. */
export const setAlertEvents = (
	context: Alerts,
	{ accountId, channel }: Own,
	{ events, locale }: { events: readonly AlertEvent[]; locale: Locale }
): Promise<void> =>
	context.database.transact(async (trx) => {
		await lockName(trx, `alerts of ${accountId} by ${channel}`);
		const row = (await findChannels(trx, accountId)).find((one) => one.channel === channel);
		if (row?.confirmed_at == null) return;
		await updateChannel(trx, row.id, { events: JSON.stringify(events), locale });
		// Only a channel that got the outage gets its end.
		if (events.includes('gateway')) return;
		await trx.deleteFrom('alert_outages').where('alert_channel_id', '=', row.id).execute();
	});

export const removeAlertChannel = ({ database }: Alerts, { accountId, channel }: Own) =>
	database.db
		.deleteFrom('alert_channels')
		.where(({ and }) => and({ account_id: accountId, channel }))
		.execute();

/**
 * Finds events once a minute, and queues one notification for each event and channel.
 *
 * Gateways: an alert once the outage has lasted OUTAGE_MINUTES, and another at its end; `alert_outages` has the open ones.
 * Earnings: those of the day before, from EARNINGS_HOUR in the time zone of reports, when the sums are final.
 * Reviews: decisions that wait, for administrators. Repeated only when a newer one has waited REVIEW_HOURS.
 * Limits: MAX_PER_DAY per channel, and MIN_INTERVAL_MS between alerts of a kind. An event over a limit is sent later,
 * together with others of its kind.
 */

/** Scheduled by the first migration. */
const FIND_ALERTS_JOB = 'alerts.find';

const INTERVAL_MS = MINUTE_MS;
/** Since the gateway's last message. */
export const OUTAGE_MINUTES = 10;
export const EARNINGS_HOUR = 7;
export const REVIEW_HOURS = 12;
export const MAX_PER_DAY = 12;
const MIN_INTERVAL_MS = {
	unresponsive: 30 * MINUTE_MS,
	responding: 30 * MINUTE_MS,
	earnings: HOUR_MS,
	reviews: DAY_MS
};

type AlertsJob = Fenced<Alerts>;

interface Outage {
	router: string;
	gateway: string;
	since: number;
}

export type Alert =
	| { kind: 'unresponsive' | 'responding'; gateways: readonly Outage[] }
	| { kind: 'earnings'; day: string; net: number; payments: number; currency: string }
	| { kind: 'reviews'; count: number };

/** Writes an alert. `text` has no greeting and no link. */
export type WriteAlert = (alert: Alert, locale: Locale) => { subject: string; text: string };

interface Run {
	now: number;
	write: WriteAlert;
}

/** @returns when to look again */
async function findAlerts(context: AlertsJob, write: WriteAlert): Promise<number> {
	const run = { now: context.clock.now(), write };
	await deleteOldNotifications(context.notifications);
	await findOutages(context, run);
	await findEarnings(context, run);
	await findReviews(context, run);
	await logUnpaidPrompts(context);
	return run.now + INTERVAL_MS;
}

async function findOutages(context: AlertsJob, run: Run): Promise<void> {
	const { db } = context.database;
	const before = run.now - OUTAGE_MINUTES * MINUTE_MS;
	const groups = [
		{ kind: 'unresponsive', found: await findUnresponsive(db, before), note: addOutage },
		{ kind: 'responding', found: await findResponding(db), note: endOutage }
	] as const;
	for (const { kind, found, note } of groups) {
		for (const rows of Map.groupBy(found, ({ id }) => id).values()) {
			const gateways = rows.map(({ since, ...row }) => ({ ...row, since: since ?? run.now }));
			const [channel] = gateways;
			if (!channel) continue;
			await queueAlert(context, run, channel, {
				alert: () => ({ kind, gateways }),
				event: sha256(gateways.map(({ gateway_id, since }) => `${gateway_id} ${since}`).join()),
				async note(trx) {
					for (const gateway of gateways) await note(trx, gateway);
				}
			});
		}
	}
}

async function findEarnings(context: AlertsJob, run: Run): Promise<void> {
	const { database, config } = context;
	const zone = config.reportTimezone;
	if (hourAt(run.now, zone) < EARNINGS_HOUR) return;
	// Noon of today minus a day is yesterday, also when the clocks change.
	const day = dateAt(Date.parse(`${dateAt(run.now, zone)}T12:00:00Z`) - DAY_MS, 'UTC');
	for (const channel of await findWithoutEarnings(database.db, day)) {
		await queueAlert(context, run, channel, {
			async alert() {
				const owner = { accountId: channel.account_id };
				const span = { period: 'daily', from: day, to: day } as const;
				const { total, currency } = await sumBreakdown(context, owner, span);
				return { kind: 'earnings', day, net: total.net, payments: total.sessions, currency };
			},
			event: day,
			note: (trx) => updateChannel(trx, channel.id, { earnings_day: day })
		});
	}
}

async function findReviews(context: AlertsJob, run: Run): Promise<void> {
	const before = run.now - REVIEW_HOURS * HOUR_MS;
	for (const channel of await findWaitingReviews(context.database.db, before)) {
		const { id, count, newest } = channel;
		await queueAlert(context, run, channel, {
			alert: () => ({ kind: 'reviews', count }),
			event: `${newest}`,
			note: (trx) => updateChannel(trx, id, { review_id: newest })
		});
	}
}

async function logUnpaidPrompts(context: AlertsJob): Promise<void> {
	const pools = await findCrowdedPools(context);
	if (pools.length === 0) return;
	context.log.warn(
		{ part: 'security', from: pools },
		'too many payment prompts are unpaid: new buyers are refused'
	);
}

interface Found {
	alert(): Alert | Promise<Alert>;
	/** Distinguishes alerts of one kind. */
	event: string;
	/** Stores in the same transaction that the alert is queued. */
	note(trx: Tx): Promise<unknown>;
}

/** An error must not stop the alerts of others. The next run tries again. */
async function queueAlert(
	{ database, notifications, log }: AlertsJob,
	{ now, write }: Run,
	{ id, account_id: accountId, channel, address, locale }: ChannelRow,
	found: Found
): Promise<void> {
	try {
		const alert = await found.alert();
		const { kind } = alert;
		await database.transact(async (trx) => {
			await lockName(trx, `alerts of ${accountId} by ${channel}`);
			const recent = await findRecentNotifications(trx, { accountId, channel }, now - DAY_MS);
			const isEarly = recent.some((one) => one.kind === kind && now - one.created_at < MIN_INTERVAL_MS[kind]);
			if (isEarly || recent.length >= MAX_PER_DAY) return;
			await found.note(trx);
			const content = write(alert, isLocale(locale) ? locale : 'en');
			const key = `channel ${id} ${kind} ${found.event}`;
			await queueNotification(notifications, trx, { accountId, channel, kind, key, address, ...content });
		});
	} catch (error) {
		if (isLeaseLost(error)) throw error;
		log.error({ err: error, account: accountId, channel: id }, 'an alert failed; it is tried again');
	}
}

type ChannelRow = Row<'alert_channels'>;
type OwnChannel = Pick<ChannelRow, 'account_id' | 'channel'>;

const findChannels = (queries: Queries, accountId: number) =>
	queries.selectFrom('alert_channels').selectAll().where('account_id', '=', accountId).execute();

/** Creates the channel, or replaces its address, which must then be confirmed. */
const storeAddress = (
	queries: Queries,
	own: OwnChannel,
	to: Pick<ChannelRow, 'address' | 'locale' | 'code_hash' | 'code_until'>
) => {
	const values = { ...to, confirmed_at: null, code_tries: 0 };
	return queries
		.insertInto('alert_channels')
		.values({ ...own, ...values })
		.onConflict((conflict) => conflict.columns(['account_id', 'channel']).doUpdateSet(values))
		.returningAll()
		.executeTakeFirstOrThrow();
};

const updateChannel = (queries: Queries, id: number, to: Updateable<Schema['alert_channels']>) =>
	queries.updateTable('alert_channels').set(to).where('id', '=', id).execute();

/** Channels that get an event: confirmed, and of an account that is not suspended. */
const selectChannels = (queries: Reads, event: string) =>
	queries
		.selectFrom('alert_channels')
		.innerJoin('accounts', 'accounts.id', 'alert_channels.account_id')
		.where('accounts.status', '=', 'active')
		.where('alert_channels.confirmed_at', 'is not', null)
		// Event names are quoted in the JSON and contain no wildcard of LIKE.
		.where('alert_channels.events', 'like', `%"${event}"%`);

/** Gateways that stopped responding before a moment, without an alert yet, by channel. */
const findUnresponsive = (queries: Reads, before: number) =>
	selectChannels(queries, 'gateway')
		.innerJoin('routers', 'routers.owner_account_id', 'accounts.id')
		.innerJoin('gateways', 'gateways.router_id', 'routers.id')
		.selectAll('alert_channels')
		.select(['gateways.id as gateway_id', 'routers.name as router', 'gateways.name as gateway'])
		.select('gateways.unresponsive_since as since')
		.where('routers.disabled_at', 'is', null)
		.where('gateways.seen_at', 'is not', null)
		.where('gateways.unresponsive_since', '<=', before)
		.where(({ not, exists, selectFrom }) =>
			not(
				exists(
					selectFrom('alert_outages')
						.select('since')
						.whereRef('alert_channel_id', '=', 'alert_channels.id')
						.whereRef('gateway_id', '=', 'gateways.id')
				)
			)
		)
		.orderBy('gateways.unresponsive_since')
		.execute();

/** Gateways with an outage alert that respond again, by channel. */
const findResponding = (queries: Reads) =>
	selectChannels(queries, 'gateway')
		.innerJoin('alert_outages', 'alert_outages.alert_channel_id', 'alert_channels.id')
		.innerJoin('gateways', 'gateways.id', 'alert_outages.gateway_id')
		.innerJoin('routers', 'routers.id', 'gateways.router_id')
		.selectAll('alert_channels')
		.select(['gateways.id as gateway_id', 'routers.name as router', 'gateways.name as gateway'])
		.select('alert_outages.since')
		.whereRef('routers.owner_account_id', '=', 'alert_channels.account_id')
		.where('gateways.unresponsive_since', 'is', null)
		.orderBy('gateways.id')
		.execute();

const addOutage = (
	queries: Queries,
	{ id, gateway_id, since }: { id: number; gateway_id: number; since: number }
) => queries.insertInto('alert_outages').values({ alert_channel_id: id, gateway_id, since }).execute();

const endOutage = (queries: Queries, { id, gateway_id }: { id: number; gateway_id: number }) =>
	queries
		.deleteFrom('alert_outages')
		.where('alert_channel_id', '=', id)
		.where('gateway_id', '=', gateway_id)
		.execute();

const findWithoutEarnings = (queries: Reads, day: string) =>
	selectChannels(queries, 'earnings')
		.selectAll('alert_channels')
		.where(({ or, eb }) => or([eb('earnings_day', 'is', null), eb('earnings_day', '<', day)]))
		.orderBy('alert_channels.id')
		.execute();

/** Channels of administrators with reviews that are open since before a moment, the newest of them without an alert. */
const findWaitingReviews = (queries: Reads, before: number) =>
	selectChannels(queries, 'reviews')
		.innerJoin('reviews', (join) =>
			join.on('reviews.resolved_at', 'is', null).on('reviews.opened_at', '<=', before)
		)
		.where('accounts.role', '=', 'admin')
		.selectAll('alert_channels')
		.select(({ fn }) => [fn.countAll<number>().as('count'), fn.max('reviews.id').as('newest')])
		.groupBy('alert_channels.id')
		.having(sql<boolean>`max(reviews.id) > alert_channels.review_id`)
		.execute();
