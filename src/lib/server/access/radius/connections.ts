import { randomUUID } from 'node:crypto';
import { dataLeft } from '#lib/domain/offers.ts';
import { normaliseMac } from '#lib/domain/address.ts';
import { loginUser } from '#lib/domain/wifi.ts';
import type { RegisteredGateway } from '#lib/server/gateways/gateways.ts';
import { passState, type RunningPass } from '../../passes.ts';
import { sendRequest, DYNAMIC_AUTHORISATION_PORT, type CoaTarget, type CoaResult } from './coa.ts';
import * as store from '../connection-store.ts';
import { INTERIM_SECONDS, holdsSlot } from '../device-slots.ts';
import { repairIfLost } from '../../jobs.ts';
import type { AccessContext, AccessJob, AccessServices } from '../provisioning.ts';
import { exponentialMs, MAX_BACKOFF_MS } from '../gateway-calls.ts';
import { CONNECTION_JOB, SAME_END_MS } from '../job-kinds.ts';
import { limitAttributes } from './limits.ts';
import type { RequestAttributes } from './packet.ts';

type Connection = store.ConnectionRow;

/** Session-Timeout has ended a connection this long after its end. */
const MARGIN_MS = 5 * 60_000;
/** Replaces Session-Timeout if the end at the gateway is unknown. */
const UNKNOWN_END_MS = 24 * 60 * 60_000;
/** After these attempts, the buyer must sign in again to use added time. */
const MAX_PROLONG_ATTEMPTS = 3;

/**
 * Handles CONNECTION_JOB. If another run has taken over, the gateway may have taken an end of this one after the end of
 * that one: it is sent again.
 */
export const runConnectionJob = (context: AccessJob, id: number): Promise<number | null> =>
	repairIfLost(applyPassEnd(context, id), () =>
		context.database.unfenced.transact(async (trx) => {
			await store.changeConnection(trx, id, { enforced_until: null });
			await context.jobs.schedule(trx, CONNECTION_JOB, id, context.clock.now());
		})
	);

/**
 * Ends or prolongs a RADIUS connection.
 *
 * A connection ends when its pass is over or its device has lost its slot. Added time prolongs it. Requests
 * repeat until the gateway confirms, reports a stop, or its Session-Timeout has passed.
 * @returns when to run again; null if the connection needs no more requests
 */
async function applyPassEnd(context: AccessJob, id: number): Promise<number | null> {
	const { database, clock, gateways, concurrencyLimit } = context;
	const row = await store.findConnection(database.db, id);
	if (!row || row.stopped_at !== null || row.pass_id === null) return null;
	const gateway = await gateways.byId(row.gateway_id);
	if (!gateway) return null;
	if (gateway.unreadable.length > 0) return clock.now() + MAX_BACKOFF_MS;
	return concurrencyLimit.run({ kind: CONNECTION_JOB, id, gateway, isBuyer: false }, async () => {
		const pass = await passOf(context, row);
		return pass ? prolong(context, row, gateway, pass) : end(context, row, gateway);
	});
}

/** Returns null to end the connection now. */
async function passOf(
	{ database: { db }, clock }: AccessJob,
	{ pass_id: passId, mac }: Connection
): Promise<RunningPass | null> {
	if (passId === null) return null;
	const pass = await passState(db, { passId, routerId: null }, clock.now());
	return pass.kind === 'runs' && (mac === null || (await holdsSlot(db, passId, mac))) ? pass : null;
}

async function prolong(
	context: AccessJob,
	row: Connection,
	gateway: RegisteredGateway,
	pass: RunningPass
): Promise<number> {
	const { database, clock, gateways } = context;
	const { untilMs } = pass;
	const { enforced_until: enforcedUntil, disconnect_attempts: attempts } = row;
	const change = (to: Partial<Connection>) =>
		database.write((trx) => store.changeConnection(trx, row.id, to));
	const server = serverOf(gateway);
	if (enforcedUntil !== null && enforcedUntil + SAME_END_MS >= untilMs) {
		if (attempts > 0) await change({ disconnect_attempts: 0 });
		return untilMs;
	}
	// hostapd takes no CoA-Request.
	if (!server || gateway.kind === 'hostapd' || attempts >= MAX_PROLONG_ATTEMPTS) return untilMs;
	const result = await requestEnd(context, row, gateway, server, pass);
	if (result.kind === 'done') {
		await change({ enforced_until: untilMs, disconnect_attempts: 0, last_error: null });
		await gateways.recordStatus(gateway, { answered: true, trouble: null });
		return untilMs;
	}
	// More time was added meanwhile: try the new end.
	if ((await passOf(context, row))?.untilMs !== untilMs) return clock.now();
	const isUnresponsive = result.kind === 'unresponsive';
	await change({
		disconnect_attempts: isUnresponsive ? attempts + 1 : MAX_PROLONG_ATTEMPTS,
		last_error: reasonOf('CoA-Request', result)
	});
	return isUnresponsive ? Math.min(untilMs, clock.now() + exponentialMs(attempts)) : untilMs;
}

