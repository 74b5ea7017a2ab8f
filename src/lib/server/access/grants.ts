import { type RegisteredGateway, findSharingConsole, namesDevices } from '../gateways/gateways.ts';
import { type ProvisioningContext } from './provisioning.ts';
import { forgetAttempts, findOpenConnections, CONNECTION_JOB } from './device-slots.ts';
import type { Queries, Reads, Tx } from '../db/database.ts';
import { type PassRow } from '../passes.ts';
import { type Insertable, type Selectable, sql, type Updateable } from 'kysely';
import { exists, first, isChanged } from '../db/queries.ts';
import type { GrantsTable } from '../db/schema.ts';

export type GrantRow = Selectable<GrantsTable>;

/** Compares a grant with its pass and calls the gateway; its subject is the grant. */
export const GRANT_JOB = 'access.grant';
/** Gateways take whole seconds: ends that differ by less are the same. */
export const SAME_END_MS = 2_000;
/** States of a grant that its pass wants, unless it was released. */
const WANTED = ['granting', 'granted'] as const;
/** States in which the gateway may let the device in. */
const OPEN = ['granting', 'granted', 'revoking'] as const;

/** Other wanted grants of the same device or user. One console can be several gateways. */
export const findOtherGrants = async (
	queries: Reads,
	grant: GrantRow,
	gateway: RegisteredGateway
): Promise<GrantRow[]> => findSameDevice(queries, grant, await findSharingConsole(queries, gateway));

/** A device at a gateway, with its captive session; or a user, without address and captive session. */
type GrantSubject = Pick<GrantRow, 'gateway_id' | 'mac' | 'captive_session_id'>;

export const describeUser = (gatewayId: number): GrantSubject => ({
	...{ gateway_id: gatewayId, mac: null, captive_session_id: null }
});

/** Requests a new grant, or the existing one again: a returning device has lost its login at the gateway. */
export async function requestGrant(
	context: ProvisioningContext,
	trx: Tx,
	passId: number,
	{ gateway_id, mac, captive_session_id }: GrantSubject
): Promise<void> {
	const { clock, jobs } = context;
	const same = (await findWantedGrants(trx, passId)).find(
		(one) => one.gateway_id === gateway_id && one.mac === mac
	);
	if (same) return requestAgain(context, trx, { id: same.id }, { captive_session_id });
	const now = clock.now();
	const { id } = await insertGrant(trx, {
		...{ pass_id: passId, gateway_id, mac, captive_session_id },
		...{ state: 'granting', created_at: now, updated_at: now }
	});
	await jobs.schedule(trx, GRANT_JOB, id, now);
}

/** Requests grants again that a gateway has forgotten, or may have. */
export async function requestAgain(
	{ clock, jobs }: ProvisioningContext,
	trx: Tx,
	which: Parameters<typeof resetGrants>[1],
	to: Partial<Pick<GrantRow, 'captive_session_id'>> = {}
): Promise<void> {
	const now = clock.now();
	for (const id of await resetGrants(trx, which, { ...to, updated_at: now })) {
		await jobs.schedule(trx, GRANT_JOB, id, now);
	}
}

/** Buyers can reload a purchase page at will, so its user is requested again only this often. */
const REQUEST_USER_AGAIN_MS = 10 * 1000;

/** @param lostAtGateway gateway that may have lost its user, to request it again; null for none */
export async function requestUsers(
	context: ProvisioningContext,
	trx: Tx,
	pass: PassRow,
	targets: readonly RegisteredGateway[],
	lostAtGateway: number | null
): Promise<void> {
	const { clock, jobs } = context;
	const now = clock.now();
	const open = (await findWantedGrants(trx, pass.id)).filter(({ mac }) => mac === null);
	for (const gateway of targets.filter((one) => !namesDevices(one))) {
		const own = open.find(({ gateway_id: gatewayId }) => gatewayId === gateway.id);
		if (!own) {
			await requestGrant(context, trx, pass.id, describeUser(gateway.id));
		} else if (gateway.id === lostAtGateway && Math.abs(now - own.updated_at) > REQUEST_USER_AGAIN_MS) {
			// A request in progress still counts once confirmed; only its job runs sooner.
			if (own.state === 'granted') await requestAgain(context, trx, { id: own.id });
			else await jobs.schedule(trx, GRANT_JOB, own.id, now);
		}
	}
}

/** Schedules the jobs that compare gateways with a changed pass. */
export async function scheduleGatewayCalls(
	{ clock, jobs }: ProvisioningContext,
	trx: Tx,
	passId: number
): Promise<void> {
	const now = clock.now();
	for (const { id } of await findOpenGrants(trx, passId)) await jobs.schedule(trx, GRANT_JOB, id, now);
	// Failed attempts to set the old end say nothing about the new one.
	await forgetAttempts(trx, passId);
	for (const { id } of await findOpenConnections(trx, { passId })) {
		await jobs.schedule(trx, CONNECTION_JOB, id, now);
	}
}

