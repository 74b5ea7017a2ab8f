import type { Held } from '../db/locks.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import { dataLeft, isPossibleGrowth } from '../../domain/offers.ts';
import { loginUser, passOfUser } from '../../domain/wifi.ts';
import { endAtDataLimit, startTime } from '../billing/sessions.ts';
import type { Tx } from '../db/database.ts';
import { findLogin } from '../gateways/captive-sessions.ts';
import {
	type CommandResult,
	type DeviceController,
	type DeviceLogin,
	type GatewayReading,
	UNSEEN_BYTES
} from '../gateways/gateway.ts';
import {
	type RegisteredGateway,
	findController,
	findGatewayById,
	REMOVAL_MS,
	findGatewayRow,
	findSharingConsole,
	isBeingRemoved,
	namesDevices,
	recordStatus
} from '../gateways/gateways.ts';
import { repairIfLost } from '../jobs.ts';
import {
	type HeldPass,
	type OpenPass,
	type PassRow,
	addUsedData,
	describePass,
	findPasses,
	findPassesWithoutUser,
	hasWaitingPass,
	isPassOpen,
	lockPass,
	lockPasses,
	findOpenPass,
	openPassword,
	readSpeed
} from '../passes.ts';
import { Unavailable } from '../platform/errors.ts';
import {
	type AdmissionRow,
	changeAdmission,
	findAdmission,
	findOpenAdmissions,
	findSameDevice,
	findWanted,
	forget,
	insertAdmission,
	isAllowed,
	schedulePassComparisons,
	scheduleComparison
} from './admissions.ts';
import { findNewestDevice } from './device-slots.ts';
import { findConnectionTasks } from './radius-connections.ts';
import {
	type AccessContext,
	type AccessJob,
	type AccessServices,
	type AccessWriter,
	needsAdmissions
} from './provisioning.ts';

/** Time starts at the confirmation, so the end is sent this much later. A disconnect sets the exact end. */
export const SLACK_MS = 30_000;
/** A gateway may carry out a request this late after a lost answer. */
const LATE_MS = 60_000;
export const MAX_BACKOFF_MS = 60_000;
const MIN_BACKOFF_MS = 1_000;
/** Failed disconnects are repeated for this long after the end that the gateway knows. */
const DISCONNECT_MS = 24 * 60 * 60 * 1000;
/** For users, whose unused time does not run down at the gateway: a router repair may take this long. */
const DISCONNECT_USER_MS = 90 * DISCONNECT_MS;
/** Interval for users after the first day. */
const SELDOM_MS = 60 * 60 * 1000;

/** Calls to one gateway at a time; the last ones are kept for buyers who wait. */
const MAX_CALLS = { buyer: 8, other: 6 };
/** To one whose last call failed, or that does not respond. */
const MAX_CALLS_IN_TROUBLE = { buyer: 4, other: 2 };
/** Gateways that one process calls at a time, also if a power cut silences all: other jobs, such as payments, need room. */
const MAX_CALLED = 250;
/** Of them, in trouble: each call may hang until it times out. */
const MAX_IN_TROUBLE = 50;
/** Looks for changes this often while calls run: a buyer does not wait for the answer to another one. */
const LOOK_MS = 1_000;
/** Users added per transaction, so that other writers get a turn; users of a reading that are looked up together. */
const BATCH = 100;

/** Gateways that this process calls now, with whether they are in trouble. */
export type CalledGateways = Map<number, boolean>;

const isInTrouble = ({ trouble, unresponsiveSince }: RegisteredGateway) =>
	trouble !== null || unresponsiveSince !== null;

