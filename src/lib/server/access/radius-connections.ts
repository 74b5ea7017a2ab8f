import {
	type ConnectionRow,
	changeConnection,
	findOpenConnectionsOf,
	findHolders,
	INTERIM_SECONDS,
	hasEnded
} from './device-slots.ts';
import { type AccessJob, type AccessServices, type AccessContext } from './provisioning.ts';
import { type RegisteredGateway, recordStatus } from '../gateways/gateways.ts';
import { type Task, MAX_BACKOFF_MS, computePause } from './compare.ts';
import { SAME_END_MS, scheduleComparison } from './admissions.ts';
import { buildLimitAttributes } from './radius-login.ts';
import { createHash, createHmac, randomBytes, randomUUID, timingSafeEqual } from 'node:crypto';
import { dataLeft } from '#lib/domain/offers.ts';
import { normaliseMac } from '#lib/domain/address.ts';
import { loginUser } from '#lib/domain/wifi.ts';
import { type RunningPass, computeRunningTime, findPasses, findPassState, lockPass } from '../passes.ts';
import { findById } from '../db/queries.ts';
import { repairIfLost } from '../jobs.ts';
import { createSocket } from 'node:dgram';

type Connection = ConnectionRow;

/** Session-Timeout has ended a connection this long after its end. */
const MARGIN_MS = 5 * 60_000;
/** Replaces Session-Timeout if the end at the gateway is unknown. */
const UNKNOWN_END_MS = 24 * 60 * 60_000;
/** After these attempts, the buyer must sign in again to use added time. */
const MAX_PROLONG_ATTEMPTS = 3;

/** Of the release before: one job for each connection. */
export const CONNECTION_JOB = 'access.connection';

export const runOldConnectionJob = (context: AccessJob, id: number): Promise<null> =>
	context.database.transact(async (trx) => {
		const row = await findById(trx, 'connections', id);
		if (row) await scheduleComparison(context, trx, row.gateway_id);
		return null;
	});

/**
 * Compares the open connections of a RADIUS gateway, as it accounts for them, with their passes. A connection should not be
 * there when its pass is over or its device has lost its slot. One whose pass has more time should last longer. Requests
 * repeat until the gateway confirms, reports a stop, or its Session-Timeout has passed.
 */
export async function findConnectionTasks(context: AccessJob, gateway: RegisteredGateway): Promise<Task[]> {
	const { database, clock } = context;
	const { db } = database;
	const rows = await findOpenConnectionsOf(db, gateway.id);
	const ids = [...new Set(rows.flatMap(({ pass_id: id }) => id ?? []))];
	const now = clock.now();
	const passes = new Map((await findPasses(db, ids)).map((pass) => [pass.id, computeRunningTime(pass, now)]));
	const holders = await findHolders(db, ids);
	return rows.map((row) => {
		const isHeld = row.mac === null || holders.has(`${row.pass_id} ${row.mac}`);
		const pass = (isHeld && passes.get(row.pass_id ?? 0)) || null;
		const work = () =>
			pass ? prolongConnection(context, row, gateway, pass) : endConnection(context, row, gateway, isHeld);
		// The gateway may have taken an end of a run that is over after the end of the run that has taken over.
		const repair = () =>
			context.database.unfenced.transact(async (trx) => {
				await changeConnection(trx, row.id, { enforced_until: null });
				await scheduleComparison(context, trx, gateway.id);
			});
		return {
			...{ subject: `connection ${row.id}`, dueAt: computeDue(row, gateway, pass, now) },
			// Paid time that the gateway does not know comes before disconnects.
			isBuyer: pass !== null,
			compare: () => repairIfLost(work(), repair)
		};
	});
}

