import { dataLeft } from '#lib/domain/data-limit.ts';
import { loginUser, passOfUser } from '#lib/domain/wifi/pass-username.ts';
import { normaliseMac } from '#lib/domain/mac.ts';
import type { Speed } from '#lib/server/gateways/gateway.ts';
import type { RegisteredGateway } from '#lib/server/gateways/gateways.ts';
import { hasRoom, INTERIM_SECONDS, isFull, takeSlot } from '../device-slots/device-slots.ts';
import { passState, speedOf, type RunningPass } from '#lib/server/passes/pass-state.ts';
import { reasonOfEnd } from '#lib/server/passes/store.ts';
import { transactWithJobs, type AccessContext } from '../provisioning/context.ts';
import { pskChoice } from './psk.ts';

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

/**
 * `known`: the RADIUS server compares the password. `keys`: the access point tries these Wi-Fi passwords.
 * `refused`: `message` reaches the device. problemOf (captive-sessions/fields.ts) recognises it later.
 */
export type LoginAnswer =
	| { kind: 'known'; password: string; terms: Terms; speed: Speed; dataLeft: number | null }
	| { kind: 'keys'; passwords: string[]; user: string | null; terms: Terms }
	| { kind: 'accepted' }
	| { kind: 'unknown' }
	| { kind: 'refused'; message: string };

interface Terms {
	/** Seconds until the absolute end, at least 1. */
	seconds: number;
	interimSeconds: number;
	/** Class, which every report repeats; null if several passes are possible. */
	className: string | null;
}

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
	const { database, clock, gateways, passes } = context;
	// A rejected login is also a sign of life.
	await gateways.recordStatus(gateway, { seen: true });
	const device = await keyRequest(context, gateway, login);
	if (device !== null) return keysFor(context, gateway, device);
	const pass = await passFor(context, gateway, login.user);
	if (pass.kind !== 'runs') return pass;
	const now = clock.now();
	const slot = slotFor(gateway, pass, login);
	if (slot && !(await hasRoom(database.db, slot, now))) return refused('devices');
	const password = passes.passwordOf(pass.pass);
	const limits = { speed: speedOf(pass.pass), dataLeft: dataLeft(pass.pass) };
	return { kind: 'known', password, terms: termsOf([pass], now), ...limits };
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
	if ((await keyRequest(context, gateway, login)) !== null) return { kind: 'accepted' };
	const pass = await passFor(context, gateway, login.user);
	if (pass.kind !== 'runs') return pass;
	const slot = slotFor(gateway, pass, login);
	if (!slot) {
		const limits = { passId: pass.pass.id, maxDevices: pass.pass.max_devices };
		return (await isFull(context.database.db, limits, clock.now()))
			? refused('devices')
			: { kind: 'accepted' };
	}
	const isTaken = await transactWithJobs(context, (trx) => takeSlot(trx, jobs, slot, clock.now()));
	return isTaken ? { kind: 'accepted' } : refused('devices');
}

const refused = (reason: keyof typeof REFUSALS): LoginAnswer => ({
	kind: 'refused',
	message: REFUSALS[reason]
});

function slotFor(gateway: RegisteredGateway, { pass }: RunningPass, login: Login) {
	const mac = normaliseMac(login.mac ?? '');
	return mac === null ? null : { passId: pass.id, gatewayId: gateway.id, mac, maxDevices: pass.max_devices };
}

function termsOf(passes: readonly RunningPass[], now: number): Terms {
	const untilMs = Math.min(...passes.map((pass) => pass.untilMs));
	const [only] = passes;
	return {
		seconds: Math.max(1, Math.ceil((untilMs - now) / 1000)),
		interimSeconds: INTERIM_SECONDS,
		// The pass and the end at the gateway, in seconds since the epoch.
		className: only && passes.length === 1 ? `pass-${only.pass.id}-${Math.round(untilMs / 1000)}` : null
	};
}

/**
 * Returns the MAC address in a request for per-client passwords; null for other requests. Only access points
 * may ask: at a hotspot anybody could type a MAC address as the username and sign in without a password.
 */
async function keyRequest(
	{ database, routers }: AccessContext,
	{ kind: gatewayKind, routerId }: RegisteredGateway,
	{ user, mac }: Login
): Promise<string | null> {
	const device = normaliseMac(user);
	if (gatewayKind !== 'hostapd' || device === null || device !== normaliseMac(mac ?? '')) return null;
	const { access_kind: kind } = await routers.findOrThrow(database.db, routerId);
	return kind === 'wpa_personal_per_client' ? device : null;
}

async function keysFor(
	context: AccessContext,
	{ routerId }: RegisteredGateway,
	mac: string
): Promise<LoginAnswer> {
	const { passes, full } = await pskChoice(context, { mac, routerId });
	if (full) return refused('devices');
	const [first] = passes;
	if (!first) return { kind: 'unknown' };
	return {
		kind: 'keys',
		passwords: passes.map(({ pass }) => context.passes.passwordOf(pass)),
		user: passes.length === 1 ? loginUser(first.pass.id) : null,
		terms: termsOf(passes, context.clock.now())
	};
}

/** Returns the user's running pass at the gateway's router, or the answer if there is none. */
async function passFor(
	{ database: { db }, clock }: AccessContext,
	{ routerId }: RegisteredGateway,
	user: string
): Promise<RunningPass | LoginAnswer> {
	const passId = passOfUser(user);
	if (passId === null) return { kind: 'unknown' };
	const pass = await passState(db, { passId, routerId }, clock.now());
	if (pass.kind === 'runs' || pass.kind === 'unknown') return pass;
	if (pass.kind === 'waits') return refused('waits');
	const reason = await reasonOfEnd(db, passId);
	return refused(reason === 'data_limit_reached' ? 'data' : reason === null ? 'expired' : 'ended');
}
