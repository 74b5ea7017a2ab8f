import { type AccessServices, type AccessWriter, type AccessJob } from './provisioning.ts';
import {
	type RegisteredGateway,
	recordStatus,
	findController,
	findGatewayById
} from '../gateways/gateways.ts';
import { UNSEEN_BYTES, type DeviceLogin, type CommandResult } from '../gateways/gateway.ts';
import {
	type GrantRow,
	changeOpenGrant,
	findGrant,
	findOtherGrants,
	requestAgain,
	revokeAgain,
	GRANT_JOB,
	isWanted,
	changeWantedGrant,
	findOpenGrants
} from './grants.ts';
import { type Tx } from '../db/database.ts';
import { type OpenPass, openPass, openPassword, findPassOrThrow, readSpeed, addUsedData } from '../passes.ts';
import { dataLeft, isPossibleGrowth } from '../../domain/offers.ts';
import { loginUser } from '../../domain/wifi.ts';
import { repairIfLost } from '../jobs.ts';
import { findNewestDevice } from './device-slots.ts';
import type { Base } from '../base.ts';
import { findLogin } from '../gateways/captive-sessions.ts';
import { Unavailable } from '#lib/server/platform/errors.ts';
import { startTime, endAtDataLimit } from '../billing/sessions.ts';

/** Time starts at the confirmation, so the end is sent this much later. Revoking sets the exact end. */
export const SLACK_MS = 30_000;
/** Interval of checks on a grant that its gateway fetches. */
const FETCH_WAIT_MS = 5_000;
/** Retries continue for this long after the end that the gateway knows. */
const REVOKE_MS = 24 * 60 * 60 * 1000;
/** For users, whose unused time does not run down at the gateway: a router repair may take this long. */
const REVOKE_USER_MS = 90 * REVOKE_MS;
/** Retry interval for users after the first day. */
const SELDOM_MS = 60 * 60 * 1000;
/** A gateway may carry out a request this late after a lost answer. Then it is revoked once more. */
const LATE_MS = 60_000;

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
	const gateway = await findGatewayById(gateways, grant.gateway_id);
	if (!gateway) return null;
	// With another AIRTILL_SECRET its credentials do not open.
	if (gateway.unreadable.length > 0) return clock.now() + MAX_BACKOFF_MS;
	/** null: no pass wants the grant, so it is revoked. */
	const pass = isWanted(grant) ? await openPass(database.db, grant.pass_id, clock.now()) : null;
	const work = () =>
		pass ? grantAtGateway(context, grant, gateway, pass) : revokeAtGateway(context, grant, gateway);
	if (!findController(gateway)) return work();
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
	const endMs = await computeDesiredEnd(context, grant, gateway, open);
	const { id, revision, requested_end_at: requested } = grant;
	const isCurrent = requested !== null && requested >= endMs && requested <= endMs + SLACK_MS;
	const isConfirmed = grant.state === 'granted' && isCurrent;
	if (isConfirmed && !isWaiting) return readUsage(context, grant, gateway, open);
	const controller = findController(gateway);
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
	if (!(await database.write((trx) => changeWantedGrant(trx, { id, revision }, to)))) return now;
	const login = await buildLogin(context, grant, pass);
	const result = await callGateway(context, gateway, () =>
		controller.connect(login, endMs, gateway, context.transport)
	);
	if (!(result instanceof Unavailable)) {
		// null: requested again, or released, meanwhile.
		const next = (await confirmGrant(context, grant, pass, endMs)) ?? clock.now();
		return Math.min(next, computeNextRead(context, gateway, pass));
	}
	await recordFailure(context, grant, gateway, result);
	const again = clock.now() + computeBackoffMs(grant, gateway, isWaiting);
	return isWaiting ? again : Math.min(again, pass.untilMs);
}

