import { dateAt, hourAt } from '#lib/format/calendar.ts';
import { isLocale, type Locale } from '#lib/i18n/locales.ts';
import type { Tx } from '#lib/server/db/database.ts';
import { DAY_MS } from '#lib/server/messages/messages.ts';
import type { AlertsContext } from './alerts.ts';
import * as store from './store.ts';

/**
 * Looks once a minute for what owners want to know, and queues one message for each event and channel.
 *
 * Gateways: an outage is told once it has lasted SETTLED_MINUTES, and its end once; `alert_outages` has those in between.
 * Takings: the day before, from TAKINGS_HOUR in the time zone of reports, when its sums are final.
 * Refunds: payments that wait for a decision. Told again only when another one waits that long.
 * Limits: MOST_A_DAY per channel, and DISTANCE_MS between messages of a kind. An event that a limit holds back is told
 * later, together with others of its kind.
 */

/** Scheduled by migration 0055. */
export const LOOK_JOB = 'alerts.look';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const LOOK_MS = MINUTE_MS;
/** Since the gateway's last message. */
export const SETTLED_MINUTES = 10;
export const TAKINGS_HOUR = 7;
export const WAITING_HOURS = 12;
export const MOST_A_DAY = 12;
const DISTANCE_MS = { silent: 30 * MINUTE_MS, back: 30 * MINUTE_MS, takings: HOUR_MS, refunds: DAY_MS };

interface Outage {
	router: string;
	gateway: string;
	since: number;
}

export type Alert =
	| { kind: 'silent' | 'back'; gateways: readonly Outage[] }
	| { kind: 'takings'; day: string; net: number; payments: number; currency: string }
	| { kind: 'refunds'; count: number; hours: number; decides: boolean };

/** Writes an alert. `text` has no greeting and no link. */
export type WriteAlert = (alert: Alert, locale: Locale) => { subject: string; text: string };

interface Round {
	now: number;
	write: WriteAlert;
}

/** @returns when to look again */
export async function look(context: AlertsContext, write: WriteAlert): Promise<number> {
	const round = { now: context.clock.now(), write };
	await tellOutages(context, round);
	await tellTakings(context, round);
	await tellRefunds(context, round);
	await context.messages.deleteOld();
	context.jobs.nudge();
	return round.now + LOOK_MS;
}

async function tellOutages(context: AlertsContext, round: Round): Promise<void> {
	const { db } = context.database;
	const groups = [
		['silent', await store.silentGateways(db, round.now - SETTLED_MINUTES * MINUTE_MS), store.addOutage],
		['back', await store.backGateways(db), store.endOutage]
	] as const;
	for (const [kind, found, note] of groups) {
		for (const rows of Map.groupBy(found, ({ id }) => id).values()) {
			const gateways = rows.map(({ since, ...row }) => ({ ...row, since: since ?? round.now }));
			const [first] = gateways;
			if (!first) continue;
			await tell(
				context,
				round,
				first,
				{ kind, gateways },
				`${first.gateway_id} ${first.since}`,
				async (trx) => {
					for (const gateway of gateways) await note(trx, gateway);
				}
			);
		}
	}
}

async function tellTakings(context: AlertsContext, round: Round): Promise<void> {
	const { database, config, earnings } = context;
	const zone = config.reportTimezone;
	if (hourAt(round.now, zone) < TAKINGS_HOUR) return;
	// Noon of today minus a day is yesterday, also when the clocks change.
	const day = dateAt(Date.parse(`${dateAt(round.now, zone)}T12:00:00Z`) - DAY_MS, 'UTC');
	for (const channel of await store.lackTakings(database.db, day)) {
		const owner = { accountId: channel.account_id };
		const { total, currency } = await earnings.report(owner, { period: 'daily', from: day, to: day });
		const alert = { kind: 'takings', day, net: total.net, payments: total.sessions, currency } as const;
		await tell(context, round, channel, alert, day, (trx) =>
			store.change(trx, channel.id, { takings_day: day })
		);
	}
}

async function tellRefunds(context: AlertsContext, round: Round): Promise<void> {
	const before = round.now - WAITING_HOURS * HOUR_MS;
	for (const found of await store.waitingReviews(context.database.db, before)) {
		const { role, count, newest } = found;
		const alert = { kind: 'refunds', count, hours: WAITING_HOURS, decides: role === 'admin' } as const;
		await tell(context, round, found, alert, `${newest}`, (trx) =>
			store.change(trx, found.id, { review_id: newest })
		);
	}
}

/** @param event names it among the alerts of its kind @param note records in the transaction that it was told */
async function tell(
	{ database, messages }: AlertsContext,
	{ now, write }: Round,
	{ id, account_id: accountId, channel, address, locale }: store.ChannelRow,
	alert: Alert,
	event: string,
	note: (trx: Tx) => Promise<unknown>
): Promise<void> {
	const { kind } = alert;
	await database.transact(async (trx) => {
		const recent = await messages.recent(trx, { accountId, channel }, now - DAY_MS);
		const isEarly = recent.some((one) => one.kind === kind && now - one.created_at < DISTANCE_MS[kind]);
		if (isEarly || recent.length >= MOST_A_DAY) return;
		await note(trx);
		const content = write(alert, isLocale(locale) ? locale : 'en');
		const about = { accountId, channel, kind, key: `channel ${id} ${kind} ${event}`, address };
		await messages.queue(trx, { ...about, ...content });
	});
}
