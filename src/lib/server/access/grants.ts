import { loginUser } from '../../login-user.ts';
import type { Clock } from '../clock.ts';
import type { Database, Tx } from '../db/database.ts';
import type { Reach, Teller, Told } from '../gateways/gateway.ts';
import type { Gateways, RegisteredGateway } from '../gateways/gateways.ts';
import { adapterOf } from '../gateways/registry.ts';
import type { Visits } from '../gateways/visits.ts';
import type { Jobs } from '../jobs/jobs.ts';
import type { Log } from '../log.ts';
import type { Payments } from '../payments/payments.ts';
import type { SessionRow, Sessions } from '../sessions/sessions.ts';
import * as store from './store.ts';
import { GRANT_JOB } from './work.ts';

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
	 * Guests that a gateway has to fetch, oldest first; the end that each is told stays noted. Those that were confirmed
	 * lately follow: what asks and confirms is not proved to be the gateway, and nobody else may keep a guest from it.
	 */
	waiting(gateway: RegisteredGateway, limit: number): Promise<Waiting[]>;
	/** Guests that were handed to a gateway by `waiting` and are not confirmed yet. */
	handedOut(gateway: RegisteredGateway, limit: number): Promise<Pick<Waiting, 'grantId' | 'login'>[]>;
	/** A gateway has let a guest in that it fetched. @returns false when that guest is not to be in (any more) */
	confirm(gateway: RegisteredGateway, grantId: number): Promise<boolean>;
}

export interface Waiting {
	grantId: number;
	mac: string | null;
	user: string;
	/** What the gateway handed over with the device (`Entry.login`). */
	login: Readonly<Record<string, string>>;
	untilMs: number;
}

export interface GrantsParts {
	database: Database;
	clock: Clock;
	log: Log;
	jobs: Jobs;
	gateways: Gateways;
	visits: Visits;
	sessions: Sessions;
	payments: Payments;
	reach: Reach;
}

const MAX_BACKOFF_MS = 60_000;
/** A guest that cannot be put out is tried so long after the end that its gateway was told. */
const REVOKE_MS = 24 * 60 * 60 * 1000;
/** A gateway that fetches its guests is looked after in this interval while a buyer waits. */
const WAIT_MS = 5_000;

/** A gateway fetches more than once in this time, however long its interval is. */
const AGAIN_MS = 90_000;

/** What a pass is at this moment. */
interface PassNow {
	session: SessionRow;
	/** When its time is over; for one that is about to begin: when it would be. */
	untilMs: number;
	/** The session that waits for its gateway. */
	activating: SessionRow | null;
}