/** Releases all grants of a pass, so that jobs disconnect its devices. */
export async function scheduleRevokes(
	{ clock, jobs }: ProvisioningContext,
	trx: Tx,
	passId: number
): Promise<void> {
	const now = clock.now();
	for (const { id } of await findOpenGrants(trx, passId)) {
		await changeWantedGrant(trx, { id }, { released_at: now, updated_at: now });
		await jobs.schedule(trx, GRANT_JOB, id, now);
	}
}

const insertGrant = (queries: Queries, grant: Insertable<GrantsTable>): Promise<GrantRow> =>
	queries.insertInto('grants').values(grant).returningAll().executeTakeFirstOrThrow();

export const findGrant = (queries: Reads, id: number): Promise<GrantRow | null> =>
	first(queries.selectFrom('grants').selectAll().where('id', '=', id));

export const findOpenGrants = (queries: Queries, passId: number): Promise<GrantRow[]> =>
	queries
		.selectFrom('grants')
		.selectAll()
		.where('pass_id', '=', passId)
		.where('state', 'in', OPEN)
		.orderBy('id')
		.execute();

/** The open grants that their pass wants. */
export const findWantedGrants = async (queries: Queries, passId: number): Promise<GrantRow[]> =>
	(await findOpenGrants(queries, passId)).filter(isWanted);

export const findGrants = (queries: Queries, passId: number): Promise<GrantRow[]> =>
	queries.selectFrom('grants').selectAll().where('pass_id', '=', passId).orderBy('id').execute();

const updateGrant = (queries: Queries, id: number, to: Updateable<GrantsTable>) =>
	queries.updateTable('grants').set(to).where('id', '=', id);

/** Stores that the gateway has let in a device of the pass until then, whatever became of the grant since. */
export const setConfirmedEnd = (queries: Queries, id: number, endMs: number | null) =>
	updateGrant(queries, id, { confirmed_end_at: endMs }).execute();

/** Changes a grant unless it is over. Returns whether it did. */
export const changeOpenGrant = (
	queries: Queries,
	id: number,
	to: Updateable<GrantsTable>
): Promise<boolean> => isChanged(updateGrant(queries, id, to).where('state', 'in', OPEN));

/** Changes a grant if its pass wants it, in the state and revision that the caller expects. */
export async function changeWantedGrant(
	queries: Queries,
	{ id, state, revision }: { id: number; state?: 'granting' | 'granted'; revision?: number },
	to: Updateable<GrantsTable>
): Promise<boolean> {
	let query = updateGrant(queries, id, to)
		.where('state', 'in', state === undefined ? WANTED : [state])
		.where('released_at', 'is', null);
	if (revision !== undefined) query = query.where('revision', '=', revision);
	return isChanged(query);
}

/** Revokes a grant that its gateway may have carried out late, unless the pass wants it. */
export const revokeAgain = (queries: Queries, id: number, now: number) =>
	queries
		.updateTable('grants')
		.set({ state: 'revoking', unanswered_at: now, updated_at: now })
		.where('id', '=', id)
		.where((row) =>
			row.or([
				row('state', 'in', ['revoking', 'revoked', 'failed']),
				row.and([row('state', 'in', WANTED), row('released_at', 'is not', null)])
			])
		)
		.execute();

/** Requests grants that their pass wants again. Earlier answers and calls in progress do not count. Returns their ids. */
async function resetGrants(
	queries: Queries,
	which: { id: number } | { gatewayId: number; mac?: string; grantedBefore?: number },
	to: Updateable<GrantsTable>
): Promise<number[]> {
	let query = queries
		.updateTable('grants')
		.set({ state: 'granting', requested_end_at: null, granted_at: null, ...to })
		.set({ revision: sql<number>`revision + 1` })
		.where('state', 'in', WANTED)
		.where('released_at', 'is', null);
	if ('id' in which) query = query.where('id', '=', which.id);
	else {
		query = query.where('gateway_id', '=', which.gatewayId);
		if (which.mac !== undefined) query = query.where('mac', '=', which.mac);
		if (which.grantedBefore !== undefined) query = query.where('granted_at', '<', which.grantedBefore);
	}
	return (await query.returning('id').execute()).map(({ id }) => id);
}

/** A redirect of a device that was still offline can reach us this long after its grant. */
export const LATE_REDIRECT_MS = 30_000;

/** For a user, lists its other grants of the same pass. */
function findSameDevice(queries: Reads, grant: GrantRow, gatewayIds: readonly number[]): Promise<GrantRow[]> {
	const others = queries
		.selectFrom('grants')
		.selectAll()
		.where('id', '<>', grant.id)
		.where('gateway_id', 'in', gatewayIds)
		.where('state', 'in', WANTED)
		.where('released_at', 'is', null)
		.orderBy('id')
		.limit(MAX_SAME_DEVICE);
	return (
		grant.mac === null
			? others.where('mac', 'is', null).where('pass_id', '=', grant.pass_id)
			: others.where('mac', '=', grant.mac)
	).execute();
}

const MAX_SAME_DEVICE = 20;

