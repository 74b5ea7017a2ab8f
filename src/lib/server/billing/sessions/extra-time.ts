import { durationSeconds } from '#lib/domain/duration.ts';
import { dataLeft } from '#lib/domain/data-limit.ts';
import {
	EXTRA_TIME_AFTER_END_MS,
	MAX_EXTRA_MINUTES_PER_DAY,
	type ExtraTime
} from '#lib/domain/extra-time.ts';
import { DAY_MS } from '#lib/domain/time/time.ts';
import type { PassRow } from '../../passes/passes.ts';
import { accountActor } from '#lib/server/audit/audit.ts';
import type { Tx } from '#lib/server/db/database.ts';
import { lacksNetworkPassword } from '#lib/server/routers/routers.ts';
import { SESSION_END_JOB, type SessionsContext } from './context.ts';
import { sessionAtOwner } from './read-session.ts';
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
 * Adds free time to the end of a running pass at a router of this owner, or opens one again whose time ended within
 * 24 hours. No session and no payment is created, so earnings do not count it. Gateways get the new end as they do for
 * paid time. A session that expired stays expired: its end and its event are final.
 * @returns `limit`: the person has given too much in 24 hours; `not_possible`: no time runs, and the time that ended
 * cannot go on. Then nothing changes.
 * @throws AppError `session_not_found`, also for a session at another owner's router
 */
export async function giveExtraTime(
	context: SessionsContext,
	accountId: number,
	id: number,
	{ personId, note, duration, form: token }: ExtraTimeOrder
): Promise<'given' | 'limit' | 'not_possible'> {
	const { database, clock, jobs, passes, provisioning, audit } = context;
	const form = `${token}:${id}:${duration}`;
	const seconds = durationSeconds(duration);
	return database.transact(async (trx) => {
		const row = await sessionAtOwner(context, trx, accountId, id);
		if (await store.hasExtraTime(trx, form)) return 'given';
		const running = await runningTime(context, trx, row);
		const time = running ?? (await endedTime(context, trx, row));
		if (!time) return 'not_possible';
		const { session, pass } = time;
		const now = clock.now();
		const given = await store.extraSecondsBy(trx, personId, now - DAY_MS);
		if (given + seconds > MAX_EXTRA_MINUTES_PER_DAY * 60) return 'limit';
		const endsAt = time.endsAt + seconds * 1000;
		// Not before its end, by which the page knows this time, also if the clock was set back.
		const givenAt = running ? now : Math.max(now, session.ended_at ?? now);
		const extra = { session_id: session.id, account_id: personId, form, seconds, created_at: givenAt };
		await store.insertExtraTime(trx, extra);
		await jobs.schedule(trx, SESSION_END_JOB, session.id, endsAt);
		if (running) {
			await store.change(trx, { id: session.id, status: 'active' }, { expires_at: endsAt, updated_at: now });
		}
		if (passes.isOpen(pass)) await passes.setTime(trx, pass.id, { startsAt: pass.starts_at ?? now, endsAt });
		else {
			await passes.reopen(trx, pass, endsAt);
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
	session: store.SessionRow;
	pass: PassRow;
	/** Extra time follows this (ms since the epoch). */
	endsAt: number;
}

async function runningTime(
	{ passes }: SessionsContext,
	trx: Tx,
	{ status, pass_id: passId }: store.SessionRow
): Promise<ExtendableTime | null> {
	const session = passId === null ? undefined : (await store.activeOf(trx, passId)).at(-1);
	if (status !== 'active' || session?.pass_id == null || session.expires_at === null) return null;
	return { session, pass: await passes.findOrThrow(trx, session.pass_id), endsAt: session.expires_at };
}

async function endedTime(
	{ clock, passes, routers }: SessionsContext,
	trx: Tx,
	{ status, pass_id: passId, router_id: routerId }: store.SessionRow
): Promise<ExtendableTime | null> {
	const session = passId === null ? undefined : (await store.ofPass(trx, passId, 'expired')).at(-1);
	if (status !== 'expired' || passId === null || session?.ended_at == null) return null;
	const [pass, router] = [await passes.findOrThrow(trx, passId), await routers.findOrThrow(trx, routerId)];
	const now = clock.now();
	const mayGoOn =
		now <= session.ended_at + EXTRA_TIME_AFTER_END_MS &&
		router.disabled_at === null &&
		!lacksNetworkPassword(router, pass.access_kind) &&
		dataLeft(pass) !== 0 &&
		pass.activating_until === null &&
		(await store.activeOf(trx, passId)).length === 0 &&
		(await store.isStillPaid(trx, session));
	return mayGoOn ? { session, pass, endsAt: Math.max(now, pass.ends_at ?? now) } : null;
}
