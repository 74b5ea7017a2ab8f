import { lockName, type Held } from '../db/locks.ts';
import { type Insertable, sql } from 'kysely';
import { EXTRA_TIME_AFTER_END_MS, type ExtraTime, MAX_EXTRA_MINUTES_PER_DAY } from '#lib/domain/help.ts';
import { dataLeft } from '#lib/domain/offers.ts';
import { DAY_MS, durationSeconds } from '#lib/domain/time.ts';
import { accountActor } from '../audit.ts';
import type { Queries, Tx } from '../db/database.ts';
import { exists } from '../db/queries.ts';
import type { Schema } from '../db/schema.ts';
import { type PassRow, findPassOrThrow, isPassOpen, reopenPass, setPassTime } from '../passes.ts';
import { findRouterOrThrow, keepRouter, lacksNetworkPassword } from '../routers/routers.ts';
import {
	SESSION_END_JOB,
	type HeldSession,
	type SessionRow,
	type SessionServices,
	type SessionsContext,
	changeSession,
	findActiveSessions,
	lockSessionAtOwner,
	findHeldPass,
	findHeldSessions
} from './sessions.ts';

interface ExtraTimeOrder {
	/** The person who gives it. */
	personId: number;
	note: string;
	duration: ExtraTime;
	/** Names the form: sent twice with the same duration, it gives the time once. */
	form: string;
}

/**
 * Adds free time to the end of a running pass at a router of this owner, or opens one again whose time ended within
 * 24 hours. No session and no payment is created, so earnings do not count it. Gateways get the new end as they do for
 * paid time. A session that expired stays expired: its end and its event are final.
 * @returns `limit`: the person has given too much in 24 hours; `not_possible`: no time runs, and the time that ended
 * cannot go on. Then nothing changes.
 * @throws Refused `session_not_found`, also for a session at another owner's router
 */
export async function giveExtraTime(
	context: SessionsContext,
	accountId: number,
	id: number,
	{ personId, note, duration, form: token }: ExtraTimeOrder
): Promise<'given' | 'limit' | 'not_possible'> {
	const { database, clock } = context;
	const form = `${token}:${id}:${duration}`;
	const seconds = durationSeconds(duration);
	return database.transact(async (trx) => {
		const row = await lockSessionAtOwner(context, trx, accountId, id);
		if (await exists(trx.selectFrom('extra_time').select('id').where('form', '=', form))) return 'given';
		const running = await findRunningTime(trx, row);
		const since = clock.now() - EXTRA_TIME_AFTER_END_MS;
		const time = running ?? (await findEndedTime(context, trx, row, since));
		if (!time) return 'not_possible';
		await lockName(trx, `extra time of ${personId}`);
		const byPerson = selectExtraSeconds(trx)
			.where('account_id', '=', personId)
			.where('outage_id', 'is', null);
		const given = await byPerson.where('created_at', '>', clock.now() - DAY_MS).executeTakeFirstOrThrow();
		if (given.sum + seconds > MAX_EXTRA_MINUTES_PER_DAY * 60) return 'limit';
		const extra = { account_id: personId, form, seconds };
		await addFreeTime(context, trx, time, { ...extra, actor: accountActor(personId), reason: note });
		return 'given';
	});
}

export interface ExtendableTime {
	/** Gets the time: active, or the last one of a pass that is over. */
	session: HeldSession;
	/** Active sessions that follow it. */
	later: readonly HeldSession[];
	pass: Held<PassRow>;
	/** Extra time follows this end of the pass (ms since the epoch). */
	endsAt: number;
}

type Given = Pick<Insertable<Schema['extra_time']>, 'account_id' | 'form' | 'seconds' | 'outage_id'>;

