import { lockName } from '#lib/server/db/locks.ts';
import {
	type ConnectionRow,
	changeConnection,
	findReportedConnection,
	insertConnection,
	releaseSlot,
	releaseUnnamed,
	holdsSlot,
	takeSlot,
	findConnectedGateways,
	findOpenConnectionsAt
} from './device-slots.ts';
import { type AccessContext } from './provisioning.ts';
import { type RegisteredGateway, recordStatus } from '../gateways/gateways.ts';
import { waitOutside } from '../http/turns.ts';
import { computeDue } from './radius-connections.ts';
import { noteUnread } from './radius-login.ts';
import { countData } from './compare.ts';
import { scheduleComparison } from './admissions.ts';
import { passOfUser } from '#lib/domain/wifi.ts';
import { nameDevice, normaliseMac, normaliseIp } from '#lib/domain/address.ts';
import type { Database, Tx } from '#lib/server/db/database.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import { findPassState, findPassOrThrow, type HeldPass, lockPass, lockPasses } from '../passes.ts';
import { findRouterOrThrow } from '../routers/routers.ts';
import { isPossibleGrowth } from '#lib/domain/offers.ts';
import { z } from 'zod';

type TimedReport = AccountingReport & { at: number };

interface Received {
	gateway: RegisteredGateway;
	report: TimedReport;
}

/** Interim reports that one transaction stores. */
interface Batch {
	received: Received[];
	/** Stores them now. */
	close(): void;
	stored: Promise<void>;
}

/** The batches that still take reports. */
const OPEN_BATCHES = new WeakMap<Database, Batch>();
/** Far below the time after which FreeRADIUS gives up (gateways/freeradius.ts). */
const BATCH_MS = 250;
/** Half the threads of a FreeRADIUS: the others are free for buyers who sign in. */
const BATCH = 16;

type Connection = ConnectionRow;

/** The pass of a connection, and its end at the gateway. */
type Named = Pick<Connection, 'pass_id' | 'enforced_until'>;

const UNNAMED: Named = { pass_id: null, enforced_until: null };

/** Event-Timestamp counts whole seconds. */
const SAME_OFFSET_MS = 2_000;
/** A Start this long after the last report with the same id is a new connection: a reboot may start ids again. */
const REUSED_MS = 5_000;
/** Reports with a longer delay do not measure the clock, because Acct-Delay-Time may be wrong. */
const MAX_CLOCK_DELAY_SECONDS = 5 * 60;
/** A connection that began this long before its pass has used data of another one. */
const EARLIER_MS = 60_000;
/** Why connections end when the access server starts or stops. */
const REBOOT = 'NAS-Reboot';
/** Limits Acct-Delay-Time. */
const MAX_AGE_MS = 24 * 60 * 60 * 1000;

export async function recordAccounting(
	context: AccessContext,
	gateway: RegisteredGateway,
	report: AccountingReport
): Promise<void> {
	const { database, clock, gateways, pskCandidates } = context;
	const now = clock.now();
	const { status, session, atSeconds, delaySeconds } = report;
	if (status === null) return;
	const isPrompt = delaySeconds <= MAX_CLOCK_DELAY_SECONDS;
	const offsetMs = atSeconds !== null && isPrompt ? (atSeconds + delaySeconds) * 1000 - now : null;
	const isNewOffset =
		offsetMs !== null && Math.abs((gateway.clockOffsetMs ?? Infinity) - offsetMs) >= SAME_OFFSET_MS;
	await recordStatus(gateways, gateway, {
		seen: true,
		...(isNewOffset && { clockOffsetMs: offsetMs }),
		...(status !== 'on' && status !== 'off' && noteUnread(report.mac))
	});
	// By our clock, because the gateway's may be wrong.
	const at = now - Math.min(delaySeconds * 1000, MAX_AGE_MS);
	const mac = nameDevice(report.mac ?? '');
	const timed = { ...report, mac, at };
	if (status === 'on' || status === 'off') {
		await database.transact((trx) => closeConnections(context, trx, gateway, timed));
		return;
	}
	if (session === '') return;
	if (mac !== null && status === 'start') pskCandidates.joined({ mac, routerId: gateway.routerId });
	const received = { gateway, report: timed };
	if (status === 'interim') await waitOutside(storeInBatch(context, received));
	else await database.transact((trx) => storeReports(context, trx, [received]));
}

