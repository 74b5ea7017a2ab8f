import { DAY_MS, HOUR_MS, MINUTE_MS } from '#lib/domain/time/time.ts';
import { dateAt, hourAt } from '#lib/domain/time/calendar.ts';
import { isLocale, type Locale } from '#lib/i18n/locales.ts';
import type { Tx } from '#lib/server/db/database.ts';
import { sha256 } from '#lib/server/platform/secrets.ts';
import { type Fenced, LeaseLost } from '#lib/server/jobs.ts';
import type { AlertsContext } from './alerts.ts';
import * as store from './store.ts';

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

type AlertsJob = Fenced<AlertsContext>;

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
export async function findAlerts(context: AlertsJob, write: WriteAlert): Promise<number> {
	const run = { now: context.clock.now(), write };
	await context.notifications.deleteOld();
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
		{ kind: 'unresponsive', found: await store.unresponsiveGateways(db, before), note: store.addOutage },
		{ kind: 'responding', found: await store.respondingGateways(db), note: store.endOutage }
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
	const { database, config, earnings } = context;
	const zone = config.reportTimezone;
	if (hourAt(run.now, zone) < EARNINGS_HOUR) return;
	// Noon of today minus a day is yesterday, also when the clocks change.
	const day = dateAt(Date.parse(`${dateAt(run.now, zone)}T12:00:00Z`) - DAY_MS, 'UTC');
	for (const channel of await store.withoutEarningsOf(database.db, day)) {
		await queueAlert(context, run, channel, {
			async alert() {
				const owner = { accountId: channel.account_id };
				const span = { period: 'daily', from: day, to: day } as const;
				const { total, currency } = await earnings.breakdown(owner, span);
				return { kind: 'earnings', day, net: total.net, payments: total.sessions, currency };
			},
			event: day,
			note: (trx) => store.change(trx, channel.id, { earnings_day: day })
		});
	}
}

async function findReviews(context: AlertsJob, run: Run): Promise<void> {
	const before = run.now - REVIEW_HOURS * HOUR_MS;
	for (const channel of await store.waitingReviews(context.database.db, before)) {
		const { id, count, newest } = channel;
		await queueAlert(context, run, channel, {
			alert: () => ({ kind: 'reviews', count }),
			event: `${newest}`,
			note: (trx) => store.change(trx, id, { review_id: newest })
		});
	}
}

async function logUnpaidPrompts({ payments, log }: AlertsJob): Promise<void> {
	const pools = await payments.crowdedPools();
	if (pools.length === 0) return;
	log.warn({ part: 'security', from: pools }, 'too many payment prompts are unpaid: new buyers are refused');
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
	{ id, account_id: accountId, channel, address, locale }: store.ChannelRow,
	found: Found
): Promise<void> {
	try {
		const alert = await found.alert();
		const { kind } = alert;
		await database.transact(async (trx) => {
			const recent = await notifications.recent(trx, { accountId, channel }, now - DAY_MS);
			const isEarly = recent.some((one) => one.kind === kind && now - one.created_at < MIN_INTERVAL_MS[kind]);
			if (isEarly || recent.length >= MAX_PER_DAY) return;
			await found.note(trx);
			const content = write(alert, isLocale(locale) ? locale : 'en');
			const key = `channel ${id} ${kind} ${found.event}`;
			await notifications.queue(trx, { accountId, channel, kind, key, address, ...content });
		});
	} catch (error) {
		if (error instanceof LeaseLost) throw error;
		log.error({ err: error, account: accountId, channel: id }, 'an alert failed; it is tried again');
	}
}
