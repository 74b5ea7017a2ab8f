import { randomUUID } from 'node:crypto';
import { dataLeft } from '#lib/domain/data-limit.ts';
import { loginUser } from '#lib/domain/wifi/pass-username.ts';
import { dataWords, type RegisteredGateway } from '#lib/server/gateways/gateways.ts';
import { sendRequest, DYNAMIC_AUTHORISATION_PORT, type CoaTarget, type CoaResult } from './coa.ts';
import * as store from '../device-slots/connection-store.ts';
import { holdsSlot, INTERIM_SECONDS } from '../device-slots/device-slots.ts';
import { passState, speedOf } from '#lib/server/passes/pass-state.ts';
import type { AccessContext } from '../provisioning/context.ts';
import { exponentialMs, MAX_BACKOFF_MS } from '../provisioning/grants/call-gateway.ts';
import { CONNECTION_JOB, SAME_END_MS } from '../job-kinds.ts';
import type { RequestAttributes, RequestKind } from './packet.ts';

type Connection = store.ConnectionRow;

/** Session-Timeout has ended a connection this long after its end. */
const MARGIN_MS = 5 * 60_000;
/** Replaces Session-Timeout if the end at the gateway is unknown. */
const UNKNOWN_END_MS = 24 * 60 * 60_000;
/** After these attempts, the buyer must sign in again to use added time. */
const MAX_PROLONG_ATTEMPTS = 3;

/**
 * Ends or prolongs a RADIUS connection (job CONNECTION_JOB).
 *
 * A connection ends when its pass is over or its device has lost its slot. Added time prolongs it. Requests
 * repeat until the gateway confirms, reports a stop, or its Session-Timeout has passed.
 * @returns when to run again; null if the connection needs no more requests
 */
export async function applyPassEnd(context: AccessContext, id: number): Promise<number | null> {
	const { database, clock, gateways, concurrencyLimit } = context;
	const row = await store.findConnection(database.db, id);
	if (!row || row.stopped_at !== null || row.pass_id === null) return null;
	const gateway = await gateways.byId(row.gateway_id);
	if (!gateway) return null;
	if (gateway.unreadable.length > 0) return clock.now() + MAX_BACKOFF_MS;
	return concurrencyLimit.run({ kind: CONNECTION_JOB, id, gateway, isBuyer: false }, async () => {
		const untilMs = await desiredEnd(context, row);
		return untilMs === null ? end(context, row, gateway) : prolong(context, row, gateway, untilMs);
	});
}

/** Returns null to end the connection now. */
async function desiredEnd(
	{ database: { db }, clock }: AccessContext,
	{ pass_id: passId, mac }: Connection
): Promise<number | null> {
	if (passId === null) return null;
	const pass = await passState(db, { passId, routerId: null }, clock.now());
	if (pass.kind !== 'runs') return null;
	return mac === null || (await holdsSlot(db, passId, mac)) ? pass.untilMs : null;
}

async function prolong(
	context: AccessContext,
	row: Connection,
	gateway: RegisteredGateway,
	untilMs: number
): Promise<number> {
	const { database, clock, gateways } = context;
	const { enforced_until: enforcedUntil, disconnect_attempts: attempts } = row;
	const change = (to: Partial<Connection>) => store.changeConnection(database.db, row.id, to);
	const server = serverOf(gateway);
	if (enforcedUntil !== null && enforcedUntil + SAME_END_MS >= untilMs) {
		if (attempts > 0) await change({ disconnect_attempts: 0 });
		return untilMs;
	}
	// hostapd takes no CoA-Request.
	if (!server || gateway.kind === 'hostapd' || attempts >= MAX_PROLONG_ATTEMPTS) return untilMs;
	const result = await send(context, 'coa', row, gateway, server, untilMs);
	if (result.kind === 'done') {
		await change({ enforced_until: untilMs, disconnect_attempts: 0, last_error: null });
		await gateways.recordStatus(gateway, { answered: true, trouble: null });
		return untilMs;
	}
	// More time was added meanwhile: try the new end.
	if ((await desiredEnd(context, row)) !== untilMs) return clock.now();
	const isUnresponsive = result.kind === 'unresponsive';
	await change({
		disconnect_attempts: isUnresponsive ? attempts + 1 : MAX_PROLONG_ATTEMPTS,
		last_error: reasonOf('CoA-Request', result)
	});
	return isUnresponsive ? Math.min(untilMs, clock.now() + exponentialMs(attempts)) : untilMs;
}

async function end(
	context: AccessContext,
	row: Connection,
	gateway: RegisteredGateway
): Promise<number | null> {
	const { database, clock, gateways, log } = context;
	const change = (to: Partial<Connection>) => store.changeConnection(database.db, row.id, to);
	const server = serverOf(gateway);
	if (!server) {
		const last_error = 'The address of the gateway is unknown (--nas). Session-Timeout ends the connection.';
		await change({ disconnect_state: 'failed', last_error });
		return null;
	}
	// Attempts to prolong do not count.
	const attempts = row.disconnect_state === 'asked' ? row.disconnect_attempts : 0;
	await change({ disconnect_state: 'asked', disconnect_attempts: attempts + 1 });
	const result = await send(context, 'disconnect', row, gateway, server, null);
	// CoovaChilli refuses only what it does not know, and gives no Error-Cause.
	const isGone = result.kind === 'refused' && result.errorCause === null && gateway.kind === 'coova';
	if (result.kind === 'done' || result.kind === 'gone' || isGone) {
		await change({ disconnect_state: 'done', last_error: null });
		await gateways.recordStatus(gateway, { answered: true, trouble: null });
		return null;
	}
	const reason = reasonOf('Disconnect-Request', result);
	await change({ last_error: reason });
	await gateways.recordStatus(gateway, { trouble: reason });
	const endsBy = row.enforced_until === null ? row.seen_at + UNKNOWN_END_MS : row.enforced_until + MARGIN_MS;
	if (clock.now() < endsBy) return clock.now() + exponentialMs(attempts);
	await change({ disconnect_state: 'failed' });
	log.warn({ gateway: gateway.name, connection: row.id, reason }, 'connection could not be ended');
	return null;
}

