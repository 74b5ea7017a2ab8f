import type { Clock } from '#lib/server/platform/clock.ts';
import type { Queries, Tx } from '#lib/server/db/database.ts';
import type { Gateways } from '#lib/server/gateways/gateways.ts';
import { adapterOf } from '#lib/server/gateways/registry.ts';
import type { Jobs } from '#lib/server/jobs/jobs.ts';
import { isUnresponsive, type Routers } from '#lib/server/routers/routers.ts';
import type { AccessPlan, SessionRow } from '#lib/server/billing/sessions/sessions.ts';
import { SIGN_MS } from './await-sign.ts';
import { heardSince, heardUntil, placesOfOthers, takePlace } from '../device-slots/device-slots.ts';
import { forgetAttempts, hasMovedOnline, wasMovedSince } from '../device-slots/store.ts';
import {
	ACTIVATING_JOB,
	ACTIVATING_MS,
	ADDED_JOB,
	CONNECTION_JOB,
	GRANT_JOB,
	SIGN_JOB
} from '../job-kinds.ts';
import * as store from './store.ts';

/**
 * What has to be told to gateways when a pass begins or changes. Everything is noted in the transaction of the change
 * and done by a job, so that nothing is lost when a process dies.
 */

/**
 * Where a gateway cannot be told to put a device out, or does not do it, the old one stays in beside the new one: a pass
 * is moved once in this time there, so that it collects no devices.
 */
const MOVE_AGAIN_MS = 60 * 60 * 1000;
/** The page of a purchase may be opened as often as anybody likes: its user is told again once in this time. */
const TELL_USER_AGAIN_MS = 10 * 1000;

export interface AccessPlanParts {
	clock: Clock;
	jobs: Jobs;
	gateways: Gateways;
	routers: Pick<Routers, 'known'>;
}

export interface Plan extends AccessPlan {
	/**
	 * A purchase was opened on a new visit: its device is let in, where the pass has room for it. Where users are told, a
	 * gateway that sends somebody here may have forgotten the user, or have refused it: that is told again.
	 * @param isIn the gateway says that the device is online: such a visit brings nothing to let it in with
	 */
	deviceCame(trx: Tx, pass: PassPlace, isIn: boolean): Promise<void>;
	/** A router has got a gateway: where that is told of users, it hears of those whose time runs. */
	gatewayCame(trx: Tx, routerId: number, passes: Iterable<PassPlace>): Promise<void>;
	/** The newest device takes the place of the others. @returns false when there is none, or it is too soon */
	move(trx: Tx, pass: PassPlace): Promise<boolean>;
}

/** What of a session says where its pass is valid. */
export type PassPlace = Pick<SessionRow, 'pass_id' | 'router_id' | 'max_devices'>;

interface GrantSubject {
	gatewayId: number;
	mac: string | null;
	captiveSessionId: number | null;
}

