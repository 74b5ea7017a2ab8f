import { dataLeft } from '#lib/domain/data-limit.ts';
import { MINUTE_MS } from '#lib/domain/time/time.ts';
import { passOfUser } from '#lib/domain/wifi/pass-username.ts';
import type { Tx } from '../db/database.ts';
import type { Speed } from '../gateways/gateway.ts';
import type { RegisteredGateway } from '../gateways/gateways.ts';
import { sha256 } from '../platform/secrets.ts';
import { takeSlot } from './device-slots/device-slots.ts';
import { changeSlot, slotOf } from './device-slots/store.ts';
import { passState, speedOf } from '../passes/passes.ts';
import type { AccessContext } from './provisioning/context.ts';
import { countData } from './provisioning/count-data.ts';
import { devicesOf } from './provisioning/devices.ts';
import { confirmFetched, confirmPass } from './provisioning/grants/fetched-grants.ts';
import { controllerOf } from './provisioning/targets.ts';

/** GNU wget of earlier scripts repeats a report 20 times, for about seven minutes, if the response is lost. */
const REPEATED_MS = 15 * MINUTE_MS;

/** A client of openNDS, as its BinAuth script reports it: a device from one sign-in to its end. */
interface OpenndsClient {
	/** `aa:bb:cc:dd:ee:ff` */
	mac: string;
	token: string;
	user: string;
}

/**
 * Decides whether openNDS may let in a device that signed in (BinAuth). Security: anybody can guess
 * usernames. So MAC address and token (hash: `hid`) must match a captive session on which the pass was bought
 * or opened.
 * @returns whole seconds until the device's end, its speed and the bytes that are left; null to refuse
 */
export async function admitClient(
	context: AccessContext,
	gateway: RegisteredGateway,
	client: OpenndsClient
): Promise<{ seconds: number; speed: Speed; dataLeft: number | null } | null> {
	const { database, clock, jobs } = context;
	const passId = passOfUser(client.user);
	if (passId === null || gateway.mode !== 'browser') return null;
	if (!(await newestLogin(context, gateway, passId, client))?.isThisLogin) return null;
	return database.transact(async (trx: Tx) => {
		const now = clock.now();
		const state = await passState(trx, { passId, routerId: gateway.routerId }, now);
		if (state.kind !== 'runs') return null;
		const order = { passId, gatewayId: gateway.id, mac: client.mac, maxDevices: state.pass.max_devices };
		// openNDS sends no report before it disconnects the device, so the slot counts until the end.
		if (!(await takeSlot(trx, jobs, order, now, state.untilMs))) return null;
		const seconds = Math.max(1, Math.ceil((state.untilMs - now) / 1000));
		return { seconds, speed: speedOf(state.pass), dataLeft: dataLeft(state.pass) };
	});
}

/** Confirms a device that openNDS has connected for authmon (level 4). Returns false if a later report counts. */
export async function confirmClient(
	context: AccessContext,
	gateway: RegisteredGateway,
	{ mac, token, user }: OpenndsClient
): Promise<boolean> {
	const hid = sha256(token);
	const left = await confirmFetched(context, gateway, hid);
	const passId = passOfUser(user);
	const isRunning = passId !== null && (await confirmPass(context, gateway, { passId, hid, mac }));
	return left.every((id) => isRunning && id === passId);
}

/**
 * Counts the data of a device that openNDS disconnected, and frees its slot unless it has signed in again since. A
 * repeated report changes nothing, unless the device has signed in again.
 * @param bytes of this login, up and down together
 */
export async function endClient(
	context: AccessContext,
	gateway: RegisteredGateway,
	client: OpenndsClient,
	bytes: number
): Promise<void> {
	const { clock } = context;
	const passId = passOfUser(client.user);
	if (passId === null) return;
	const { mac } = client;
	const newest = await newestLogin(context, gateway, passId, client);
	await context.database.transact(async (trx) => {
		const now = clock.now();
		const state = await passState(trx, { passId, routerId: gateway.routerId }, now);
		if (state.kind === 'unknown') return;
		const slot = await slotOf(trx, passId, mac);
		const isHere = slot !== null && slot.gateway_id === gateway.id;
		// Reported already. (A slot that the pass has moved, or given to another device, keeps its end until its report.)
		const isReported = isHere && slot.expected_until === null && (slot.released_at ?? 0) > now - REPEATED_MS;
		if (isReported) return;
		// A script of the time before --ndsctl still reports what we read.
		if (!controllerOf(gateway)) await countData(context, trx, passId, bytes);
		if (!isHere) return;
		// The script reports in the background: the device may have signed in under a new token meanwhile.
		const isBack = newest !== null && !newest.isThisLogin && slot.bound_at >= newest.createdAt;
		if (!isBack) await changeSlot(trx, slot.id, { released_at: now, expected_until: null });
	});
}

async function newestLogin(
	{ database, clock, captiveSessions }: AccessContext,
	{ id: gatewayId, routerId }: RegisteredGateway,
	passId: number,
	{ mac, token }: OpenndsClient
): Promise<{ isThisLogin: boolean; createdAt: number } | null> {
	const devices = await devicesOf(database.db, { id: passId, router_id: routerId }, clock.now());
	const device = devices.find((one) => one.gateway_id === gatewayId && one.mac === mac);
	if (device === undefined) return null;
	const { hid } = await captiveSessions.loginOf(device.captive_session_id);
	return { isThisLogin: hid === sha256(token), createdAt: device.created_at };
}
