import { type AccessContext } from './provisioning.ts';
import { type RegisteredGateway, recordStatus } from '../gateways/gateways.ts';
import {
	hasRoom,
	takeSlot,
	INTERIM_SECONDS,
	type PassWithRoom,
	computeReportWindow,
	findPassesOfCaptiveSessions,
	findPassesOfDevice,
	findPassesWithRoom
} from './device-slots.ts';
import { type GatewayKind, splitDataWords, isUnlimited, formatRouterOsRate } from '../gateways/gateway.ts';
import { loginUser, passOfUser } from '#lib/domain/wifi.ts';
import { nameDevice, normaliseMac } from '#lib/domain/address.ts';
import {
	type PassRow,
	type RunningPass,
	findPassState,
	openPassword,
	readSpeed,
	findReasonOfEnd,
	lockPass
} from '../passes.ts';
import { findRouterOrThrow } from '../routers/routers.ts';
import { dataLeft } from '#lib/domain/offers.ts';

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
/** The message reaches the device. `classifyProblem` recognises it later. */
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
export async function authorizeLogin(
	context: AccessContext,
	gateway: RegisteredGateway,
	login: Login
): Promise<LoginAnswer> {
	const { database, clock, gateways } = context;
	// A rejected login is also a sign of life.
	await recordStatus(gateways, gateway, { seen: true, ...noteUnread(login.mac) });
	const device = await readKeyRequest(context, gateway, login);
	if (device !== null) return answerKeyRequest(context, gateway, device);
	const pass = await findPassForLogin(context, gateway, login.user);
	if (pass.kind !== 'runs') return pass;
	const now = clock.now();
	if (!(await hasRoom(database.db, buildSlotOrder(gateway, pass, login), now))) return refuse('devices');
	return accept({
		'control:Cleartext-Password': openPassword(context, pass.pass),
		...buildTimeAttributes([pass], now),
		...buildAcceptLimits(gateway.kind, pass.pass)
	});
}

/** Answers after the password check succeeded. Takes the device slot. */
export async function acceptLogin(
	context: AccessContext,
	gateway: RegisteredGateway,
	login: Login
): Promise<LoginAnswer> {
	const { clock, jobs, gateways } = context;
	await recordStatus(gateways, gateway, { seen: true });
	// Only the access point knows which password matched; its reports name the device.
	if ((await readKeyRequest(context, gateway, login)) !== null) return accept();
	const pass = await findPassForLogin(context, gateway, login.user);
	if (pass.kind !== 'runs') return pass;
	const { passId, ...slot } = buildSlotOrder(gateway, pass, login);
	const isTaken = await context.database.transact(async (trx) => {
		const held = await lockPass(trx, passId);
		return held !== undefined && takeSlot(trx, jobs, { ...slot, pass: held }, clock.now());
	});
	return isTaken ? accept() : refuse('devices');
}

/** For `recordStatus`: a name that is no MAC address tells who configures the gateway what to change. */
export const noteUnread = (mac: string | null) =>
	normaliseMac(mac ?? '') === null ? { unreadDevice: mac ?? '' } : {};

const buildSlotOrder = (gateway: RegisteredGateway, { pass }: RunningPass, login: Login) => ({
	...{ passId: pass.id, gatewayId: gateway.id, maxDevices: pass.max_devices },
	mac: nameDevice(login.mac ?? '')
});