/** Returns when to compare a connection with the pass that lets it in (ms since the epoch). */
export function computeDue(
	row: Connection,
	gateway: RegisteredGateway,
	pass: RunningPass | null,
	now: number
): number {
	const { disconnect_state: disconnect, disconnect_attempts: attempts, enforced_until: enforcedUntil } = row;
	const { check_at: checkAt } = row;
	// A later one was stored before the clock was set back.
	const repeatAt = checkAt !== null && checkAt <= now + MAX_BACKOFF_MS ? checkAt : now;
	if (!pass) return disconnect === 'none' ? now : disconnect === 'asked' ? repeatAt : Infinity;
	const { untilMs } = pass;
	const isEqual = enforcedUntil !== null && enforcedUntil + SAME_END_MS >= untilMs;
	// hostapd takes no CoA-Request.
	const isTaken = findCoaTarget(gateway) !== null && gateway.kind !== 'hostapd';
	return isEqual || !isTaken || attempts >= MAX_PROLONG_ATTEMPTS ? untilMs : Math.min(untilMs, repeatAt);
}

async function prolongConnection(
	context: AccessJob,
	row: Connection,
	gateway: RegisteredGateway,
	pass: RunningPass
): Promise<void> {
	const { database, clock, gateways } = context;
	const { untilMs } = pass;
	const server = findCoaTarget(gateway);
	if (!server) return;
	const result = await requestEnd(context, row, gateway, server, pass);
	const attempts = result.kind === 'unresponsive' ? row.disconnect_attempts + 1 : MAX_PROLONG_ATTEMPTS;
	await database.transact(async (trx) => {
		if (result.kind === 'done') {
			const done = { enforced_until: untilMs, disconnect_attempts: 0, check_at: null, last_error: null };
			await changeConnection(trx, row.id, done);
			return;
		}
		const now = clock.now();
		const state = await findPassState(trx, { passId: pass.pass.id, routerId: null }, now);
		// More time was added meanwhile: the next comparison tries the new end.
		if (state.kind === 'runs' && state.untilMs !== untilMs) return;
		await changeConnection(trx, row.id, {
			...{ disconnect_attempts: attempts, check_at: now + computePause(gateway, false, 500 * 2 ** attempts) },
			last_error: formatFailure('CoA-Request', result)
		});
	});
	if (result.kind === 'done') await recordStatus(gateways, gateway, { answered: true, trouble: null });
}

/** @param isHeld its device has a slot, so that only the end of its pass ends it */
async function endConnection(
	context: AccessJob,
	row: Connection,
	gateway: RegisteredGateway,
	isHeld: boolean
): Promise<void> {
	const { database, clock, gateways, log } = context;
	const change = (to: Partial<Connection>) => database.transact((trx) => changeConnection(trx, row.id, to));
	const server = findCoaTarget(gateway);
	if (!server) {
		const last_error = 'The address of the gateway is unknown (--nas). Session-Timeout ends the connection.';
		await change({ disconnect_state: 'failed', last_error });
		return;
	}
	// Attempts to prolong do not count.
	const attempts = row.disconnect_state === 'asked' ? row.disconnect_attempts : 0;
	const isBegun = await database.transact(async (trx) => {
		const pass = isHeld && row.pass_id !== null ? await lockPass(trx, row.pass_id) : undefined;
		// Time given since the comparison was read keeps it in.
		if (pass && computeRunningTime(pass, clock.now())) return false;
		await changeConnection(trx, row.id, {
			...{ disconnect_state: 'asked', disconnect_attempts: attempts + 1 },
			check_at: clock.now() + computePause(gateway, false, 1_000 * 2 ** attempts)
		});
		return true;
	});
	if (!isBegun) return;
	const result = await sendRequest(server, 'disconnect', buildNames(context, row, gateway));
	// CoovaChilli refuses only what it does not know, and gives no Error-Cause.
	const isGone = result.kind === 'refused' && result.errorCause === null && gateway.kind === 'coova';
	if (result.kind === 'done' || result.kind === 'gone' || isGone) {
		await change({ disconnect_state: 'done', last_error: null });
		await recordStatus(gateways, gateway, { answered: true, trouble: null });
		return;
	}
	const reason = formatFailure('Disconnect-Request', result);
	const now = clock.now();
	const endsBy = row.enforced_until === null ? row.seen_at + UNKNOWN_END_MS : row.enforced_until + MARGIN_MS;
	await change({ last_error: reason, ...(now >= endsBy && { disconnect_state: 'failed' }) });
	await recordStatus(gateways, gateway, { trouble: reason });
	if (now < endsBy) return;
	log.warn({ gateway: gateway.name, connection: row.id, reason }, 'connection could not be ended');
}