/**
 * Compares a gateway with the passes: what they want allowed there now, with what was seen there. It sends the difference,
 * and stores what it saw. Everything else (a payment, an end, a move, a redirect, a crash, a lost or late answer, another
 * gateway) only makes it run: it knows no order of events. At RADIUS, open connections are what was seen.
 *
 * One job per gateway. It runs while something differs, and next when an end or a counter is due. A call is stored before it
 * is sent, so that a process may die at any point; its answer counts only if nothing was changed meanwhile.
 * A call without an answer may be carried out late, so what is not wanted then is disconnected once more.
 * Gateways that fetch are not called. At openNDS of level 4 rows end by themselves; a MikroTik reports what is there.
 */
export async function compareGateway(
	context: AccessJob,
	gatewayId: number,
	signal: AbortSignal
): Promise<number | null> {
	const { gateways, clock, jobs, calledGateways } = context;
	const gateway = await findGatewayById(gateways, gatewayId);
	if (!gateway || !isCompared(gateway)) return null;
	const later = () => clock.now() + 5_000 + Math.random() * 10_000;
	if (await isCrowded(context, gateway)) return later();
	calledGateways.set(gatewayId, isInTrouble(gateway));
	try {
		return await jobs.withoutSlot(
			`gateway ${gatewayId}`,
			() => compareUntilEqual(context, gatewayId, signal),
			later()
		);
	} finally {
		calledGateways.delete(gatewayId);
	}
}

const isCompared = (gateway: RegisteredGateway) => needsAdmissions(gateway) || gateway.mode === 'radius';

/** Whether too many gateways are called. One that was well keeps its turn if a buyer waits there. */
async function isCrowded(
	{ database, calledGateways }: AccessJob,
	gateway: RegisteredGateway
): Promise<boolean> {
	const inTrouble = [...calledGateways.values()].filter((isIt) => isIt).length;
	if (isInTrouble(gateway)) return inTrouble >= MAX_IN_TROUBLE;
	return calledGateways.size >= MAX_CALLED && !(await hasWaitingPass(database.db, gateway.routerId));
}

/** What is compared with one call at a time: a device, a user or a connection. `dueAt`: when (ms since the epoch). */
export interface Task {
	subject: string;
	dueAt: number;
	/** A buyer who has paid waits for it. */
	isBuyer: boolean;
	compare(): Promise<void>;
}

/** @returns when to run again, or null if nothing is wanted there */
async function compareUntilEqual(
	context: AccessJob,
	gatewayId: number,
	signal: AbortSignal
): Promise<number | null> {
	const running = new Map<string, Promise<void>>();
	try {
		for (;;) {
			const gateway = await findGatewayById(context.gateways, gatewayId);
			if (!gateway) return null;
			const isMore = await addUsers(context, gateway);
			// With another AIRTILL_SECRET its credentials do not open.
			if (gateway.unreadable.length > 0) return context.clock.now() + MAX_BACKOFF_MS;
			const tasks = await findTasks(context, gateway);
			const now = context.clock.now();
			const due = tasks
				.filter(({ dueAt }) => dueAt <= now)
				.sort((one, other) => Number(other.isBuyer) - Number(one.isBuyer) || one.dueAt - other.dueAt);
			const most = isInTrouble(gateway) ? MAX_CALLS_IN_TROUBLE : MAX_CALLS;
			for (const { subject, isBuyer, compare } of signal.aborted ? [] : due) {
				if (running.size >= most[isBuyer ? 'buyer' : 'other']) break;
				if (running.has(subject)) continue;
				const call = compare().finally(() => running.delete(subject));
				call.catch(() => {});
				running.set(subject, call);
			}
			if (running.size > 0) {
				await Promise.race([...running.values(), sleep(LOOK_MS)]);
			} else if (!isMore) {
				const { removingAt } = gateway;
				const backAt =
					isBeingRemoved(gateway, now) && removingAt !== null ? removingAt + REMOVAL_MS : Infinity;
				const next = Math.min(backAt, ...tasks.map(({ dueAt }) => dueAt));
				return next === Infinity ? null : next;
			}
		}
	} finally {
		await Promise.allSettled(running.values());
	}
}

