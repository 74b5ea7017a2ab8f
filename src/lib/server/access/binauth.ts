import { passOfUser } from '#lib/domain/pass-username.ts';
import type { Clock } from '../platform/clock.ts';
import type { Database } from '../db/database.ts';
import type { RegisteredGateway } from '../gateways/gateways.ts';
import { adapterOf } from '../gateways/registry.ts';
import type { CaptiveSessions } from '../gateways/captive-sessions/captive-sessions.ts';
import type { Jobs } from '../jobs/jobs.ts';
import { sha256 } from '../platform/secrets.ts';
import { takePlace } from './device-slots/device-slots.ts';
import * as network from './device-slots/store.ts';
import { passState } from './passes/pass-state.ts';
import * as store from './provisioning/store.ts';

/**
 * A gateway that asks about a sign-in of the browser before it lets the device in (openNDS' BinAuth), on a channel that
 * it proves itself on. The user name came through the browser, and user names can be guessed: so the device has to be
 * one on which that very pass was bought or opened. The gateway tells the token of its stay, whose hash it handed over
 * with the visit (`hid`), and its MAC address: both have to be those of the visit.
 */
export interface Binauth {
	/** @returns for how long the device may be online, in whole seconds; null when it may not */
	admit(gateway: RegisteredGateway, stay: Stay): Promise<number | null>;
	/** The device was put out: its place is free, unless it has signed in again since. */
	left(gateway: RegisteredGateway, stay: Stay): Promise<void>;
}

export interface Stay {
	/** `aa:bb:cc:dd:ee:ff` */
	mac: string;
	/** The gateway's own name for this stay of the device. */
	token: string;
	user: string;
}

export interface BinauthParts {
	database: Database;
	clock: Clock;
	jobs: Jobs;
	captiveSessions: CaptiveSessions;
}

export function createBinauth({ database, clock, jobs, captiveSessions }: BinauthParts): Binauth {
	/** The newest visit of a device on which a pass was bought, or opened, and whether it is of this very stay. */
	async function newestVisit(gateway: RegisteredGateway, passId: number, { mac, token }: Stay) {
		const place = { passId, routerId: gateway.routerId };
		const devices = await store.devicesOf(database.db, place, clock.now());
		const visit = devices.find((one) => one.gateway_id === gateway.id && one.mac === mac);
		if (visit === undefined) return null;
		const isThisStay = (await captiveSessions.loginOf(visit.id))['hid'] === sha256(token);
		return { isThisStay, createdAt: visit.created_at };
	}

	return {
		async admit(gateway, stay) {
			const passId = passOfUser(stay.user);
			if (passId === null || adapterOf(gateway.kind).controlMode(gateway) !== 'browser') return null;
			if (!(await newestVisit(gateway, passId, stay))?.isThisStay) return null;
			return database.transact(async (trx) => {
				const now = clock.now();
				const pass = await passState(trx, { passId, routerId: gateway.routerId }, now);
				if (pass.kind !== 'runs') return null;
				const { mac } = stay;
				const maxDevices = pass.session.max_devices;
				if (!(await takePlace(trx, jobs, { passId, gatewayId: gateway.id, mac, maxDevices }, now)))
					return null;
				// Nothing is heard of it until it is put out: till then it has its place.
				const device = await network.deviceIn(trx, passId, mac);
				const inUntil = { bound_at: now, seen_at: pass.untilMs };
				if (device) await network.changeDevice(trx, device.id, inUntil);
				return Math.max(1, Math.ceil((pass.untilMs - now) / 1000));
			});
		},
		async left(gateway, stay) {
			const passId = passOfUser(stay.user);
			if (passId === null) return;
			const { mac } = stay;
			const newest = await newestVisit(gateway, passId, stay);
			await database.transact(async (trx) => {
				const now = clock.now();
				const pass = await passState(trx, { passId, routerId: gateway.routerId }, now);
				if (pass.kind === 'unknown') return;
				const device = await network.deviceIn(trx, passId, mac);
				if (!device || device.released_at !== null || device.gateway_id !== gateway.id) return;
				// The script reports in the background: its device may have come, and signed in, under a new token meanwhile.
				const isInAgain = newest && !newest.isThisStay && device.bound_at >= newest.createdAt;
				if (!isInAgain) await network.releasePlace(trx, { passId, mac }, now);
			});
		}
	};
}
