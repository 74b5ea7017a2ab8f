import type { RegisteredGateway } from '#lib/server/gateways/gateways.ts';
import type { DeviceLogin } from '#lib/server/gateways/gateway.ts';
import { GRANT_JOB } from '../../job-kinds.ts';
import { openPass } from '../../passes/pass-state.ts';
import type { AccessContext } from '../context.ts';
import { confirmGrant } from './confirm-grant.ts';
import { desiredEnd, loginOf, SLACK_MS } from './desired-end.ts';
import * as gatewayStore from './gateway-store.ts';
import * as store from './store.ts';

type Login = Readonly<Record<string, string>>;

type FetchedGrant = DeviceLogin & { untilMs: number };

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
	limit: number,
	canBeSent: (login: Login) => boolean
): Promise<FetchedGrant[]> {
	const { db } = context.database;
	const found: FetchedGrant[] = [];
	for (const grant of await gatewayStore.waitingAt(db, gateway.id, MAX_LOOKED_AT)) {
		if (found.length >= limit) break;
		const fetched = await fetchGrant(context, gateway, grant, canBeSent);
		if (fetched) found.push(fetched);
	}
	const lately = { gatewayId: gateway.id, since: context.clock.now() - AGAIN_MS };
	for (const grant of await gatewayStore.confirmedAndBack(db, lately, limit - found.length)) {
		const pass = await openPass(db, grant.pass_id, context.clock.now());
		if (!pass || grant.requested_end_at === null) continue;
		const device = await loginOf(context, grant, pass);
		if (!canBeSent(device.login)) continue;
		found.push({ ...device, untilMs: grant.requested_end_at });
	}
	return found;
}

async function fetchGrant(
	context: AccessContext,
	gateway: RegisteredGateway,
	grant: store.GrantRow,
	canBeSent: (login: Login) => boolean
): Promise<FetchedGrant | null> {
	const { database, clock } = context;
	const pass = await openPass(database.db, grant.pass_id, clock.now());
	if (!pass) return null;
	const device = await loginOf(context, grant, pass);
	const from = { id: grant.id, state: 'granting' } as const;
	const updated_at = clock.now();
	if (!canBeSent(device.login)) {
		await store.changeWanted(database.db, from, { updated_at });
		return null;
	}
	const untilMs = await desiredEnd(context, grant, gateway, pass);
	const to = { requested_end_at: untilMs, updated_at };
	return (await store.changeWanted(database.db, from, to)) ? { ...device, untilMs } : null;
}

/**
 * Confirms the fetched grants whose device has this `hid`. Returns false if one was not fetched: the device came back to
 * the portal meanwhile, and a later report counts.
 */
export async function confirmFetched(
	context: AccessContext,
	gateway: RegisteredGateway,
	hid: string
): Promise<boolean> {
	const { db } = context.database;
	let isConfirmed = true;
	for (const grant of await gatewayStore.newestWaitingAt(db, gateway.id, MAX_UNCONFIRMED)) {
		const { id, captive_session_id: captiveSessionId, requested_end_at: sent } = grant;
		if (captiveSessionId === null) continue;
		const login = await context.captiveSessions.loginOf(captiveSessionId);
		if (login['hid'] !== hid) continue;
		const pass = await openPass(db, grant.pass_id, context.clock.now());
		if (!pass || sent === null || (await confirmGrant(context, grant, pass, sent)) === null)
			isConfirmed = false;
		else await context.jobs.wake(GRANT_JOB, id);
	}
	return isConfirmed;
}

/**
 * Starts the time of a pass whose device is in, although its grant was moved or requested again since it was fetched: a
 * polling gateway cannot disconnect the device, and a refund would make its time free.
 * @returns whether the time runs
 */
export async function confirmPass(
	{ database, clock, jobs, passes, sessions }: AccessContext,
	gateway: RegisteredGateway,
	passId: number
): Promise<boolean> {
	const isRunning = await database.transact(async (trx) => {
		const now = clock.now();
		const open = await openPass(trx, passId, now);
		const grants = (await store.grantsOf(trx, passId)).filter((one) => one.gateway_id === gateway.id);
		const newest = grants.at(-1);
		if (!open || !newest) return false;
		if (open.kind === 'runs' && grants.some((one) => (one.confirmed_end_at ?? 0) > now + SLACK_MS))
			return true;
		if (open.kind === 'waits' && !(await sessions.startTime(trx, open.pass))) return false;
		await store.setConfirmedEnd(trx, newest.id, (await passes.findOrThrow(trx, passId)).ends_at);
		for (const { id } of await store.openGrantsOf(trx, passId)) await jobs.schedule(trx, GRANT_JOB, id, now);
		return true;
	});
	jobs.nudge();
	return isRunning;
}