async function end(context: AccessJob, row: Connection, gateway: RegisteredGateway): Promise<number | null> {
	const { database, clock, gateways, log } = context;
	const change = (to: Partial<Connection>) =>
		database.write((trx) => store.changeConnection(trx, row.id, to));
	const server = serverOf(gateway);
	if (!server) {
		const last_error = 'The address of the gateway is unknown (--nas). Session-Timeout ends the connection.';
		await change({ disconnect_state: 'failed', last_error });
		return null;
	}
	// Attempts to prolong do not count.
	const attempts = row.disconnect_state === 'asked' ? row.disconnect_attempts : 0;
	await change({ disconnect_state: 'asked', disconnect_attempts: attempts + 1 });
	const result = await sendRequest(server, 'disconnect', namesOf(context, row, gateway));
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

/** Sends the end and the limits as in an Access-Accept, which count from the start of the connection (RFC 2865, 5.27). */
async function requestEnd(
	context: AccessServices,
	row: Connection,
	gateway: RegisteredGateway,
	server: CoaTarget,
	{ pass, untilMs }: RunningPass
): Promise<CoaResult> {
	const names = namesOf(context, row, gateway);
	const sessionTimeout = Math.max(1, Math.ceil((untilMs - row.started_at) / 1000));
	const left = dataLeft(pass);
	const total = left === null ? null : row.bytes_in + row.bytes_out + left;
	const vendor = limitAttributes(gateway.kind, pass, total);
	// CoovaChilli removes what a CoA-Request does not repeat (src/chilli.c, config_radius_session).
	const interimInterval = gateway.kind === 'coova' ? INTERIM_SECONDS : undefined;
	const result = await sendRequest(server, 'coa', { ...names, sessionTimeout, interimInterval, vendor });
	// RouterOS documents its limit for the sign-in only. The time at least can go on.
	const isTimeOnly = gateway.kind === 'mikrotik' && vendor.length > 0 && result.kind === 'refused';
	return isTimeOnly ? sendRequest(server, 'coa', { ...names, sessionTimeout }) : result;
}

/** By the gateway's clock, because it drops requests that look too old or too new. */
const timestampFor = ({ clockOffsetMs }: RegisteredGateway, { clock }: AccessServices) =>
	Math.round((clock.now() + (clockOffsetMs ?? 0)) / 1000);

/** The address for Disconnect- and CoA-Requests; null if unknown. */
function serverOf({ settings, credentials }: RegisteredGateway): CoaTarget | null {
	const { nas, nasPort = DYNAMIC_AUTHORISATION_PORT } = settings;
	const { radiusSecret: secret } = credentials;
	return nas === undefined || secret === undefined ? null : { host: nas, port: nasPort, secret };
}

/** hostapd rejects unknown attributes, and all given ones must match. */
function namesOf(context: AccessServices, row: Connection, gateway: RegisteredGateway): RequestAttributes {
	const { kind } = gateway;
	const names = { acctSessionId: row.acct_session_id, eventTimestamp: timestampFor(gateway, context) };
	if (kind === 'hostapd') {
		return {
			...names,
			callingStationId: normaliseMac(row.mac ?? '')
				?.toUpperCase()
				.replaceAll(':', '-'),
			nasIdentifier: row.nas_identifier ?? undefined
		};
	}
	const userName = row.user_name ?? (row.pass_id === null ? undefined : loginUser(row.pass_id));
	const framedIp = row.ip !== null && /^[\d.]+$/.test(row.ip) ? row.ip : undefined;
	return { ...names, userName, framedIp: kind === 'mikrotik' ? framedIp : undefined };
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