/**
 * Compares a whole reading, which began at `at`: what was sent since counts. A gateway that was restarted may have lost what
 * it let in. One that was removed and added again may let in users whose pass is over. Users of passes that are not known
 * stay: the database may be an older copy.
 */
export async function compareReading(
	context: AccessContext,
	gateway: RegisteredGateway,
	{ letsIn, users }: GatewayReading,
	at: number
): Promise<void> {
	const { database, clock } = context;
	const { db } = database;
	const { compared } = await readComparison(context, gateway);
	for (const { row, open, endMs } of compared) {
		const isOld = open !== null && isEqual(row, open, endMs) && (row.allowed_at ?? at) < at;
		if (isOld && letsIn({ user: loginUser(row.pass_id), mac: row.mac }) === false) {
			await forget(context, db, { id: row.id });
		}
	}
	const known = new Set(compared.map(({ row }) => row.pass_id));
	const ids = users.map(passOfUser).filter((id) => id !== null && !known.has(id)) as number[];
	const now = clock.now();
	const left = { gateway_id: gateway.id, mac: null, released_at: now, sent_until: now, created_at: now };
	for (let from = 0; from < ids.length; from += BATCH) {
		for (const pass of await findPasses(db, ids.slice(from, from + BATCH))) {
			if (pass.router_id !== gateway.routerId || isPassOpen(pass, now)) continue;
			await insertAdmission(db, { pass_id: pass.id, ...left });
			await scheduleComparison(context, db, gateway.id);
		}
	}
}

async function findTasks(context: AccessJob, gateway: RegisteredGateway): Promise<Task[]> {
	if (gateway.mode === 'radius') return findConnectionTasks(context, gateway);
	// It fetches and reports by itself (hotspot-fetch.ts).
	if (gateway.mode === 'fetch') return [];
	const comparison = await readComparison(context, gateway);
	return comparison.compared.map((item) => ({
		...{ subject: item.row.mac ?? loginUser(item.row.pass_id), dueAt: item.dueAt, isBuyer: item.isBuyer },
		compare: () => compareRow(context, comparison, item)
	}));
}

/** Gives the users of open passes their rows. @returns whether there may be more */
export async function addUsers(
	{ database, clock }: Pick<AccessWriter, 'database' | 'clock'>,
	gateway: RegisteredGateway
): Promise<boolean> {
	if (!needsAdmissions(gateway) || namesDevices(gateway)) return false;
	if (isBeingRemoved(gateway, clock.now())) return false;
	const { id: gateway_id, routerId } = gateway;
	const missing = await findPassesWithoutUser(
		database.db,
		{ gatewayId: gateway_id, routerId },
		clock.now(),
		BATCH
	);
	if (missing.length === 0) return false;
	await database.transact(async (trx) => {
		const created_at = clock.now();
		for (const pass_id of missing) await insertAdmission(trx, { pass_id, gateway_id, mac: null, created_at });
	});
	return missing.length === BATCH;
}

/** What the passes want at a gateway, and what was seen there. */
interface Comparison {
	gateway: RegisteredGateway;
	/** It is being removed: nothing is wanted there. */
	isLeaving: boolean;
	controller: DeviceController | null;
	/** Gateways of the same console or device, with this one. */
	sharing: number[];
	compared: ComparedRow[];
}

/** A row, with the open pass that wants it; `dueAt`: when to compare it (ms since the epoch). */
export interface ComparedRow {
	row: AdmissionRow;
	open: OpenPass | null;
	/** The end that the gateway should know. */
	endMs: number;
	/** A buyer who has paid waits for it. */
	isBuyer: boolean;
	dueAt: number;
}