/** Adds time to a session and moves those that follow it. Gateways learn the new end from the next comparison. */
export async function addFreeTime(
	context: SessionServices,
	trx: Tx,
	{ session, later, pass, endsAt: before }: ExtendableTime,
	{ actor, reason, ...given }: Given & { actor: string; reason: string }
): Promise<void> {
	const { clock, jobs, provisioning, audit } = context;
	const now = clock.now();
	const { seconds } = given;
	const ms = seconds * 1000;
	const isActive = session.status === 'active';
	const endsAt = before + ms;
	// Not before its end, by which the page knows this time, also if the clock was set back.
	const created_at = isActive ? now : Math.max(now, session.ended_at ?? now);
	await trx
		.insertInto('extra_time')
		.values({ ...given, session_id: session.id, created_at })
		.execute();
	for (const one of isActive ? [session, ...later] : []) {
		const expires_at = (one.expires_at ?? before) + ms;
		const starts_at = one === session ? one.starts_at : (one.starts_at ?? before) + ms;
		await changeSession(trx, one, { status: 'active' }, { starts_at, expires_at, updated_at: now });
		await jobs.schedule(trx, SESSION_END_JOB, one.id, expires_at);
	}
	if (!isActive) await jobs.schedule(trx, SESSION_END_JOB, session.id, endsAt);
	if (isPassOpen(pass, now))
		await setPassTime(context, trx, pass, { startsAt: pass.starts_at ?? now, endsAt });
	else {
		const router = await keepRouter(trx, pass.router_id);
		await reopenPass(context, trx, router, pass, endsAt);
		await provisioning.requestAdmissions(trx, router, pass);
	}
	await provisioning.scheduleComparisons(trx, pass.id);
	await audit.record(trx, {
		actor,
		action: 'session.extra_time',
		paymentId: session.payment_id,
		reason,
		before: { session: session.id, expires_at: before },
		after: { router_id: session.router_id, session: session.id, expires_at: endsAt, seconds }
	});
}

async function findRunningTime(trx: Tx, row: HeldSession): Promise<ExtendableTime | null> {
	const held = findHeldPass(row);
	const session = held ? (await findHeldSessions(trx, held, 'active')).at(-1) : undefined;
	if (!held || row.status !== 'active' || !session || session.expires_at === null) return null;
	return { session, later: [], pass: await findPassOrThrow(trx, held), endsAt: session.expires_at };
}

/**
 * Returns time that has ended and can go on; null without any.
 * @param since the earliest end (ms since the epoch)
 */
export async function findEndedTime(
	{ clock }: SessionServices,
	trx: Tx,
	row: HeldSession,
	since: number
): Promise<ExtendableTime | null> {
	const held = findHeldPass(row);
	const session = held ? (await findHeldSessions(trx, held, 'expired')).at(-1) : undefined;
	if (!held || row.status !== 'expired' || session?.ended_at == null) return null;
	const [pass, router] = [await findPassOrThrow(trx, held), await findRouterOrThrow(trx, row.router_id)];
	const now = clock.now();
	const mayGoOn =
		Math.max(session.ended_at, pass.ends_at ?? 0) >= since &&
		router.disabled_at === null &&
		!lacksNetworkPassword(router, pass.access_kind) &&
		dataLeft(pass) !== 0 &&
		pass.activating_until === null &&
		(await findActiveSessions(trx, held.id)).length === 0 &&
		(await isStillPaid(trx, session));
	return mayGoOn ? { session, later: [], pass, endsAt: Math.max(now, pass.ends_at ?? now) } : null;
}

/** Whether the payment that bought a session was not refunded. */
const isStillPaid = (queries: Queries, { payment_id: id }: Pick<SessionRow, 'payment_id'>) =>
	exists(queries.selectFrom('payments').select('id').where('id', '=', id).where('status', '=', 'success'));

const selectExtraSeconds = (queries: Queries) =>
	queries.selectFrom('extra_time').select(sql<number>`coalesce(sum(seconds), 0)`.as('sum'));

/** Free time in a session, without what was given after its end: that does not move its end. */
export const sumExtraTimeMs = async (
	queries: Queries,
	{ id, ended_at: endedAt }: Pick<SessionRow, 'id' | 'ended_at'>
): Promise<number> => {
	const given = selectExtraSeconds(queries)
		.where('session_id', '=', id)
		.$if(endedAt !== null, (query) => query.where('created_at', '<', endedAt));
	return (await given.executeTakeFirstOrThrow()).sum * 1000;
};
