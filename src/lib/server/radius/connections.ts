import { loginUser } from '#lib/domain/pass-username.ts';
import type { Clock } from '../platform/clock.ts';
import type { Database } from '../db/database.ts';
import type { Gateways, RegisteredGateway } from '../gateways/gateways.ts';
import type { Jobs } from '../jobs/jobs.ts';
import type { Log } from '../platform/log.ts';
import { ask, DYNAMIC_AUTHORISATION_PORT, type AccessServer, type Asked } from './coa.ts';
import * as connectionStore from '../access/device-slots/connection-store.ts';
import { slotsOf } from '../access/device-slots/store.ts';
import { passState } from '../access/passes/pass-state.ts';
import type { ConcurrencyLimit } from '../access/provisioning/grants/concurrency-limit.ts';
import { CONNECTION_JOB, SAME_END_MS } from '../access/job-kinds.ts';
import type { RequestAttributes, RequestKind } from './packet.ts';

/**
 * Ends or prolongs RADIUS connections.
 *
 * A connection ends when its pass is over or its device has lost its slot; it is prolonged when time was added. Requests
 * repeat until the gateway confirms, the connection is reported as stopped, or its Session-Timeout has passed.
 */
export interface Connections {
	/** Handles CONNECTION_JOB. @returns when to run again, or null if the connection is settled */
	settle(id: number): Promise<number | null>;
}

export interface ConnectionsParts {
	database: Database;
	clock: Clock;
	log: Log;
	jobs: Jobs;
	gateways: Gateways;
	concurrencyLimit: ConcurrencyLimit;
}

const MAX_BACKOFF_MS = 60_000;
/** Session-Timeout has ended a connection so long after its end. */
const MARGIN_MS = 5 * 60_000;
/** Used instead of Session-Timeout if the end at the gateway is unknown. */
const UNKNOWN_END_MS = 24 * 60 * 60_000;
/** After these the buyer has to sign in again for added time. */
const MAX_PROLONG_ATTEMPTS = 3;

