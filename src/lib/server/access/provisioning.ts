import { type Held } from '../db/locks.ts';
import {
	type Gateways,
	type RegisteredGateway,
	findGatewaysOfRouter,
	namesDevices,
	findSharingConsole
} from '../gateways/gateways.ts';
import { type GatewayTransport } from '../gateways/gateway.ts';
import { type CalledGateways } from './compare.ts';
import { type PskCandidates } from './radius-login.ts';
import {
	type BroughtDevice,
	findDevices,
	findNewestDevice,
	findSlotsInUse,
	findAllSlots,
	releaseOtherSlots,
	takeSlot,
	wasMovedSince,
	hasMovedOnline,
	computeReportWindow,
	type SlotRow
} from './device-slots.ts';
import {
	type AdmissionRow,
	SAME_END_MS,
	findAdmissions,
	findWanted,
	forgetUser,
	listOtherMacs,
	releaseAdmission,
	requestDevice,
	scheduleComparison,
	schedulePassComparisons
} from './admissions.ts';
import type { BillingServices } from '../billing/payments.ts';
import {
	type Provisioning,
	type SessionRow,
	startTime,
	cancelWaiting,
	findActiveSessions,
	lockSession,
	endExtraTime,
	findLaterSessions,
	cancelUnconfirmed
} from '../billing/sessions.ts';
import type { Base } from '../base.ts';
import type { CaptiveSessions, Moved } from '../gateways/captive-sessions.ts';
import type { Offers } from '../offers.ts';
import {
	type RouterRow,
	type Routers,
	findRouterOrThrow,
	isUnresponsive,
	isUnverified,
	keepRouter
} from '../routers/routers.ts';
import { type PassRow, findPassOrThrow, lockPass, setActivationDeadline } from '../passes.ts';
import type { Database, Queries, Tx, Writer } from '../db/database.ts';
import type { Fenced } from '../jobs.ts';
import { sumExtraTimeMs } from '../billing/extra-time.ts';
import { canOperatorRefund, refundUnprovisioned } from '../billing/refunds.ts';

/** Refunds a pass that no gateway confirmed in time; its subject is the pass. */
export const ACTIVATION_JOB = 'access.activating';
/** Starts a pass once its router responds; its subject is the pass. Stored jobs have this kind. */
export const AWAIT_ROUTER_JOB = 'access.sign';
/** Refunds time that no gateway confirmed: added, or started without a device. Its subject is the session. */
export const UNCONFIRMED_JOB = 'access.added';
/** A gateway must confirm a paid pass within this time. Otherwise the pass is refunded. */
const ACTIVATION_TIMEOUT_MS = 10 * 60 * 1000;

/** For what runs in a transaction of its caller. */
export interface ProvisioningContext extends Omit<Base, 'database'> {
	gateways: Gateways;
	routers: Routers;
}

export interface AccessContext extends AccessServices {
	database: Database;
}

/** For handlers of jobs. */
export type AccessJob = Fenced<AccessContext>;

/** For what a request or a job runs. */
export interface AccessWriter extends AccessServices {
	database: Writer;
}

/** For what runs in a transaction of its caller, or needs none. */
export interface AccessServices extends ProvisioningContext, BillingServices {
	gateways: Gateways;
	captiveSessions: CaptiveSessions;
	transport: GatewayTransport;
	calledGateways: CalledGateways;
	/** By gateway: the first and last fetch of a MikroTik since its report. */
	unreportedFetches: Map<number, { from: number; at: number }>;
	offers: Offers;
	pskCandidates: PskCandidates;
}

/** Whether the gateway lets in only devices or users that Airtill names to it. */
export const needsAdmissions = ({ mode }: Pick<RegisteredGateway, 'mode'>) =>
	mode === 'push' || mode === 'poll' || mode === 'fetch';

const findTargets = async (
	{ gateways }: { gateways: Gateways },
	queries: Queries,
	routerId: number
): Promise<RegisteredGateway[]> =>
	(await findGatewaysOfRouter(gateways, queries, routerId)).filter(needsAdmissions);

