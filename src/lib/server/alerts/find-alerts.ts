import { DAY_MS, HOUR_MS, MINUTE_MS } from '#lib/format/time.ts';
import { dateAt, hourAt } from '#lib/format/calendar.ts';
import { isLocale, type Locale } from '#lib/i18n/locales.ts';
import type { Tx } from '#lib/server/db/database.ts';
import { sha256 } from '#lib/server/platform/secrets.ts';
import type { AlertsContext } from './alerts.ts';
import * as store from './store.ts';

/**
 * Finds events once a minute, and queues one notification for each event and channel.
 *
 * Gateways: an alert once the outage has lasted OUTAGE_MINUTES, and another at its end; `alert_outages` has the open ones.
 * Earnings: those of the day before, from EARNINGS_HOUR in the time zone of reports, when the sums are final.
 * Reviews: payments that wait for a decision. Repeated only when a newer one has waited that long.
 * Limits: MAX_PER_DAY per channel, and MIN_INTERVAL_MS between alerts of a kind. An event over a limit is sent later,
 * together with others of its kind.
 */

/** Scheduled by migration 0055. */
export const FIND_ALERTS_JOB = 'alerts.find';

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

interface Outage {
	router: string;
	gateway: string;
	since: number;
}

export type Alert =
	| { kind: 'unresponsive' | 'responding'; gateways: readonly Outage[] }
	| { kind: 'earnings'; day: string; net: number; payments: number; currency: string }
	| { kind: 'reviews'; count: number; hours: number; decides: boolean };

/** Writes an alert. `text` has no greeting and no link. */
export type WriteAlert = (alert: Alert, locale: Locale) => { subject: string; text: string };

interface Run {
	now: number;
	write: WriteAlert;
}

/** @returns when to look again */
export async function findAlerts(context: AlertsContext, write: WriteAlert): Promise<number> {
	const run = { now: context.clock.now(), write };
	await context.notifications.deleteOld();
	await findOutages(context, run);
	await findEarnings(context, run);
	await findReviews(context, run);
	context.jobs.nudge();
	return run.now + INTERVAL_MS;
}

async function findOutages(context: AlertsContext, run: Run): Promise<void> {
	const { db } = context.database;
	const groups = [
		[
			'unresponsive',
			await store.unresponsiveGateways(db, run.now - OUTAGE_MINUTES * MINUTE_MS),
			store.addOutage
		],
		['responding', await store.respondingGateways(db), store.endOutage]
	] as const;
	for (const [kind, found, note] of groups) {
		for (const rows of Map.groupBy(found, ({ id }) => id).values()) {
			const gateways = rows.map(({ since, ...row }) => ({ ...row, since: since ?? run.now }));
			const [first] = gateways;
			if (!first) continue;
			const event = sha256(gateways.map(({ gateway_id, since }) => `${gateway_id} ${since}`).join());
			await attempt(context, first, () =>
				queueAlert(context, run, first, { kind, gateways }, event, async (trx) => {
					for (const gateway of gateways) await note(trx, gateway);
				})
			);
		}
	}
}

async function findEarnings(context: AlertsContext, run: Run): Promise<void> {
	const { database, config, earnings } = context;
	const zone = config.reportTimezone;
	if (hourAt(run.now, zone) < EARNINGS_HOUR) return;
	// Noon of today minus a day is yesterday, also when the clocks change.
	const day = dateAt(Date.parse(`${dateAt(run.now, zone)}T12:00:00Z`) - DAY_MS, 'UTC');
	for (const channel of await store.withoutEarningsOf(database.db, day)) {
		const owner = { accountId: channel.account_id };
		await attempt(context, channel, async () => {
			const { total, currency } = await earnings.breakdown(owner, { period: 'daily', from: day, to: day });
			const alert = { kind: 'earnings', day, net: total.net, payments: total.sessions, currency } as const;
			await queueAlert(context, run, channel, alert, day, (trx) =>
				store.change(trx, channel.id, { earnings_day: day })
			);
		});
	}
}

async function findReviews(context: AlertsContext, run: Run): Promise<void> {
	const before = run.now - REVIEW_HOURS * HOUR_MS;
	for (const found of await store.waitingReviews(context.database.db, before)) {
		const { role, count, newest } = found;
		const alert = { kind: 'reviews', count, hours: REVIEW_HOURS, decides: role === 'admin' } as const;
		await attempt(context, found, () =>
			queueAlert(context, run, found, alert, `${newest}`, (trx) =>
				store.change(trx, found.id, { review_id: newest })
			)
		);
	}
}

/** An error must not stop the alerts of others. The next run tries again. */
async function attempt(
	{ log }: AlertsContext,
	{ id, account_id: account }: store.ChannelRow,
	alert: () => Promise<void>
): Promise<void> {
	try {
		await alert();
	} catch (error) {
		log.error({ err: error, account, channel: id }, 'an alert failed; it is tried again');
	}
}

/**
 * @param event distinguishes alerts of one kind
 * @param note stores in the same transaction that the alert is queued
 */
async function queueAlert(
	{ database, notifications }: AlertsContext,
	{ now, write }: Run,
	{ id, account_id: accountId, channel, address, locale }: store.ChannelRow,
	alert: Alert,
	event: string,
	note: (trx: Tx) => Promise<unknown>
): Promise<void> {
	const { kind } = alert;
	await database.transact(async (trx) => {
		const recent = await notifications.recent(trx, { accountId, channel }, now - DAY_MS);
		const isEarly = recent.some((one) => one.kind === kind && now - one.created_at < MIN_INTERVAL_MS[kind]);
		if (isEarly || recent.length >= MAX_PER_DAY) return;
		await note(trx);
		const content = write(alert, isLocale(locale) ? locale : 'en');
		const about = { accountId, channel, kind, key: `channel ${id} ${kind} ${event}`, address };
		await notifications.queue(trx, { ...about, ...content });
	});
}