export async function readComparison(
	{ database: { db }, clock }: Pick<AccessWriter, 'database' | 'clock'>,
	gateway: RegisteredGateway
): Promise<Comparison> {
	const controller = findController(gateway);
	const sharing = await findSharingConsole(db, gateway);
	const rows = await findOpenAdmissions(db, sharing);
	const now = clock.now();
	const open = new Map<number, OpenPass>();
	for (const pass of await findPasses(db, [...new Set(rows.map((row) => row.pass_id))])) {
		const state = await describePass(db, pass, now);
		if (state.kind === 'runs' || state.kind === 'waits') open.set(pass.id, state);
	}
	const isLeaving = isBeingRemoved(gateway, now);
	const wants = (row: AdmissionRow) => {
		const isWanted = row.released_at === null && !(isLeaving && row.gateway_id === gateway.id);
		return (isWanted && open.get(row.pass_id)) || null;
	};
	const byDevice = new Map<string, OpenPass[]>();
	for (const row of rows) {
		const pass = row.mac === null ? null : wants(row);
		if (pass && row.mac !== null) byDevice.set(row.mac, [...(byDevice.get(row.mac) ?? []), pass]);
	}
	const compared = rows
		.filter((row) => row.gateway_id === gateway.id)
		.map((row): ComparedRow => {
			const pass = wants(row);
			const endMs = pass ? computeEnd(gateway, pass, byDevice.get(row.mac ?? '') ?? []) : 0;
			const dueAt = computeDue(row, pass, endMs, { controller, isLeaving, now });
			return { row, open: pass, endMs, isBuyer: pass?.kind === 'waits', dueAt };
		});
	return { gateway, isLeaving, controller, sharing, compared };
}

/** The end of the device's last pass with the same limits: a device can have several passes. */
function computeEnd(gateway: RegisteredGateway, own: OpenPass, others: readonly OpenPass[]): number {
	// A gateway that polls cannot shorten access, and time that waits may be refunded.
	const lasting = others.filter(({ kind }) => gateway.mode !== 'poll' || kind === 'runs');
	const same = lasting.filter(({ pass }) => isSameLimit(pass, own.pass));
	return Math.max(own.untilMs + (own.kind === 'waits' ? SLACK_MS : 0), ...same.map(({ untilMs }) => untilMs));
}

const isSameLimit = (a: OpenPass['pass'], b: OpenPass['pass']): boolean =>
	a.speed_down_kbps === b.speed_down_kbps &&
	a.speed_up_kbps === b.speed_up_kbps &&
	a.data_limit_mb === null &&
	b.data_limit_mb === null;

/** Whether the gateway is known to let it in until its end. */
export const isEqual = (row: AdmissionRow, open: OpenPass, endMs: number): boolean => {
	const { allowed_until: until } = row;
	if (!isAllowed(row) || until === null) return false;
	// The end of time that waits moves on. Only the buyer's own gateway starts it.
	return open.kind === 'waits' || (until >= endMs && until <= endMs + SLACK_MS);
};

function computeDue(
	row: AdmissionRow,
	open: OpenPass | null,
	endMs: number,
	{ controller, isLeaving, now }: Pick<Comparison, 'controller' | 'isLeaving'> & { now: number }
): number {
	const { check_at: checkAt, problem, sent_until: sentUntil, unanswered_at: unansweredAt } = row;
	if (open === null) {
		if (controller === null) return Math.max(sentUntil ?? 0, row.allowed_until ?? 0);
		if (sentUntil === null && unansweredAt !== null) return computeLateAt(row);
		if (sentUntil === null && isLeaving) return Infinity;
		return checkAt ?? now;
	}
	const overAt = open.kind === 'runs' ? open.untilMs : Infinity;
	if (controller === null) return overAt;
	if (!isEqual(row, open, endMs)) return Math.min((problem === null ? null : checkAt) ?? now, overAt);
	const readAt = dataLeft(open.pass) === null ? Infinity : (checkAt ?? now);
	return Math.min(readAt, overAt, computeLateAt(row));
}

/** A call without an answer may have been carried out until then, after the one that was confirmed. */
const computeLateAt = ({ unanswered_at: at }: AdmissionRow) => (at === null ? Infinity : at + LATE_MS);