const letsInDevices = (targets: readonly RegisteredGateway[], gatewayId: number): boolean =>
	targets.some((gateway) => gateway.id === gatewayId && namesDevices(gateway));

/** Whether a device is at a gateway that needs no admission for it. */
const signsInItself = (device: BroughtDevice | null, targets: readonly RegisteredGateway[]): boolean =>
	device !== null && targets.every(({ id }) => id !== device.gateway_id);

const AWAIT_ROUTER_MS = 5_000;

export const createProvisioning = (context: ProvisioningContext): Provisioning => ({
	requestAdmissions: (trx, router, pass) => requestAdmissions(context, trx, router, pass),
	scheduleComparisons: (trx, passId) => schedulePassComparisons(context, trx, passId),
	scheduleUnconfirmedCheck: (trx, sessionId, startsAt) =>
		context.jobs.schedule(trx, UNCONFIRMED_JOB, sessionId, startsAt + ACTIVATION_TIMEOUT_MS)
});

async function requestAdmissions(
	context: ProvisioningContext,
	trx: Tx,
	router: RouterRow,
	pass: Held<PassRow>
): Promise<number | null> {
	const { clock, jobs } = context;
	const now = clock.now();
	const targets = await findTargets(context, trx, pass.router_id);
	const brought = await findDevices(trx, pass, now);
	const devices = brought.filter((one) => letsInDevices(targets, one.gateway_id));
	const users = targets.filter((gateway) => !namesDevices(gateway));
	for (const device of devices.slice(0, pass.max_devices)) await requestDevice(context, trx, pass.id, device);
	for (const { id } of users) await scheduleComparison(context, trx, id);
	// Only the device's own gateway delays the start.
	if (users.length + devices.length === 0 || signsInItself(brought[0] ?? null, targets)) {
		if (await mayLetIn(context, trx, router)) return null;
		await jobs.schedule(trx, AWAIT_ROUTER_JOB, pass.id, now + AWAIT_ROUTER_MS);
	}
	const until = now + ACTIVATION_TIMEOUT_MS;
	// A separate job, because a gateway may be removed.
	await jobs.schedule(trx, ACTIVATION_JOB, pass.id, until);
	return until;
}

/** False if no gateway responds, also if all were removed or replaced while the payment was on its way. */
async function mayLetIn(
	{ config, gateways }: ProvisioningContext,
	trx: Tx,
	router: RouterRow
): Promise<boolean> {
	if (isUnresponsive(router)) return false;
	if (!isUnverified(router, config)) return true;
	return (await findGatewaysOfRouter(gateways, trx, router.id)).some(({ seenAt }) => seenAt !== null);
}

/**
 * Starts a pass that needs no admission (RADIUS) as soon as its router responds (job AWAIT_ROUTER_JOB). The portal
 * sells under the same condition. Otherwise ACTIVATION_JOB refunds the pass.
 * @returns when to run again, or null when the pass does not wait
 */
export async function awaitRouter(context: AccessJob, passId: number): Promise<number | null> {
	const { clock } = context;
	return context.database.transact(async (trx) => {
		const pass = await lockPass(trx, passId);
		if (!pass || pass.activating_until === null) return null;
		const router = await findRouterOrThrow(trx, pass.router_id);
		if (!(await mayLetIn(context, trx, router))) return clock.now() + AWAIT_ROUTER_MS;
		// If the device's gateway lets in who is named to it, its confirmation starts the time.
		const newest = await findNewestDevice(context, trx, pass);
		const wanted = await findWanted(trx, passId);
		if (newest && wanted.some((one) => one.gateway_id === newest.gateway_id)) return null;
		await startTime(context, trx, pass);
		await schedulePassComparisons(context, trx, passId);
		return null;
	});
}

/**
 * Refunds a pass that no gateway confirmed within ten minutes (job ACTIVATION_JOB).
 *
 * Lost answer: a gateway may have let the device in. The buyer still gets the refund, at the owner's expense.
 * A gateway that is called disconnects the device. One that polls (openNDS level 4) cannot, because authmon
 * only fetches devices to connect: the device stays online until the end that was sent.
 * No refund possible: a person decides (`refund_not_supported`). Time that starts later would run without its
 * buyer.
 * @returns when to run again, or null when the pass does not wait
 */
