import { sql } from 'kysely';
import { DAY_MS, MINUTE_MS, SECOND_MS } from '#lib/domain/time.ts';
import { type ExtendableTime, addFreeTime, findEndedTime } from '../billing/extra-time.ts';
import { type SessionRow, applyDueChange, findHeldSessions } from '../billing/sessions.ts';
import type { Queries, Reads, Tx } from '../db/database.ts';
import { exists, findById } from '../db/queries.ts';
import type { Row } from '../db/schema.ts';
import { type PassRow, eraseIfOver, lockPass } from '../passes.ts';
import { findRouterOrThrow } from '../routers/routers.ts';
import type { AccessJob } from './provisioning.ts';

/**
 * Time that an outage cannot take: when a router is back (gateways/outages.ts), each pass gets the time that it lost there,
 * as free time: no session and no payment.
 *
 * Lost is what ran between the beginning and the end of the outage, at most MAX_GIVEN_MS. A pass that ran out meanwhile goes
 * on. One that a person or a used-up data limit has ended does not, nor one whose payment was refunded.
 * Once: the row in `extra_time` names outage and pass. The job of an outage may run again at any point.
 */

type OutageRow = Row<'outages'>;

const MIN_OUTAGE_MS = 3 * MINUTE_MS;
const MAX_GIVEN_MS = DAY_MS;
const BATCH = 100;

/** Handles OUTAGE_JOB. */
export async function giveTimeBack(context: AccessJob, id: number): Promise<null> {
	const { clock, database } = context;
	const outage = await findById(database.db, 'outages', id);
	if (!outage || outage.ended_at === null) return null;
	const { router_id: routerId, began_at: from, ended_at: until } = outage;
	if (until - from > MIN_OUTAGE_MS) {
		const ran = selectPasses(database.db, routerId)
			.where('starts_at', '<', until)
			.where('ends_at', '>', from);
		await forEachPass(context, ran, (trx, passId) =>
			giveToPass(context, trx, { outage, passId, from, until })
		);
	}
	const given = { given_at: clock.now() };
	await database.transact((trx) => trx.updateTable('outages').set(given).where('id', '=', id).execute());
	// Those that ended meanwhile have kept their password until here.
	const over = selectPasses(database.db, routerId)
		.where('ends_at', '>', from)
		.where('ends_at', '<=', clock.now());
	await forEachPass(context, over.where('password_sealed', 'is not', null), async (trx, passId) => {
		const pass = await lockPass(trx, passId);
		if (pass) await eraseIfOver(context, trx, pass);
	});
	return null;
}

const selectPasses = (queries: Reads, routerId: number) =>
	queries.selectFrom('passes').select('id').where('router_id', '=', routerId).orderBy('id').limit(BATCH);

async function forEachPass(
	{ database }: AccessJob,
	passes: ReturnType<typeof selectPasses>,
	work: (trx: Tx, id: number) => Promise<void>
): Promise<void> {
	for (let afterId = 0, isMore = true; isMore;) {
		const rows = await passes.where('id', '>', afterId).execute();
		for (const { id } of rows) await database.transact((trx) => work(trx, id));
		afterId = rows.at(-1)?.id ?? afterId;
		isMore = rows.length === BATCH;
	}
}

interface Loss {
	outage: OutageRow;
	passId: number;
	from: number;
	until: number;
}

