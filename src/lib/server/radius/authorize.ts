import { loginUser, passOfUser } from '#lib/domain/pass-username.ts';
import { normaliseMac } from '#lib/domain/mac.ts';
import type { Clock } from '../platform/clock.ts';
import type { Database } from '../db/database.ts';
import type { Gateways, RegisteredGateway } from '../gateways/gateways.ts';
import type { Jobs } from '../jobs/jobs.ts';
import type { Routers } from '../routers/routers.ts';
import { createAccounting, type AccountingReport } from './accounting.ts';
import {
	hasRoom,
	INTERIM_SECONDS,
	isFresh,
	isFull,
	takeSlot,
	type SlotOrder
} from '../access/device-slots/device-slots.ts';
import type { Passes } from '../access/passes/passes.ts';
import { passState, type RunningPass } from '../access/passes/pass-state.ts';
import { wasEnded } from '../access/passes/store.ts';
import { pskChoice } from './psk.ts';
import { createOffers } from './psk-offers.ts';

/**
 * Answers a RADIUS server (FreeRADIUS with rlm_rest, see gateways/freeradius) for one gateway.
 *
 * Each answer holds the time until the absolute end of the pass, so a new login never extends it. `authorize` runs before
 * the password check, several times for a PEAP login, and changes no pass. `accepted` runs after it and takes the device
 * slot.
 */
export interface Radius {
	authorize(gateway: RegisteredGateway, login: Login): Promise<LoginAnswer>;
	/** Takes a device slot after the password was right. */
	accepted(gateway: RegisteredGateway, login: Login): Promise<LoginAnswer>;
	/** Records an accounting report. Reports may repeat. */
	account(gateway: RegisteredGateway, report: AccountingReport): Promise<void>;
}

export interface Login {
	/** User-Name */
	user: string;
	/** Calling-Station-Id; null if missing. */
	mac: string | null;
}

/**
 * `known`: the RADIUS server compares the password. `keys`: the access point tries these Wi-Fi passwords. `unknown`: no
 * such user. `refused`: `message` reaches the device, and problemOf (captive-sessions/fields.ts) recognises it when a
 * gateway redirects with it.
 */
export type LoginAnswer =
	| { kind: 'known'; password: string; terms: Terms }
	| { kind: 'keys'; passwords: string[]; user: string | null; terms: Terms }
	| { kind: 'accepted' }
	| { kind: 'unknown' }
	| { kind: 'refused'; message: string };

export interface Terms {
	/** Seconds until the absolute end, at least 1. */
	seconds: number;
	interimSeconds: number;
	/** Class, which every report repeats; null if several passes are possible. */
	className: string | null;
}

export const REFUSALS = {
	expired: 'Your pass has expired.',
	ended: 'Your pass was ended: no time left on it.',
	devices: 'Too many devices: another one uses this pass.',
	waits: 'Not ready: try again in a moment.'
} as const;

export interface RadiusParts {
	database: Database;
	clock: Clock;
	jobs: Jobs;
	gateways: Gateways;
	routers: Routers;
	passes: Passes;
}