/** If another run has taken over, the gateway may have carried out a call of this one after the calls of that one. */
const compareRow = (
	context: AccessJob,
	comparison: Comparison,
	{ row, ...item }: ComparedRow
): Promise<void> => {
	const isSure = context.clock.now() < computeLateAt(row);
	if (item.open && isSure && isEqual(row, item.open, item.endMs))
		return readCounter(context, comparison, row, item.open);
	const work = item.open
		? allow(context, comparison, { row, ...item }, item.open)
		: disallow(context, comparison, row);
	return repairIfLost(work, () =>
		context.database.unfenced.transact(async (trx) => {
			const lateAt = context.clock.now() - LATE_MS;
			await changeAdmission(trx, row.id, { allowed_at: null, check_at: null, unanswered_at: lateAt });
			for (const { id } of await findSameDevice(trx, row, comparison.sharing))
				await forget(context, trx, { id });
			await scheduleComparison(context, trx, row.gateway_id);
		})
	);
};

async function readCounter(
	context: AccessWriter,
	comparison: Comparison,
	row: AdmissionRow,
	open: OpenPass
): Promise<void> {
	const pass = await countUsage(context, comparison, row, open);
	// Its data is used up.
	if (!pass) return;
	const check_at = computeNextRead(context, comparison.gateway, pass);
	await context.database.transact((trx) => changeAdmission(trx, row.id, { check_at }, row.unanswered_at));
}

/** Sends the end to a gateway that does not know it. */
async function allow(
	context: AccessWriter,
	comparison: Comparison,
	item: ComparedRow,
	open: OpenPass
): Promise<void> {
	const { database, clock, transport } = context;
	const { gateway, controller } = comparison;
	const { row, endMs, isBuyer } = item;
	if (!controller) return;
	// Counts first: a call delays the next read, and a buyer who reloads must not keep us from counting.
	const mayRead = row.allowed_until !== null && gateway.unresponsiveSince === null;
	const pass = mayRead ? await countUsage(context, comparison, row, open) : open;
	if (!pass) return;
	const change = (trx: Tx, to: Parameters<typeof changeAdmission>[2], call: number | null) =>
		changeAdmission(trx, row.id, to, call);
	const call = nameCall(context, row);
	const sent = { sent_until: endMs, unanswered_at: call };
	const isSent = await database.transact(async (trx) => {
		const known = await findGatewayRow(trx, 'id', gateway.id);
		if (!known || isBeingRemoved({ removingAt: known.removing_at }, clock.now())) return false;
		// Unless something was changed meanwhile.
		return change(trx, sent, row.unanswered_at);
	});
	if (!isSent) return;
	const login = await buildLogin(context, row, pass);
	const result = await callGateway(context, gateway, () =>
		controller.connect(login, endMs, gateway, transport)
	);
	if (result instanceof Unavailable) {
		const { problem, check_at: at, unanswered_at: before } = row;
		const lastPauseMs = problem === null || at === null || before === null ? 0 : at - before;
		const check_at = call + computePause(gateway, isBuyer, 2 * lastPauseMs);
		await database.transact((trx) => change(trx, { problem: describeProblem(result), check_at }, call));
		return;
	}
	await database.transact(async (trx) => {
		const to = {
			...{ allowed_until: endMs, check_at: computeNextRead(context, gateway, pass) },
			unanswered_at: keepLate(row, call)
		};
		if (!(await confirmAdmission(context, trx, row, to, call))) return;
		// The limits of the device's newest pass count, so they are sent last.
		const others = row.mac === null ? [] : await findSameDevice(trx, row, comparison.sharing);
		for (const { id, pass_id: passId } of others.filter((other) => other.id > row.id)) {
			const other = await findOpenPass(trx, passId, clock.now());
			if (other && !isSameLimit(other.pass, pass.pass)) await forget(context, trx, { id });
		}
	});
}