async function giveToPass(context: AccessJob, trx: Tx, { outage, passId, from, until }: Loss) {
	const pass = await lockPass(trx, passId);
	const form = `outage ${outage.id} pass ${passId}`;
	if (!pass || (await exists(trx.selectFrom('extra_time').select('id').where('form', '=', form)))) return;
	for (const row of await findHeldSessions(trx, pass, 'active')) await applyDueChange(context, trx, row);
	const active = await findHeldSessions(trx, pass, 'active');
	const expired = await findHeldSessions(trx, pass, 'expired');
	const { spans, endsAt } = await findRunningSpans(trx, [...expired, ...active]);
	const lostMs = spans.reduce(
		(sum, span) => sum + Math.max(0, Math.min(until, span.until) - Math.max(from, span.from)),
		0
	);
	const seconds = Math.ceil(Math.min(lostMs, MAX_GIVEN_MS) / 1000);
	const [session, ...later] = active;
	const last = expired.at(-1);
	let time: ExtendableTime | null = null;
	if (session && pass.ends_at !== null) time = { session, later, pass, endsAt: pass.ends_at };
	else if (last && !(await wasEnded(trx, pass, endsAt)))
		time = await findEndedTime(context, trx, last, outage.began_at);
	if (seconds === 0 || !time) return;
	const { owner_account_id: account_id } = await findRouterOrThrow(trx, pass.router_id);
	const given = { account_id, form, seconds, outage_id: outage.id };
	await addFreeTime(context, trx, time, { ...given, actor: 'access', reason: 'outage' });
}

interface Span {
	from: number;
	until: number;
}

/** When the time of a pass ran: that of its sessions, and free time after the last of them. */
async function findRunningSpans(trx: Tx, sessions: readonly SessionRow[]) {
	const spans = sessions.map(({ starts_at: from, expires_at: until }): Span => ({
		from: from ?? 0,
		until: until ?? 0
	}));
	let endsAt = Math.max(0, ...spans.map(({ until }) => until));
	const ids = sessions.map(({ id }) => id);
	const rows = await trx
		.selectFrom('extra_time')
		.selectAll()
		.where('session_id', 'in', [0, ...ids])
		.orderBy('id')
		.execute();
	for (const { session_id: id, created_at: at, seconds } of rows) {
		const endedAt = sessions.find((one) => one.id === id)?.ended_at ?? Infinity;
		if (at < endedAt) continue;
		const from = Math.max(endsAt, at);
		endsAt = from + seconds * 1000;
		spans.push({ from, until: endsAt });
	}
	return { spans, endsAt };
}

/** Whether a person, or a used-up data limit, has ended the pass before its time was over. */
const wasEnded = async (trx: Tx, { id, ends_at: endsAt }: PassRow, expectedMs: number): Promise<boolean> =>
	// The row of free time is written a moment after its end was computed.
	(endsAt ?? 0) < expectedMs - SECOND_MS ||
	exists(
		trx
			.selectFrom('sessions')
			.select('id')
			.where(({ and }) => and({ pass_id: id, status: 'ended' }))
			.whereRef('ended_at', '>', 'starts_at')
	);

/** Time that a pass got back, and whether it loses some now. */
export interface PassOutages {
	givenSeconds: number;
	isSilent: boolean;
}

/** Returns the outages of the pass of a session; null for one without a pass. */
export async function findPassOutages(queries: Queries, sessionId: number): Promise<PassOutages | null> {
	const { rows } = await sql<{ given: number; silent: number }>`
		select coalesce((select sum(seconds) from extra_time join sessions siblings on siblings.id = extra_time.session_id
				where siblings.pass_id = passes.id and outage_id is not null), 0) as given,
			(select count(*) from outages where outages.router_id = passes.router_id and given_at is null
				and began_at < passes.ends_at) as silent
		from sessions join passes on passes.id = sessions.pass_id where sessions.id = ${sessionId}`.execute(queries);
	const [row] = rows;
	return row ? { givenSeconds: row.given, isSilent: row.silent > 0 } : null;
}

/** The last outages of a router, newest first, with the time that its passes got back. */
export async function findRouterOutages(queries: Queries, routerId: number, limit: number) {
	const { rows } = await sql<{
		id: number;
		began_at: number;
		ended_at: number | null;
		passes: number;
		seconds: number;
	}>`
		select id, began_at, ended_at,
			(select count(*) from extra_time where outage_id = outages.id) as passes,
			(select coalesce(sum(seconds), 0) from extra_time where outage_id = outages.id) as seconds
		from outages where router_id = ${routerId} and (ended_at is null or ended_at > began_at + ${MIN_OUTAGE_MS})
		order by began_at desc limit ${limit}`.execute(queries);
	return rows;
}
