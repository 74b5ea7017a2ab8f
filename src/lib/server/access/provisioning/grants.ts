import { loginUser } from '#lib/domain/pass-username.ts';
import type { Clock } from '#lib/server/platform/clock.ts';
import type { Database, Queries, Tx } from '#lib/server/db/database.ts';
import type { Reach, DeviceController, CommandResult } from '#lib/server/gateways/gateway.ts';
import type { Gateways, RegisteredGateway } from '#lib/server/gateways/gateways.ts';
import { adapterOf } from '#lib/server/gateways/registry.ts';
import type { CaptiveSessions } from '#lib/server/gateways/captive-sessions/captive-sessions.ts';
import type { Jobs } from '#lib/server/jobs/jobs.ts';
import type { Log } from '#lib/server/platform/log.ts';
import type { Payments } from '#lib/server/billing/payments/payments.ts';
import type { Sessions, SessionRow } from '#lib/server/billing/sessions/sessions.ts';
import { askGateway } from './call-gateway.ts';
import * as gatewayStore from './gateway-store.ts';
import { giveUp } from './activation-timeout.ts';
import { passNow as readPass, type PassNow } from '../passes/pass-now.ts';
import * as store from './store.ts';
import type { ConcurrencyLimit } from './concurrency-limit.ts';
import { GRANT_JOB } from '../job-kinds.ts';

/**
 * Grants: one row for each gateway (and device) that has to know of a pass. The job compares what the pass is now with
 * what the gateway was told, and tells it, as often as it takes: paid -> `granting` -> `granted`; over, ended, moved or
 * given up -> `revoking` -> `revoked`. Only one job works on a grant at a time; where one was thought dead and comes back
 * late, what it has told is taken back: nobody stays online after a revoke.
 */
export interface Grants {
	/** Job GRANT_JOB. @returns when to look again, or null when it is over */
	settle(id: number): Promise<number | null>;
	/** Job ACTIVATING_JOB: no gateway let the buyer in, so the order is over and the money goes back. */
	giveUp(sessionId: number): Promise<number | null>;
	/**
	 * Guests that a gateway has to fetch, those first that it was never handed; the end that each is told stays noted. Those
	 * that were confirmed and come to the portal again follow: what confirms is not proved to be the gateway, which sends us
	 * only whom it has not let in.
	 * @param useOf what is done with a guest, by what was handed over with its device: what is `useless` takes no place in
	 * the answer, and of what is only `shown` nothing is noted
	 */
	waiting(
		gateway: RegisteredGateway,
		limit: number,
		useOf: (login: Login) => 'useless' | 'shown' | 'handed-out'
	): Promise<Waiting[]>;
	/** A gateway has let a guest in that it fetched. @returns false when that guest is not to be in (any more) */
	confirm(gateway: RegisteredGateway, grantId: number): Promise<boolean>;
}

type Login = Readonly<Record<string, string>>;

export interface Waiting {
	grantId: number;
	mac: string | null;
	user: string;
	/** What the gateway handed over with the device (`Entry.login`). */
	login: Login;
	untilMs: number;
}

export interface GrantsParts {
	database: Database;
	clock: Clock;
	log: Log;
	jobs: Jobs;
	gateways: Gateways;
	captiveSessions: CaptiveSessions;
	sessions: Sessions;
	payments: Payments;
	reach: Reach;
	concurrencyLimit: ConcurrencyLimit;
}

const MAX_BACKOFF_MS = 60_000;
/** A guest that cannot be put out is tried so long after the end that its gateway was told, */
const REVOKE_MS = 24 * 60 * 60 * 1000;
/** and a user, whose time stands still where it is not used, for as long as a router is repaired: */
const REVOKE_USER_MS = 90 * REVOKE_MS;
/** every hour, after the first day. */
const SELDOM_MS = 60 * 60 * 1000;
/**
 * A buyer's time begins when the gateway has answered, so what it is told ends this much later than that would be by now.
 * The exact end comes by itself: the guest is put out then.
 */
const SLACK_MS = 30_000;
/** A request whose answer was lost can still be done by its gateway for so long: who is put out, is put out again then. */
export const LATE_MS = 60_000;
/** A gateway that fetches its guests is looked after in this interval while a buyer waits. */
const WAIT_MS = 5_000;

/** Guests that are looked at for one answer. */
const MAX_LOOKED_AT = 100;
/** A gateway fetches more than once in this time, however long its interval is: so long is a guest that came back shown. */
const AGAIN_MS = 90_000;