function buildTimeAttributes(passes: readonly RunningPass[], now: number): Attributes {
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
async function readKeyRequest(
	{ database }: AccessContext,
	{ kind: gatewayKind, routerId }: RegisteredGateway,
	{ user, mac }: Login
): Promise<string | null> {
	const device = normaliseMac(user);
	if (gatewayKind !== 'hostapd' || device === null || device !== normaliseMac(mac ?? '')) return null;
	const { access_kind: kind } = await findRouterOrThrow(database.db, routerId);
	return kind === 'wpa_personal_per_client' ? device : null;
}

async function answerKeyRequest(
	context: AccessContext,
	{ routerId }: RegisteredGateway,
	mac: string
): Promise<LoginAnswer> {
	const { passes, full } = await choosePsks(context, { mac, routerId });
	if (full) return refuse('devices');
	const [first, ...others] = passes;
	if (!first) return UNKNOWN;
	// The access point tries these Wi-Fi passwords.
	return accept({
		'control:Auth-Type': 'Accept',
		'reply:Tunnel-Password:0': passes.map(({ pass }) => openPassword(context, pass)),
		...(others.length === 0 && { 'reply:User-Name': loginUser(first.pass.id) }),
		...buildTimeAttributes(passes, context.clock.now())
	});
}

/** Returns the user's running pass at the gateway's router, or the answer if there is none. */
async function findPassForLogin(
	{ database: { db }, clock }: AccessContext,
	{ routerId }: RegisteredGateway,
	user: string
): Promise<RunningPass | LoginAnswer> {
	const passId = passOfUser(user);
	if (passId === null) return UNKNOWN;
	const pass = await findPassState(db, { passId, routerId }, clock.now());
	if (pass.kind === 'runs') return pass;
	if (pass.kind === 'unknown') return UNKNOWN;
	if (pass.kind === 'waits') return refuse('waits');
	const reason = await findReasonOfEnd(db, passId);
	return refuse(reason === 'data_limit_reached' ? 'data' : reason === null ? 'expired' : 'ended');
}

/**
 * Chooses the Wi-Fi passwords for a device if each pass has its own (per-client PSK).
 *
 * Problem: the access point asks by MAC address before the device sends its password. Phones use a new MAC
 * address per network.
 * Order: passes of this device (bought in its captive sessions, or used before), then all passes with a free
 * slot. hostapd tries every Tunnel-Password of the answer.
 * Rotation: a device that asks again is offered other passes. Each of n passes comes up
 * within n / MAX_PASSWORDS tries. hostapd caches an answer for 30 seconds (RADIUS_ACL_TIMEOUT).
 * Limit: hostapd up to 2.10 does not report which password matched (no Class; User-Name is the MAC address).
 * With several candidates the connection has no pass and takes no device slot. It ends with the earliest
 * candidate (Session-Timeout).
 */

/**
 * The access point derives a key from each: a few milliseconds of a small processor. hostapd reads answers of
 * up to 3,000 bytes; a password takes 21.
 */
const MAX_PASSWORDS = 16;
/** Bounds the passes considered: the newest ones. */
const MAX_LOOKED_AT = 1_000;

/**
 * Unused passes come first, because their buyers have had nothing yet. The newest (a joining device has
 * usually just bought) alternate with the oldest. Every fourth pass had a device before.
 */
function interleave(passes: readonly PassWithRoom[]): number[] {
	const unused = passes.filter(({ wasUsed }) => !wasUsed).map(({ passId }) => passId);
	const used = passes.filter(({ wasUsed }) => wasUsed).map(({ passId }) => passId);
	const turns = passes.flatMap((_, at) => [unused[2 * at], unused.at(-1 - at), unused[2 * at + 1], used[at]]);
	return [...new Set(turns)].filter((passId) => passId !== undefined);
}

/** Records the offer. @returns the passes in order; `full` if no candidate has a free device slot */
async function choosePsks(
	{ database: { db }, clock, pskCandidates }: AccessContext,
	device: Asking
): Promise<{ passes: RunningPass[]; full: boolean }> {
	const { mac, routerId } = device;
	const now = clock.now();
	const open = { now, reportedWithin: computeReportWindow(now), limit: MAX_LOOKED_AT };
	const own = new Set([
		...(await findPassesOfCaptiveSessions(db, device, now)),
		...(await findPassesOfDevice(db, device))
	]);
	const others = interleave(await findPassesWithRoom(db, routerId, open)).filter((id) => !own.has(id));
	const candidates =
		own.size + others.length > MAX_PASSWORDS
			? pskCandidates.ordered(device, [...own], others, now)
			: [...own, ...others];
	const passes: RunningPass[] = [];
	let isKnown = false;
	let isPart = false;
	for (const passId of candidates) {
		const pass = await findPassState(db, { passId, routerId }, now);
		if (pass.kind !== 'runs' || pass.pass.access_kind === 'shared_password') continue;
		isKnown = true;
		const { max_devices: maxDevices } = pass.pass;
		if (!(await hasRoom(db, { passId, mac, maxDevices }, now))) continue;
		isPart = passes.length === MAX_PASSWORDS;
		if (isPart) break;
		passes.push(pass);
	}
	const passIds = passes.map(({ pass }) => pass.id);
	pskCandidates.offered(device, passIds, isPart, now);
	return { passes, full: isKnown && passes.length === 0 };
}

interface Asking {
	mac: string;
	routerId: number;
}

interface Memory {
	at: number;
	/** By pass id: number of its last incomplete offer since the device last joined. */
	tried: ReadonlyMap<number, number>;
	last: readonly number[];
	/** The offer with which the device last joined. */
	good: readonly number[];
}

const MAX_DEVICES = 2_000;
const REMEMBERED_MS = 30 * 60_000;

export type PskCandidates = ReturnType<typeof createPskCandidates>;

/**
 * Remembers the per-client passwords offered to each device, in memory only. A device that asks again without
 * joining is offered the least recent ones first, so that every password comes up.
 */
export function createPskCandidates() {
	const known = new Map<string, Memory>();
	const keyOf = ({ mac, routerId }: Asking) => `${routerId} ${mac}`;

	function recall(device: Asking, now: number): Memory | null {
		const memory = known.get(keyOf(device));
		return memory && Math.abs(now - memory.at) < REMEMBERED_MS ? memory : null;
	}

	function leastNeeded(): string {
		const entries = [...known];
		return (entries.find(([, { tried }]) => tried.size === 0) ?? entries[0])?.[0] ?? '';
	}

	return {
		/** Both lists begin with the likeliest pass. The `others` have a free slot. */
		ordered(device: Asking, own: readonly number[], others: readonly number[], now: number): number[] {
			const memory = recall(device, now);
			if (!memory) return [...own, ...others];
			const may = new Set(others);
			const likely = new Set([...own, ...memory.good.filter((id) => may.has(id)), ...others]);
			// All passes of one offer are equally old, so the likeliest of them stays first.
			const age = (id: number) => memory.tried.get(id) ?? 0;
			return [...likely].sort((a, b) => age(a) - age(b));
		},
		/** @param isPart the answer left out some passes */
		offered(device: Asking, passIds: readonly number[], isPart: boolean, now: number): void {
			const { tried, good } = recall(device, now) ?? { tried: new Map<number, number>(), good: [] };
			const number = Math.max(0, ...tried.values()) + 1;
			const later = isPart ? new Map([...tried, ...passIds.map((id) => [id, number] as const)]) : tried;
			const key = keyOf(device);
			known.delete(key);
			known.set(key, { at: now, tried: later, last: passIds, good });
			if (known.size > MAX_DEVICES) known.delete(leastNeeded());
		},
		lastOffered: (device: Asking, now: number): readonly number[] => recall(device, now)?.last ?? [],
		/** Records that the device has joined: the last offer held its password. */
		joined(device: Asking): void {
			const memory = known.get(keyOf(device));
			if (memory) known.set(keyOf(device), { ...memory, tried: new Map(), good: memory.last });
		}
	};
}

type Value = 'octets' | 'gigawords' | 'bitsUp' | 'bitsDown';

/**
 * Attributes of vendors, with 32 bits. FreeRADIUS needs their names, our own requests the numbers. An access point alone
 * holds no limit.
 */
const ATTRIBUTES: Partial<
	Record<GatewayKind, readonly (readonly [Value, name: string, vendorId: number, type: number])[]>
> = {
	mikrotik: [
		['octets', 'Mikrotik-Total-Limit', 14_988, 17],
		['gigawords', 'Mikrotik-Total-Limit-Gigawords', 14_988, 18]
	],
	coova: [
		['octets', 'ChilliSpot-Max-Total-Octets', 14_559, 3],
		['gigawords', 'ChilliSpot-Max-Total-Gigawords', 14_559, 23],
		['bitsUp', 'WISPr-Bandwidth-Max-Up', 14_122, 7],
		['bitsDown', 'WISPr-Bandwidth-Max-Down', 14_122, 8]
	]
};

/** @param total bytes that the connection may use: both gateways count per connection; null without a limit */
export function buildLimitAttributes(kind: GatewayKind, pass: PassRow, total: number | null) {
	const { down, up } = readSpeed(pass);
	const values: Record<Value, number | null> = {
		...(total === null ? { octets: null, gigawords: null } : splitDataWords(total)),
		bitsUp: up === null ? null : up * 1000,
		bitsDown: down === null ? null : down * 1000
	};
	return (ATTRIBUTES[kind] ?? []).flatMap(([source, name, vendorId, type]) => {
		const value = values[source];
		return value === null ? [] : [{ name, vendorId, type, value }];
	});
}

/** Returns the limits of a pass for an Access-Accept. */
function buildAcceptLimits(kind: GatewayKind, pass: PassRow): Record<string, string | number> {
	const speed = readSpeed(pass);
	const left = dataLeft(pass);
	// FreeRADIUS does not know CoovaChilli's gigawords: above 4 GiB only the Disconnect-Request ends its connections.
	const isTooLarge = kind === 'coova' && left !== null && splitDataWords(left).gigawords > 0;
	const limits = buildLimitAttributes(kind, pass, isTooLarge ? null : left).filter(({ value }) => value > 0);
	return {
		// Without it, the `shared-users` of the hotspot's user profile counts: one device (MikroTik's RADIUS manual).
		...(kind === 'mikrotik' && { 'reply:Port-Limit': pass.max_devices }),
		...(kind === 'mikrotik' &&
			!isUnlimited(speed) && { 'reply:Mikrotik-Rate-Limit': formatRouterOsRate(speed) }),
		...Object.fromEntries(limits.map(({ name, value }) => [`reply:${name}`, value]))
	};
}