/** Sends the end and the limits as in an Access-Accept, which count from the start of the connection (RFC 2865, 5.27). */
async function requestEnd(
	context: AccessServices,
	row: Connection,
	gateway: RegisteredGateway,
	server: CoaTarget,
	{ pass, untilMs }: RunningPass
): Promise<CoaResult> {
	const names = buildNames(context, row, gateway);
	const sessionTimeout = Math.max(1, Math.ceil((untilMs - row.started_at) / 1000));
	const left = dataLeft(pass);
	const total = left === null ? null : row.bytes_in + row.bytes_out + left;
	const vendor = buildLimitAttributes(gateway.kind, pass, total);
	// CoovaChilli removes what a CoA-Request does not repeat (src/chilli.c, config_radius_session).
	const interimInterval = gateway.kind === 'coova' ? INTERIM_SECONDS : undefined;
	const result = await sendRequest(server, 'coa', { ...names, sessionTimeout, interimInterval, vendor });
	// RouterOS documents its limit for the sign-in only. The time at least can go on.
	const isTimeOnly = gateway.kind === 'mikrotik' && vendor.length > 0 && result.kind === 'refused';
	return isTimeOnly ? sendRequest(server, 'coa', { ...names, sessionTimeout }) : result;
}

/** By the gateway's clock, because it drops requests that look too old or too new. */
const computeTimestamp = ({ clockOffsetMs }: RegisteredGateway, { clock }: AccessServices) =>
	Math.round((clock.now() + (clockOffsetMs ?? 0)) / 1000);

/** The address for Disconnect- and CoA-Requests; null if unknown. */
function findCoaTarget({ settings, credentials }: RegisteredGateway): CoaTarget | null {
	const { nas, nasPort = DYNAMIC_AUTHORISATION_PORT } = settings;
	const { radiusSecret: secret } = credentials;
	return nas === undefined || secret === undefined ? null : { host: nas, port: nasPort, secret };
}

