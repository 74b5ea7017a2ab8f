import { passOfUser } from '#lib/domain/pass-username.ts';
import { normaliseMac } from '#lib/domain/mac.ts';
import type { Clock } from '../platform/clock.ts';
import type { Database, Queries, Tx } from '../db/database.ts';
import type { StatusUpdate, Gateways, RegisteredGateway } from '../gateways/gateways.ts';
import type { Jobs } from '../jobs/jobs.ts';
import type { Routers } from '../routers/routers.ts';
import { holdsSlot, takeSlot } from '../access/device-slots/device-slots.ts';
import * as connectionStore from '../access/device-slots/connection-store.ts';
import { releaseSlot } from '../access/device-slots/store.ts';
import { passState } from '../access/passes/pass-state.ts';
import { CONNECTION_JOB, SAME_END_MS } from '../access/job-kinds.ts';
import type { Offers } from './psk-offers.ts';

/**
 * Accounting (RFC 2866): reports of a gateway on the connections of its devices. Reports may repeat, be late and change
 * order; the resulting rows are the same. Connections without a pass are kept, because owners want to see them.
 */
export interface AccountingReport {
	status: 'start' | 'interim' | 'stop' | 'on' | 'off';
	/** Acct-Session-Id; some gateways leave it empty with `on` and `off`. */
	sessionId: string;
	user: string | null;
	/** Calling-Station-Id */
	mac: string | null;
	ip: string | null;
	nasAddress: string | null;
	nasIdentifier: string | null;
	className: string | null;
	/** Event-Timestamp by the gateway's clock, in seconds since the epoch. */
	atSeconds: number | null;
	/** Acct-Delay-Time: age of the report. */
	delaySeconds: number;
	/** Acct-Session-Time: duration of the connection. */
	lastedSeconds: number | null;
	bytesIn: number;
	bytesOut: number;
	/** Acct-Terminate-Cause */
	cause: string | null;
}

export interface Accounting {
	account(gateway: RegisteredGateway, report: AccountingReport): Promise<void>;
	/** Records a sign of life and the clock offset; skips updates that change nothing. */
	heardOf(gateway: RegisteredGateway, clockOffsetMs: number | null): Promise<void>;
}

export interface AccountingParts {
	database: Database;
	clock: Clock;
	jobs: Jobs;
	gateways: Gateways;
	routers: Routers;
	offers: Offers;
}

const NOTE_EVERY_MS = 20_000;
/** Event-Timestamp counts whole seconds. */
const SAME_OFFSET_MS = 2_000;
/** A Start so long after the end of a connection with the same id is a new connection. */
const REUSED_MS = 5_000;
/** Reports with a longer delay do not measure the clock, because Acct-Delay-Time may be wrong. */
const MAX_CLOCK_DELAY_SECONDS = 5 * 60;
/** Limit for Acct-Delay-Time. */
const MAX_AGE_MS = 24 * 60 * 60 * 1000;

/** The pass in Class, or else in the username, and the end in Class. */
function namedPass({ className, user }: AccountingReport): {
	passId: number | null;
	toldUntil: number | null;
} {
	const [, id, until] = /^pass-(\d{1,15})-(\d{1,12})$/.exec(className ?? '') ?? [];
	return id === undefined
		? { passId: passOfUser(user ?? ''), toldUntil: null }
		: { passId: Number(id), toldUntil: Number(until) * 1000 };
}

