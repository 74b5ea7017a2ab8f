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
 * Looks after one connection that a gateway accounts for: ends it when its pass is over or its device has lost its place,
 * prolongs it when time was added. The gateway is asked until it says that it is done, the connection is reported as
 * over, or the time is over at which the gateway ends it by itself (Session-Timeout).
 */
export interface Connections {
	/** Job CONNECTION_JOB. @returns when to look again, or null when it is over */
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
/** A gateway that ends connections by itself has done so this long after the end that it was told. */
const MARGIN_MS = 5 * 60_000;
/** The end that was told is not known: as long as a connection can be forgotten. */
const UNKNOWN_END_MS = 24 * 60 * 60_000;
/** Where time was added and the gateway does not take it, the buyer signs in again. */
const MAX_PROLONG_ATTEMPTS = 3;

export function createConnections({
	database,
	clock,
	log,
	gateways,
	concurrencyLimit
}: ConnectionsParts): Connections {
	const { db } = database;

	/** When the connection has to end; null when it has to now. */
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
		// Time was added meanwhile: that is another end, which was not tried yet.
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
		// Attempts to prolong it are another count.
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
		log.warn({ gateway: gateway.name, connection: row.id, reason }, 'a connection could not be ended');
		return null;
	}

	/** Without its address nothing can be sent to it: it ends the connection by itself at the time that it was told. */
	async function unreachable(row: connectionStore.ConnectionRow, gateway: RegisteredGateway): Promise<null> {
		if (row.disconnect_state === 'failed') return null;
		const last_error = 'The address of the access server is not known: its own Session-Timeout ends it.';
		await connectionStore.changeConnection(db, row.id, { disconnect_state: 'failed', last_error });
		log.info({ gateway: gateway.name, connection: row.id }, 'a connection ends by its Session-Timeout alone');
		return null;
	}

	async function sent(
		kind: RequestKind,
		row: connectionStore.ConnectionRow,
		gateway: RegisteredGateway,
		server: AccessServer,
		untilMs: number | null
	): Promise<Asked> {
		// By its own clock: what seems too old or too new to it is dropped.
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

/** Where it is asked to end or prolong connections; null where that is not known. */
export function serverOf({ settings, credentials }: RegisteredGateway): AccessServer | null {
	const { nas, nasPort = DYNAMIC_AUTHORISATION_PORT } = settings;
	const { radiusSecret: secret } = credentials;
	return nas === undefined || secret === undefined ? null : { host: nas, port: nasPort, secret };
}

/** What names a connection to its access server: hostapd refuses what it does not know, and every name must fit. */
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
		return `${what} is not answered: wrong address, port or RADIUS secret, or no way to it.`;
	const cause =
		asked.kind === 'refused' && asked.errorCause !== null ? ` with Error-Cause ${asked.errorCause}` : '';
	return `${what} was refused${cause}.`;
}