export async function refundUnactivated(context: AccessJob, passId: number): Promise<number | null> {
	const { clock } = context;
	return context.database.transact(async (trx) => {
		const pass = await lockPass(trx, passId);
		const until = pass?.activating_until ?? null;
		if (!pass || until === null) return null;
		const latest = clock.now() + ACTIVATION_TIMEOUT_MS;
		// All jobs wake when the clock is set back. The buyer must not wait the extra hours.
		if (until > latest) await setActivationDeadline(context, trx, pass, latest);
		if (clock.now() < until) return Math.min(until, latest);
		for (const { id, payment_id: paymentId } of await cancelWaiting(context, trx, pass)) {
			if (paymentId === null) throw new Error(`Session ${id} waited for its gateway unpaid`);
			await refundUnprovisioned(context, trx, paymentId);
		}
		await schedulePassComparisons(context, trx, passId);
		return null;
	});
}

/**
 * Lets in the device on which a purchase was opened, if the pass has a free slot. Forgets the user at the gateway that sent
 * the device, which may have lost it.
 * @param isOnline the gateway reports the device as online, so the captive session has no sign-in data
 */
export async function letInDevice(
	context: AccessServices,
	trx: Tx,
	pass: Held<PassRow>,
	isOnline: boolean
): Promise<void> {
	const { clock, jobs } = context;
	await keepRouter(trx, pass.router_id);
	const targets = await findTargets(context, trx, pass.router_id);
	const brought = await findDevices(trx, pass, clock.now());
	const [last = null] = brought;
	// The buyer may have paid before the device came. The pass may wait for another gateway.
	if (signsInItself(last, targets)) await jobs.schedule(trx, AWAIT_ROUTER_JOB, pass.id, clock.now());
	const from = targets.find(({ id }) => id === last?.gateway_id);
	if (from && !namesDevices(from) && !isOnline) await forgetUser(context, trx, pass.id, from.id);
	const newest = brought.find((one) => letsInDevices(targets, one.gateway_id));
	if (!newest) return;
	const { captive_session_id: captiveSessionId, mac, gateway_id: gatewayId } = newest;
	const wanted = await findWanted(trx, pass.id);
	const own = wanted.find((one) => one.mac === mac && one.gateway_id === gatewayId);
	if (own && (isOnline || own.captive_session_id === captiveSessionId)) return;
	// Also for a device that is wanted: at openNDS level 4 another device can claim its MAC address.
	const inUse = await findSlotsInUse(trx, pass.id, clock.now());
	if (listOtherMacs([...wanted, ...inUse], mac).size >= pass.max_devices) return;
	// Otherwise another gateway may have let a device in.
	const isNamed = brought.every((one) => letsInDevices(targets, one.gateway_id));
	if (isNamed && isAsBefore(gatewayId, targets, pass) && !(await hasBeenIn(trx, pass.id))) {
		// No gateway has confirmed the time that runs, because it started before a device was known.
		const checkAt = clock.now() + ACTIVATION_TIMEOUT_MS;
		for (const { id } of await findActiveSessions(trx, pass.id)) {
			await jobs.schedule(trx, UNCONFIRMED_JOB, id, checkAt);
		}
	}
	await requestDevice(context, trx, pass.id, newest);
}

/** False if the gateway was replaced or changed since the start of the time: its records may be gone. */
const isAsBefore = (
	gatewayId: number,
	targets: readonly RegisteredGateway[],
	{ starts_at: startsAt }: PassRow
) => targets.some(({ id, updatedAt }) => id === gatewayId && startsAt !== null && updatedAt <= startsAt);

const hasBeenIn = async (trx: Tx, passId: number): Promise<boolean> =>
	(await findAllSlots(trx, passId)).length > 0 || (await findAdmissions(trx, passId)).length > 0;

/**
 * Some gateways cannot disconnect the old device, so it stays online beside the new one. There a pass moves
 * only once in this time, so that it does not collect devices.
 */