/**
 * Stores that a gateway has carried out a call, and starts the time of a buyer who waits for it.
 * @param call names it; the row's own unless it was named since the row was read
 * @returns false if the row was changed since the call, or the pass is gone
 */
export async function confirmAdmission(
	context: AccessServices,
	trx: Tx,
	row: AdmissionRow,
	to: { allowed_until: number | null; check_at?: number | null; unanswered_at: number | null },
	call: number | null = row.unanswered_at
): Promise<boolean> {
	const pass = await lockPass(trx, row.pass_id);
	const allowed_at = isAllowed(row) ? row.allowed_at : context.clock.now();
	if (!pass || !(await changeAdmission(trx, row.id, { ...to, allowed_at, problem: null }, call)))
		return false;
	await startIfAwaited(context, trx, row, pass);
	return true;
}

/** Starts the time of a buyer who waits, unless another gateway has. The comparisons that follow send the exact end. */
async function startIfAwaited(
	context: AccessServices,
	trx: Tx,
	row: AdmissionRow,
	pass: Held<PassRow>
): Promise<void> {
	if (pass.activating_until === null) return;
	const newest = await findNewestDevice(context, trx, pass);
	// At the buyer's own gateway, if there is one.
	const isOwn = !newest || newest.gateway_id === row.gateway_id;
	const wanted = isOwn ? [] : await findWanted(trx, pass.id);
	if (wanted.some((one) => one.gateway_id === newest?.gateway_id)) return;
	if (!(await startTime(context, trx, pass))) return;
	await schedulePassComparisons(context, trx, pass.id);
}

/** Disconnects a device or user that is not wanted, and closes its row. After a refused removal it is wanted again. */
export async function disallow(
	context: AccessWriter,
	comparison: Comparison,
	row: AdmissionRow
): Promise<void> {
	const { database, clock } = context;
	const { gateway, controller, isLeaving } = comparison;
	const sharing = isLeaving ? comparison.sharing.filter((id) => id !== gateway.id) : comparison.sharing;
	const call = nameCall(context, row);
	const isSent = row.sent_until !== null;
	const mayBeIn = controller !== null && (isSent || row.unanswered_at !== null);
	const releasedAt = row.released_at ?? clock.now();
	// Wanted again if the removal is refused, although the gateway may have forgotten it, or forget it late.
	const isKept = isLeaving && row.released_at === null;
	const isBegun = await database.transact(async (trx) => {
		await lockPass(trx, row.pass_id);
		// Time given since the comparison was read keeps it in.
		const isWanted = row.released_at === null && !isLeaving;
		if (isWanted && (await findOpenPass(trx, row.pass_id, clock.now()))) return false;
		const to = { ...(isKept ? { allowed_at: null } : { released_at: releasedAt }), unanswered_at: call };
		return changeAdmission(trx, row.id, to, row.unanswered_at);
	});
	if (!isBegun) return;
	// A device that another pass holds stays in; so does a user that is disconnected already, and wanted again.
	const others =
		mayBeIn && (row.mac !== null || !isSent) ? await findSameDevice(database.db, row, sharing) : [];
	const stays = !mayBeIn || (await hasOpenPass(context, others));
	const result = stays ? 'done' : await callDisconnect(context, comparison, row, controller);
	const now = clock.now();
	// A disconnect that is carried out late harms nobody else, but an earlier call may let the device in late.
	const unanswered_at = keepLate(row, call);
	const change = (to: Parameters<typeof changeAdmission>[2]) =>
		database.transact((trx) => changeAdmission(trx, row.id, { unanswered_at, ...to }, call));
	const endsItselfAt = Math.max(row.sent_until ?? row.created_at, row.allowed_until ?? 0);
	if (result instanceof Unavailable) {
		const overMs = now - endsItselfAt;
		if (overMs < (row.mac === null ? DISCONNECT_USER_MS : DISCONNECT_MS)) {
			const pauseMs = overMs < DISCONNECT_MS ? computePause(gateway, false, now - releasedAt) : SELDOM_MS;
			const failed = { problem: describeProblem(result), check_at: now + pauseMs };
			await change({ ...failed, ...(isKept && { unanswered_at: call }) });
			return;
		}
		context.log.error({ gateway: gateway.name, row: row.id }, 'could not disconnect a device');
	}
	// The gateway ends the access itself. An absent device may return before that.
	if (result === 'impossible' && endsItselfAt > now) {
		await change({ check_at: Math.min(endsItselfAt, now + MAX_BACKOFF_MS) });
		return;
	}
	await database.transact(async (trx) => {
		const closed = {
			...{ sent_until: null, problem: null, check_at: null, unanswered_at },
			allowed_until: row.allowed_until === null ? null : Math.min(row.allowed_until, now)
		};
		if (!(await changeAdmission(trx, row.id, closed, call)) || !mayBeIn) return;
		// A device gets the limits of its other pass back.
		if (stays && row.mac === null) return;
		for (const other of await findSameDevice(trx, row, sharing)) await forget(context, trx, { id: other.id });
	});
}

