import type { SessionRow } from '#lib/server/billing/sessions/sessions.ts';
import type { Tx } from '#lib/server/db/database.ts';
import { allSlots, type SlotRow } from '../device-slots/store.ts';
import { ACTIVATION_TIMEOUT_MS, SAME_END_MS } from '../job-kinds.ts';
import type { AccessContext } from './context.ts';
import { devicesOf } from './devices.ts';
import * as store from './grants/store.ts';
import { scheduleRevokes } from './request-grant.ts';
import { needsGrants } from './targets.ts';

/** Stops waiting for the gateway this long before the end of the time. */
const LAST_LOOK_MS = 60_000;

/**
 * Refunds time that started without a confirmation, if the gateway does not know it ten minutes later (job
 * UNCONFIRMED_JOB): added time, whose buyer was disconnected at the old end, and time whose first device came
 * after its start. Time that follows is refunded too, and the pass is over. If the operator cannot refund, calls
 * continue until shortly before the end. Then a person decides.
 * @returns when to run again, or null when the gateway knows, or the time is over or refunded
 */
export async function refundUnconfirmed(context: AccessContext, sessionId: number): Promise<number | null> {
	const { clock, sessions, payments } = context;
	return context.database.transact(async (trx) => {
		const session = await sessions.findOrThrow(trx, sessionId);
		const { starts_at: startsAt, expires_at: expiresAt, pass_id: passId, status } = session;
		if (startsAt === null || expiresAt === null || passId === null) return null;
		if (status !== 'active' && status !== 'expired') return null;
		// All jobs wake when the clock is set back.
		const [first] = await store.grantsOf(trx, passId);
		const lookAt = Math.max(startsAt, first?.created_at ?? 0) + ACTIVATION_TIMEOUT_MS;
		if (clock.now() < lookAt) return lookAt;
		// Only paid time is refunded: a gateway may miss the end of free time.
		const paidUntil = expiresAt - (await sessions.extraTimeMs(trx, session));
		const time = { passId, routerId: session.router_id, startsAt, expiresAt: paidUntil };
		if (await isKnown(context, trx, time)) return null;
		const canRefund = (one: SessionRow) => payments.operatorRefunds(trx, paymentOf(one));
		const lastLookAt = expiresAt - LAST_LOOK_MS;
		if (clock.now() < lastLookAt && !(await canRefund(session))) return lastLookAt;
		if (status === 'expired') await sessions.endExtraTime(trx, session);
		let isOver = true;
		for (const one of [session, ...(await sessions.laterInPass(trx, session))]) {
			if (one.id !== sessionId && !(await canRefund(one))) isOver = false;
			else if (await sessions.cancelUnconfirmed(trx, one.id))
				await payments.refundUnprovisioned(trx, paymentOf(one));
		}
		if (isOver) await scheduleRevokes(context, trx, passId);
		return null;
	});
}

function paymentOf({ id, payment_id: paymentId }: SessionRow): number {
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
async function isKnown(context: AccessContext, trx: Tx, time: PaidTime): Promise<boolean> {
	const { passId, routerId, startsAt } = time;
	const gateways = await context.gateways.ofRouter(trx, routerId);
	const [newest] = await devicesOf(trx, { id: passId, router_id: routerId }, context.clock.now());
	const own = gateways.find(({ id }) => id === newest?.gateway_id);
	if (own && !needsGrants(own)) return true;
	const grants = await store.grantsOf(trx, passId);
	if (grants.length === 0) return true;
	const sharing = own ? await context.gateways.sharingConsole(trx, own) : [];
	const atOwn = grants.filter(({ gateway_id: id }) => sharing.includes(id));
	const { starts_at: passStart } = await context.passes.findOrThrow(trx, passId);
	// Added time was cut off at the old end, so only the own gateway counts, beside those that cannot disconnect a device;
	// first time may have begun anywhere.
	const isAnywhere = startsAt === passStart || atOwn.length === 0;
	const polling = gateways.filter(({ mode }) => mode === 'poll').map(({ id }) => id);
	const counts = (grant: store.GrantRow) =>
		isAnywhere || atOwn.includes(grant) || polling.includes(grant.gateway_id);
	if (grants.some((grant) => counts(grant) && isConfirmed(grant, time))) return true;
	// A device may be, or have been, online at a gateway without grants. If that sends no reports, the sign-in counts.
	const lastSign = (slot: SlotRow) => (slot.expected_until === null ? slot.reported_at : slot.bound_at);
	return (await allSlots(trx, passId)).some((slot) => lastSign(slot) > startsAt);
}

const isConfirmed = ({ confirmed_end_at: at }: store.GrantRow, { expiresAt }: Pick<PaidTime, 'expiresAt'>) =>
	(at ?? 0) >= expiresAt - SAME_END_MS;