export function createGrants(parts: GrantsParts): Grants {
	const { database, clock, log, jobs, gateways, captiveSessions, sessions, concurrencyLimit } = parts;
	const { db } = database;

	const passNow = (passId: number) => readPass(db, clock, passId);

	/** One that is known to be silent is asked sooner for a buyer who waits only. */
	const backoff = (
		{ attempts }: store.GrantRow,
		{ unresponsiveSince }: RegisteredGateway,
		isAwaited: boolean
	) =>
		unresponsiveSince !== null && !isAwaited
			? MAX_BACKOFF_MS
			: Math.min(MAX_BACKOFF_MS, 1_000 * 2 ** Math.min(attempts, 10));

	async function guestOf(grant: store.GrantRow, pass: PassNow | null) {
		return {
			user: loginUser(grant.pass_id),
			password: pass ? sessions.passwordOf(pass.session) : '',
			mac: grant.mac,
			login: grant.visit_id === null ? {} : await captiveSessions.loginOf(grant.visit_id),
			maxDevices: pass?.session.max_devices ?? 1,
			mayBeUnmarked: grant.is_marked === 0
		};
	}

	/** Other grants that hold the same guest in; a console can be registered as several gateways. */
	const othersOf = async (queries: Queries, grant: store.GrantRow, gateway: RegisteredGateway) =>
		store.sameDevice(queries, grant, await gateways.sharingConsole(queries, gateway));

	/**
	 * The end that a gateway has to know: of the device's last pass, where it has several, with some slack where the time
	 * is about to begin.
	 */
	async function endToTell(
		grant: store.GrantRow,
		gateway: RegisteredGateway,
		pass: PassNow
	): Promise<number> {
		const ends = [pass.untilMs + (pass.activating ? SLACK_MS : 0)];
		for (const { pass_id } of await othersOf(db, grant, gateway)) {
			const other = await passNow(pass_id);
			if (other) ends.push(other.untilMs);
		}
		return Math.max(...ends);
	}

	/**
	 * Whether a buyer's time begins with this grant. Where a router has several gateways, the one counts at which the
	 * buyer's device is: what another one knows lets nobody in there.
	 */
	async function isAwaited(trx: Tx, grant: store.GrantRow, activating: SessionRow): Promise<boolean> {
		const place = { passId: grant.pass_id, routerId: activating.router_id };
		const [newest] = await store.devicesOf(trx, place, clock.now());
		if (!newest || newest.gateway_id === grant.gateway_id) return true;
		const open = await store.openGrantsOf(trx, grant.pass_id);
		return !open.some(
			({ gateway_id, released_at }) => gateway_id === newest.gateway_id && released_at === null
		);
	}

	/**
	 * The gateway has it: noted, and the time begins where a buyer waited for that.
	 * @returns when to look again, or null where what was told is not what counts (any more)
	 */
	async function noteGranted(grant: store.GrantRow, pass: PassNow, untilMs: number): Promise<number | null> {
		const { activating } = pass;
		const next = await database.transact(async (trx) => {
			const now = clock.now();
			const to = {
				state: 'granted',
				until_at: untilMs,
				confirmed_until_at: untilMs,
				granted_at: grant.granted_at ?? now,
				// A request before this one whose answer was lost may still be done: who is put out next, is put out twice.
				// So too where a process died with a request on its way: nothing was counted then but when it was asked.
				asked_at: grant.attempts > 0 ? now : grant.asked_at,
				attempts: 0,
				last_error: null,
				updated_at: now
			} as const;
			const { id, revision } = grant;
			const isStill = { id, revision, state: ['granting', 'granted'], wanted: true } as const;
			if (await store.changeGrant(trx, isStill, to)) {
				if (!activating || !(await isAwaited(trx, grant, activating))) return pass.untilMs;
				// Where it began at another gateway meanwhile, its end is another one.
				if (!(await sessions.begin(trx, activating.id, now))) return now;
				for (const other of await store.openGrantsOf(trx, grant.pass_id)) {
					if (other.id !== id) await jobs.schedule(trx, GRANT_JOB, other.id, now);
				}
				return now + activating.duration_seconds * 1000;
			}
			// Meanwhile it was to be told anew: it will be. Or it was to be put out, and maybe was, before this let it in.
			await store.revokeAgain(trx, id, now);
			await jobs.schedule(trx, GRANT_JOB, id, now);
			return null;
		});
		jobs.nudge();
		return next;
	}

	async function noteTrouble(
		grant: store.GrantRow,
		gateway: RegisteredGateway,
		reason: string
	): Promise<void> {
		log.warn({ gateway: gateway.name, grant: grant.id, reason }, 'a gateway could not be told');
		const from = { id: grant.id, state: ['granting', 'granted', 'revoking'] } as const;
		const to = { attempts: grant.attempts + 1, last_error: reason.slice(0, 500), updated_at: clock.now() };
		await store.changeGrant(db, from, to);
	}

	async function give(
		grant: store.GrantRow,
		gateway: RegisteredGateway,
		pass: PassNow
	): Promise<number | null> {
		const untilMs = await endToTell(grant, gateway, pass);
		const { until_at: known } = grant;
		const isTold =
			grant.state === 'granted' && known !== null && known >= untilMs && known <= untilMs + SLACK_MS;
		if (isTold && !pass.activating) return pass.untilMs;
		const controller = controllerOf(gateway);
		if (!controller) return awaitFetch(grant, pass);
		// Noted before it is asked: who does not hear the answer knows that there may be one.
		const asked = {
			id: grant.id,
			revision: grant.revision,
			state: ['granting', 'granted'],
			wanted: true
		} as const;
		const now = clock.now();
		const asking = { state: 'granting', until_at: untilMs, asked_at: now, updated_at: now } as const;
		if (!(await store.changeGrant(db, asked, asking))) return now;
		const guest = await guestOf(grant, pass);
		const told = await ask(gateway, (reach) => controller.authorize(guest, untilMs, gateway, reach));
		if (told.kind === 'impossible') return awaitFetch(grant, pass);
		if (told.kind === 'done') return (await noteGranted(grant, pass, untilMs)) ?? clock.now();
		await noteTrouble(grant, gateway, told.reason);
		const again = clock.now() + backoff(grant, gateway, pass.activating !== null);
		return pass.activating ? again : Math.min(again, pass.untilMs);
	}

	/** The gateway comes for it by itself, also for the new end of one that is in. */
	async function awaitFetch(grant: store.GrantRow, pass: PassNow): Promise<number> {
		const isIn = { id: grant.id, revision: grant.revision, state: ['granted'], wanted: true } as const;
		await store.changeGrant(db, isIn, { state: 'granting' });
		const again = clock.now() + WAIT_MS;
		return pass.activating ? again : Math.min(again, pass.untilMs);
	}

	async function take(grant: store.GrantRow, gateway: RegisteredGateway): Promise<number | null> {
		const now = clock.now();
		const from = { id: grant.id, state: ['granting', 'granted', 'revoking'] } as const;
		if (!(await store.changeGrant(db, from, { state: 'revoking', updated_at: now }))) return null;
		// A device that another pass holds in stays in: that one is told with its own end. So does a user that was put out
		// once and is to be in again: it is another device by now.
		const stays = (grant.mac !== null || grant.revoked_at !== null) && (await heldIn(grant, gateway));
		const controller = controllerOf(gateway);
		const guest = await guestOf(grant, null);
		const told: CommandResult = stays
			? { kind: 'done' }
			: controller
				? await ask(gateway, (reach) => controller.disconnect(guest, gateway, reach))
				: { kind: 'impossible' };
		// The end that it confirmed last is known of one that was about to be told anew, and of one that was to be told less.
		const endsByItselfAt = Math.max(grant.until_at ?? grant.created_at, grant.confirmed_until_at ?? 0);
		if (told.kind === 'unavailable') {
			await noteTrouble(grant, gateway, told.reason);
			const overMs = clock.now() - endsByItselfAt;
			if (overMs < REVOKE_MS) return clock.now() + backoff(grant, gateway, false);
			if (grant.mac === null && overMs < REVOKE_USER_MS) return clock.now() + SELDOM_MS;
			await store.changeGrant(db, from, { state: 'failed', updated_at: clock.now() });
			log.error({ gateway: gateway.name, grant: grant.id }, 'a guest could not be put out');
			return null;
		}
		// What cannot be told ends when the gateway was told; one that has left may come back before.
		if (told.kind === 'impossible' && endsByItselfAt > now) {
			return controller ? Math.min(endsByItselfAt, now + MAX_BACKOFF_MS) : endsByItselfAt;
		}
		// Counted from before it was asked: it may have looked before the late request was done, and taken its time to say so.
		const lateAt = (grant.asked_at ?? -Infinity) + LATE_MS;
		const isOver = stays || lateAt <= now;
		await notePutOut(grant, gateway, isOver ? 'revoked' : 'revoking');
		return isOver ? null : lateAt;
	}

	/** Whether another grant of the same device, or user, is valid at the same gateway. */
	async function heldIn(grant: store.GrantRow, gateway: RegisteredGateway): Promise<boolean> {
		for (const { pass_id } of await othersOf(db, grant, gateway)) if (await passNow(pass_id)) return true;
		return false;
	}

	/**
	 * Whoever else is to be in under the same address, or name, may have been put out with it: that is told again.
	 * @param state `revoking`: it is looked at once more, when no late request can be done any more
	 */
	async function notePutOut(
		grant: store.GrantRow,
		gateway: RegisteredGateway,
		state: 'revoking' | 'revoked'
	): Promise<void> {
		await database.transact(async (trx) => {
			const now = clock.now();
			const from = { id: grant.id, state: ['granting', 'granted', 'revoking'] } as const;
			const done = { state, revoked_at: now, last_error: null, updated_at: now } as const;
			const to = state === 'revoked' ? { ...done, asked_at: null } : done;
			if (!(await store.changeGrant(trx, from, to))) return;
			for (const other of await othersOf(trx, grant, gateway)) {
				await store.tellAnew(trx, other.id, now);
				await jobs.schedule(trx, GRANT_JOB, other.id, now);
			}
		});
		jobs.nudge();
	}

	const ask = (gateway: RegisteredGateway, work: (reach: Reach) => Promise<CommandResult>) =>
		askGateway(parts, gateway, work);

	return {
		async settle(id) {
			const grant = await store.findGrant(db, id);
			if (!grant || grant.state === 'revoked' || grant.state === 'failed') return null;
			const gateway = await gateways.byId(grant.gateway_id);
			if (!gateway) return null;
			const pass =
				grant.released_at === null && grant.state !== 'revoking' ? await passNow(grant.pass_id) : null;
			const work = () => (pass ? give(grant, gateway, pass) : take(grant, gateway));
			if (!controllerOf(gateway)) return work();
			return concurrencyLimit.run({ kind: GRANT_JOB, id, gateway, isBuyer: Boolean(pass?.activating) }, work);
		},
		giveUp: (sessionId) => giveUp(parts, sessionId),
		async waiting(gateway, limit, useOf) {
			const found: Waiting[] = [];
			for (const grant of await gatewayStore.waitingAt(db, gateway.id, MAX_LOOKED_AT)) {
				if (found.length >= limit) break;
				const pass = await passNow(grant.pass_id);
				if (!pass) continue;
				const { mac, user, login } = await guestOf(grant, pass);
				const from = { id: grant.id, state: ['granting'], wanted: true } as const;
				const updated_at = clock.now();
				const use = useOf(login);
				if (use === 'useless') {
					await store.changeGrant(db, from, { updated_at });
					continue;
				}
				const untilMs = await endToTell(grant, gateway, pass);
				const isNoted =
					use === 'shown' || (await store.changeGrant(db, from, { until_at: untilMs, updated_at }));
				if (!isNoted) continue;
				found.push({ grantId: grant.id, mac, user, login, untilMs });
			}
			const lately = { gatewayId: gateway.id, since: clock.now() - AGAIN_MS };
			for (const grant of await gatewayStore.confirmedAndBack(db, lately, limit - found.length)) {
				const pass = await passNow(grant.pass_id);
				if (!pass || grant.until_at === null) continue;
				const { mac, user, login } = await guestOf(grant, pass);
				if (useOf(login) === 'useless') continue;
				found.push({ grantId: grant.id, mac, user, login, untilMs: grant.until_at });
			}
			return found;
		},
		async confirm(gateway, grantId) {
			const grant = await store.findGrant(db, grantId);
			if (!grant || grant.gateway_id !== gateway.id || grant.until_at === null) return false;
			const pass = grant.released_at === null ? await passNow(grant.pass_id) : null;
			if (!pass) return false;
			if (grant.state === 'granted') return true;
			if (grant.state !== 'granting' || (await noteGranted(grant, pass, grant.until_at)) === null)
				return false;
			await jobs.wake(GRANT_JOB, grantId);
			return true;
		}
	};
}

const controllerOf = (gateway: RegisteredGateway): DeviceController | null => {
	const adapter = adapterOf(gateway.kind);
	return adapter.controlMode(gateway) === 'push' ? adapter.controller : null;
};