/** Answers when the report is stored (src/docs/decisions/radius-reports.md). */
function storeInBatch(context: AccessContext, received: Received): Promise<void> {
	const { database } = context;
	const batch = OPEN_BATCHES.get(database) ?? openBatch(context);
	batch.received.push(received);
	if (batch.received.length === BATCH) batch.close();
	// One that cannot be stored keeps no other from it.
	return batch.stored.catch(() => database.transact((trx) => storeReports(context, trx, [received])));
}

function openBatch(context: AccessContext): Batch {
	const { database } = context;
	const received: Received[] = [];
	const { promise: isFull, resolve } = Promise.withResolvers<null>();
	const stored = Promise.race([isFull, sleep(BATCH_MS)]).then(() => {
		OPEN_BATCHES.delete(database);
		return database.transact((trx) => storeReports(context, trx, received));
	});
	const batch = { received, close: () => resolve(null), stored };
	OPEN_BATCHES.set(database, batch);
	return batch;
}

/** Locks all names, then all passes, then jobs, each in one order, so that batches do not end each other. */
async function storeReports(context: AccessContext, trx: Tx, all: readonly Received[]): Promise<void> {
	// A gateway that gets no answer in time sends its report again, perhaps to another process.
	await lockName(trx, ...all.map(({ gateway, report }) => `reports of ${gateway.id} ${report.session}`));
	const passIds: (number | null)[] = [];
	for (const { gateway, report } of all) {
		const known = parseNamedPass(report).pass_id;
		passIds.push(known ?? (await findReportedConnection(trx, gateway.id, report))?.pass_id ?? null);
	}
	const held = await lockPasses(trx, passIds);
	const changed = new Set<number>();
	for (const received of all) {
		if (await updateConnection(context, trx, held, received)) changed.add(received.gateway.id);
	}
	for (const id of [...changed].sort((one, other) => one - other)) await scheduleComparison(context, trx, id);
}

/** Returns whether the gateway's state is to be compared. */
async function updateConnection(
	context: AccessContext,
	trx: Tx,
	held: ReadonlyMap<number, HeldPass>,
	{ gateway, report }: Received
): Promise<boolean> {
	const { at, cause } = report;
	const { row, isNew, uncounted } = await findOrAddConnection(context, trx, gateway, report);
	const { pass_id: passId } = row;
	const pass = passId === null ? null : (held.get(passId) ?? (await lockPass(trx, passId)));
	const startedAt = Math.min(row.started_at, computeStart(report));
	const since = isNew ? row.started_at : row.seen_at;
	const bytes = computeCounters(row, report, { startedAt, since });
	const isStop = report.status === 'stop';
	// An access server may go on with its connections after Accounting-On.
	const isBack = report.status === 'interim' && row.stop_cause === REBOOT && at > (row.stopped_at ?? at);
	const wasOver = row.stopped_at !== null && !isBack;
	await changeConnection(trx, row.id, {
		ip: report.ip ?? row.ip,
		started_at: startedAt,
		seen_at: row.seen_at > context.clock.now() ? at : Math.max(row.seen_at, at),
		...bytes,
		...(isBack && { stopped_at: null, stop_cause: null }),
		...(isStop && !wasOver && { stopped_at: at, stop_cause: cause })
	});
	if (!pass) return false;
	const growth = bytes.bytes_in - row.bytes_in + bytes.bytes_out - row.bytes_out;
	await countData(context, trx, pass, growth + uncounted);
	if (isStop && !wasOver) await releaseIfOffline(context, trx, row);
	if (isStop || wasOver) return false;
	return keepSlot(context, trx, gateway, { row, held: pass, isOpened: isNew || isBack });
}

const computeStart = ({ at, lastedSeconds }: TimedReport) => at - (lastedSeconds ?? 0) * 1000;

/** Whether a connection began before its pass, for example under the name of another one. */
async function isEarlier(trx: Tx, passId: number | null, startedAt: number) {
	if (passId === null) return false;
	const { starts_at: startsAt, created_at: createdAt } = await findPassOrThrow(trx, passId);
	return startedAt < (startsAt ?? createdAt) - EARLIER_MS;
}