/** Waits until the gateway fetches the grant, also for the new end of an online device. */
async function awaitFetch({ database, clock }: AccessWriter, grant: GrantRow, pass: OpenPass) {
	const { id, revision, state } = grant;
	// Unless it was confirmed meanwhile: then it has its end.
	if (state === 'granted')
		await database.write((trx) => changeWantedGrant(trx, { id, revision, state }, { state: 'granting' }));
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
		if (!(await changeWantedGrant(trx, { id, revision }, to))) {
			// Meanwhile the grant was requested again, or released and perhaps revoked.
			await revokeAgain(trx, id, now);
			await jobs.schedule(trx, GRANT_JOB, id, now);
			return null;
		}
		if (open.kind === 'runs' || !(await isAwaited(context, trx, grant, open))) return open.untilMs;
		// Another gateway may have started the time with another end.
		if (!(await startTime(context, trx, await findPassOrThrow(trx, passId)))) return now;
		for (const other of await findOpenGrants(trx, passId)) {
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
	const newest = await findNewestDevice(context, trx, pass);
	if (!newest || newest.gateway_id === grant.gateway_id) return true;
	const open = await findOpenGrants(trx, pass.id);
	return !open.some((one) => one.gateway_id === newest.gateway_id && one.released_at === null);
}

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
		return changeOpenGrant(trx, grant.id, { state: 'revoking', updated_at: now });
	});
	if (!isRevoking) return null;
	// A device that another pass holds stays online; so does a user that was revoked before and is wanted again.
	const mayStay = grant.mac !== null || grant.revoked_at !== null;
	const stays = mayStay && (await findOtherPasses(context, grant, gateway)).length > 0;
	const result = stays ? 'done' : await callRevoke(context, grant, gateway);
	// A request with a shorter end does not end what was confirmed before.
	const endsItselfAt = Math.max(grant.requested_end_at ?? grant.created_at, grant.confirmed_end_at ?? 0);
	if (result instanceof Unavailable) {
		await recordFailure(context, grant, gateway, result);
		return retryRevoke(context, grant, gateway, endsItselfAt);
	}
	// The gateway ends the access itself. An absent device may return before that.
	if (result === 'impossible' && endsItselfAt > now) {
		return findController(gateway) ? Math.min(endsItselfAt, now + MAX_BACKOFF_MS) : endsItselfAt;
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
	const controller = findController(gateway);
	if (!controller) return 'impossible';
	// A pass that goes on elsewhere has used this data. The gateway may forget it.
	const open = await openPass(context.database.db, grant.pass_id, context.clock.now());
	if (open && gateway.unresponsiveSince === null) await countUsage(context, grant, gateway, open);
	const login = await buildLogin(context, grant, null);
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
	if (overMs < REVOKE_MS) return now + computeBackoffMs(grant, gateway, false);
	if (grant.mac === null && overMs < REVOKE_USER_MS) return now + SELDOM_MS;
	await database.write((trx) => changeOpenGrant(trx, grant.id, { state: 'failed', updated_at: now }));
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
		await changeOpenGrant(trx, grant.id, to);
		for (const other of await findOtherGrants(trx, grant, gateway)) {
			await requestAgain(context, trx, { id: other.id });
		}
	});
}

export async function buildLogin(
	context: AccessServices,
	grant: GrantRow,
	open: OpenPass | null
): Promise<DeviceLogin> {
	const { captive_session_id: captiveSessionId, mac } = grant;
	return {
		user: loginUser(grant.pass_id),
		password: open ? openPassword(context, open.pass) : '',
		mac,
		login: captiveSessionId === null ? {} : await findLogin(context.captiveSessions, captiveSessionId),
		maxDevices: open?.pass.max_devices ?? 1,
		speed: open ? readSpeed(open.pass) : { down: null, up: null },
		dataLeft: open ? dataLeft(open.pass) : null
	};
}

