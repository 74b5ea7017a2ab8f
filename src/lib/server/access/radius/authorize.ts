import { loginUser, passOfUser } from '#lib/domain/wifi.ts';
import { nameDevice, normaliseMac } from '#lib/domain/address.ts';
import type { RegisteredGateway } from '#lib/server/gateways/gateways.ts';
import { passState, findReasonOfEnd, type RunningPass, openPassword } from '../../passes.ts';
import { INTERIM_SECONDS, hasRoom, takeSlot } from '../device-slots.ts';
import type { AccessContext } from '../provisioning.ts';
import { acceptLimits } from './limits.ts';
import { pskChoice } from './psk.ts';
import { findRouterOrThrow } from '../../routers/routers.ts';

/**
 * Answers FreeRADIUS (rlm_rest, see gateways/freeradius) for one gateway. Each answer holds the time until
 * the absolute end of the pass, so a new login never extends it.
 */

interface Login {
	/** User-Name */
	user: string;
	/** Calling-Station-Id; null if missing. */
	mac: string | null;
}

/** By the names that FreeRADIUS gives to attributes, after that of the list that they belong to. */
type Attributes = Record<string, string | string[] | number>;

/** `accepted`: the RADIUS server goes on, and compares the password if there is one. `unknown`: no such user. */
export interface LoginAnswer {
	kind: 'accepted' | 'refused' | 'unknown';
	attributes: Attributes;
}

const UNKNOWN: LoginAnswer = { kind: 'unknown', attributes: {} };
const accept = (attributes: Attributes = {}): LoginAnswer => ({ kind: 'accepted', attributes });
/** The message reaches the device. problemOf (gateways/fields.ts) recognises it later. */
const refuse = (reason: keyof typeof REFUSALS): LoginAnswer => ({
	kind: 'refused',
	attributes: { 'reply:Reply-Message': REFUSALS[reason] }
});

const REFUSALS = {
	expired: 'Your pass has expired.',
	ended: 'Your pass was ended: no time left on it.',
	data: 'Your pass was ended: no data left on it.',
	devices: 'Too many devices: another one uses this pass.',
	waits: 'Not ready: try again in a moment.'
} as const;

/** Answers before the password check, several times for a PEAP login. Changes no pass. */
export async function authorize(
	context: AccessContext,
	gateway: RegisteredGateway,
	login: Login
): Promise<LoginAnswer> {
	const { database, clock, gateways } = context;
	// A rejected login is also a sign of life.
	await gateways.recordStatus(gateway, { seen: true, ...noteUnread(login.mac) });
	const device = await keyRequest(context, gateway, login);
	if (device !== null) return keysFor(context, gateway, device);
	const pass = await passFor(context, gateway, login.user);
	if (pass.kind !== 'runs') return pass;
	const now = clock.now();
	if (!(await hasRoom(database.db, slotFor(gateway, pass, login), now))) return refuse('devices');
	return accept({
		'control:Cleartext-Password': openPassword(context, pass.pass),
		...timeAttributes([pass], now),
		...acceptLimits(gateway.kind, pass.pass)
	});
}

/** Answers after the password check succeeded. Takes the device slot. */
export async function accepted(
	context: AccessContext,
	gateway: RegisteredGateway,
	login: Login
): Promise<LoginAnswer> {
	const { clock, jobs, gateways } = context;
	await gateways.recordStatus(gateway, { seen: true });
	// Only the access point knows which password matched; its reports name the device.
	if ((await keyRequest(context, gateway, login)) !== null) return accept();
	const pass = await passFor(context, gateway, login.user);
	if (pass.kind !== 'runs') return pass;
	const slot = slotFor(gateway, pass, login);
	const isTaken = await context.database.transact((trx) => takeSlot(trx, jobs, slot, clock.now()));
	return isTaken ? accept() : refuse('devices');
}

/** For `recordStatus`: a name that is no MAC address tells who configures the gateway what to change. */
export const noteUnread = (mac: string | null) =>
	normaliseMac(mac ?? '') === null ? { unreadDevice: mac ?? '' } : {};

const slotFor = (gateway: RegisteredGateway, { pass }: RunningPass, login: Login) => ({
	...{ passId: pass.id, gatewayId: gateway.id, maxDevices: pass.max_devices },
	mac: nameDevice(login.mac ?? '')
});

function timeAttributes(passes: readonly RunningPass[], now: number): Attributes {
	const untilMs = Math.min(...passes.map((pass) => pass.untilMs));
	const [only, ...others] = passes;
	return {
		'reply:Session-Timeout': Math.max(1, Math.ceil((untilMs - now) / 1000)),
		'reply:Acct-Interim-Interval': INTERIM_SECONDS,
		// Every report repeats it: the pass and the end at the gateway, in seconds since the epoch.
		...(only &&
			others.length === 0 && { 'reply:Class': `pass-${only.pass.id}-${Math.round(untilMs / 1000)}` })
	};
}

/**
 * Returns the MAC address in a request for per-client passwords; null for other requests. Only access points
 * may ask: at a hotspot anybody could type a MAC address as the username and sign in without a password.
 */
async function keyRequest(
	{ database }: AccessContext,
	{ kind: gatewayKind, routerId }: RegisteredGateway,
	{ user, mac }: Login
): Promise<string | null> {
	const device = normaliseMac(user);
	if (gatewayKind !== 'hostapd' || device === null || device !== normaliseMac(mac ?? '')) return null;
	const { access_kind: kind } = await findRouterOrThrow(database.db, routerId);
	return kind === 'wpa_personal_per_client' ? device : null;
}

async function keysFor(
	context: AccessContext,
	{ routerId }: RegisteredGateway,
	mac: string
): Promise<LoginAnswer> {
	const { passes, full } = await pskChoice(context, { mac, routerId });
	if (full) return refuse('devices');
	const [first, ...others] = passes;
	if (!first) return UNKNOWN;
	// The access point tries these Wi-Fi passwords.
	return accept({
		'control:Auth-Type': 'Accept',
		'reply:Tunnel-Password:0': passes.map(({ pass }) => openPassword(context, pass)),
		...(others.length === 0 && { 'reply:User-Name': loginUser(first.pass.id) }),
		...timeAttributes(passes, context.clock.now())
	});
}

/** Returns the user's running pass at the gateway's router, or the answer if there is none. */
async function passFor(
	{ database: { db }, clock }: AccessContext,
	{ routerId }: RegisteredGateway,
	user: string
): Promise<RunningPass | LoginAnswer> {
	const passId = passOfUser(user);
	if (passId === null) return UNKNOWN;
	const pass = await passState(db, { passId, routerId }, clock.now());
	if (pass.kind === 'runs') return pass;
	if (pass.kind === 'unknown') return UNKNOWN;
	if (pass.kind === 'waits') return refuse('waits');
	const reason = await findReasonOfEnd(db, passId);
	return refuse(reason === 'data_limit_reached' ? 'data' : reason === null ? 'expired' : 'ended');
}
