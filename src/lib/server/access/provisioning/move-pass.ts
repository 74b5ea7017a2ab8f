import type { Tx } from '#lib/server/db/database.ts';
import type { Moved } from '#lib/server/gateways/captive-sessions/captive-sessions.ts';
import type { RegisteredGateway } from '#lib/server/gateways/gateways.ts';
import { hasMovedOnline } from '../device-slots/connection-store.ts';
import { currentReports, takeSlot } from '../device-slots/device-slots.ts';
import { releaseOtherSlots, allSlots, wasMovedSince } from '../device-slots/store.ts';
import type { PassRow } from '../../passes/passes.ts';
import type { ProvisioningContext } from './context.ts';
import * as store from './grants/store.ts';
import { scheduleGatewayCalls, requestGrant, userAt } from './request-grant.ts';
import { grantsDevices, newestDevice, targetsAt } from './targets.ts';

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
	pass: PassRow,
	{ isHelp }: { isHelp: boolean }
): Promise<Moved> {
	const { clock, gateways, jobs } = context;
	const newest = await newestDevice(context, trx, pass);
	if (!newest) return 'no_device';
	if (isHelp) {
		const beside = await devicesBeside(trx, pass.id, newest);
		if (beside.length === 0) return 'no_device';
		if (beside.every(({ isReleased }) => isReleased)) return 'unchanged';
	}
	const now = clock.now();
	const all = await gateways.ofRouter(trx, pass.router_id);
	const gateway = all.find(({ id }) => id === newest.gateway_id);
	const others = { passId: pass.id, exceptMac: newest.mac };
	if (await isTooSoon(trx, others, all, gateway, now)) return 'too_soon';
	for (const { id, mac, gateway_id: gatewayId } of await store.openGrantsOf(trx, pass.id)) {
		if (mac === newest.mac && gatewayId === newest.gateway_id) continue;
		const released = await store.changeWanted(trx, { id }, { released_at: now, updated_at: now });
		// Revoking a user disconnects all its devices; the new one may sign in as the same user.
		if (released && mac === null) await requestGrant(context, trx, pass.id, userAt(gatewayId));
	}
	await releaseOtherSlots(trx, others, now);
	// The disconnected old device would sign in by RADIUS faster.
	if (gateway?.mode === 'radius') {
		const order = { passId: pass.id, gatewayId: gateway.id, mac: newest.mac, maxDevices: pass.max_devices };
		await takeSlot(trx, jobs, order, now);
	}
	const targets = await targetsAt(context, trx, pass.router_id);
	if (grantsDevices(targets, newest.gateway_id)) await requestGrant(context, trx, pass.id, newest);
	await scheduleGatewayCalls(context, trx, pass.id);
	return 'moved';
}

/** Devices that had the pass before the newest one. A user, who has no MAC address, counts if it is older than that. */
async function devicesBeside(
	trx: Tx,
	passId: number,
	{ mac, created_at: cameAt }: { mac: string; created_at: number }
): Promise<{ isReleased: boolean }[]> {
	const slots = await allSlots(trx, passId);
	const grants = await store.grantsOf(trx, passId);
	return [
		...slots.filter((one) => one.mac !== mac),
		...grants.filter((one) => (one.mac === null ? one.created_at < cameAt : one.mac !== mac))
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
	if (await store.hasMovedIn(trx, { passId, gatewayIds: polling, since }, now)) return true;
	return hasMovedOnline(trx, { passId, exceptMac }, currentReports(now));
}
