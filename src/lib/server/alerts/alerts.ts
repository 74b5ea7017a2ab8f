import { randomInt } from 'node:crypto';
import { DAY_MS } from '#lib/domain/time/time.ts';
import type { Locale } from '#lib/i18n/locales.ts';
import type { Base } from '#lib/server/base.ts';
import type { Earnings } from '../billing/earnings.ts';
import type { Payments } from '../billing/payments.ts';
import type { Channel, Notifications } from '../notifications/notifications.ts';
import { fenceHandlers } from '#lib/server/jobs.ts';
import { binder } from '#lib/server/platform/bind.ts';
import { equalSecrets, hmac } from '#lib/server/platform/secrets.ts';
import { findAlerts, FIND_ALERTS_JOB, type WriteAlert } from './find-alerts.ts';
import * as store from './store.ts';

export { MAX_PER_DAY, OUTAGE_MINUTES, EARNINGS_HOUR, REVIEW_HOURS } from './find-alerts.ts';
export type { Alert, WriteAlert } from './find-alerts.ts';
export type { Channel } from '../notifications/notifications.ts';

/** `reviews` is for administrators only. */
export const EVENTS = ['gateway', 'earnings', 'reviews'] as const;
export type AlertEvent = (typeof EVENTS)[number];

export interface AlertsContext extends Base {
	notifications: Notifications;
	earnings: Pick<Earnings, 'today' | 'breakdown'>;
	payments: Pick<Payments, 'crowdedPools'>;
}

const CODE_MS = 15 * 60_000;
const CODE_DIGITS = 6;
/** With CODES_A_DAY, a guesser succeeds with a chance of 15 in 1,000,000 a day. */
const MAX_CODE_TRIES = 5;
const CODES_A_DAY = 3;

/**
 * Alerts of owners and administrators. Each channel of an account has one address and the events that it gets; it is
 * off until the person has entered a code that was sent to the address.
 */
export function createAlerts(context: AlertsContext) {
	const bind = binder(context);
	return {
		channels: bind(channels),
		setAddress: bind(setAddress),
		confirm: bind(confirm),
		setEvents: bind(setEvents),
		remove: bind(remove),
		jobs: (write: WriteAlert) =>
			fenceHandlers(context, { [FIND_ALERTS_JOB]: (fenced) => findAlerts(fenced, write) })
	};
}

export type Alerts = ReturnType<typeof createAlerts>;

interface Own {
	accountId: number;
	channel: Channel;
}

async function channels({ database, notifications }: AlertsContext, accountId: number) {
	const rows = await store.ofAccount(database.db, accountId);
	const all: readonly Channel[] = ['email', 'sms'];
	return all.map((channel) => {
		const row = rows.find((one) => one.channel === channel);
		return {
			channel,
			canSend: notifications.canSend(channel),
			address: row?.address ?? null,
			isConfirmed: row?.confirmed_at != null,
			events: row ? eventsOf(row) : []
		};
	});
}

const eventsOf = ({ events }: store.ChannelRow) => JSON.parse(events) as AlertEvent[];

/**
 * Replaces the address and sends a code to it. Nothing else is sent there before `confirm`.
 * @param address email address, or E.164
 * @returns false if too many codes were sent
 */
function setAddress(
	context: AlertsContext,
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
		const recent = await notifications.recent(trx, { accountId, channel }, now - DAY_MS);
		const codes = recent.filter(({ kind }) => kind === 'code');
		if (codes.length >= CODES_A_DAY) return false;
		const code = String(randomInt(10 ** CODE_DIGITS)).padStart(CODE_DIGITS, '0');
		const { id } = await store.setAddress(
			trx,
			{ account_id: accountId, channel },
			{ address, locale, code_hash: hashOf(context, address, code), code_until: now + CODE_MS }
		);
		const key = `channel ${id} code ${now} ${codes.length}`;
		await notifications.queue(trx, { accountId, channel, kind: 'code', key, address, ...write(code) });
		return true;
	});
}

const hashOf = ({ secrets }: AlertsContext, address: string, code: string) =>
	hmac(secrets.derive('alert code', 32), `${address}:${code}`);

/** Returns false if the code is wrong, too old, or was tried too often. */
function confirm(context: AlertsContext, { accountId, channel }: Own, code: string): Promise<boolean> {
	const { database, clock } = context;
	return database.transact(async (trx) => {
		const row = (await store.ofAccount(trx, accountId)).find((one) => one.channel === channel);
		if (!row || row.code_hash === null || (row.code_until ?? 0) <= clock.now()) return false;
		if (row.code_tries >= MAX_CODE_TRIES) return false;
		if (!equalSecrets(hashOf(context, row.address, code), row.code_hash)) {
			await store.change(trx, row.id, { code_tries: row.code_tries + 1 });
			return false;
		}
		await store.change(trx, row.id, { confirmed_at: clock.now(), code_hash: null, code_until: null });
		return true;
	});
}

/** Sets the events and the language of alerts. Changes nothing before `confirm`. */
const setEvents = (
	context: AlertsContext,
	{ accountId, channel }: Own,
	{ events, locale }: { events: readonly AlertEvent[]; locale: Locale }
): Promise<void> =>
	context.database.transact(async (trx) => {
		const row = (await store.ofAccount(trx, accountId)).find((one) => one.channel === channel);
		if (row?.confirmed_at == null) return;
		await store.change(trx, row.id, { events: JSON.stringify(events), locale });
		// Only a channel that got the outage gets its end.
		if (!events.includes('gateway')) await store.forgetOutages(trx, row.id);
	});

const remove = ({ database }: AlertsContext, { accountId, channel }: Own) =>
	store.remove(database.db, { account_id: accountId, channel });