/**
 * Finds or inserts a row. `uncounted`: bytes of the row that its pass, only known now, does not contain. A connection that
 * is older than its pass counts from this report.
 */
async function findOrAddConnection(
	context: AccessContext,
	trx: Tx,
	gateway: RegisteredGateway,
	report: TimedReport
): Promise<{ row: Connection; isNew: boolean; uncounted: number }> {
	const found = await findReportedConnection(trx, gateway.id, report);
	const reused = found && detectReuse(found, report);
	if (found && reused === null) {
		const row = await identifyConnection(context, trx, gateway, report, found);
		const isCounted = found.pass_id !== null || (await isEarlier(trx, row.pass_id, found.started_at));
		return { row, isNew: false, uncounted: isCounted ? 0 : found.bytes_in + found.bytes_out };
	}
	if (found) {
		const acct_session_id = `${found.acct_session_id} #${found.id}`;
		const stopped_at = found.stopped_at ?? found.seen_at;
		await changeConnection(trx, found.id, { acct_session_id, stopped_at });
		if (reused === 'pass' && found.stopped_at === null) await releaseIfOffline(context, trx, found);
	}
	return { row: await addConnection(context, trx, gateway, report), isNew: true, uncounted: 0 };
}

/** Returns what shows that an Acct-Session-Id is used again, for a new connection; null if it is the same one. */
function detectReuse(found: Connection, report: TimedReport): 'pass' | 'device' | 'start' | null {
	const passId = parseNamedPass(report).pass_id;
	if (found.pass_id !== null && passId !== null && passId !== found.pass_id) return 'pass';
	if (found.mac !== null && report.mac !== null && found.mac !== report.mac) return 'device';
	const isLate = report.at > (found.stopped_at ?? found.seen_at) + REUSED_MS;
	return report.status === 'start' && isLate ? 'start' : null;
}

async function addConnection(
	context: AccessContext,
	trx: Tx,
	gateway: RegisteredGateway,
	report: TimedReport
): Promise<Connection> {
	const named = await findReportedPass(context, trx, gateway, report);
	const startedAt = computeStart(report);
	const none = { bytes_in: 0, bytes_out: 0, counter_in: null, counter_out: null };
	return insertConnection(trx, {
		...named,
		...((await isEarlier(trx, named.pass_id, startedAt)) &&
			computeCounters(none, report, { startedAt, since: startedAt })),
		gateway_id: gateway.id,
		acct_session_id: report.session,
		user_name: report.user,
		...{ mac: report.mac, ip: report.ip },
		...{ nas_address: report.nas_address, nas_identifier: report.nas_identifier },
		...{ started_at: startedAt, seen_at: report.at }
	});
}

async function identifyConnection(
	context: AccessContext,
	trx: Tx,
	gateway: RegisteredGateway,
	report: TimedReport,
	row: Connection
): Promise<Connection> {
	if (row.pass_id !== null) return row;
	const named = await findReportedPass(context, trx, gateway, { ...report, mac: row.mac });
	if (named.pass_id === null) return row;
	await changeConnection(trx, row.id, named);
	return { ...row, ...named };
}

/** Reads the pass from Class, or else from the username, and the end from Class. */
function parseNamedPass({ class: className, user }: AccountingReport): Named {
	const [, id, until] = /^pass-(\d{1,16})-(\d{1,12})$/.exec(className ?? '') ?? [];
	return id === undefined
		? { pass_id: passOfUser(user ?? ''), enforced_until: null }
		: { pass_id: Number(id), enforced_until: Number(until) * 1000 };
}

async function findReportedPass(
	{ clock, pskCandidates }: AccessContext,
	trx: Tx,
	{ routerId, kind: gatewayKind }: RegisteredGateway,
	report: TimedReport
): Promise<Named> {
	const { pass_id: passId, enforced_until: enforcedUntil } = parseNamedPass(report);
	const { mac, user, status } = report;
	const now = clock.now();
	if (passId !== null) {
		const pass = await findPassState(trx, { passId, routerId }, now);
		if (pass.kind === 'unknown') return UNNAMED;
		return { pass_id: passId, enforced_until: enforcedUntil ?? (pass.kind === 'runs' ? pass.untilMs : null) };
	}
	// With per-client passwords, access points send the MAC address as the username, or no username.
	const isKey = gatewayKind === 'hostapd' && (user === null || normaliseMac(user) === mac);
	if (status !== 'start' || mac === null || !isKey) return UNNAMED;
	const { access_kind: kind } = await findRouterOrThrow(trx, routerId);
	if (kind !== 'wpa_personal_per_client') return UNNAMED;
	// The pass is certain only if the device was offered a single password.
	const [only, ...others] = pskCandidates.lastOffered({ mac, routerId }, now);
	if (only === undefined || others.length > 0) return UNNAMED;
	const pass = await findPassState(trx, { passId: only, routerId }, now);
	return pass.kind === 'runs' ? { pass_id: only, enforced_until: pass.untilMs } : UNNAMED;
}

