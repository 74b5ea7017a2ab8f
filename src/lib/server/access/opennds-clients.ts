import { type AccessContext } from './provisioning.ts';
import { type RegisteredGateway } from '../gateways/gateways.ts';
import { type Speed, type DeviceLogin } from '../gateways/gateway.ts';
import { takeSlot, findSlot, changeSlot, findDevices } from './device-slots.ts';
import { countData, buildLogin, computeDesiredEnd, confirmGrant, SLACK_MS } from './gateway-calls.ts';
import {
	findWaitingGrants,
	findReturnedGrants,
	type GrantRow,
	changeWantedGrant,
	findNewestWaitingGrants,
	GRANT_JOB,
	findGrants,
	setConfirmedEnd,
	findOpenGrants
} from './grants.ts';
import { dataLeft } from '../../domain/offers.ts';
import { MINUTE_MS } from '../../domain/time.ts';
import { passOfUser } from '../../domain/wifi.ts';
import type { Tx } from '../db/database.ts';
import { sha256 } from '../platform/secrets.ts';
import { openPass, passState, findPassOrThrow, readSpeed } from '../passes.ts';
import { findLogin } from '../gateways/captive-sessions.ts';
import { startTime } from '../billing/sessions.ts';

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
		return { seconds, speed: readSpeed(state.pass), dataLeft: dataLeft(state.pass) };
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
		const slot = await findSlot(trx, passId, mac);
		const isHere = slot !== null && slot.gateway_id === gateway.id;
		// Reported already. (A slot that the pass has moved, or given to another device, keeps its end until its report.)
		const isReported = isHere && slot.expected_until === null && (slot.released_at ?? 0) > now - REPEATED_MS;
		if (isReported) return;
		await countData(context, trx, passId, bytes);
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
	const devices = await findDevices(database.db, { id: passId, router_id: routerId }, clock.now());
	const device = devices.find((one) => one.gateway_id === gatewayId && one.mac === mac);
	if (device === undefined) return null;
	const { hid } = await findLogin(captiveSessions, device.captive_session_id);
	return { isThisLogin: hid === sha256(token), createdAt: device.created_at };
}

/** `hid`: with it openNDS identifies the device. */
type FetchedGrant = DeviceLogin & { hid: string; untilMs: number };

const MAX_LOOKED_AT = 100;
const MAX_UNCONFIRMED = 200;
/** A returning device is listed for this long: longer than two polls of a gateway. */
const AGAIN_MS = 90_000;

/**
 * Lists the grants that a polling gateway must fetch, and stores the end that each was sent. Confirmed
 * devices that return to the portal come last: despite its confirmation, the gateway did not let them in.
 */
export async function fetchGrants(
	context: AccessContext,
	gateway: RegisteredGateway,
	limit: number
): Promise<FetchedGrant[]> {
	const { db } = context.database;
	const found: FetchedGrant[] = [];
	for (const grant of await findWaitingGrants(db, gateway.id, MAX_LOOKED_AT)) {
		if (found.length >= limit) break;
		const fetched = await fetchGrant(context, gateway, grant);
		if (fetched) found.push(fetched);
	}
	const lately = { gatewayId: gateway.id, since: context.clock.now() - AGAIN_MS };
	for (const grant of await findReturnedGrants(db, lately, limit - found.length)) {
		const pass = await openPass(db, grant.pass_id, context.clock.now());
		if (!pass || grant.requested_end_at === null) continue;
		const device = await buildLogin(context, grant, pass);
		const { hid } = device.login;
		if (hid !== undefined) found.push({ ...device, hid, untilMs: grant.requested_end_at });
	}
	return found;
}

async function fetchGrant(
	context: AccessContext,
	gateway: RegisteredGateway,
	grant: GrantRow
): Promise<FetchedGrant | null> {
	const { database, clock } = context;
	const pass = await openPass(database.db, grant.pass_id, clock.now());
	if (!pass) return null;
	const device = await buildLogin(context, grant, pass);
	const from = { id: grant.id, state: 'granting' } as const;
	const updated_at = clock.now();
	const { hid } = device.login;
	if (hid === undefined) {
		await changeWantedGrant(database.db, from, { updated_at });
		return null;
	}
	const untilMs = await computeDesiredEnd(context, grant, gateway, pass);
	const to = { requested_end_at: untilMs, updated_at };
	return (await changeWantedGrant(database.db, from, to)) ? { ...device, hid, untilMs } : null;
}

/**
 * Confirms the fetched grants whose device has this `hid`.
 * @returns passes with such a grant that was not fetched: the device came back to the portal meanwhile, and a later
 * report counts
 */
async function confirmFetched(
	context: AccessContext,
	gateway: RegisteredGateway,
	hid: string
): Promise<number[]> {
	const { db } = context.database;
	const left: number[] = [];
	for (const grant of await findNewestWaitingGrants(db, gateway.id, MAX_UNCONFIRMED)) {
		const { id, pass_id: passId, requested_end_at: sent } = grant;
		if (!(await isOfDevice(context, grant, hid))) continue;
		const pass = await openPass(db, passId, context.clock.now());
		if (!pass || sent === null || (await confirmGrant(context, grant, pass, sent)) === null)
			left.push(passId);
		else await context.jobs.wake(GRANT_JOB, id);
	}
	return left;
}

const isOfDevice = async (
	{ captiveSessions }: AccessContext,
	{ captive_session_id: captiveSessionId }: GrantRow,
	hid: string
): Promise<boolean> =>
	captiveSessionId !== null && (await findLogin(captiveSessions, captiveSessionId))['hid'] === hid;

/**
 * Starts the time of a pass whose device is in, although its grant was moved or requested again after the fetch. A
 * polling gateway cannot disconnect the device, and a refund would make its time free. The device takes a slot even if
 * none is free: the MAC address on the portal is only claimed, so a pass would otherwise let in any number of devices.
 * @returns whether the time runs
 */
async function confirmPass(
	context: AccessContext,
	gateway: RegisteredGateway,
	{ passId, hid, mac }: { passId: number; hid: string; mac: string }
): Promise<boolean> {
	const { database, clock, jobs } = context;
	const grants = (await findGrants(database.db, passId)).filter((one) => one.gateway_id === gateway.id);
	let reported = grants.at(-1);
	for (const grant of grants) if (await isOfDevice(context, grant, hid)) reported = grant;
	if (!reported) return false;
	const { id: grantId } = reported;
	const own = grants.filter((one) => one.mac === mac);
	// The report of a device that the pass has left can come late.
	const hasLeft = own.length > 0 && own.every(({ released_at: at }) => at !== null);
	return context.database.transact(async (trx) => {
		const now = clock.now();
		const open = await openPass(trx, passId, now);
		if (!open) return false;
		if (open.kind === 'waits' && !(await startTime(context, trx, open.pass))) return false;
		const { ends_at: endsAt } = await findPassOrThrow(trx, passId);
		if (!hasLeft) {
			await takeSlot(trx, jobs, { passId, gatewayId: gateway.id, mac, maxDevices: Infinity }, now, endsAt);
		}
		const isConfirmed = grants.some((one) => (one.confirmed_end_at ?? 0) > now + SLACK_MS);
		if (open.kind === 'runs' && isConfirmed && !hasLeft) return true;
		await setConfirmedEnd(trx, grantId, endsAt);
		for (const { id } of await findOpenGrants(trx, passId)) await jobs.schedule(trx, GRANT_JOB, id, now);
		return true;
	});
}
