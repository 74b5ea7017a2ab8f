import type { Tx } from '#lib/server/db/database.ts';
import type { RegisteredGateway } from '#lib/server/gateways/gateways.ts';
import { slotsInUse } from '../device-slots/device-slots.ts';
import { allSlots } from '../device-slots/store.ts';
import { ACTIVATION_TIMEOUT_MS, AWAIT_ROUTER_JOB, UNCONFIRMED_JOB } from '../job-kinds.ts';
import type { PassRow } from '../../passes/passes.ts';
import type { AccessContext } from './context.ts';
import { devicesOf } from './devices.ts';
import * as store from './grants/store.ts';
import { requestGrant, requestUsers } from './request-grant.ts';
import { grantsDevices, signsInItself, targetsAt } from './targets.ts';

/**
 * Lets in the device on which a purchase was opened, if the pass has a free slot. Requests a user again,
 * because the gateway that sent the device may have lost it.
 * @param isOnline the gateway reports the device as online, so the captive session has no sign-in data
 */
export async function letInDevice(
	context: AccessContext,
	trx: Tx,
	pass: PassRow,
	isOnline: boolean
): Promise<void> {
	const { clock, jobs, sessions } = context;
	const targets = await targetsAt(context, trx, pass.router_id);
	const brought = await devicesOf(trx, pass, clock.now());
	const [last = null] = brought;
	// The buyer may have paid before the device came. The pass may wait for another gateway.
	if (signsInItself(last, targets)) await jobs.schedule(trx, AWAIT_ROUTER_JOB, pass.id, clock.now());
	await requestUsers(context, trx, pass, targets, isOnline ? null : (last?.gateway_id ?? null));
	const newest = brought.find((one) => grantsDevices(targets, one.gateway_id));
	if (!newest) return;
	const { captive_session_id: captiveSessionId, mac, gateway_id: gatewayId } = newest;
	const wanted = await store.wantedGrantsOf(trx, pass.id);
	const own = wanted.find((one) => one.mac === mac && one.gateway_id === gatewayId);
	if (own && (isOnline || own.captive_session_id === captiveSessionId)) return;
	// Also for a device with a grant: at openNDS level 4 another device can claim its MAC address.
	const inUse = await slotsInUse(trx, pass.id, clock.now());
	if (store.otherMacs([...wanted, ...inUse], mac).size >= pass.max_devices) return;
	// Otherwise a gateway without grants may have let a device in.
	const needGrants = brought.every((one) => grantsDevices(targets, one.gateway_id));
	if (needGrants && isAsBefore(gatewayId, targets, pass) && !(await hasBeenIn(trx, pass.id))) {
		// No gateway has confirmed the time that runs, because it started before a device was known.
		const checkAt = clock.now() + ACTIVATION_TIMEOUT_MS;
		for (const { id } of await sessions.activeOf(trx, pass.id)) {
			await jobs.schedule(trx, UNCONFIRMED_JOB, id, checkAt);
		}
	}
	await requestGrant(context, trx, pass.id, newest);
}

/** False if the gateway was replaced or changed since the start of the time: its records may be gone. */
const isAsBefore = (
	gatewayId: number,
	targets: readonly RegisteredGateway[],
	{ starts_at: startsAt }: PassRow
) => targets.some(({ id, updatedAt }) => id === gatewayId && startsAt !== null && updatedAt <= startsAt);

const hasBeenIn = async (trx: Tx, passId: number): Promise<boolean> =>
	(await allSlots(trx, passId)).length > 0 || (await store.grantsOf(trx, passId)).length > 0;
