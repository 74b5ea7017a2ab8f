import { durationSeconds } from '#lib/domain/duration.ts';
import { MAX_EXTRA_MINUTES_PER_DAY, type ExtraTime } from '#lib/domain/extra-time.ts';
import { DAY_MS } from '#lib/format/time.ts';
import { accountActor } from '#lib/server/audit/audit.ts';
import { SESSION_JOB, type SessionsContext } from './context.ts';
import { ownedByOwner } from './read-session.ts';
import * as store from './store.ts';

interface ExtraTimeOrder {
	/** The person who gives it. */
	personId: number;
	note: string;
	duration: ExtraTime;
	/** Names the form: sent twice with the same duration, it gives the time once. */
	form: string;
}

/**
 * Adds free time to the end of a running pass at a router of this owner. No session and no payment is created, so
 * earnings do not count it. Gateways get the new end as they do for paid time.
 * @returns `limit`: the person has given too much in 24 hours; `not_active`: no time runs. Then nothing changes.
 * @throws AppError `session_not_found`, also for a session at another owner's router
 */
export async function giveExtraTime(
	context: SessionsContext,
	accountId: number,
	id: number,
	{ personId, note, duration, form: token }: ExtraTimeOrder
): Promise<'given' | 'limit' | 'not_active'> {
	const { database, clock, jobs, passes, provisioning, audit } = context;
	const form = `${token}:${id}:${duration}`;
	const seconds = durationSeconds(duration);
	const result = await database.transact(async (trx) => {
		const row = await ownedByOwner(context, trx, accountId, id);
		if (await store.hasExtraTime(trx, form)) return 'given';
		const last = row.pass_id === null ? undefined : (await store.activeOf(trx, row.pass_id)).at(-1);
		if (row.status !== 'active' || last?.pass_id == null || last.expires_at === null) return 'not_active';
		const now = clock.now();
		const given = await store.extraSecondsBy(trx, personId, now - DAY_MS);
		if (given + seconds > MAX_EXTRA_MINUTES_PER_DAY * 60) return 'limit';
		const endsAt = last.expires_at + seconds * 1000;
		const time = { session_id: last.id, account_id: personId, form, seconds, created_at: now };
		await store.insertExtraTime(trx, time);
		await store.change(trx, { id: last.id, status: 'active' }, { expires_at: endsAt, updated_at: now });
		await jobs.schedule(trx, SESSION_JOB, last.id, endsAt);
		const { starts_at: startsAt } = await passes.known(trx, last.pass_id);
		await passes.setTime(trx, last.pass_id, { startsAt: startsAt ?? now, endsAt });
		await provisioning.changed(trx, last.pass_id);
		await audit.record(trx, {
			actor: accountActor(personId),
			action: 'session.extra_time',
			paymentId: last.payment_id,
			reason: note,
			before: { session: last.id, expires_at: last.expires_at },
			after: { router_id: last.router_id, session: last.id, expires_at: endsAt, seconds }
		});
		return 'given';
	});
	jobs.nudge();
	return result;
}