export function createRadius(parts: RadiusParts): Radius {
	const { database, clock, jobs, routers, passes: allPasses } = parts;
	const { db } = database;
	const offers = createOffers();
	const accounting = createAccounting({ ...parts, offers });

	const termsOf = (passes: readonly RunningPass[], now: number): Terms => {
		const untilMs = Math.min(...passes.map((pass) => pass.untilMs));
		const [only] = passes;
		return {
			seconds: Math.max(1, Math.ceil((untilMs - now) / 1000)),
			interimSeconds: INTERIM_SECONDS,
			className: only && passes.length === 1 ? classOf(only.pass.id, untilMs) : null
		};
	};

	/**
	 * The MAC address in a request for per-client passwords; null for other requests. Only access points may ask for them:
	 * at a hotspot anybody could type a MAC address as username and sign in without a password.
	 */
	async function keyRequest({ kind: gatewayKind, routerId }: RegisteredGateway, { user, mac }: Login) {
		const device = normaliseMac(user);
		if (gatewayKind !== 'hostapd' || device === null || device !== normaliseMac(mac ?? '')) return null;
		const { access_kind: kind } = await routers.known(db, routerId);
		return kind === 'wpa_personal_per_client' ? device : null;
	}

	async function keysFor({ routerId }: RegisteredGateway, mac: string): Promise<LoginAnswer> {
		const now = clock.now();
		const { passes, full } = await pskChoice(db, { mac, routerId }, now, offers);
		const passIds = passes.map(({ pass }) => pass.id);
		offers.told({ mac, routerId }, passIds, now);
		if (full) return { kind: 'refused', message: REFUSALS.devices };
		const [first] = passes;
		if (!first) return { kind: 'unknown' };
		return {
			kind: 'keys',
			passwords: passes.map(({ pass }) => allPasses.passwordOf(pass)),
			user: passes.length === 1 ? loginUser(first.pass.id) : null,
			terms: termsOf(passes, now)
		};
	}

	/** The running pass of a user at the gateway's router, or the answer if there is none. */
	async function passFor(gateway: RegisteredGateway, user: string): Promise<RunningPass | LoginAnswer> {
		const passId = passOfUser(user);
		if (passId === null) return { kind: 'unknown' };
		const pass = await passState(db, { passId, routerId: gateway.routerId }, clock.now());
		if (pass.kind === 'runs') return pass;
		if (pass.kind === 'unknown') return { kind: 'unknown' };
		if (pass.kind === 'waits') return { kind: 'refused', message: REFUSALS.waits };
		return { kind: 'refused', message: (await wasEnded(db, passId)) ? REFUSALS.ended : REFUSALS.expired };
	}

	const placeOf = (gateway: RegisteredGateway, { pass }: RunningPass, mac: string): SlotOrder => ({
		passId: pass.id,
		gatewayId: gateway.id,
		mac,
		maxDevices: pass.max_devices
	});

	return {
		async authorize(gateway, login) {
			// A rejected login is a sign of life as well.
			await accounting.heardOf(gateway, null);
			const device = await keyRequest(gateway, login);
			if (device !== null) return keysFor(gateway, device);
			const pass = await passFor(gateway, login.user);
			if (pass.kind !== 'runs') return pass;
			const now = clock.now();
			const mac = normaliseMac(login.mac ?? '');
			if (mac !== null && !(await hasRoom(db, placeOf(gateway, pass, mac), now))) {
				return { kind: 'refused', message: REFUSALS.devices };
			}
			return { kind: 'known', password: allPasses.passwordOf(pass.pass), terms: termsOf([pass], now) };
		},
		async accepted(gateway, login) {
			await accounting.heardOf(gateway, null);
			// Only the access point knows which password matched; its reports name the device.
			if ((await keyRequest(gateway, login)) !== null) return { kind: 'accepted' };
			const pass = await passFor(gateway, login.user);
			if (pass.kind !== 'runs') return pass;
			const mac = normaliseMac(login.mac ?? '');
			if (mac === null) {
				return (await isFull(db, { passId: pass.pass.id, maxDevices: pass.pass.max_devices }, clock.now()))
					? { kind: 'refused', message: REFUSALS.devices }
					: { kind: 'accepted' };
			}
			const place = placeOf(gateway, pass, mac);
			if (await isFresh(db, place, clock.now())) return { kind: 'accepted' };
			const taken = await database.transact((trx) => takeSlot(trx, jobs, place, clock.now()));
			jobs.nudge();
			return taken ? { kind: 'accepted' } : { kind: 'refused', message: REFUSALS.devices };
		},
		account: (gateway, report) => accounting.account(gateway, report)
	};
}

/** Class: the pass and the end at the gateway, in seconds since the epoch. */
export const classOf = (passId: number, untilMs: number): string =>
	`pass-${passId}-${Math.round(untilMs / 1000)}`;