export function createGrants(parts: GrantsParts): Grants {
	const { database, clock, log, jobs, gateways, visits, sessions, payments, reach } = parts;
	const { db } = database;

	async function passNow(passId: number): Promise<PassNow | null> {
		const now = clock.now();
		const open = await store.openSessionsOf(db, passId);
		const running = open.filter(({ status, expires_at }) => status === 'active' && (expires_at ?? 0) > now);
		const [session] = running;
		const ends = running.map(({ expires_at }) => expires_at ?? 0);
		if (session) return { session, untilMs: Math.max(...ends), activating: null };
		const activating = open.find(({ status }) => status === 'activating');
		if (!activating) return null;
		return { session: activating, untilMs: now + activating.duration_seconds * 1000, activating };
	}

	const backoff = ({ attempts }: store.GrantRow) =>
		Math.min(MAX_BACKOFF_MS, 1_000 * 2 ** Math.min(attempts, 10));

	async function guestOf(grant: store.GrantRow, pass: PassNow | null) {
		return {
			user: loginUser(grant.pass_id),
			password: pass ? sessions.passwordOf(pass.session) : '',
			mac: grant.mac,
			login: grant.visit_id === null ? {} : await visits.loginOf(grant.visit_id)
		};
	}

	/** The gateway has it: noted, and the time begins where a buyer waited for that. */
	async function noteGranted(grant: store.GrantRow, pass: PassNow, untilMs: number): Promise<boolean> {
		const { activating } = pass;
		const noted = await database.transact(async (trx) => {
			const now = clock.now();
			const to = {
				state: 'granted',
				until_at: untilMs,
				granted_at: grant.granted_at ?? now,
				attempts: 0,
				last_error: null,
				updated_at: now
			} as const;
			const from = { id: grant.id, state: ['granting', 'granted'], wanted: true } as const;
			const changed = await store.changeGrant(trx, from, to);
			const startsAt = activating ? untilMs - activating.duration_seconds * 1000 : null;
			const begun =
				!changed || !activating || startsAt === null || (await sessions.begin(trx, activating.id, startsAt));
			if (!changed) {
				// Meanwhile it was to be put out, and maybe was, before this let it in.
				const again = { state: 'revoking', updated_at: now } as const;
				await store.changeGrant(
					trx,
					{ id: grant.id, state: ['granting', 'granted', 'revoking', 'revoked'] },
					again
				);
			}
			// Where it began at another gateway meanwhile, its end is another one.
			await jobs.schedule(trx, GRANT_JOB, grant.id, changed && begun ? untilMs : now);
			return changed !== null;
		});
		jobs.nudge();
		return noted;
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
		await gateways.note(gateway.id, { trouble: reason });
	}

	async function release(trx: Tx, passId: number): Promise<void> {
		const now = clock.now();
		for (const { id } of await store.openGrantsOf(trx, passId)) {
			await store.changeGrant(
				trx,
				{ id, state: ['granting', 'granted'] },
				{ released_at: now, updated_at: now }
			);
			await jobs.schedule(trx, GRANT_JOB, id, now);
		}
	}

	async function give(
		grant: store.GrantRow,
		gateway: RegisteredGateway,
		pass: PassNow
	): Promise<number | null> {
		const isTold = grant.state === 'granted' && grant.until_at === pass.untilMs;
		if (isTold) return pass.untilMs;
		const told = await tell(grant, gateway, pass);
		if (told.kind === 'done')
			return (await noteGranted(grant, pass, pass.untilMs)) ? pass.untilMs : clock.now();
		if (told.kind === 'unavailable') await noteTrouble(grant, gateway, told.reason);
		// It comes for the new end of one that is in, too.
		if (told.kind === 'impossible' && grant.state === 'granted') {
			await store.changeGrant(db, { id: grant.id, state: ['granted'], wanted: true }, { state: 'granting' });
		}
		const again = clock.now() + (told.kind === 'unavailable' ? backoff(grant) : WAIT_MS);
		return pass.activating ? again : Math.min(again, pass.untilMs);
	}

	/** `impossible` here: the gateway comes for it by itself. */
	async function tell(grant: store.GrantRow, gateway: RegisteredGateway, pass: PassNow): Promise<Told> {
		const teller = tellerOf(gateway);
		if (!teller) return { kind: 'impossible' };
		return guarded(async () => teller.grant(await guestOf(grant, pass), pass.untilMs, gateway, reach));
	}

	async function take(grant: store.GrantRow, gateway: RegisteredGateway): Promise<number | null> {
		const now = clock.now();
		const from = { id: grant.id, state: ['granting', 'granted', 'revoking'] } as const;
		if (!(await store.changeGrant(db, from, { state: 'revoking', updated_at: now }))) return null;
		const teller = tellerOf(gateway);
		const told: Told = teller
			? await guarded(async () => teller.revoke(await guestOf(grant, null), gateway, reach))
			: { kind: 'impossible' };
		const endsByItselfAt = grant.until_at ?? grant.created_at;
		if (told.kind === 'unavailable') {
			await noteTrouble(grant, gateway, told.reason);
			if (clock.now() < endsByItselfAt + REVOKE_MS) return clock.now() + backoff(grant);
			await store.changeGrant(db, from, { state: 'failed', updated_at: clock.now() });
			log.error({ gateway: gateway.name, grant: grant.id }, 'a guest could not be put out');
			return null;
		}
		// What cannot be told ends when the gateway was told.
		if (told.kind === 'impossible' && endsByItselfAt > now) return endsByItselfAt;
		await store.changeGrant(db, from, {
			state: 'revoked',
			revoked_at: clock.now(),
			last_error: null,
			updated_at: clock.now()
		});
		return null;
	}

	/** An adapter that fails is a gateway that could not be told. */
	async function guarded(work: () => Promise<Told>): Promise<Told> {
		try {
			return await work();
		} catch (error) {
			log.error({ err: error }, 'a gateway adapter failed');
			return { kind: 'unavailable', reason: 'An error of ours; see the log.' };
		}
	}

	return {
		async settle(id) {
			const grant = await store.findGrant(db, id);
			if (!grant || grant.state === 'revoked' || grant.state === 'failed') return null;
			const gateway = await gateways.byId(grant.gateway_id);
			if (!gateway) return null;
			const pass =
				grant.released_at === null && grant.state !== 'revoking' ? await passNow(grant.pass_id) : null;
			return pass ? give(grant, gateway, pass) : take(grant, gateway);
		},
		async giveUp(sessionId) {
			await database.transact(async (trx) => {
				const session = await sessions.known(trx, sessionId);
				if (!(await sessions.giveUp(trx, sessionId))) return;
				if (session.payment_id === null)
					throw new Error(`Session ${sessionId} waited for its gateway unpaid`);
				await payments.refundUnprovisioned(trx, session.payment_id);
				await release(trx, session.pass_id);
			});
			jobs.nudge();
			return null;
		},
		async waiting(gateway, limit) {
			const found: Waiting[] = [];
			for (const grant of await store.waitingAt(db, gateway.id, limit)) {
				const pass = await passNow(grant.pass_id);
				if (!pass) continue;
				const from = { id: grant.id, state: ['granting'], wanted: true } as const;
				if (!(await store.changeGrant(db, from, { until_at: pass.untilMs }))) continue;
				const { mac, user, login } = await guestOf(grant, pass);
				found.push({ grantId: grant.id, mac, user, login, untilMs: pass.untilMs });
			}
			const lately = { gatewayId: gateway.id, since: clock.now() - AGAIN_MS };
			for (const grant of await store.confirmedAt(db, lately, limit - found.length)) {
				const pass = await passNow(grant.pass_id);
				if (!pass || grant.until_at === null) continue;
				const { mac, user, login } = await guestOf(grant, pass);
				found.push({ grantId: grant.id, mac, user, login, untilMs: grant.until_at });
			}
			return found;
		},
		async handedOut(gateway, limit) {
			const grants = await store.handedOutAt(db, gateway.id, limit);
			return Promise.all(
				grants.map(async ({ id, visit_id }) => ({
					grantId: id,
					login: visit_id === null ? {} : await visits.loginOf(visit_id)
				}))
			);
		},
		async confirm(gateway, grantId) {
			const grant = await store.findGrant(db, grantId);
			if (!grant || grant.gateway_id !== gateway.id || grant.until_at === null) return false;
			const pass = await passNow(grant.pass_id);
			if (!pass || grant.state !== 'granting') return false;
			return noteGranted(grant, pass, grant.until_at);
		}
	};
}

const tellerOf = (gateway: RegisteredGateway): Teller | null => {
	const adapter = adapterOf(gateway.kind);
	return adapter.way(gateway) === 'push' ? adapter.tell : null;
};
