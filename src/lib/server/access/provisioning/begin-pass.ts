import type { Provisioning } from '#lib/server/billing/sessions/sessions.ts';
import type { Tx } from '#lib/server/db/database.ts';
import { namesDevices } from '#lib/server/gateways/gateways.ts';
import { isUnresponsive, isUnverified } from '#lib/server/routers/routers.ts';
import { ACTIVATION_JOB, ACTIVATION_TIMEOUT_MS, UNCONFIRMED_JOB, AWAIT_ROUTER_JOB } from '../job-kinds.ts';
import { find, type PassRow } from '../../passes/passes.ts';
import type { AccessContext, ProvisioningContext } from './context.ts';
import { devicesOf } from './devices.ts';
import * as store from './grants/store.ts';
import { scheduleGatewayCalls, scheduleRevokes, requestGrant, userAt } from './request-grant.ts';
import { grantsDevices, newestDevice, signsInItself, targetsAt } from './targets.ts';

const AWAIT_ROUTER_MS = 5_000;

/** Needs no sessions, so it is created before them. */
export const createProvisioning = (context: ProvisioningContext): Provisioning => ({
	requestGrants: (trx, pass) => requestGrants(context, trx, pass),
	scheduleGatewayCalls: (trx, passId) => scheduleGatewayCalls(context, trx, passId),
	scheduleUnconfirmedCheck: (trx, sessionId, startsAt) =>
		context.jobs.schedule(trx, UNCONFIRMED_JOB, sessionId, startsAt + ACTIVATION_TIMEOUT_MS)
});

async function requestGrants(context: ProvisioningContext, trx: Tx, pass: PassRow): Promise<number | null> {
	const { clock, jobs } = context;
	const now = clock.now();
	const targets = await targetsAt(context, trx, pass.router_id);
	const brought = await devicesOf(trx, pass, now);
	const devices = brought.filter((one) => grantsDevices(targets, one.gateway_id));
	const subjects = [
		...targets.filter((gateway) => !namesDevices(gateway)).map(({ id }) => userAt(id)),
		...devices.slice(0, pass.max_devices)
	];
	for (const subject of subjects) await requestGrant(context, trx, pass.id, subject);
	// Only grants at the device's own gateway delay the start.
	if (subjects.length === 0 || signsInItself(brought[0] ?? null, targets)) {
		if (await mayLetIn(context, trx, pass)) return null;
		await jobs.schedule(trx, AWAIT_ROUTER_JOB, pass.id, now + AWAIT_ROUTER_MS);
	}
	const until = now + ACTIVATION_TIMEOUT_MS;
	// A separate job, because grants are deleted with their gateway.
	await jobs.schedule(trx, ACTIVATION_JOB, pass.id, until);
	return until;
}

/** False if no gateway responds, also if all were removed or replaced while the payment was on its way. */
async function mayLetIn(
	{ config, gateways, routers }: ProvisioningContext,
	trx: Tx,
	{ router_id: routerId }: PassRow
): Promise<boolean> {
	const router = await routers.findOrThrow(trx, routerId);
	if (isUnresponsive(router)) return false;
	if (!isUnverified(router, config)) return true;
	return (await gateways.ofRouter(trx, routerId)).some(({ seenAt }) => seenAt !== null);
}

/**
 * Starts a pass that needs no grant (RADIUS) as soon as its router responds (job AWAIT_ROUTER_JOB). The portal
 * sells under the same condition. Otherwise ACTIVATION_JOB refunds the pass.
 * @returns when to run again, or null when the pass does not wait
 */
export async function awaitRouter(context: AccessContext, passId: number): Promise<number | null> {
	const { clock, sessions } = context;
	return context.database.transact(async (trx) => {
		const pass = await find(trx, passId);
		if (!pass || pass.activating_until === null) return null;
		if (!(await mayLetIn(context, trx, pass))) return clock.now() + AWAIT_ROUTER_MS;
		// If the device's gateway needs a grant, its confirmation starts the time.
		const newest = await newestDevice(context, trx, pass);
		const wanted = (await store.openGrantsOf(trx, passId)).filter((one) => one.released_at === null);
		if (newest && wanted.some((one) => one.gateway_id === newest.gateway_id)) return null;
		await sessions.startTime(trx, pass);
		return null;
	});
}

/**
 * Refunds a pass that no gateway confirmed within ten minutes (job ACTIVATION_JOB). Releases its grants.
 *
 * Lost answer: a gateway may have let the device in. The buyer still gets the refund, at the owner's expense.
 * A gateway that is called disconnects the device. One that polls (openNDS level 4) cannot, because authmon
 * only fetches devices to connect: the device stays online until the end that was sent.
 * No refund possible: a person decides (`refund_not_supported`). Time that starts later would run without its
 * buyer.
 * @returns when to run again, or null when the pass does not wait
 */
export async function activationTimeout(context: AccessContext, passId: number): Promise<number | null> {
	const { clock, passes, sessions, payments } = context;
	return context.database.transact(async (trx) => {
		const until = (await find(trx, passId))?.activating_until ?? null;
		if (until === null) return null;
		const latest = clock.now() + ACTIVATION_TIMEOUT_MS;
		// All jobs wake when the clock is set back. The buyer must not wait the extra hours.
		if (until > latest) await passes.setActivationDeadline(trx, passId, latest);
		if (clock.now() < until) return Math.min(until, latest);
		for (const { id, payment_id: paymentId } of await sessions.cancelWaiting(trx, passId)) {
			if (paymentId === null) throw new Error(`Session ${id} waited for its gateway unpaid`);
			await payments.refundUnprovisioned(trx, paymentId);
		}
		await scheduleRevokes(context, trx, passId);
		return null;
	});
}