export function createAccounting(parts: AccountingParts): Accounting {
	const { database, clock, jobs, gateways, routers, offers } = parts;

	async function heardOf(gateway: RegisteredGateway, clockOffsetMs: number | null): Promise<void> {
		const news: StatusUpdate = {};
		const { seenAt, unresponsiveSince, clockOffsetMs: known } = gateway;
		const isNoted = seenAt !== null && Math.abs(clock.now() - seenAt) <= NOTE_EVERY_MS;
		if (!isNoted || unresponsiveSince !== null) news.seen = true;
		if (clockOffsetMs !== null && (known === null || Math.abs(known - clockOffsetMs) >= SAME_OFFSET_MS)) {
			news.clockOffsetMs = clockOffsetMs;
		}
		if (news.seen || news.clockOffsetMs !== undefined) await gateways.recordStatus(gateway.id, news);
	}

	/** The pass of a connection, and its end at the gateway. */
	async function passOf(
		queries: Queries,
		{ routerId, kind: gatewayKind }: RegisteredGateway,
		report: AccountingReport,
		mac: string | null
	): Promise<{ passId: number | null; toldUntil: number | null }> {
		const { passId, toldUntil } = namedPass(report);
		const now = clock.now();
		if (passId !== null) {
			const pass = await passState(queries, { passId, routerId }, now);
			if (pass.kind === 'unknown') return { passId: null, toldUntil: null };
			if (toldUntil !== null) return { passId, toldUntil };
			return { passId, toldUntil: pass.kind === 'runs' ? pass.untilMs : null };
		}
		// Access points name a device with a per-client password by its MAC address, or not at all.
		const isKey = gatewayKind === 'hostapd' && (report.user === null || normaliseMac(report.user) === mac);
		if (report.status !== 'start' || mac === null || !isKey) return { passId: null, toldUntil: null };
		const { access_kind: kind } = await routers.known(queries, routerId);
		if (kind !== 'wpa_personal_per_client') return { passId: null, toldUntil: null };
		// The pass is certain only if the device was offered a single password.
		const [only, ...others] = offers.lastTold({ mac, routerId }, now) ?? [];
		const isOne = only !== undefined && others.length === 0;
		const pass = isOne ? await passState(queries, { passId: only, routerId }, now) : null;
		return pass?.kind === 'runs'
			? { passId: pass.pass.id, toldUntil: pass.untilMs }
			: { passId: null, toldUntil: null };
	}

	/** Finds or inserts the row of a connection. A reused Acct-Session-Id is a new connection. */
	async function rowFor(
		trx: Tx,
		gateway: RegisteredGateway,
		report: AccountingReport,
		{ at, mac }: { at: number; mac: string | null }
	): Promise<{ row: connectionStore.ConnectionRow; isNew: boolean }> {
		const found = await connectionStore.connectionOf(trx, {
			gatewayId: gateway.id,
			acctSessionId: report.sessionId,
			nasAddress: report.nasAddress,
			nasIdentifier: report.nasIdentifier,
			mac
		});
		const named = namedPass(report).passId;
		const isOtherPass = found !== null && found.pass_id !== null && named !== null && named !== found.pass_id;
		const isOther =
			found !== null &&
			(isOtherPass ||
				(found.mac !== null && mac !== null && found.mac !== mac) ||
				(report.status === 'start' && found.stopped_at !== null && at > found.stopped_at + REUSED_MS));
		if (found && !isOther) return { row: await identified(trx, gateway, report, found), isNew: false };
		if (found) {
			const renamed = `${found.acct_session_id} #${found.id}`;
			const stopped_at = found.stopped_at ?? found.seen_at;
			await connectionStore.changeConnection(trx, found.id, { acct_session_id: renamed, stopped_at });
			if (isOtherPass && found.stopped_at === null) await left(trx, found);
		}
		const { passId, toldUntil } = await passOf(trx, gateway, report, mac);
		const row = await connectionStore.insertConnection(trx, {
			gateway_id: gateway.id,
			acct_session_id: report.sessionId,
			pass_id: passId,
			user_name: report.user,
			mac,
			ip: report.ip,
			nas_address: report.nasAddress,
			nas_identifier: report.nasIdentifier,
			started_at: at - (report.lastedSeconds ?? 0) * 1000,
			seen_at: at,
			stopped_at: null,
			stop_cause: null,
			told_until: toldUntil,
			last_error: null
		});
		return { row, isNew: true };
	}

	/** Adds the pass if a later report names it. */
	async function identified(
		trx: Tx,
		gateway: RegisteredGateway,
		report: AccountingReport,
		row: connectionStore.ConnectionRow
	): Promise<connectionStore.ConnectionRow> {
		if (row.pass_id !== null) return row;
		const { passId, toldUntil } = await passOf(trx, gateway, report, row.mac);
		if (passId === null) return row;
		await connectionStore.changeConnection(trx, row.id, { pass_id: passId, told_until: toldUntil });
		return { ...row, pass_id: passId, told_until: toldUntil };
	}

	/** Releases the slot of a device without open connections. */
	async function left(trx: Tx, { pass_id: passId, mac }: connectionStore.ConnectionRow): Promise<void> {
		if (passId === null || mac === null) return;
		if ((await connectionStore.openConnections(trx, { passId, mac })).length > 0) return;
		await releaseSlot(trx, { passId, mac }, clock.now());
	}

	async function note(trx: Tx, gateway: RegisteredGateway, report: AccountingReport, at: number) {
		const mac = normaliseMac(report.mac ?? '');
		const { row, isNew } = await rowFor(trx, gateway, report, { at, mac });
		const isStop = report.status === 'stop';
		const wasOver = row.stopped_at !== null;
		await connectionStore.changeConnection(trx, row.id, {
			ip: report.ip ?? row.ip,
			started_at: Math.min(row.started_at, at - (report.lastedSeconds ?? 0) * 1000),
			seen_at: row.seen_at > clock.now() ? at : Math.max(row.seen_at, at),
			// A late report has smaller counters.
			bytes_in: Math.max(row.bytes_in, report.bytesIn),
			bytes_out: Math.max(row.bytes_out, report.bytesOut),
			...(isStop && !wasOver && { stopped_at: at, stop_cause: report.cause })
		});
		if (isStop && !wasOver) await left(trx, { ...row, stopped_at: at });
		if (isStop || wasOver || row.pass_id === null) return;
		await stays(trx, gateway, row, isNew);
	}

	/** Takes a slot for the device of an open connection, and schedules the end of the connection. */
	async function stays(
		trx: Tx,
		{ id: gatewayId }: RegisteredGateway,
		{
			id,
			pass_id: passId,
			mac,
			disconnect_state: asked,
			told_until: toldUntil
		}: connectionStore.ConnectionRow,
		isNew: boolean
	) {
		if (passId === null) return;
		const now = clock.now();
		const pass = await passState(trx, { passId, routerId: null }, now);
		if (pass.kind !== 'runs') {
			// It should have been disconnected.
			if (asked !== 'asked') await jobs.schedule(trx, CONNECTION_JOB, id, now);
			return;
		}
		const { max_devices: maxDevices } = pass.pass;
		const place = mac === null ? null : { passId, gatewayId, mac, maxDevices };
		// A connection whose disconnect failed takes no slot: the device has to sign in again.
		const mayTake = asked === 'none' || place === null || (await holdsSlot(trx, place));
		const isIn = place === null || (mayTake && (await takeSlot(trx, jobs, place, now)));
		const wasToldLess = toldUntil !== null && toldUntil + SAME_END_MS < pass.untilMs;
		if (!isIn && asked !== 'asked') await jobs.schedule(trx, CONNECTION_JOB, id, now);
		else if (isIn && isNew) await jobs.schedule(trx, CONNECTION_JOB, id, wasToldLess ? now : pass.untilMs);
	}

	/** Closes all connections of an access server that started or stopped (Accounting-On, Accounting-Off). */
	async function allOver(trx: Tx, gateway: RegisteredGateway, report: AccountingReport, at: number) {
		const server = {
			gatewayId: gateway.id,
			address: report.nasAddress,
			identifier: report.nasIdentifier,
			before: at
		};
		for (const row of await connectionStore.openAt(trx, server)) {
			await connectionStore.changeConnection(trx, row.id, {
				stopped_at: Math.max(row.seen_at, at),
				stop_cause: 'NAS-Reboot'
			});
			await left(trx, row);
		}
	}

	return {
		heardOf,
		async account(gateway, report) {
			const now = clock.now();
			const { atSeconds, delaySeconds } = report;
			// By our clock, because the gateway's may be wrong.
			const at = now - Math.min(delaySeconds * 1000, MAX_AGE_MS);
			const isPrompt = delaySeconds <= MAX_CLOCK_DELAY_SECONDS;
			const offsetMs = atSeconds !== null && isPrompt ? (atSeconds + delaySeconds) * 1000 - now : null;
			await heardOf(gateway, offsetMs);
			if (report.status === 'on' || report.status === 'off') {
				await database.transact((trx) => allOver(trx, gateway, report, at));
				return;
			}
			if (report.sessionId === '') return;
			const mac = normaliseMac(report.mac ?? '');
			if (mac !== null && report.status === 'start') offers.cameIn({ mac, routerId: gateway.routerId });
			await database.transact((trx) => note(trx, gateway, report, at));
			jobs.nudge();
		}
	};
}