/** hostapd rejects unknown attributes, and all given ones must match. */
function buildNames(context: AccessServices, row: Connection, gateway: RegisteredGateway): RequestAttributes {
	const { kind } = gateway;
	const names = { acctSessionId: row.acct_session_id, eventTimestamp: computeTimestamp(gateway, context) };
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

function formatFailure(what: string, result: CoaResult): string {
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
	const server = findCoaTarget(gateway);
	if (!server) return 'unknown';
	const name = `airtill-${randomUUID()}`;
	const result = await sendRequest(server, 'disconnect', {
		acctSessionId: name,
		// hostapd rejects a User-Name that does not match.
		userName: gateway.kind === 'hostapd' ? undefined : name,
		eventTimestamp: computeTimestamp(gateway, context)
	});
	if (result.kind !== 'unresponsive') return 'responding';
	return (await hasEnded(context.database.db, gateway.id)) ? 'unresponsive' : 'unknown';
}

/** The result of a Disconnect- or CoA-Request. `unresponsive`: no response, for example because the secret is wrong. */
type CoaResult = CoaResponse | { kind: 'unresponsive' };

interface CoaTarget {
	host: string;
	port: number;
	secret: string;
}

const DYNAMIC_AUTHORISATION_PORT = 3799;

const RESPONSE_MS = 2_000;

/** Sends one request, without retries. */
function sendRequest(
	{ host, port, secret }: CoaTarget,
	kind: RequestKind,
	attributes: RequestAttributes
): Promise<CoaResult> {
	const request = encodeRequest(kind, randomId(), attributes, secret);
	const socket = createSocket(host.includes(':') ? 'udp6' : 'udp4');
	return new Promise((resolve) => {
		const resolveWith = (result: CoaResult) => {
			clearTimeout(limit);
			socket.removeAllListeners('message');
			socket.close();
			resolve(result);
		};
		const limit = setTimeout(() => resolveWith({ kind: 'unresponsive' }), RESPONSE_MS);
		// An ICMP error such as "port unreachable" counts as no response.
		socket.once('error', () => resolveWith({ kind: 'unresponsive' }));
		socket.on('message', (bytes) => {
			const response = readResponse(kind, request, bytes, secret);
			// Ignore forged packets: the real response may still arrive.
			if (response !== null) resolveWith(response);
		});
		socket.connect(port, host, () => {
			socket.send(request, (error) => error && resolveWith({ kind: 'unresponsive' }));
		});
	});
}

/**
 * RADIUS packets of RFC 5176, with Message-Authenticator (RFC 3579) and Event-Timestamp. The npm package
 * `radius` 1.1.4 computes the Message-Authenticator of these codes wrongly.
 */

const CODES = {
	disconnect: { request: 40, ack: 41, nak: 42 },
	coa: { request: 43, ack: 44, nak: 45 }
} as const;
type RequestKind = keyof typeof CODES;

interface RequestAttributes {
	userName?: string | undefined;
	/** Dotted IPv4 address. */
	framedIp?: string | undefined;
	sessionTimeout?: number | undefined;
	/** Seconds */
	interimInterval?: number | undefined;
	callingStationId?: string | undefined;
	nasIdentifier?: string | undefined;
	acctSessionId?: string | undefined;
	/** Seconds since the epoch by the gateway's clock. */
	eventTimestamp: number;
	/** Attributes of vendors, with 32 bits. */
	vendor?: readonly { vendorId: number; type: number; value: number }[] | undefined;
}

const HEADER_BYTES = 20;
const AUTHENTICATOR_AT = 4;
const DIGEST_BYTES = 16;
const MAX_VALUE_BYTES = 253;
const MAX_PACKET_BYTES = 4096;

function encodeUint32(value: number): Buffer {
	const bytes = Buffer.alloc(4);
	bytes.writeUInt32BE(value >>> 0);
	return bytes;
}

/** Types of the attributes that we send, in order (RFC 2865, 2866 and 2869). */
const SENT = {
	userName: 1,
	framedIp: 8,
	sessionTimeout: 27,
	callingStationId: 31,
	nasIdentifier: 32,
	acctSessionId: 44,
	eventTimestamp: 55,
	interimInterval: 85
} as const satisfies Record<Exclude<keyof RequestAttributes, 'vendor'>, number>;

function encodeValue(name: keyof typeof SENT, value: string | number): Buffer {
	if (typeof value === 'number') return encodeUint32(value);
	return Buffer.from(name === 'framedIp' ? value.split('.').map(Number) : value);
}

const VENDOR_SPECIFIC = 26;
const MESSAGE_AUTHENTICATOR = 80;
const ERROR_CAUSE = 101;

/** @param id 0 to 255 */
export function encodeRequest(
	kind: RequestKind,
	id: number,
	attributes: RequestAttributes,
	secret: string
): Buffer {
	const parts: Buffer[] = [encodeAttribute(MESSAGE_AUTHENTICATOR, Buffer.alloc(DIGEST_BYTES))];
	for (const name of Object.keys(SENT) as (keyof typeof SENT)[]) {
		const value = attributes[name];
		if (value === undefined) continue;
		const bytes = encodeValue(name, value);
		if (bytes.length > 0 && bytes.length <= MAX_VALUE_BYTES) parts.push(encodeAttribute(SENT[name], bytes));
	}
	for (const { vendorId, type, value } of attributes.vendor ?? []) {
		const own = encodeAttribute(type, encodeUint32(value));
		parts.push(encodeAttribute(VENDOR_SPECIFIC, Buffer.concat([encodeUint32(vendorId), own])));
	}
	const packet = Buffer.concat([Buffer.alloc(HEADER_BYTES), ...parts]);
	packet.writeUInt8(CODES[kind].request, 0);
	packet.writeUInt8(id, 1);
	packet.writeUInt16BE(packet.length, 2);
	// Computed over the packet with both signatures zero (RFC 5176, 3.4). First attribute, against BlastRADIUS.
	createHmac('md5', secret)
		.update(packet)
		.digest()
		.copy(packet, HEADER_BYTES + 2);
	createHash('md5').update(packet).update(secret).digest().copy(packet, AUTHENTICATOR_AT);
	return packet;
}

const encodeAttribute = (type: number, value: Buffer) =>
	Buffer.concat([Buffer.from([type, value.length + 2]), value]);

/** `gone`: the gateway does not know the connection. `refused`: `errorCause` of RFC 5176, section 3.5. */
type CoaResponse = { kind: 'done' } | { kind: 'gone' } | { kind: 'refused'; errorCause: number | null };

/** Session-Context-Not-Found */
const NOT_FOUND = 503;

/** Returns null if the response is invalid or its secret is wrong. */
export function readResponse(
	kind: RequestKind,
	request: Buffer,
	response: Buffer,
	secret: string
): CoaResponse | null {
	const length = response.length < HEADER_BYTES ? 0 : response.readUInt16BE(2);
	if (length < HEADER_BYTES || length > response.length || length > MAX_PACKET_BYTES) return null;
	const packet = Buffer.from(response.subarray(0, length));
	if (packet[1] !== request[1]) return null;
	const { ack, nak } = CODES[kind];
	if (packet[0] !== ack && packet[0] !== nak) return null;
	const given = Buffer.from(packet.subarray(AUTHENTICATOR_AT, HEADER_BYTES));
	request.copy(packet, AUTHENTICATOR_AT, AUTHENTICATOR_AT, HEADER_BYTES);
	const expected = createHash('md5').update(packet).update(secret).digest();
	if (!timingSafeEqual(given, expected)) return null;
	const found = parseAttributes(packet);
	if (found === null || !isSigned(packet, found, secret)) return null;
	if (packet[0] === ack) return { kind: 'done' };
	const cause = found.find(({ type }) => type === ERROR_CAUSE)?.value;
	const errorCause = cause?.length === 4 ? cause.readUInt32BE(0) : null;
	return errorCause === NOT_FOUND ? { kind: 'gone' } : { kind: 'refused', errorCause };
}

/** Message-Authenticator is optional in responses, but must be valid if present. */
function isSigned(packet: Buffer, attributes: readonly Attribute[], secret: string): boolean {
	const own = attributes.find(({ type }) => type === MESSAGE_AUTHENTICATOR);
	if (!own) return true;
	if (own.value.length !== DIGEST_BYTES) return false;
	const blank = Buffer.from(packet);
	blank.fill(0, own.at, own.at + DIGEST_BYTES);
	return timingSafeEqual(createHmac('md5', secret).update(blank).digest(), own.value);
}

interface Attribute {
	type: number;
	value: Buffer;
	/** Offset of the value in the packet. */
	at: number;
}

function parseAttributes(packet: Buffer): Attribute[] | null {
	const found: Attribute[] = [];
	for (let at = HEADER_BYTES; at < packet.length;) {
		const type = packet[at];
		const length = packet[at + 1];
		if (type === undefined || length === undefined || length < 2 || at + length > packet.length) return null;
		found.push({ type, value: Buffer.from(packet.subarray(at + 2, at + length)), at: at + 2 });
		at += length;
	}
	return found;
}

const randomId = (): number => randomBytes(1).readUInt8();
