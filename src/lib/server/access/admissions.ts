import { type Insertable, type Selectable, type Updateable, sql } from 'kysely';
import type { Queries, Reads, Tx } from '../db/database.ts';
import { first, isChanged } from '../db/queries.ts';
import type { AdmissionsTable } from '../db/schema.ts';
import { findConnectedGateways, forgetAttempts } from './device-slots.ts';
import { type ProvisioningContext } from './provisioning.ts';

/**
 * Admissions: what one gateway is to know of one device or user of a pass, and what was seen of it there.
 *
 * Wanted: the pass is open, and has not released the row. Devices get a row when they pay, open the purchase or take over
 * the pass; users of open passes get theirs from the comparison (compare.ts).
 * Seen: `sent_until`, `allowed_until` and `allowed_at`. Forgetting what was seen is always safe: the next comparison sends it
 * again.
 */
export type AdmissionRow = Selectable<AdmissionsTable>;

/** Compares a gateway with the passes; its subject is the gateway. */
export const GATEWAY_JOB = 'access.gateway';
/** Gateways take whole seconds: ends that differ by less are the same. */
export const SAME_END_MS = 2_000;
/** A redirect of a device that was still offline can reach us this long after it was let in. */
export const LATE_REDIRECT_MS = 30_000;

/** Whether the gateway is known to let it in, until `allowed_until`. */
export const isAllowed = ({ sent_until: sentUntil, allowed_at: at }: AdmissionRow): boolean =>
	sentUntil !== null && at !== null;

/** The same at an instant. Even if a new end is unconfirmed, the device stays online until the old one. */
export const isAllowedAt = (row: AdmissionRow, now: number): boolean =>
	isAllowed(row) && (row.allowed_until ?? 0) > now;

/** Wants a device, with its captive session, at a gateway. It has come anew, so what was seen of it does not count. */
export async function requestDevice(
	context: ProvisioningContext,
	trx: Tx,
	passId: number,
	{ gateway_id, mac, captive_session_id }: Pick<AdmissionRow, 'gateway_id' | 'mac' | 'captive_session_id'>
): Promise<void> {
	const own = (await findWanted(trx, passId)).find((row) => row.gateway_id === gateway_id && row.mac === mac);
	if (own) return forget(context, trx, { id: own.id }, { captive_session_id });
	await insertAdmission(trx, {
		...{ pass_id: passId, gateway_id, mac, captive_session_id, created_at: context.clock.now() }
	});
	await scheduleComparison(context, trx, gateway_id);
}

/** Wanted rows that a gateway has forgotten, or may have: an answer on its way does not count. They are compared now. */
export async function forget(
	context: ProvisioningContext,
	queries: Queries,
	which: { id: number } | { gatewayId: number; mac?: string; allowedBefore?: number },
	to: Partial<Pick<AdmissionRow, 'captive_session_id'>> = {}
): Promise<void> {
	let query = queries
		.updateTable('admissions')
		.set({ allowed_at: null, check_at: null, unanswered_at: sql`unanswered_at + 1`, ...to })
		.where('released_at', 'is', null);
	if ('id' in which) query = query.where('id', '=', which.id);
	else {
		query = query.where('gateway_id', '=', which.gatewayId);
		if (which.mac !== undefined) query = query.where('mac', '=', which.mac);
		if (which.allowedBefore !== undefined) query = query.where('allowed_at', '<', which.allowedBefore);
	}
	const rows = await query.returning('gateway_id').execute();
	for (const id of listGateways(rows)) await scheduleComparison(context, queries, id);
}

/** Buyers can reload a purchase page at will, so its user is sent again only this often. */
const FORGET_USER_MS = 10 * 1000;

/** Forgets the user of a pass at a gateway that has sent its buyer to the portal. */
export async function forgetUser(
	context: ProvisioningContext,
	trx: Tx,
	passId: number,
	gatewayId: number
): Promise<void> {
	const own = (await findWanted(trx, passId)).find((row) => row.gateway_id === gatewayId && row.mac === null);
	if (!own) return scheduleComparison(context, trx, gatewayId);
	const lastAt = own.allowed_at ?? own.unanswered_at ?? own.created_at;
	if (Math.abs(context.clock.now() - lastAt) <= FORGET_USER_MS) return;
	if (isAllowed(own)) return forget(context, trx, { id: own.id });
	// The answer to a call on its way still counts; it is only tried sooner.
	await changeAdmission(trx, own.id, { check_at: null });
	await scheduleComparison(context, trx, gatewayId);
}

export const scheduleComparison = (
	{ jobs, clock }: Pick<ProvisioningContext, 'jobs' | 'clock'>,
	queries: Queries,
	gatewayId: number
) => jobs.schedule(queries, GATEWAY_JOB, gatewayId, clock.now());

/** By id: transactions that schedule the same ones do so in one order. */
export const listGateways = (rows: readonly { gateway_id: number }[]): number[] =>
	[...new Set(rows.map((row) => row.gateway_id))].sort((a, b) => a - b);

/** Compares the gateways with a changed pass. Failed calls for what it wanted before say nothing about the new. */
export async function schedulePassComparisons(
	context: ProvisioningContext,
	trx: Tx,
	passId: number
): Promise<void> {
	const rows = await selectOpen(trx).where('pass_id', '=', passId).execute();
	if (rows.some(({ check_at: at }) => at !== null)) {
		await trx.updateTable('admissions').set({ check_at: null }).where('pass_id', '=', passId).execute();
	}
	const connected = await findConnectedGateways(trx, { passId });
	if (connected.length > 0) await forgetAttempts(trx, passId);
	const gateways = listGateways([...rows, ...connected.map((gateway_id) => ({ gateway_id }))]);
	for (const id of gateways) await scheduleComparison(context, trx, id);
}

