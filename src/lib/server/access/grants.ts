import { startTime } from '../billing/sessions.ts';
import { dataLeft } from '#lib/domain/offers.ts';
import { loginUser } from '#lib/domain/wifi.ts';
import type { Queries, Reads, Tx } from '../db/database.ts';
import { repairIfLost } from '../jobs.ts';
import { type CommandResult, type DeviceLogin, Unavailable } from '../gateways/gateway.ts';
import { namesDevices, type RegisteredGateway } from '../gateways/gateways.ts';
import {
	openPass,
	type OpenPass,
	type PassRow,
	readSpeed,
	findPassOrThrow,
	openPassword
} from '../passes.ts';
import {
	type AccessJob,
	type AccessServices,
	type AccessWriter,
	controllerOf,
	countUsage,
	newestDevice,
	nextRead,
	type ProvisioningContext,
	readUsage
} from './provisioning.ts';
import { forgetAttempts, openConnections } from './connection-store.ts';
import { CONNECTION_JOB, GRANT_JOB } from './job-kinds.ts';
import { backoffMs, callGateway, MAX_BACKOFF_MS, recordFailure } from './gateway-calls.ts';
import { type Insertable, type Selectable, sql, type Updateable } from 'kysely';
import { exists, first, isChanged } from '../db/queries.ts';
import type { GrantsTable } from '../db/schema.ts';

/** Time starts at the confirmation, so the end is sent this much later. Revoking sets the exact end. */
export const SLACK_MS = 30_000;

export async function loginOf(
	context: AccessServices,
	grant: GrantRow,
	open: OpenPass | null
): Promise<DeviceLogin> {
	const { captive_session_id: captiveSessionId, mac } = grant;
	return {
		user: loginUser(grant.pass_id),
		password: open ? openPassword(context, open.pass) : '',
		mac,
		login: captiveSessionId === null ? {} : await context.captiveSessions.loginOf(captiveSessionId),
		maxDevices: open?.pass.max_devices ?? 1,
		speed: open ? readSpeed(open.pass) : { down: null, up: null },
		dataLeft: open ? dataLeft(open.pass) : null
	};
}

/** Other wanted grants of the same device or user. One console can be several gateways. */
export const othersOf = async (
	{ gateways }: AccessServices,
	queries: Reads,
	grant: GrantRow,
	gateway: RegisteredGateway
): Promise<GrantRow[]> => sameDevice(queries, grant, await gateways.sharingConsole(queries, gateway));

/** Returns the end of the device's last pass with the same limits: a device can have several passes. */
export async function desiredEnd(
	context: AccessWriter,
	grant: GrantRow,
	gateway: RegisteredGateway,
	open: OpenPass
): Promise<number> {
	const own = open.untilMs + (open.kind === 'waits' ? SLACK_MS : 0);
	const others = await openOthers(context, grant, gateway);
	// A polling gateway cannot shorten access, and time that waits may be refunded.
	const lasting = others.filter(({ kind }) => gateway.mode !== 'poll' || kind === 'runs');
	const same = lasting.filter(({ pass }) => isSameLimit(pass, open.pass));
	return Math.max(own, ...same.map(({ untilMs }) => untilMs));
}

const isSameLimit = (a: OpenPass['pass'], b: OpenPass['pass']): boolean =>
	a.speed_down_kbps === b.speed_down_kbps &&
	a.speed_up_kbps === b.speed_up_kbps &&
	a.data_limit_mb === null &&
	b.data_limit_mb === null;

/** Returns other open passes that want the same device, or user, online at the gateway. */
async function openOthers(
	context: AccessWriter,
	grant: GrantRow,
	gateway: RegisteredGateway
): Promise<OpenPass[]> {
	const { database, clock } = context;
	const open: OpenPass[] = [];
	for (const { pass_id: passId } of await othersOf(context, database.db, grant, gateway)) {
		const other = await openPass(database.db, passId, clock.now());
		if (other) open.push(other);
	}
	return open;
}

/** A device at a gateway, with its captive session; or a user, without address and captive session. */
type GrantSubject = Pick<GrantRow, 'gateway_id' | 'mac' | 'captive_session_id'>;