async function hasOpenPass(
	{ database, clock }: AccessWriter,
	rows: readonly AdmissionRow[]
): Promise<boolean> {
	for (const { pass_id: passId } of rows)
		if (await findOpenPass(database.db, passId, clock.now())) return true;
	return false;
}

async function callDisconnect(
	context: AccessWriter,
	comparison: Comparison,
	row: AdmissionRow,
	controller: DeviceController
): Promise<CommandResult | Unavailable> {
	const { gateway } = comparison;
	// A pass that goes on elsewhere has used this data. The gateway may forget it.
	const open = await findOpenPass(context.database.db, row.pass_id, context.clock.now());
	if (open && gateway.unresponsiveSince === null) await countUsage(context, comparison, row, open);
	const login = await buildLogin(context, row, null);
	return callGateway(context, gateway, () => controller.disconnect(login, gateway, context.transport));
}

/** Names a call by its time, later than that of the call before. */
export const nameCall = ({ clock }: AccessServices, { unanswered_at: before }: AdmissionRow): number =>
	Math.max(clock.now(), (before ?? 0) + 1);

/** An earlier call without an answer may be carried out after this one. Its own name would let its answer count. */
const keepLate = ({ unanswered_at: at }: AdmissionRow, call: number): number | null =>
	at !== null && at + LATE_MS > call ? call : null;

const describeProblem = ({ message }: Unavailable) => message.slice(0, 500);

/** Doubles the pauses. Calls an unresponsive gateway often only while a buyer waits. */
export const computePause = (
	{ unresponsiveSince }: RegisteredGateway,
	isBuyer: boolean,
	triedForMs: number
): number =>
	unresponsiveSince !== null && !isBuyer
		? MAX_BACKOFF_MS
		: Math.min(MAX_BACKOFF_MS, Math.max(MIN_BACKOFF_MS, triedForMs));

export async function buildLogin(
	context: AccessServices,
	row: AdmissionRow,
	open: OpenPass | null
): Promise<DeviceLogin> {
	const { captive_session_id: captiveSessionId, mac } = row;
	return {
		user: loginUser(row.pass_id),
		password: open ? openPassword(context, open.pass) : '',
		mac,
		login: captiveSessionId === null ? {} : await findLogin(context.captiveSessions, captiveSessionId),
		maxDevices: open?.pass.max_devices ?? 1,
		speed: open ? readSpeed(open.pass) : { down: null, up: null },
		dataLeft: open ? dataLeft(open.pass) : null
	};
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
	pass: HeldPass,
	bytes: number
): Promise<void> {
	if (bytes > 0 && (await addUsedData(context, trx, pass, bytes))) await endAtDataLimit(context, trx, pass);
}

/**
 * Counts what a device, or user, whose pass has a data limit has used since the last read. Without an answer nothing changes.
 * @returns its pass as it is then; null if it is over
 */