const MOVE_AGAIN_MS = 60 * 60 * 1000;

/**
 * Gives the slots of a pass to its newest device.
 * @param isHelp a person does it for the buyer: only if another device had the pass, and repeating it changes nothing
 */
export async function movePass(
	context: ProvisioningContext,
	trx: Tx,
	pass: Held<PassRow>,
	{ isHelp }: { isHelp: boolean }
): Promise<Moved> {
	const { clock, gateways, jobs } = context;
	await keepRouter(trx, pass.router_id);
	const newest = await findNewestDevice(context, trx, pass);
	if (!newest) return 'no_device';
	if (isHelp) {
		const beside = await findDevicesBeside(trx, pass.id, newest);
		if (beside.length === 0) return 'no_device';
		if (beside.every(({ isReleased }) => isReleased)) return 'unchanged';
	}
	const now = clock.now();
	const all = await findGatewaysOfRouter(gateways, trx, pass.router_id);
	const gateway = all.find(({ id }) => id === newest.gateway_id);
	const others = { passId: pass.id, exceptMac: newest.mac };
	if (await isTooSoon(trx, others, all, gateway, now)) return 'too_soon';
	// A user is disconnected with all its devices, and comes back at once; the new device may sign in as the same user.
	for (const { id, mac, gateway_id: gatewayId } of await findWanted(trx, pass.id)) {
		if (mac !== newest.mac || gatewayId !== newest.gateway_id) await releaseAdmission(trx, id, now);
	}
	await releaseOtherSlots(trx, others, now);
	// The disconnected old device would sign in by RADIUS faster.
	if (gateway?.mode === 'radius') {
		const order = { pass, gatewayId: gateway.id, mac: newest.mac, maxDevices: pass.max_devices };
		await takeSlot(trx, jobs, order, now);
	}
	const targets = await findTargets(context, trx, pass.router_id);
	if (letsInDevices(targets, newest.gateway_id)) await requestDevice(context, trx, pass.id, newest);
	await schedulePassComparisons(context, trx, pass.id);
	return 'moved';
}

/** Devices that had the pass before the newest one. A user, who has no MAC address, counts if it is older than that. */
async function findDevicesBeside(
	trx: Tx,
	passId: number,
	{ mac, created_at: cameAt }: { mac: string; created_at: number }
): Promise<{ isReleased: boolean }[]> {
	const slots = await findAllSlots(trx, passId);
	const rows = await findAdmissions(trx, passId);
	return [
		...slots.filter((one) => one.mac !== mac),
		...rows.filter((one) => (one.mac === null ? one.created_at < cameAt : one.mac !== mac))
	].map(({ released_at: at }) => ({ isReleased: at !== null }));
}

async function isTooSoon(
	trx: Tx,
	{ passId, exceptMac }: { passId: number; exceptMac: string },
	all: readonly RegisteredGateway[],
	own: RegisteredGateway | undefined,
	now: number
): Promise<boolean> {
	const since = now - MOVE_AGAIN_MS;
	if (own?.mode === 'browser' && (await wasMovedSince(trx, passId, since))) return true;
	// Gateways that poll never disconnect a device.
	const polling = all.filter((one) => one.mode === 'poll').map(({ id }) => id);
	const mayBeIn = ({ gateway_id: id, mac, released_at: at, ...row }: AdmissionRow) =>
		polling.includes(id) &&
		mac !== null &&
		(at ?? 0) > since &&
		Math.max(row.sent_until ?? 0, row.allowed_until ?? 0) > now;
	if ((await findAdmissions(trx, passId)).some(mayBeIn)) return true;
	return hasMovedOnline(trx, { passId, exceptMac }, computeReportWindow(now));
}

/** Stops waiting for the gateway this long before the end of the time. */
const LAST_LOOK_MS = 60_000;

/**
 * Refunds time that started without a confirmation, if the gateway does not know it ten minutes later (job
 * UNCONFIRMED_JOB): added time, whose buyer was disconnected at the old end, and time whose first device came
 * after its start. Time that follows is refunded too, and the pass is over. If the operator cannot refund, calls
 * continue until shortly before the end. Then a person decides.
 * @returns when to run again, or null when the gateway knows, or the time is over or refunded
 */