/** Does nothing if the pass wants it already. */
export const insertAdmission = (queries: Queries, row: Insertable<AdmissionsTable>) =>
	queries
		.insertInto('admissions')
		.values(row)
		.onConflict((conflict) => conflict.doNothing())
		.execute();

export const findAdmission = (queries: Reads, id: number): Promise<AdmissionRow | null> =>
	first(queries.selectFrom('admissions').selectAll().where('id', '=', id));

export const findAdmissions = (queries: Reads, passId: number): Promise<AdmissionRow[]> =>
	queries.selectFrom('admissions').selectAll().where('pass_id', '=', passId).orderBy('id').execute();

/** Rows that the pass has not released. */
export const findWanted = (queries: Reads, passId: number): Promise<AdmissionRow[]> =>
	queries
		.selectFrom('admissions')
		.selectAll()
		.where('pass_id', '=', passId)
		.where('released_at', 'is', null)
		.orderBy('id')
		.execute();

/** Rows that are wanted, or that a gateway may let in. */
const selectOpen = (queries: Reads) =>
	queries
		.selectFrom('admissions')
		.selectAll()
		.where((row) =>
			row.or([
				row('released_at', 'is', null),
				row('sent_until', 'is not', null),
				row('unanswered_at', 'is not', null)
			])
		);

export const findOpenAdmissions = (queries: Reads, gatewayIds: readonly number[]): Promise<AdmissionRow[]> =>
	selectOpen(queries).where('gateway_id', 'in', gatewayIds).orderBy('id').execute();

/** Other rows that want the same device, or the same user of a console that is registered as several gateways. */
export const findSameDevice = async (
	queries: Reads,
	{ id, mac, pass_id: passId }: AdmissionRow,
	gatewayIds: readonly number[]
): Promise<AdmissionRow[]> => {
	if (gatewayIds.length === 0) return [];
	const others = queries
		.selectFrom('admissions')
		.selectAll()
		.where('id', '<>', id)
		.where('gateway_id', 'in', gatewayIds)
		.where('released_at', 'is', null)
		.orderBy('id')
		.limit(MAX_SAME_DEVICE);
	return (
		mac === null
			? others.where('mac', 'is', null).where('pass_id', '=', passId)
			: others.where('mac', '=', mac)
	).execute();
};

const MAX_SAME_DEVICE = 20;

/** @param call of the row as it was stored before the call; undefined for any */
export const changeAdmission = (
	queries: Queries,
	id: number,
	to: Updateable<AdmissionsTable>,
	call?: number | null
): Promise<boolean> => {
	const query = queries.updateTable('admissions').set(to).where('id', '=', id);
	if (call === undefined) return isChanged(query);
	return isChanged(query.where('unanswered_at', call === null ? 'is' : '=', call));
};

/** Releases a row: its gateway disconnects it. */
export const releaseAdmission = (queries: Queries, id: number, now: number) =>
	queries
		.updateTable('admissions')
		.set({ released_at: now, check_at: null, unanswered_at: sql`unanswered_at + 1` })
		.where('id', '=', id)
		.where('released_at', 'is', null)
		.execute();

/** Devices other than this one. A device that roams has a row at each gateway. */
export const listOtherMacs = (rows: readonly { mac: string | null }[], mac: string): Set<string> =>
	new Set(rows.flatMap((row) => (row.mac === null || row.mac === mac ? [] : [row.mac])));

/** What a gateway has not carried out, and why its last failed call did. */
export async function countPending(queries: Queries, gatewayId: number, now: number) {
	const { rows } = await sql<{ isWanted: number; count: number; problem: string | null }>`
		select case when admissions.released_at is null and (passes.activating_until is not null
				or (passes.ends_at > ${now} and passes.password_sealed is not null)) then 1 else 0 end as "isWanted",
			count(*) as count, max(admissions.problem) as problem
		from admissions left join passes on passes.id = admissions.pass_id
		where gateway_id = ${gatewayId} and (released_at is null or sent_until is not null)
			and (allowed_at is null or problem is not null or allowed_until < passes.ends_at - ${SAME_END_MS}
				or released_at is not null)
		group by 1`.execute(queries);
	const of = (isWanted: number) => rows.find((row) => row.isWanted === isWanted);
	return {
		connecting: of(1)?.count ?? 0,
		disconnecting: of(0)?.count ?? 0,
		problem: (of(1) ?? of(0))?.problem ?? of(0)?.problem ?? null
	};
}

/** Returns the ids of rows of open passes, and of those that the gateway may still let in. */
export async function findUsedAdmissions(
	queries: Queries,
	gatewayId: number,
	now: number
): Promise<number[]> {
	const { rows } = await sql<{ id: number }>`
		select admissions.id from admissions join passes on passes.id = admissions.pass_id
		where gateway_id = ${gatewayId} and (sent_until is not null or (released_at is null
			and (passes.activating_until is not null or (passes.ends_at > ${now} and passes.password_sealed is not null))))
		order by admissions.id`.execute(queries);
	return rows.map(({ id }) => id);
}