async function countUsage(
	context: AccessWriter,
	{ gateway, controller, sharing }: Comparison,
	row: AdmissionRow,
	open: OpenPass
): Promise<OpenPass | null> {
	const { database, gateways, clock, transport } = context;
	if (!controller || open.pass.data_limit_mb === null) return open;
	const login = await buildLogin(context, row, open);
	const counter = await tryCall(context, gateway, () => controller.usage(login, gateway, transport));
	if (counter instanceof Unavailable) return open;
	// A read says nothing about the trouble with what was sent.
	await recordStatus(gateways, gateway, { seen: true });
	if (counter === null) return open;
	await countReading(context, sharing, row, counter);
	return findOpenPass(database.db, row.pass_id, clock.now());
}

/** Counts a reading of a device or user, once for all its rows. @param row as it was before the reading */
export async function countReading(
	context: AccessWriter,
	sharing: readonly number[],
	row: AdmissionRow,
	counter: number
): Promise<void> {
	if (counter === row.data_bytes && row.data_reported_at !== null) return;
	await context.database.transact(async (trx) => {
		const same = [row, ...(await findSameDevice(trx, row, sharing))];
		const held = await lockPasses(
			trx,
			same.map((one) => one.pass_id)
		);
		const own = await findAdmission(trx, row.id);
		// Counted meanwhile, perhaps from a newer counter: this one would look as if it had begun again.
		if (own?.data_reported_at !== row.data_reported_at) return;
		const counted = await findSameDevice(trx, own, sharing);
		await countRows(context, trx, held, [own, ...counted.filter((one) => held.has(one.pass_id))], counter);
	});
}

/** Returns when a counter must be read: before a fast device can have used all that is left. null without a limit. */
function computeNextRead(
	{ clock }: AccessServices,
	gateway: RegisteredGateway,
	{ pass }: Pick<OpenPass, 'pass'>
): number | null {
	const left = dataLeft(pass);
	if (left === null) return null;
	if (gateway.unresponsiveSince !== null) return clock.now() + MAX_BACKOFF_MS;
	const ms = Math.floor((left / UNSEEN_BYTES) * READ_MS.least);
	return clock.now() + Math.min(READ_MS.most, Math.max(READ_MS.least, ms));
}

/**
 * Counts the data of a device whose gateway keeps a counter per device (bytes up and down together), once for all its
 * rows: for the one let in last. A smaller counter than the last one has started again at 0. Ignores a counter that
 * cannot be.
 */
async function countRows(
	context: AccessServices,
	trx: Tx,
	held: ReadonlyMap<number, HeldPass>,
	rows: readonly [AdmissionRow, ...AdmissionRow[]],
	counter: number
): Promise<void> {
	const now = context.clock.now();
	const latest = (at: (row: AdmissionRow) => number | null) =>
		rows.reduce((one, other) => ((at(other) ?? 0) > (at(one) ?? 0) ? other : one));
	const row = latest((one) => one.allowed_at);
	const read = latest((one) => one.data_reported_at);
	const growth = counter < read.data_bytes ? counter : counter - read.data_bytes;
	const since = read.data_reported_at ?? row.allowed_at ?? row.created_at;
	if (!Number.isSafeInteger(counter) || counter < 0 || !isPossibleGrowth(growth, now - since)) return;
	const to = { data_bytes: counter, data_reported_at: now };
	for (const { id } of rows) await changeAdmission(trx, id, to);
	const pass = held.get(row.pass_id);
	if (pass) await countData(context, trx, pass, growth);
}

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
	if (result instanceof Unavailable) {
		context.log.warn({ gateway: gateway.name, reason: result.message }, 'a gateway could not be called');
	}
	await recordStatus(context.gateways, gateway, {
		...(!(result instanceof Unavailable) && result !== 'impossible' && { seen: true }),
		trouble: result instanceof Unavailable ? result.message : null
	});
	return result;
}