export function createPlan({ clock, jobs, gateways, routers }: AccessPlanParts): Plan {
	/** Gateways of a router that have to be told, or fetch what they are told. */
	async function told(queries: Queries, routerId: number) {
		const all = await gateways.ofRouter(queries, routerId);
		return all.flatMap((gateway) => {
			const adapter = adapterOf(gateway.kind);
			const mode = adapter.controlMode(gateway);
			if (mode !== 'push' && mode !== 'poll') return [];
			return [
				{
					gateway,
					subject: mode === 'poll' ? ('device' as const) : (adapter.controller?.subject ?? 'device')
				}
			];
		});
	}

	async function grant(
		trx: Tx,
		passId: number,
		{ gatewayId, mac, captiveSessionId }: GrantSubject
	): Promise<void> {
		const now = clock.now();
		const open = await store.openGrantsOf(trx, passId);
		const same = open.find(
			(one) =>
				one.gateway_id === gatewayId &&
				one.mac === mac &&
				one.released_at === null &&
				one.state !== 'revoking'
		);
		// It came again as a stranger: the gateway has forgotten it, or never heard.
		const to = {
			state: 'granting',
			visit_id: captiveSessionId,
			until_at: null,
			granted_at: null,
			updated_at: now
		} as const;
		const row = same
			? await store.changeGrant(
					trx,
					{ id: same.id, state: ['granting', 'granted'], wanted: true },
					{ ...to, revision: same.revision + 1 }
				)
			: await store.insertGrant(trx, {
					...to,
					pass_id: passId,
					gateway_id: gatewayId,
					mac,
					released_at: null,
					revoked_at: null,
					asked_at: null,
					is_marked: 1,
					last_error: null,
					created_at: now
				});
		if (row) await jobs.schedule(trx, GRANT_JOB, row.id, now);
	}

	/** Devices of a pass, newest first, at gateways that are told of devices. */
	async function devicesToTell(trx: Tx, pass: PassPlace, targets: Awaited<ReturnType<typeof told>>) {
		const place = { passId: pass.pass_id, routerId: pass.router_id };
		return (await store.devicesOf(trx, place, clock.now())).filter(({ gateway_id }) =>
			targets.some(({ gateway, subject }) => subject === 'device' && gateway.id === gateway_id)
		);
	}

	/** How many others hold a place at a gateway that is not told, beside the devices of some grants. */
	async function placesBeside(
		trx: Tx,
		{ pass_id: passId }: PassPlace,
		grants: readonly store.GrantRow[],
		{ mac }: store.DeviceCaptiveSession
	): Promise<number> {
		const others = await placesOfOthers(trx, { passId, mac }, clock.now());
		return others.filter((other) => grants.every((one) => one.mac !== other)).length;
	}

	/** Adds grants for the devices and users of a pass that gateways must be told of. @returns how many */
	async function grantAll(trx: Tx, pass: PassPlace): Promise<number> {
		const targets = await told(trx, pass.router_id);
		if (targets.length === 0) return 0;
		const devices = await devicesToTell(trx, pass, targets);
		const subjects: GrantSubject[] = [
			...targets
				.filter(({ subject }) => subject === 'user')
				.map(({ gateway }) => ({ gatewayId: gateway.id, mac: null, captiveSessionId: null })),
			...devices
				.slice(0, pass.max_devices)
				.map(({ id, gateway_id, mac }) => ({ gatewayId: gateway_id, mac, captiveSessionId: id }))
		];
		for (const subject of subjects) await grant(trx, pass.pass_id, subject);
		return subjects.length;
	}

	/**
	 * Adds the grants of a pass that are missing at gateways that are told of users.
	 * @param againAt the gateway that may have forgotten its user; null where none has said anything
	 */
	async function tellUsers(
		trx: Tx,
		pass: PassPlace,
		targets: Awaited<ReturnType<typeof told>>,
		againAt: number | null
	): Promise<void> {
		const now = clock.now();
		const open = (await store.openGrantsOf(trx, pass.pass_id)).filter(
			({ mac, released_at, state }) => mac === null && released_at === null && state !== 'revoking'
		);
		for (const { gateway, subject } of targets) {
			if (subject !== 'user') continue;
			const own = open.find(({ gateway_id }) => gateway_id === gateway.id);
			if (!own) await grant(trx, pass.pass_id, { gatewayId: gateway.id, mac: null, captiveSessionId: null });
			else if (gateway.id === againAt && Math.abs(now - own.updated_at) > TELL_USER_AGAIN_MS) {
				// One that is being told counts when it is answered; it only need not wait for its next turn.
				if (own.state === 'granted') await store.tellAnew(trx, own.id, now);
				await jobs.schedule(trx, GRANT_JOB, own.id, now);
			}
		}
	}

	/** The device of a pass that came last, whatever its gateway. */
	async function newestOf(trx: Tx, pass: PassPlace): Promise<store.DeviceCaptiveSession | null> {
		const place = { passId: pass.pass_id, routerId: pass.router_id };
		const [newest] = await store.devicesOf(trx, place, clock.now());
		return newest ?? null;
	}

	/** Whether a device is at a gateway that lets it in without being told. */
	const signsInByItself = (
		device: store.DeviceCaptiveSession | null,
		targets: Awaited<ReturnType<typeof told>>
	): boolean => device !== null && targets.every(({ gateway }) => gateway.id !== device.gateway_id);

	/**
	 * Where devices sign in by RADIUS, the newest one has its place before it does: the other, put out, would sign in
	 * again by itself, and faster.
	 */
	async function reserve(
		trx: Tx,
		pass: PassPlace,
		{ gateway_id: gatewayId, mac }: store.DeviceCaptiveSession
	) {
		const all = await gateways.ofRouter(trx, pass.router_id);
		const isRadius = all.some(
			(one) => one.id === gatewayId && adapterOf(one.kind).controlMode(one) === 'radius'
		);
		if (!isRadius) return;
		const place = { passId: pass.pass_id, gatewayId, mac, maxDevices: pass.max_devices };
		await takePlace(trx, jobs, place, clock.now());
	}

	async function isMovedTooSoon(trx: Tx, pass: PassPlace, newest: store.DeviceCaptiveSession, now: number) {
		const all = await gateways.ofRouter(trx, pass.router_id);
		const gateway = all.find(({ id }) => id === newest.gateway_id);
		// These take nobody out again: they come for who is to be let in.
		const fetching = all.filter((one) => adapterOf(one.kind).controlMode(one) === 'poll').map(({ id }) => id);
		const since = now - MOVE_AGAIN_MS;
		// Where the gateway reports who is there, it is known how long the old one stays.
		const heard = { after: heardSince(now), before: heardUntil(now) };
		return (
			(gateway !== undefined &&
				adapterOf(gateway.kind).controlMode(gateway) === 'browser' &&
				(await wasMovedSince(trx, pass.pass_id, since))) ||
			(await store.hasMovedIn(trx, { passId: pass.pass_id, gatewayIds: fetching, since }, now)) ||
			(await hasMovedOnline(trx, { passId: pass.pass_id, exceptMac: newest.mac }, heard))
		);
	}

	async function changed(trx: Tx, passId: number): Promise<void> {
		const now = clock.now();
		for (const { id } of await store.openGrantsOf(trx, passId)) {
			await jobs.schedule(trx, GRANT_JOB, id, now);
		}
		// What is to be told is another end from now on: attempts to tell the one before are not its own.
		await forgetAttempts(trx, passId);
		for (const { id } of await store.openConnectionsOf(trx, passId)) {
			await jobs.schedule(trx, CONNECTION_JOB, id, now);
		}
	}

	return {
		async deviceCame(trx, pass, isIn) {
			const targets = await told(trx, pass.router_id);
			const last = await newestOf(trx, pass);
			// It was paid before its visit was bound, and waits for a gateway that its buyer is not at.
			if (signsInByItself(last, targets)) await jobs.schedule(trx, SIGN_JOB, pass.pass_id, clock.now());
			if (targets.some(({ subject }) => subject === 'user')) {
				await tellUsers(trx, pass, targets, isIn ? null : (last?.gateway_id ?? null));
			}
			const [newest] = await devicesToTell(trx, pass, targets);
			if (!newest) return;
			const inside = (await store.openGrantsOf(trx, pass.pass_id)).filter(
				({ mac, released_at, state }) => mac !== null && released_at === null && state !== 'revoking'
			);
			const own = inside.find(
				({ mac, gateway_id }) => mac === newest.mac && gateway_id === newest.gateway_id
			);
			if (own && (isIn || own.visit_id === newest.id)) return;
			if (!own && inside.length + (await placesBeside(trx, pass, inside, newest)) >= pass.max_devices) return;
			await grant(trx, pass.pass_id, {
				gatewayId: newest.gateway_id,
				mac: newest.mac,
				captiveSessionId: newest.id
			});
		},
		async gatewayCame(trx, routerId, passes) {
			const targets = await told(trx, routerId);
			for (const pass of passes) await tellUsers(trx, pass, targets, null);
		},
		async move(trx, pass) {
			const place = { passId: pass.pass_id, routerId: pass.router_id };
			const [newest] = await store.devicesOf(trx, place, clock.now());
			if (!newest) return false;
			const now = clock.now();
			if (await isMovedTooSoon(trx, pass, newest, now)) return false;
			for (const { id, mac, gateway_id } of await store.openGrantsOf(trx, pass.pass_id)) {
				if (mac === newest.mac && gateway_id === newest.gateway_id) continue;
				const to = { released_at: now, updated_at: now };
				const from = { id, state: ['granting', 'granted'], wanted: true } as const;
				const released = await store.changeGrant(trx, from, to);
				// A user is put out with whatever device, and may come in again with the new one.
				if (released && mac === null) {
					await grant(trx, pass.pass_id, { gatewayId: gateway_id, mac: null, captiveSessionId: null });
				}
			}
			await store.releaseDevices(trx, { passId: pass.pass_id, exceptMac: newest.mac }, now);
			await reserve(trx, pass, newest);
			const targets = await told(trx, pass.router_id);
			if (targets.some(({ gateway, subject }) => subject === 'device' && gateway.id === newest.gateway_id)) {
				await grant(trx, pass.pass_id, {
					gatewayId: newest.gateway_id,
					mac: newest.mac,
					captiveSessionId: newest.id
				});
			}
			await changed(trx, pass.pass_id);
			return true;
		},
		async begin(trx, row) {
			const now = clock.now();
			const hasGrants = (await grantAll(trx, row)) > 0;
			// Other gateways of the router are told, but nobody waits for them.
			if (!hasGrants || signsInByItself(await newestOf(trx, row), await told(trx, row.router_id))) {
				if (!isUnresponsive(await routers.known(trx, row.router_id))) return null;
				await jobs.schedule(trx, SIGN_JOB, row.id, now + SIGN_MS);
			}
			const until = now + ACTIVATING_MS;
			// Apart from the grants, which go with their gateway when somebody removes it.
			await jobs.schedule(trx, ACTIVATING_JOB, row.id, until);
			return until;
		},
		// Also where nobody has to be told yet: its device may come to a gateway that has to be.
		added: (trx, { id }, startsAt) => jobs.schedule(trx, ADDED_JOB, id, startsAt + ACTIVATING_MS),
		changed
	};
}