/** Returns the end of the device's last pass with the same limits: a device can have several passes. */
export async function computeDesiredEnd(
	context: AccessWriter,
	grant: GrantRow,
	gateway: RegisteredGateway,
	open: OpenPass
): Promise<number> {
	const own = open.untilMs + (open.kind === 'waits' ? SLACK_MS : 0);
	const others = await findOtherPasses(context, grant, gateway);
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
async function findOtherPasses(
	context: AccessWriter,
	grant: GrantRow,
	gateway: RegisteredGateway
): Promise<OpenPass[]> {
	const { database, clock } = context;
	const open: OpenPass[] = [];
	for (const { pass_id: passId } of await findOtherGrants(database.db, grant, gateway)) {
		const other = await openPass(database.db, passId, clock.now());
		if (other) open.push(other);
	}
	return open;
}

/** Intervals between reads of a counter: shorter when little is left. */
const READ_MS = { most: 60_000, least: 15_000 };

/**
 * Adds data that a device has used since its last report, and ends the pass at its data limit. Runs in the
 * transaction that stores the counter, so that nothing counts twice.
 */
export async function countData(
	context: AccessServices,
	trx: Tx,
	passId: number,
	bytes: number
): Promise<void> {
	if (bytes > 0 && (await addUsedData(context, trx, passId, bytes)))
		await endAtDataLimit(context, trx, passId);
}

/**
 * Reads the counter of a device, or user, whose pass has a data limit. Without an answer nothing changes.
 * @returns when to read again (ms since the epoch), at the latest at the end of the pass
 */
async function readUsage(
	context: AccessWriter,
	grant: GrantRow,
	gateway: RegisteredGateway,
	open: OpenPass
): Promise<number> {
	const current = await countUsage(context, grant, gateway, open);
	return current
		? Math.min(current.untilMs, computeNextRead(context, gateway, current))
		: context.clock.now();
}

/** Counts what a device, or user, has used since the last read. Returns its pass as it is then; null if it is over. */
async function countUsage(
	context: AccessWriter,
	grant: GrantRow,
	gateway: RegisteredGateway,
	open: OpenPass
): Promise<OpenPass | null> {
	const { database, gateways, clock, transport } = context;
	const controller = findController(gateway);
	if (!controller || open.pass.data_limit_mb === null) return open;
	const login = await buildLogin(context, grant, open);
	const counter = await tryCall(context, gateway, () => controller.usage(login, gateway, transport));
	if (counter instanceof Unavailable) return open;
	// A read says nothing about the trouble with what was sent.
	await recordStatus(gateways, gateway, { seen: true });
	if (counter === null) return open;
	await context.database.transact(async (trx) => {
		const own = await findGrant(trx, grant.id);
		// Counted meanwhile, perhaps from a newer counter: this one would look as if it had begun again.
		if (own?.data_reported_at !== grant.data_reported_at) return;
		await countGrants(context, trx, [own, ...(await findOtherGrants(trx, own, gateway))], counter);
	});
	return openPass(database.db, grant.pass_id, clock.now());
}

/** Returns when a counter must be read: before a fast device can have used all that is left. */
function computeNextRead(
	{ clock }: AccessServices,
	gateway: RegisteredGateway,
	{ pass }: Pick<OpenPass, 'pass'>
): number {
	const left = dataLeft(pass);
	if (left === null || !findController(gateway)) return Infinity;
	// Buyers at gateways in trouble share the slots for calls.
	if (gateway.unresponsiveSince !== null) return clock.now() + MAX_BACKOFF_MS;
	const ms = Math.floor((left / UNSEEN_BYTES) * READ_MS.least);
	return clock.now() + Math.min(READ_MS.most, Math.max(READ_MS.least, ms));
}

/**
 * Counts the data of a device whose gateway keeps a counter per device (bytes up and down together), once for all its
 * grants: for the one granted last. A smaller counter than the last one has started again at 0. Ignores a counter that
 * cannot be.
 */
async function countGrants(
	context: AccessServices,
	trx: Tx,
	grants: readonly [GrantRow, ...GrantRow[]],
	counter: number
): Promise<void> {
	const now = context.clock.now();
	const latest = (at: (grant: GrantRow) => number | null) =>
		grants.reduce((one, other) => ((at(other) ?? 0) > (at(one) ?? 0) ? other : one));
	const grant = latest((one) => one.granted_at);
	const read = latest((one) => one.data_reported_at);
	const growth = counter < read.data_bytes ? counter : counter - read.data_bytes;
	const since = read.data_reported_at ?? grant.granted_at ?? grant.created_at;
	if (!Number.isSafeInteger(counter) || counter < 0 || !isPossibleGrowth(growth, now - since)) return;
	const to = { data_bytes: counter, data_reported_at: now };
	for (const { id } of grants) await changeOpenGrant(trx, id, to);
	await countData(context, trx, grant.pass_id, growth);
}

export const MAX_BACKOFF_MS = 60_000;

/** Calls a gateway. Returns Unavailable if the adapter throws. */
const tryCall = <T>(
	{ log }: AccessServices,
	gateway: RegisteredGateway,
	work: () => Promise<T>
): Promise<T | Unavailable> =>
	work().catch((error: unknown) => {
		if (error instanceof Unavailable) return error;
		log.error({ err: error, gateway: gateway.name }, 'a gateway adapter failed');
		return new Unavailable('An error of ours; see the log.');
	});

/** Calls a gateway to change it; stores that it answered, or its error. */
async function callGateway<T>(
	context: AccessServices,
	gateway: RegisteredGateway,
	work: () => Promise<T>
): Promise<T | Unavailable> {
	const result = await tryCall(context, gateway, work);
	await recordStatus(context.gateways, gateway, {
		...(!(result instanceof Unavailable) && result !== 'impossible' && { seen: true }),
		trouble: result instanceof Unavailable ? result.message : null
	});
	return result;
}

/** Calls an unresponsive gateway often only while a buyer waits. */
const computeBackoffMs = (
	{ attempts }: GrantRow,
	{ unresponsiveSince }: RegisteredGateway,
	isAwaited: boolean
): number => (unresponsiveSince !== null && !isAwaited ? MAX_BACKOFF_MS : computeExponentialMs(attempts));

export const computeExponentialMs = (attempts: number): number =>
	Math.min(MAX_BACKOFF_MS, 1_000 * 2 ** Math.min(attempts, 10));

async function recordFailure(
	{ database, clock, log }: AccessWriter,
	grant: GrantRow,
	gateway: RegisteredGateway,
	{ message: reason }: Unavailable
): Promise<void> {
	log.warn({ gateway: gateway.name, grant: grant.id, reason }, 'a gateway could not be called');
	const to = { attempts: grant.attempts + 1, last_error: reason.slice(0, 500), updated_at: clock.now() };
	await database.write((trx) => changeOpenGrant(trx, grant.id, to));
}

/**
 * Limits concurrent calls to gateways, in this process.
 *
 * Purpose: a dead gateway holds each call until it times out. Without a limit its jobs fill the shared worker
 * slots, and buyers at healthy gateways wait.
 * Policy: failing gateways get fewer slots. A freed slot wakes a waiting job, a buyer's job first.
 */
export type ConcurrencyLimit = ReturnType<typeof createConcurrencyLimit>;

interface Call {
	kind: string;
	id: number;
	gateway: Pick<RegisteredGateway, 'id' | 'trouble' | 'unresponsiveSince'>;
	/** A buyer has paid and waits for this call. */
	isBuyer: boolean;
}

/** Calls to one gateway; the last slots are kept for buyers. */
const AT_ONE = { buyer: 8, other: 6 };
/** Calls to a gateway whose last call failed, or that does not respond. */
const AT_TROUBLED = { buyer: 4, other: 2 };
/** Calls to all such gateways together. */
const MAX_TROUBLED = 6;
/** Calls for which no buyer waits, to all gateways. */
const MAX_OTHERS = 10;
/** Jobs to wake when a slot frees up. Others run again after AGAIN_MS. */
const MAX_WAITING = 1_000;
/** A waiting job runs again after this time at the latest. */
const AGAIN_MS = { buyer: 1_000, other: 15_000 };

const isTroubled = ({ gateway: { trouble, unresponsiveSince } }: Call) =>
	trouble !== null || unresponsiveSince !== null;

export function createConcurrencyLimit({ clock, jobs, log }: Base) {
	const running = new Set<Call>();
	const waiting = new Map<string, Call>();

	function hasRoom(call: Call): boolean {
		const { gateway, isBuyer } = call;
		const all = [...running];
		const who = isBuyer ? 'buyer' : 'other';
		const atGateway = all.filter((one) => one.gateway.id === gateway.id).length;
		if (atGateway >= (isTroubled(call) ? AT_TROUBLED : AT_ONE)[who]) return false;
		if (isTroubled(call) && all.filter(isTroubled).length >= MAX_TROUBLED) return false;
		return isBuyer || all.filter((one) => !one.isBuyer).length < MAX_OTHERS;
	}

	const later = ({ isBuyer }: Call) => clock.now() + AGAIN_MS[isBuyer ? 'buyer' : 'other'];

	async function wakeNext(): Promise<void> {
		const able = [...waiting].filter(([, one]) => hasRoom(one));
		const [key, next] = able.find(([, { isBuyer }]) => isBuyer) ?? able[0] ?? [];
		if (key === undefined || next === undefined) return;
		waiting.delete(key);
		await jobs.wake(next.kind, next.id).catch((error: unknown) => {
			log.warn({ err: error, job: next.kind }, 'could not wake a job that waited for a slot');
		});
	}

	return {
		/** Runs the work if a slot is free. @returns when to run again, or null when the job is over */
		async run(call: Call, work: () => Promise<number | null>): Promise<number | null> {
			const key = `${call.kind} ${call.id}`;
			if (!hasRoom(call)) {
				if (waiting.size < MAX_WAITING) waiting.set(key, call);
				return later(call);
			}
			waiting.delete(key);
			running.add(call);
			try {
				return await jobs.withoutSlot(`gateway ${call.gateway.id}`, work, later(call));
			} finally {
				running.delete(call);
				await wakeNext();
			}
		}
	};
}
