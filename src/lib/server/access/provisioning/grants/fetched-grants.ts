import type { RegisteredGateway } from '#lib/server/gateways/gateways.ts';
import type { DeviceLogin } from '#lib/server/gateways/gateway.ts';
import { takeSlot } from '../../device-slots/device-slots.ts';
import { GRANT_JOB } from '../../job-kinds.ts';
import { openPass } from '#lib/server/passes/passes.ts';
import type { AccessContext } from '../context.ts';
import { confirmGrant } from './confirm-grant.ts';
import { desiredEnd, loginOf, SLACK_MS } from './desired-end.ts';
import * as store from './store.ts';

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
	for (const grant of await store.waitingAt(db, gateway.id, MAX_LOOKED_AT)) {
		if (found.length >= limit) break;
		const fetched = await fetchGrant(context, gateway, grant);
		if (fetched) found.push(fetched);
	}
	const lately = { gatewayId: gateway.id, since: context.clock.now() - AGAIN_MS };
	for (const grant of await store.confirmedAndBack(db, lately, limit - found.length)) {
		const pass = await openPass(db, grant.pass_id, context.clock.now());
		if (!pass || grant.requested_end_at === null) continue;
		const device = await loginOf(context, grant, pass);
		const { hid } = device.login;
		if (hid !== undefined) found.push({ ...device, hid, untilMs: grant.requested_end_at });
	}
	return found;
}

async function fetchGrant(
	context: AccessContext,
	gateway: RegisteredGateway,
	grant: store.GrantRow
): Promise<FetchedGrant | null> {
	const { database, clock } = context;
	const pass = await openPass(database.db, grant.pass_id, clock.now());
	if (!pass) return null;
	const device = await loginOf(context, grant, pass);
	const from = { id: grant.id, state: 'granting' } as const;
	const updated_at = clock.now();
	const { hid } = device.login;
	if (hid === undefined) {
		await store.changeWanted(database.db, from, { updated_at });
		return null;
	}
	const untilMs = await desiredEnd(context, grant, gateway, pass);
	const to = { requested_end_at: untilMs, updated_at };
	return (await store.changeWanted(database.db, from, to)) ? { ...device, hid, untilMs } : null;
}

/**
 * Confirms the fetched grants whose device has this `hid`.
 * @returns passes with such a grant that was not fetched: the device came back to the portal meanwhile, and a later
 * report counts
 */
export async function confirmFetched(
	context: AccessContext,
	gateway: RegisteredGateway,
	hid: string
): Promise<number[]> {
	const { db } = context.database;
	const left: number[] = [];
	for (const grant of await store.newestWaitingAt(db, gateway.id, MAX_UNCONFIRMED)) {
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
	{ captive_session_id: captiveSessionId }: store.GrantRow,
	hid: string
): Promise<boolean> =>
	captiveSessionId !== null && (await captiveSessions.loginOf(captiveSessionId))['hid'] === hid;

/**
 * Starts the time of a pass whose device is in, although its grant was moved or requested again after the fetch. A
 * polling gateway cannot disconnect the device, and a refund would make its time free. The device takes a slot even if
 * none is free: the MAC address on the portal is only claimed, so a pass would otherwise let in any number of devices.
 * @returns whether the time runs
 */
export async function confirmPass(
	context: AccessContext,
	gateway: RegisteredGateway,
	{ passId, hid, mac }: { passId: number; hid: string; mac: string }
): Promise<boolean> {
	const { database, clock, jobs, passes, sessions } = context;
	const grants = (await store.grantsOf(database.db, passId)).filter((one) => one.gateway_id === gateway.id);
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
		if (open.kind === 'waits' && !(await sessions.startTime(trx, open.pass))) return false;
		const { ends_at: endsAt } = await passes.findOrThrow(trx, passId);
		if (!hasLeft) {
			await takeSlot(trx, jobs, { passId, gatewayId: gateway.id, mac, maxDevices: Infinity }, now, endsAt);
		}
		const isConfirmed = grants.some((one) => (one.confirmed_end_at ?? 0) > now + SLACK_MS);
		if (open.kind === 'runs' && isConfirmed && !hasLeft) return true;
		await store.setConfirmedEnd(trx, grantId, endsAt);
		for (const { id } of await store.openGrantsOf(trx, passId)) await jobs.schedule(trx, GRANT_JOB, id, now);
		return true;
	});
}