export const userAt = (gatewayId: number): GrantSubject => ({
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
	const same = (await wantedGrantsOf(trx, passId)).find(
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
	which: Parameters<typeof resetRows>[1],
	to: Partial<Pick<GrantRow, 'captive_session_id'>> = {}
): Promise<void> {
	const now = clock.now();
	for (const id of await resetRows(trx, which, { ...to, updated_at: now })) {
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
	const open = (await wantedGrantsOf(trx, pass.id)).filter(({ mac }) => mac === null);
	for (const gateway of targets.filter((one) => !namesDevices(one))) {
		const own = open.find(({ gateway_id: gatewayId }) => gatewayId === gateway.id);
		if (!own) {
			await requestGrant(context, trx, pass.id, userAt(gateway.id));
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
	for (const { id } of await openGrantsOf(trx, passId)) await jobs.schedule(trx, GRANT_JOB, id, now);
	// Failed attempts to set the old end say nothing about the new one.
	await forgetAttempts(trx, passId);
	for (const { id } of await openConnections(trx, { passId })) {
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
	for (const { id } of await openGrantsOf(trx, passId)) {
		await changeWanted(trx, { id }, { released_at: now, updated_at: now });
		await jobs.schedule(trx, GRANT_JOB, id, now);
	}
}

/** Interval of checks on a grant that its gateway fetches. */
const FETCH_WAIT_MS = 5_000;

/**
 * Handles GRANT_JOB. If another run has taken over, the gateway may have carried out a call of this one after the calls of
 * that one: it is called again.
 */
export const runGrantJob = (context: AccessJob, id: number): Promise<number | null> =>
	repairIfLost(applyGrant(context, id), () =>
		context.database.unfenced.transact(async (trx) => {
			const now = context.clock.now();
			await requestAgain(context, trx, { id });
			await revokeAgain(trx, id, now);
			await context.jobs.schedule(trx, GRANT_JOB, id, now);
		})
	);

/**
 * Brings a gateway to what the pass wants: grants or revokes.
 *
 * Purpose: compares the pass with the state that the gateway confirmed, and calls it until both match.
 * States: paid -> `granting` -> `granted`; over, ended, moved or refunded -> `revoking` -> `revoked`,
 * or `failed` when Airtill gives up.
 * Guarantees: the request is stored before the call, so a process may die at any point.
 * @returns when to run again (ms since the epoch), or null when the grant is over
 */
export async function applyGrant(context: AccessWriter, id: number): Promise<number | null> {
	const { database, clock, gateways, concurrencyLimit } = context;
	const grant = await findGrant(database.db, id);
	if (!grant || grant.state === 'revoked' || grant.state === 'failed') return null;
	const gateway = await gateways.byId(grant.gateway_id);
	if (!gateway) return null;
	// With another AIRTILL_SECRET its credentials do not open.
	if (gateway.unreadable.length > 0) return clock.now() + MAX_BACKOFF_MS;
	/** null: no pass wants the grant, so it is revoked. */
	const pass = isWanted(grant) ? await openPass(database.db, grant.pass_id, clock.now()) : null;
	const work = () =>
		pass ? grantAtGateway(context, grant, gateway, pass) : revokeAtGateway(context, grant, gateway);
	if (!controllerOf(gateway)) return work();
	return concurrencyLimit.run({ kind: GRANT_JOB, id, gateway, isBuyer: pass?.kind === 'waits' }, work);
}

/** Sends the desired end to a gateway that has not confirmed it. Returns when to run again. */
async function grantAtGateway(
	context: AccessWriter,
	grant: GrantRow,
	gateway: RegisteredGateway,
	open: OpenPass
): Promise<number | null> {
	const { database, clock } = context;
	const isWaiting = open.kind === 'waits';
	const endMs = await desiredEnd(context, grant, gateway, open);
	const { id, revision, requested_end_at: requested } = grant;
	const isCurrent = requested !== null && requested >= endMs && requested <= endMs + SLACK_MS;
	const isConfirmed = grant.state === 'granted' && isCurrent;
	if (isConfirmed && !isWaiting) return readUsage(context, grant, gateway, open);
	const controller = controllerOf(gateway);
	if (!controller) return awaitFetch(context, grant, open);
	// Counts first: a request delays the next read, and a buyer who reloads must not keep us from counting.
	const mayRead = grant.confirmed_end_at !== null && gateway.unresponsiveSince === null;
	const pass = mayRead ? await countUsage(context, grant, gateway, open) : open;
	// Its data is used up: the next run revokes.
	if (!pass) return clock.now();
	// Stored before the call: after a crash, the next job knows that an answer may be missing.
	const now = clock.now();
	const to = { state: 'granting', requested_end_at: endMs, unanswered_at: now, updated_at: now } as const;
	// Unless it was requested again meanwhile.
	if (!(await database.write((trx) => changeWanted(trx, { id, revision }, to)))) return now;
	const login = await loginOf(context, grant, pass);
	const result = await callGateway(context, gateway, () =>
		controller.connect(login, endMs, gateway, context.transport)
	);
	if (!(result instanceof Unavailable)) {
		// null: requested again, or released, meanwhile.
		const next = (await confirmGrant(context, grant, pass, endMs)) ?? clock.now();
		return Math.min(next, nextRead(context, gateway, pass));
	}
	await recordFailure(context, grant, gateway, result);
	const again = clock.now() + backoffMs(grant, gateway, isWaiting);
	return isWaiting ? again : Math.min(again, pass.untilMs);
}

/** Waits until the gateway fetches the grant, also for the new end of an online device. */
async function awaitFetch({ database, clock }: AccessWriter, grant: GrantRow, pass: OpenPass) {
	const { id, revision, state } = grant;
	// Unless it was confirmed meanwhile: then it has its end.
	if (state === 'granted')
		await database.write((trx) => changeWanted(trx, { id, revision, state }, { state: 'granting' }));
	const again = clock.now() + FETCH_WAIT_MS;
	return pass.kind === 'waits' ? again : Math.min(again, pass.untilMs);
}

/**
 * Stores a confirmed end and starts the time of a waiting buyer.
 * @returns when to run again, or null when the request does not count any more
 */
export async function confirmGrant(
	context: AccessWriter,
	grant: GrantRow,
	open: OpenPass,
	endMs: number
): Promise<number | null> {
	const { clock, jobs } = context;
	const { id, revision, pass_id: passId } = grant;
	return context.database.transact(async (trx) => {
		const now = clock.now();
		const to = {
			state: 'granted',
			requested_end_at: endMs,
			confirmed_end_at: endMs,
			granted_at: grant.granted_at ?? now,
			// The gateway may still carry out a request with a lost answer, even one of a dead process. A
			// device that is disconnected next is therefore disconnected twice.
			unanswered_at: grant.attempts > 0 ? now : grant.unanswered_at,
			attempts: 0,
			last_error: null,
			updated_at: now
		} as const;
		if (!(await changeWanted(trx, { id, revision }, to))) {
			// Meanwhile the grant was requested again, or released and perhaps revoked.
			await revokeAgain(trx, id, now);
			await jobs.schedule(trx, GRANT_JOB, id, now);
			return null;
		}
		if (open.kind === 'runs' || !(await isAwaited(context, trx, grant, open))) return open.untilMs;
		// Another gateway may have started the time with another end.
		if (!(await startTime(context, trx, await findPassOrThrow(trx, passId)))) return now;
		for (const other of await openGrantsOf(trx, passId)) {
			if (other.id !== id) await jobs.schedule(trx, GRANT_JOB, other.id, now);
		}
		return (await findPassOrThrow(trx, passId)).ends_at;
	});
}

/** Whether this grant starts the time: only one at the buyer's own gateway does, if there is one. */
async function isAwaited(
	context: AccessServices,
	trx: Tx,
	grant: GrantRow,
	{ pass }: OpenPass
): Promise<boolean> {
	const newest = await newestDevice(context, trx, pass);
	if (!newest || newest.gateway_id === grant.gateway_id) return true;
	const open = await openGrantsOf(trx, pass.id);
	return !open.some((one) => one.gateway_id === newest.gateway_id && one.released_at === null);
}

/** Retries continue for this long after the end that the gateway knows. */
const REVOKE_MS = 24 * 60 * 60 * 1000;
/** For users, whose unused time does not run down at the gateway: a router repair may take this long. */
const REVOKE_USER_MS = 90 * REVOKE_MS;
/** Retry interval for users after the first day. */
const SELDOM_MS = 60 * 60 * 1000;
/** A gateway may carry out a request this late after a lost answer. Then it is revoked once more. */
const LATE_MS = 60_000;

/** Disconnects the device or user of a grant. Returns when to run again, or null when done or given up. */
async function revokeAtGateway(
	context: AccessWriter,
	grant: GrantRow,
	gateway: RegisteredGateway
): Promise<number | null> {
	const { database, clock } = context;
	const now = clock.now();
	const isRevoking = await database.transact(async (trx) => {
		// Time given since the pass was read keeps the grant; its job is due again.
		if (isWanted(grant) && (await openPass(trx, grant.pass_id, clock.now()))) return false;
		return changeOpen(trx, grant.id, { state: 'revoking', updated_at: now });
	});
	if (!isRevoking) return null;
	// A device that another pass holds stays online; so does a user that was revoked before and is wanted again.
	const mayStay = grant.mac !== null || grant.revoked_at !== null;
	const stays = mayStay && (await openOthers(context, grant, gateway)).length > 0;
	const result = stays ? 'done' : await callRevoke(context, grant, gateway);
	// A request with a shorter end does not end what was confirmed before.
	const endsItselfAt = Math.max(grant.requested_end_at ?? grant.created_at, grant.confirmed_end_at ?? 0);
	if (result instanceof Unavailable) {
		await recordFailure(context, grant, gateway, result);
		return retryRevoke(context, grant, gateway, endsItselfAt);
	}
	// The gateway ends the access itself. An absent device may return before that.
	if (result === 'impossible' && endsItselfAt > now) {
		return controllerOf(gateway) ? Math.min(endsItselfAt, now + MAX_BACKOFF_MS) : endsItselfAt;
	}
	// `now` is from before the call: the gateway may carry out the late request during it.
	const lateAt = (grant.unanswered_at ?? -Infinity) + LATE_MS;
	const isOver = stays || lateAt <= now;
	await recordRevoked(context, grant, gateway, isOver ? 'revoked' : 'revoking');
	return isOver ? null : lateAt;
}

async function callRevoke(
	context: AccessWriter,
	grant: GrantRow,
	gateway: RegisteredGateway
): Promise<CommandResult | Unavailable> {
	const controller = controllerOf(gateway);
	if (!controller) return 'impossible';
	// A pass that goes on elsewhere has used this data. The gateway may forget it.
	const open = await openPass(context.database.db, grant.pass_id, context.clock.now());
	if (open && gateway.unresponsiveSince === null) await countUsage(context, grant, gateway, open);
	const login = await loginOf(context, grant, null);
	return callGateway(context, gateway, () => controller.disconnect(login, gateway, context.transport));
}

async function retryRevoke(
	{ database, clock, log }: AccessWriter,
	grant: GrantRow,
	gateway: RegisteredGateway,
	endsItselfAt: number
): Promise<number | null> {
	const now = clock.now();
	const overMs = now - endsItselfAt;
	if (overMs < REVOKE_MS) return now + backoffMs(grant, gateway, false);
	if (grant.mac === null && overMs < REVOKE_USER_MS) return now + SELDOM_MS;
	await database.write((trx) => changeOpen(trx, grant.id, { state: 'failed', updated_at: now }));
	log.error({ gateway: gateway.name, grant: grant.id }, 'could not disconnect a device');
	return null;
}

/**
 * Requests other passes of the device again, because they may have been disconnected with it.
 * @param state `revoking` to revoke again when no late request is possible
 */
async function recordRevoked(
	context: AccessWriter,
	grant: GrantRow,
	gateway: RegisteredGateway,
	state: 'revoking' | 'revoked'
): Promise<void> {
	const { clock } = context;
	await context.database.transact(async (trx) => {
		const now = clock.now();
		const done = { state, revoked_at: now, last_error: null, updated_at: now } as const;
		const to = state === 'revoked' ? { ...done, unanswered_at: null } : done;
		await changeOpen(trx, grant.id, to);
		for (const other of await othersOf(context, trx, grant, gateway)) {
			await requestAgain(context, trx, { id: other.id });
		}
	});
}

export type GrantRow = Selectable<GrantsTable>;

const insertGrant = (queries: Queries, grant: Insertable<GrantsTable>): Promise<GrantRow> =>
	queries.insertInto('grants').values(grant).returningAll().executeTakeFirstOrThrow();

export const findGrant = (queries: Reads, id: number): Promise<GrantRow | null> =>
	first(queries.selectFrom('grants').selectAll().where('id', '=', id));

/** States of a grant that its pass wants, unless it was released. */
const WANTED = ['granting', 'granted'] as const;
/** States in which the gateway may let the device in. */
const OPEN = ['granting', 'granted', 'revoking'] as const;

export const openGrantsOf = (queries: Queries, passId: number): Promise<GrantRow[]> =>
	queries
		.selectFrom('grants')
		.selectAll()
		.where('pass_id', '=', passId)
		.where('state', 'in', OPEN)
		.orderBy('id')
		.execute();

/** The open grants that their pass wants. */
export const wantedGrantsOf = async (queries: Queries, passId: number): Promise<GrantRow[]> =>
	(await openGrantsOf(queries, passId)).filter(isWanted);

export const grantsOf = (queries: Queries, passId: number): Promise<GrantRow[]> =>
	queries.selectFrom('grants').selectAll().where('pass_id', '=', passId).orderBy('id').execute();

const change = (queries: Queries, id: number, to: Updateable<GrantsTable>) =>
	queries.updateTable('grants').set(to).where('id', '=', id);

/** Stores that the gateway has let in a device of the pass until then, whatever became of the grant since. */
export const setConfirmedEnd = (queries: Queries, id: number, endMs: number | null) =>
	change(queries, id, { confirmed_end_at: endMs }).execute();

/** Changes a grant unless it is over. Returns whether it did. */
export const changeOpen = (queries: Queries, id: number, to: Updateable<GrantsTable>): Promise<boolean> =>
	isChanged(change(queries, id, to).where('state', 'in', OPEN));

/** Changes a grant if its pass wants it, in the state and revision that the caller expects. */
export async function changeWanted(
	queries: Queries,
	{ id, state, revision }: { id: number; state?: 'granting' | 'granted'; revision?: number },
	to: Updateable<GrantsTable>
): Promise<boolean> {
	let query = change(queries, id, to)
		.where('state', 'in', state === undefined ? WANTED : [state])
		.where('released_at', 'is', null);
	if (revision !== undefined) query = query.where('revision', '=', revision);
	return isChanged(query);
}

/** Revokes a grant that its gateway may have carried out late, unless the pass wants it. */
const revokeAgain = (queries: Queries, id: number, now: number) =>
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
async function resetRows(
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
function sameDevice(queries: Reads, grant: GrantRow, gatewayIds: readonly number[]): Promise<GrantRow[]> {
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
export const otherMacs = (grants: readonly Pick<GrantRow, 'mac'>[], mac: string): Set<string> =>
	new Set(grants.flatMap((grant) => (grant.mac === null || grant.mac === mac ? [] : [grant.mac])));

const isWanted = ({ released_at: releasedAt, state }: GrantRow): boolean =>
	releasedAt === null && state !== 'revoking';

/** Returns the ids of the grants that the gateway may carry out. */
export async function openIdsAt(queries: Queries, gatewayId: number): Promise<number[]> {
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

const wantedAt = (queries: Queries, gatewayId: number, state: 'granting' | 'granted') =>
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
export const waitingAt = (queries: Queries, gatewayId: number, limit: number): Promise<GrantRow[]> =>
	wantedAt(queries, gatewayId, 'granting')
		.orderBy((row) => row.case().when('requested_end_at', 'is', null).then(0).else(1).end())
		.orderBy(sql`updated_at + case when granted_at is null then 0 else ${NEW_END_MS} end`)
		.orderBy('id')
		.limit(limit)
		.execute();

export const newestWaitingAt = (queries: Queries, gatewayId: number, limit: number): Promise<GrantRow[]> =>
	wantedAt(queries, gatewayId, 'granting')
		.orderBy('updated_at', 'desc')
		.orderBy('id', 'desc')
		.limit(limit)
		.execute();

/** Lists confirmed grants whose device returned to the portal after the confirmation and after `since`. */
export const confirmedAndBack = (
	queries: Queries,
	{ gatewayId, since }: { gatewayId: number; since: number },
	limit: number
): Promise<GrantRow[]> =>
	wantedAt(queries, gatewayId, 'granted')
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
export async function pendingAt(queries: Queries, gatewayId: number) {
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