async function releaseIfOffline(
	{ clock }: AccessContext,
	trx: Tx,
	{ pass_id: passId, mac }: Connection
): Promise<void> {
	if (passId === null || mac === null) return;
	if ((await findConnectedGateways(trx, { passId, mac })).length > 0) return;
	await releaseSlot(trx, { passId, mac }, clock.now());
}

/** `isOpened`: the connection is new, or open again. Returns whether the gateway's state is to be compared. */
async function keepSlot(
	context: AccessContext,
	trx: Tx,
	gateway: RegisteredGateway,
	{ row, held, isOpened }: { row: Connection; held: HeldPass; isOpened: boolean }
): Promise<boolean> {
	const { id, mac, disconnect_state: disconnect } = row;
	const { id: passId } = held;
	const { clock, jobs } = context;
	const now = clock.now();
	if (mac === null && isOpened) await releaseUnnamed(trx, passId, now);
	const pass = await findPassState(trx, { passId, routerId: null }, now);
	let isIn = pass.kind === 'runs';
	if (pass.kind === 'runs' && mac !== null) {
		const slot = { pass: held, gatewayId: gateway.id, mac, maxDevices: pass.pass.max_devices };
		// A connection whose disconnect failed takes no slot: the device must sign in again.
		const mayTake = disconnect === 'none' || (await holdsSlot(trx, passId, mac));
		isIn = mayTake && (await takeSlot(trx, jobs, slot, now));
	}
	// It is still there.
	const isBack = !isIn && (disconnect === 'done' || disconnect === 'failed');
	const back = { disconnect_state: 'asked', disconnect_attempts: 0, check_at: null } as const;
	if (isBack) await changeConnection(trx, id, back);
	// Changes of the pass, its end included, compare it too.
	const wanted = isIn && pass.kind === 'runs' ? pass : null;
	return computeDue({ ...row, ...(isBack && back) }, gateway, wanted, now) <= now;
}

/** Closes all connections after the access server started or stopped (Accounting-On, Accounting-Off). */
async function closeConnections(
	context: AccessContext,
	trx: Tx,
	gateway: RegisteredGateway,
	report: TimedReport
): Promise<void> {
	const rows = await findOpenConnectionsAt(trx, gateway.id, report);
	await lockPasses(
		trx,
		rows.map((row) => row.pass_id)
	);
	for (const row of rows) {
		const stopped_at = Math.max(row.seen_at, report.at);
		await changeConnection(trx, row.id, { stopped_at, stop_cause: REBOOT });
		await releaseIfOffline(context, trx, row);
	}
}

type Counters = Pick<ConnectionRow, 'bytes_in' | 'bytes_out' | 'counter_in' | 'counter_out'>;

/** `at`: time of the report. */
type Reported = Pick<AccountingReport, 'bytesIn' | 'bytesOut' | 'lastedSeconds'> & { at: number };

/**
 * Returns the bytes of a connection after a report, and its counters as reported.
 *
 * A counter grows from the last report, or from what has been counted if that is nearer. Growth that cannot be counts
 * nothing, but the next report is measured from it. So a false counter ends no pass, and a true one counts on: after a
 * burst, a restart at 0, and at 2^32 without Gigawords. A late report changes nothing.
 */
