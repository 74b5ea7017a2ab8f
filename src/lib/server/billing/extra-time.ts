import { sql } from 'kysely';
import { EXTRA_TIME_AFTER_END_MS, type ExtraTime, MAX_EXTRA_MINUTES_PER_DAY } from '#lib/domain/help.ts';
import { dataLeft } from '#lib/domain/offers.ts';
import { DAY_MS, durationSeconds } from '#lib/domain/time.ts';
import { accountActor } from '../audit.ts';
import type { Queries, Tx } from '../db/database.ts';
import { exists } from '../db/queries.ts';
import { type PassRow, findPassOrThrow, isPassOpen, reopenPass, setPassTime } from '../passes.ts';
import { findRouterOrThrow, lacksNetworkPassword } from '../routers/routers.ts';
import {
	SESSION_END_JOB,
	type SessionRow,
	type SessionServices,
	type SessionsContext,
	changeSession,
	findActiveSessions,
	refreshSessionAtOwner,
	findSessionsOfPass
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
	const { database, clock, jobs, provisioning, audit } = context;
	const form = `${token}:${id}:${duration}`;
	const seconds = durationSeconds(duration);
	return database.transact(async (trx) => {
		const row = await refreshSessionAtOwner(context, trx, accountId, id);
		if (await exists(trx.selectFrom('extra_time').select('id').where('form', '=', form))) return 'given';
		const running = await findRunningTime(trx, row);
		const time = running ?? (await findEndedTime(context, trx, row));
		if (!time) return 'not_possible';
		const { session, pass } = time;
		const now = clock.now();
		const byPerson = selectExtraSeconds(trx).where('account_id', '=', personId);
		const given = await byPerson.where('created_at', '>', now - DAY_MS).executeTakeFirstOrThrow();
		if (given.sum + seconds > MAX_EXTRA_MINUTES_PER_DAY * 60) return 'limit';
		const endsAt = time.endsAt + seconds * 1000;
		// Not before its end, by which the page knows this time, also if the clock was set back.
		const givenAt = running ? now : Math.max(now, session.ended_at ?? now);
		const extra = { session_id: session.id, account_id: personId, form, seconds, created_at: givenAt };
		await trx.insertInto('extra_time').values(extra).execute();
		await jobs.schedule(trx, SESSION_END_JOB, session.id, endsAt);
		if (running) {
			await changeSession(trx, { id: session.id, status: 'active' }, { expires_at: endsAt, updated_at: now });
		}
		if (isPassOpen(pass, now))
			await setPassTime(context, trx, pass.id, { startsAt: pass.starts_at ?? now, endsAt });
		else {
			await reopenPass(context, trx, pass, endsAt);
			await provisioning.requestGrants(trx, pass);
		}
		await provisioning.scheduleGatewayCalls(trx, pass.id);
		await audit.record(trx, {
			actor: accountActor(personId),
			action: 'session.extra_time',
			paymentId: session.payment_id,
			reason: note,
			before: { session: session.id, expires_at: time.endsAt },
			after: { router_id: session.router_id, session: session.id, expires_at: endsAt, seconds }
		});
		return 'given';
	});
}

interface ExtendableTime {
	/** The last session of the pass. */
	session: SessionRow;
	pass: PassRow;
	/** Extra time follows this (ms since the epoch). */
	endsAt: number;
}

async function findRunningTime(
	trx: Tx,
	{ status, pass_id: passId }: SessionRow
): Promise<ExtendableTime | null> {
	const session = passId === null ? undefined : (await findActiveSessions(trx, passId)).at(-1);
	if (status !== 'active' || session?.pass_id == null || session.expires_at === null) return null;
	return { session, pass: await findPassOrThrow(trx, session.pass_id), endsAt: session.expires_at };
}

async function findEndedTime(
	{ clock }: SessionServices,
	trx: Tx,
	{ status, pass_id: passId, router_id: routerId }: SessionRow
): Promise<ExtendableTime | null> {
	const session = passId === null ? undefined : (await findSessionsOfPass(trx, passId, 'expired')).at(-1);
	if (status !== 'expired' || passId === null || session?.ended_at == null) return null;
	const [pass, router] = [await findPassOrThrow(trx, passId), await findRouterOrThrow(trx, routerId)];
	const now = clock.now();
	const mayGoOn =
		now <= session.ended_at + EXTRA_TIME_AFTER_END_MS &&
		router.disabled_at === null &&
		!lacksNetworkPassword(router, pass.access_kind) &&
		dataLeft(pass) !== 0 &&
		pass.activating_until === null &&
		(await findActiveSessions(trx, passId)).length === 0 &&
		(await isStillPaid(trx, session));
	return mayGoOn ? { session, pass, endsAt: Math.max(now, pass.ends_at ?? now) } : null;
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