/** Whether a grant was released after `since` while its gateway still lets the device in. */
export async function hasMovedIn(
	queries: Queries,
	pass: { passId: number; gatewayIds: readonly number[]; since: number },
	now: number
): Promise<boolean> {
	if (pass.gatewayIds.length === 0) return false;
	return exists(
		queries
			.selectFrom('grants')
			.select('id')
			.where('pass_id', '=', pass.passId)
			.where('gateway_id', 'in', pass.gatewayIds)
			.where('mac', 'is not', null)
			.where('released_at', '>', pass.since)
			.where((row) => row.or([row('requested_end_at', '>', now), row('confirmed_end_at', '>', now)]))
	);
}

/** Devices other than this one. A device that roams has a grant at each gateway. */
export const listOtherMacs = (grants: readonly Pick<GrantRow, 'mac'>[], mac: string): Set<string> =>
	new Set(grants.flatMap((grant) => (grant.mac === null || grant.mac === mac ? [] : [grant.mac])));

export const isWanted = ({ released_at: releasedAt, state }: GrantRow): boolean =>
	releasedAt === null && state !== 'revoking';

/** Returns the ids of the grants that the gateway may carry out. */
export async function findOpenGrantIds(queries: Queries, gatewayId: number): Promise<number[]> {
	const open = queries.selectFrom('grants').where('gateway_id', '=', gatewayId).where('state', 'in', OPEN);
	return (await open.select('id').orderBy('id').execute()).map(({ id }) => id);
}

/** Counts devices with a slot whose end is later than `now`, or that was reported after `since` if it has no end. */
export async function countConnectedAt(
	queries: Queries,
	gatewayId: number,
	{ now, since }: { now: number; since: number }
): Promise<number> {
	const { rows } = await sql<{ count: number }>`
		select count(*) as count from (
			select mac from connections where gateway_id = ${gatewayId} and stopped_at is null
			union
			select mac from device_slots where gateway_id = ${gatewayId} and released_at is null
				and (expected_until > ${now} or (expected_until is null and reported_at > ${since}))) devices
		`.execute(queries);
	return rows[0]?.count ?? 0;
}

const selectWantedGrants = (queries: Queries, gatewayId: number, state: 'granting' | 'granted') =>
	queries
		.selectFrom('grants')
		.selectAll()
		.where('gateway_id', '=', gatewayId)
		.where('state', '=', state)
		.where('released_at', 'is', null);

/** A new end for an online device may wait this long behind devices that are offline. */
const NEW_END_MS = 30_000;

/**
 * Never sent grants come first, then the longest waiting. A gateway never confirms a new end for an online
 * device, so that must not block other devices.
 */
export const findWaitingGrants = (queries: Queries, gatewayId: number, limit: number): Promise<GrantRow[]> =>
	selectWantedGrants(queries, gatewayId, 'granting')
		.orderBy((row) => row.case().when('requested_end_at', 'is', null).then(0).else(1).end())
		.orderBy(sql`updated_at + case when granted_at is null then 0 else ${NEW_END_MS} end`)
		.orderBy('id')
		.limit(limit)
		.execute();

export const findNewestWaitingGrants = (
	queries: Queries,
	gatewayId: number,
	limit: number
): Promise<GrantRow[]> =>
	selectWantedGrants(queries, gatewayId, 'granting')
		.orderBy('updated_at', 'desc')
		.orderBy('id', 'desc')
		.limit(limit)
		.execute();

/** Lists confirmed grants whose device returned to the portal after the confirmation and after `since`. */
export const findReturnedGrants = (
	queries: Queries,
	{ gatewayId, since }: { gatewayId: number; since: number },
	limit: number
): Promise<GrantRow[]> =>
	selectWantedGrants(queries, gatewayId, 'granted')
		.where(({ exists, selectFrom }) =>
			exists(
				selectFrom('captive_sessions')
					.select('captive_sessions.id')
					.whereRef('captive_sessions.gateway_id', '=', 'grants.gateway_id')
					.whereRef('captive_sessions.client_mac', '=', 'grants.mac')
					.whereRef('captive_sessions.created_at', '>', 'grants.granted_at')
					.where('captive_sessions.created_at', '>', since)
			)
		)
		.orderBy('id')
		.limit(limit)
		.execute();

/** Counts the grants that a gateway has not carried out, and returns its last error. */
export async function countPendingGrants(queries: Queries, gatewayId: number) {
	const { rows } = await sql<{
		granting: number;
		revoking: number;
		failed: number;
		lastError: string | null;
	}>`
		select count(*) filter (where state = 'granting') as granting,
			count(*) filter (where state = 'revoking') as revoking,
			count(*) filter (where state = 'failed') as failed,
			(select last_error from grants where gateway_id = ${gatewayId} and state in ('granting', 'revoking')
				and last_error is not null order by updated_at desc limit 1) as "lastError"
		from grants where gateway_id = ${gatewayId} and state in ('granting', 'revoking', 'failed')`.execute(queries);
	return rows[0] ?? { granting: 0, revoking: 0, failed: 0, lastError: null };
}