export async function refundUnconfirmed(context: AccessJob, sessionId: number): Promise<number | null> {
	const { clock } = context;
	return context.database.transact(async (trx) => {
		const session = await lockSession(trx, sessionId);
		if (!session) throw new Error(`Session ${sessionId} is gone`);
		const { starts_at: startsAt, expires_at: expiresAt, pass_id: passId, status } = session;
		if (startsAt === null || expiresAt === null || passId === null) return null;
		if (status !== 'active' && status !== 'expired') return null;
		// All jobs wake when the clock is set back.
		const [first] = await findAdmissions(trx, passId);
		const lookAt = Math.max(startsAt, first?.created_at ?? 0) + ACTIVATION_TIMEOUT_MS;
		if (clock.now() < lookAt) return lookAt;
		// Only paid time is refunded: a gateway may miss the end of free time.
		const paidUntil = expiresAt - (await sumExtraTimeMs(trx, session));
		const time = { passId, routerId: session.router_id, startsAt, expiresAt: paidUntil };
		if (await isKnown(context, trx, time)) return null;
		const isRefundable = (one: SessionRow) => canOperatorRefund(context, trx, requirePayment(one));
		const lastLookAt = expiresAt - LAST_LOOK_MS;
		if (clock.now() < lastLookAt && !(await isRefundable(session))) return lastLookAt;
		if (status === 'expired') await endExtraTime(context, trx, session);
		for (const one of [session, ...(await findLaterSessions(trx, session))]) {
			const isCancelled =
				(one.id === sessionId || (await isRefundable(one))) && (await cancelUnconfirmed(context, trx, one));
			if (isCancelled) await refundUnprovisioned(context, trx, requirePayment(one));
		}
		await schedulePassComparisons(context, trx, passId);
		return null;
	});
}

function requirePayment({ id, payment_id: paymentId }: SessionRow): number {
	if (paymentId === null) throw new Error(`Session ${id} runs unpaid`);
	return paymentId;
}

interface PaidTime {
	passId: number;
	routerId: number;
	startsAt: number;
	expiresAt: number;
}

/** Whether the gateway of the buyer's device knows the new end; without a device, whether any does. */
async function isKnown(context: AccessServices, trx: Tx, time: PaidTime): Promise<boolean> {
	const { passId, routerId, startsAt } = time;
	const gateways = await findGatewaysOfRouter(context.gateways, trx, routerId);
	const [newest] = await findDevices(trx, { id: passId, router_id: routerId }, context.clock.now());
	const own = gateways.find(({ id }) => id === newest?.gateway_id);
	if (own && !needsAdmissions(own)) return true;
	const rows = await findAdmissions(trx, passId);
	if (rows.length === 0) return true;
	const sharing = own ? await findSharingConsole(trx, own) : [];
	const atOwn = rows.filter(({ gateway_id: id }) => sharing.includes(id));
	const { starts_at: passStart } = await findPassOrThrow(trx, passId);
	// Added time was cut off at the old end, so only the own gateway counts, beside those that cannot disconnect a device;
	// first time may have begun anywhere.
	const isAnywhere = startsAt === passStart || atOwn.length === 0;
	const polling = gateways.filter(({ mode }) => mode === 'poll').map(({ id }) => id);
	const counts = (row: AdmissionRow) => isAnywhere || atOwn.includes(row) || polling.includes(row.gateway_id);
	const isConfirmed = (row: AdmissionRow) => (row.allowed_until ?? 0) >= time.expiresAt - SAME_END_MS;
	if (rows.some((row) => counts(row) && isConfirmed(row))) return true;
	// A device may be, or have been, online at a gateway that asks. If that sends no reports, the sign-in counts.
	const lastSign = (slot: SlotRow) => (slot.expected_until === null ? slot.reported_at : slot.bound_at);
	return (await findAllSlots(trx, passId)).some((slot) => lastSign(slot) > startsAt);
}