async function send(
	context: AccessContext,
	kind: RequestKind,
	row: Connection,
	gateway: RegisteredGateway,
	server: CoaTarget,
	untilMs: number | null
): Promise<CoaResult> {
	const attributes = { ...namesOf(row, gateway), eventTimestamp: timestampFor(gateway, context) };
	if (untilMs === null) return sendRequest(server, kind, attributes);
	// As in an Access-Accept: seconds since the connection began (RFC 2865, 5.27).
	const sessionTimeout = Math.max(1, Math.ceil((untilMs - row.started_at) / 1000));
	const vendor = await limitsOf(context, row, gateway);
	// CoovaChilli removes what a CoA-Request does not repeat (src/chilli.c, config_radius_session).
	const interimInterval = gateway.kind === 'coova' ? INTERIM_SECONDS : undefined;
	const result = await sendRequest(server, kind, { ...attributes, sessionTimeout, interimInterval, vendor });
	// RouterOS documents its limit for the sign-in only. The time at least can go on.
	const isTimeOnly = gateway.kind === 'mikrotik' && vendor.length > 0 && result.kind === 'refused';
	return isTimeOnly ? sendRequest(server, kind, { ...attributes, sessionTimeout }) : result;
}

/** By the gateway's clock, because it drops requests that look too old or too new. */
const timestampFor = ({ clockOffsetMs }: RegisteredGateway, { clock }: AccessContext) =>
	Math.round((clock.now() + (clockOffsetMs ?? 0)) / 1000);

/** Vendor id and types of the total limit and its gigawords. */
const TOTAL_LIMIT = { mikrotik: [14_988, 17, 18], coova: [14_559, 3, 23] } as const;
/** Vendor id and types of WISPr-Bandwidth-Max-Up and -Down. */
const WISPR = [14_122, 7, 8] as const;

/** As in an Access-Accept. The data counts from the start of the connection. */
async function limitsOf(
	{ database, passes }: AccessContext,
	row: Connection,
	{ kind }: RegisteredGateway
): Promise<NonNullable<RequestAttributes['vendor']>> {
	if (row.pass_id === null || (kind !== 'mikrotik' && kind !== 'coova')) return [];
	const limits: [number, number, number][] = [];
	const pass = await passes.findOrThrow(database.db, row.pass_id);
	const left = dataLeft(pass);
	if (left !== null) {
		const { octets, gigawords } = dataWords(row.bytes_in + row.bytes_out + left);
		const [id, total, words] = TOTAL_LIMIT[kind];
		limits.push([id, total, octets], [id, words, gigawords]);
	}
	if (kind === 'coova') {
		const [id, up, down] = WISPR;
		const speed = speedOf(pass);
		if (speed.up !== null) limits.push([id, up, speed.up * 1000]);
		if (speed.down !== null) limits.push([id, down, speed.down * 1000]);
	}
	return limits;
}

/** The address for Disconnect- and CoA-Requests; null if unknown. */
function serverOf({ settings, credentials }: RegisteredGateway): CoaTarget | null {
	const { nas, nasPort = DYNAMIC_AUTHORISATION_PORT } = settings;
	const { radiusSecret: secret } = credentials;
	return nas === undefined || secret === undefined ? null : { host: nas, port: nasPort, secret };
}

/** hostapd rejects unknown attributes, and all given ones must match. */
function namesOf(row: Connection, { kind }: RegisteredGateway): Omit<RequestAttributes, 'eventTimestamp'> {
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

function reasonOf(what: string, result: CoaResult): string {
	if (result.kind === 'unresponsive')
		return `${what} got no response. Check address, port and RADIUS secret of the gateway, and the network.`;
	const cause =
		result.kind === 'refused' && result.errorCause !== null ? ` with Error-Cause ${result.errorCause}` : '';
	return `${what} was rejected${cause}.`;
}

/**
 * The result of a Disconnect-Request for a connection that does not exist (RFC 5176). `responding`: any response
 * with the right secret, usually Session-Context-Not-Found. `unresponsive`: none, though it has ended a connection
 * for us before. `unknown`: requests may never have reached it.
 */
export async function probeRadiusGateway(
	context: AccessContext,
	gateway: RegisteredGateway
): Promise<'responding' | 'unresponsive' | 'unknown'> {
	const server = serverOf(gateway);
	if (!server) return 'unknown';
	const name = `airtill-${randomUUID()}`;
	const result = await sendRequest(server, 'disconnect', {
		acctSessionId: name,
		// hostapd rejects a User-Name that does not match.
		userName: gateway.kind === 'hostapd' ? undefined : name,
		eventTimestamp: timestampFor(gateway, context)
	});
	if (result.kind !== 'unresponsive') return 'responding';
	return (await store.hasEnded(context.database.db, gateway.id)) ? 'unresponsive' : 'unknown';
}