function computeCounters(
	before: Counters,
	{ at, bytesIn, bytesOut, lastedSeconds }: Reported,
	{ startedAt, since }: { startedAt: number; since: number }
): Counters {
	// Acct-Delay-Time may be missing, so the duration of the connection tells which report is newer.
	const lastedMs = (lastedSeconds ?? 0) * 1000;
	const isNewer = Math.max(startedAt + lastedMs, at - lastedMs) > since;
	function next(bytes: number, last: number | null, counter: number) {
		const reported = last ?? bytes;
		if (counter < reported && !isNewer) return { bytes, reported };
		// Infinite below both.
		const growth = counter - Math.max(...[reported, bytes].filter((from) => from <= counter));
		return { bytes: isPossibleGrowth(growth, at - since) ? bytes + growth : bytes, reported: counter };
	}
	const download = next(before.bytes_out, before.counter_out, bytesOut);
	const upload = next(before.bytes_in, before.counter_in, bytesIn);
	return {
		...{ bytes_in: upload.bytes, counter_in: upload.reported },
		...{ bytes_out: download.bytes, counter_out: download.reported }
	};
}

const MAX_TEXT = 253;
/** Databases reject NUL and lone surrogates. After an error the gateway repeats its report forever. */
export const radiusText = z
	.string()
	.max(MAX_TEXT)
	.transform((value) => value.replaceAll('\0', '').toWellFormed());

/** RADIUS integers have 32 bits. */
const MAX_INTEGER = 2 ** 32 - 1;
const GIGAWORD = 2 ** 32;
/** 10 Gbit/s for 15 hours. A larger value means that the gateway's counter fell below zero. */
const MAX_BYTES = 2 ** 46;
const MAX_LASTED_SECONDS = 366 * 24 * 60 * 60;

/** Invalid numbers count as 0, because the rest of the report is still useful. */
const count = radiusText.transform((value) => {
	const number = /^\d{1,10}$/.test(value) ? Number(value) : 0;
	return number <= MAX_INTEGER ? number : 0;
});
const optional = radiusText.transform((value) => value || null);

/** Acct-Status-Type, RFC 2866, 5.1. */
const STATUSES = { 1: 'start', 2: 'stop', 3: 'interim', 7: 'on', 8: 'off' } as const;

/**
 * A report on a device's connection (accounting, RFC 2866), as FreeRADIUS sends it. Reports may repeat, be late and
 * change order; the resulting rows are the same. Connections without a pass are kept, because owners want to see them.
 */
export const reportShape = z
	.object({
		/** null for other types, such as tunnels: after an error the gateway would repeat them forever. */
		status: z
			.string()
			.regex(/^\d{1,10}$/)
			.transform((value) => STATUSES[Number(value) as keyof typeof STATUSES] ?? null),
		/** Acct-Session-Id; some gateways leave it empty with `on` and `off`. */
		session: radiusText,
		user: optional,
		/** Calling-Station-Id */
		mac: optional,
		/** Framed-IP-Address; null if it is no address. */
		ip: radiusText.transform(normaliseIp),
		nas_address: optional,
		nas_identifier: optional,
		/** `0x` and two digits per octet. */
		class: z
			.string()
			.max(2 + 2 * MAX_TEXT)
			.transform(readClass),
		/** Event-Timestamp by the gateway's clock, in seconds since the epoch. */
		at: count.transform((seconds) => seconds || null),
		/** Acct-Delay-Time: age of the report. */
		delay: count,
		/** Acct-Session-Time: duration of the connection. */
		lasted: count.transform((seconds) => (seconds <= MAX_LASTED_SECONDS ? seconds : null)),
		in: count,
		in_gigawords: count,
		out: count,
		out_gigawords: count,
		/** Acct-Terminate-Cause */
		cause: optional
	})
	.transform(({ at, delay, lasted, in: low, in_gigawords, out: outLow, out_gigawords, ...report }) => ({
		...report,
		...{ atSeconds: at, delaySeconds: delay, lastedSeconds: lasted },
		bytesIn: computeBytes(in_gigawords, low),
		bytesOut: computeBytes(out_gigawords, outLow)
	}));

export type AccountingReport = z.output<typeof reportShape>;

function computeBytes(gigawords: number, rest: number): number {
	const bytes = gigawords * GIGAWORD + rest;
	return bytes <= MAX_BYTES ? bytes : 0;
}

function readClass(printed: string): string | null {
	const hex = /^0x((?:[0-9a-f]{2})+)$/i.exec(printed)?.[1];
	const name = hex === undefined ? printed : Buffer.from(hex, 'hex').toString('latin1');
	return name === '' ? null : name;
}