export function createConnections({
	database,
	clock,
	log,
	gateways,
	concurrencyLimit
}: ConnectionsParts): Connections {
	const { db } = database;

	/** When the connection should end; null for now. */
	async function wantedUntil({
		pass_id: passId,
		mac
	}: connectionStore.ConnectionRow): Promise<number | null> {
		if (passId === null) return null;
		const pass = await passState(db, { passId, routerId: null }, clock.now());
		if (pass.kind !== 'runs') return null;
		if (mac === null) return pass.untilMs;
		const places = await slotsOf(db, passId);
		return places.some((place) => place.mac === mac) ? pass.untilMs : null;
	}

	async function prolong(
		row: connectionStore.ConnectionRow,
		gateway: RegisteredGateway,
		untilMs: number
	): Promise<number> {
		const { told_until: told, disconnect_attempts: attempts } = row;
		const server = serverOf(gateway);
		const isTold = told !== null && told + SAME_END_MS >= untilMs;
		if (isTold || !server || !takesCoA(gateway) || attempts >= MAX_PROLONG_ATTEMPTS) {
			if (isTold && attempts > 0)
				await connectionStore.changeConnection(db, row.id, { disconnect_attempts: 0 });
			return untilMs;
		}
		const asked = await sent('coa', row, gateway, server, untilMs);
		if (asked.kind === 'done') {
			await connectionStore.changeConnection(db, row.id, {
				told_until: untilMs,
				disconnect_attempts: 0,
				last_error: null
			});
			await gateways.recordStatus(gateway.id, { seen: true, trouble: null });
			return untilMs;
		}
		// More time was added meanwhile: try the new end.
		if ((await wantedUntil(row)) !== untilMs) return clock.now();
		await connectionStore.changeConnection(db, row.id, {
			disconnect_attempts: asked.kind === 'silent' ? attempts + 1 : MAX_PROLONG_ATTEMPTS,
			last_error: reasonOf('CoA-Request', asked)
		});
		return asked.kind === 'silent' ? Math.min(untilMs, clock.now() + backoff(attempts)) : untilMs;
	}

	async function end(row: connectionStore.ConnectionRow, gateway: RegisteredGateway): Promise<number | null> {
		const server = serverOf(gateway);
		if (!server) return unreachable(row, gateway);
		// Attempts to prolong do not count.
		const attempts = row.disconnect_state === 'asked' ? row.disconnect_attempts : 0;
		await connectionStore.changeConnection(db, row.id, {
			disconnect_state: 'asked',
			disconnect_attempts: attempts + 1
		});
		const asked = await sent('disconnect', row, gateway, server, null);
		if (asked.kind === 'done' || asked.kind === 'gone') {
			await connectionStore.changeConnection(db, row.id, { disconnect_state: 'done', last_error: null });
			await gateways.recordStatus(gateway.id, { seen: true, trouble: null });
			return null;
		}
		const reason = reasonOf('Disconnect-Request', asked);
		await connectionStore.changeConnection(db, row.id, { last_error: reason });
		await gateways.recordStatus(gateway.id, { trouble: reason });
		const endsBy = row.told_until === null ? row.seen_at + UNKNOWN_END_MS : row.told_until + MARGIN_MS;
		if (clock.now() < endsBy) return clock.now() + backoff(attempts);
		await connectionStore.changeConnection(db, row.id, { disconnect_state: 'failed' });
		log.warn({ gateway: gateway.name, connection: row.id, reason }, 'connection could not be ended');
		return null;
	}

	/** Gives up if the address of the gateway is unknown: Session-Timeout ends the connection. */
	async function unreachable(row: connectionStore.ConnectionRow, gateway: RegisteredGateway): Promise<null> {
		if (row.disconnect_state === 'failed') return null;
		const last_error = 'The address of the gateway is unknown (--nas). Session-Timeout ends the connection.';
		await connectionStore.changeConnection(db, row.id, { disconnect_state: 'failed', last_error });
		log.info({ gateway: gateway.name, connection: row.id }, 'connection ends by Session-Timeout only');
		return null;
	}

	async function sent(
		kind: RequestKind,
		row: connectionStore.ConnectionRow,
		gateway: RegisteredGateway,
		server: AccessServer,
		untilMs: number | null
	): Promise<Asked> {
		// By the gateway's clock, because it drops requests that look too old or too new.
		const eventTimestamp = Math.round((clock.now() + (gateway.clockOffsetMs ?? 0)) / 1000);
		const attributes = { ...namesOf(row, gateway), eventTimestamp };
		if (untilMs === null) return ask(server, kind, attributes);
		// As in an Access-Accept: seconds since the connection began (RFC 2865, 5.27).
		const sessionTimeout = Math.max(1, Math.ceil((untilMs - row.started_at) / 1000));
		return ask(server, kind, { ...attributes, sessionTimeout });
	}

	return {
		async settle(id) {
			const row = await connectionStore.findConnection(db, id);
			if (!row || row.stopped_at !== null || row.pass_id === null) return null;
			const gateway = await gateways.byId(row.gateway_id);
			if (!gateway) return null;
			return concurrencyLimit.run({ kind: CONNECTION_JOB, id, gateway, isBuyer: false }, async () => {
				const untilMs = await wantedUntil(row);
				return untilMs === null ? end(row, gateway) : prolong(row, gateway, untilMs);
			});
		}
	};
}

const backoff = (attempts: number) => Math.min(MAX_BACKOFF_MS, 1_000 * 2 ** Math.min(attempts, 10));

const takesCoA = ({ kind }: RegisteredGateway) => kind !== 'hostapd';

/** Where a gateway accepts Disconnect- and CoA-Requests; null if unknown. */
export function serverOf({ settings, credentials }: RegisteredGateway): AccessServer | null {
	const { nas, nasPort = DYNAMIC_AUTHORISATION_PORT } = settings;
	const { radiusSecret: secret } = credentials;
	return nas === undefined || secret === undefined ? null : { host: nas, port: nasPort, secret };
}

/** The attributes that identify a connection. hostapd rejects unknown attributes, and all given ones must match. */
function namesOf(
	row: connectionStore.ConnectionRow,
	{ kind }: RegisteredGateway
): Omit<RequestAttributes, 'eventTimestamp'> {
	const acctSessionId = row.acct_session_id;
	if (kind === 'hostapd') {
		return {
			acctSessionId,
			callingStationId: row.mac?.toUpperCase().replaceAll(':', '-'),
			nasIdentifier: row.nas_identifier ?? undefined
		};
	}
	const userName = row.user_name ?? (row.pass_id === null ? undefined : loginUser(row.pass_id));
	const framedIp = row.ip !== null && /^[\d.]+$/.test(row.ip) ? row.ip : undefined;
	return { acctSessionId, userName, framedIp: kind === 'mikrotik' ? framedIp : undefined };
}

function reasonOf(what: string, asked: Asked): string {
	if (asked.kind === 'silent')
		return `${what} got no response. Check address, port and RADIUS secret of the gateway, and the network.`;
	const cause =
		asked.kind === 'refused' && asked.errorCause !== null ? ` with Error-Cause ${asked.errorCause}` : '';
	return `${what} was rejected${cause}.`;
}
