import type { RegisteredGateway } from '#lib/server/gateways/gateways.ts';
import type { DeviceLogin } from '#lib/server/gateways/gateway.ts';
import { GRANT_JOB } from '../../job-kinds.ts';
import { openPass } from '../../passes/pass-state.ts';
import type { AccessContext } from '../context.ts';
import { confirmGrant } from './confirm-grant.ts';
import { desiredEnd, loginOf } from './desired-end.ts';
import * as gatewayStore from './gateway-store.ts';
import * as store from './store.ts';

type Login = Readonly<Record<string, string>>;

type FetchedGrant = DeviceLogin & { untilMs: number };

/** The use of a device in an answer: none, listed without effect, or sent to the gateway. */
type DeliveryOf = (login: Login) => 'none' | 'listed' | 'sent';

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
	deliveryOf: DeliveryOf
): Promise<FetchedGrant[]> {
	const { db } = context.database;
	const found: FetchedGrant[] = [];
	for (const grant of await gatewayStore.waitingAt(db, gateway.id, MAX_LOOKED_AT)) {
		if (found.length >= limit) break;
		const fetched = await fetchGrant(context, gateway, grant, deliveryOf);
		if (fetched) found.push(fetched);
	}
	const lately = { gatewayId: gateway.id, since: context.clock.now() - AGAIN_MS };
	for (const grant of await gatewayStore.confirmedAndBack(db, lately, limit - found.length)) {
		const pass = await openPass(db, grant.pass_id, context.clock.now());
		if (!pass || grant.requested_end_at === null) continue;
		const device = await loginOf(context, grant, pass);
		if (deliveryOf(device.login) === 'none') continue;
		found.push({ ...device, untilMs: grant.requested_end_at });
	}
	return found;
}

async function fetchGrant(
	context: AccessContext,
	gateway: RegisteredGateway,
	grant: store.GrantRow,
	deliveryOf: DeliveryOf
): Promise<FetchedGrant | null> {
	const { database, clock } = context;
	const pass = await openPass(database.db, grant.pass_id, clock.now());
	if (!pass) return null;
	const device = await loginOf(context, grant, pass);
	const from = { id: grant.id, state: 'granting' } as const;
	const updated_at = clock.now();
	const delivery = deliveryOf(device.login);
	if (delivery === 'none') {
		await store.changeWanted(database.db, from, { updated_at });
		return null;
	}
	const untilMs = await desiredEnd(context, grant, gateway, pass);
	const to = { requested_end_at: untilMs, updated_at };
	const isStored = delivery === 'listed' || (await store.changeWanted(database.db, from, to));
	return isStored ? { ...device, untilMs } : null;
}

/**
 * Confirms the fetched grants of a device that openNDS has connected for authmon (level 4). Returns false if one was not
 * fetched: the device came back to the portal meanwhile, and a later report counts.
 * @param hid hash of the device's token
 */
export async function confirmDevice(
	context: AccessContext,
	gateway: RegisteredGateway,
	hid: string
): Promise<boolean> {
	const { database, captiveSessions } = context;
	let isConfirmed = true;
	for (const grant of await gatewayStore.newestWaitingAt(database.db, gateway.id, MAX_UNCONFIRMED)) {
		if (grant.captive_session_id === null) continue;
		const login = await captiveSessions.loginOf(grant.captive_session_id);
		if (login['hid'] === hid && !(await confirmFetched(context, gateway, grant.id))) isConfirmed = false;
	}
	return isConfirmed;
}

/** Stores that a gateway carried out a fetched grant. Returns false if the grant does not count any more. */
async function confirmFetched(
	context: AccessContext,
	gateway: RegisteredGateway,
	grantId: number
): Promise<boolean> {
	const { database, clock, jobs } = context;
	const grant = await store.findGrant(database.db, grantId);
	if (!grant || grant.gateway_id !== gateway.id || grant.requested_end_at === null) return false;
	const pass = grant.released_at === null ? await openPass(database.db, grant.pass_id, clock.now()) : null;
	if (!pass) return false;
	if (grant.state === 'granted') return true;
	if (grant.state !== 'granting') return false;
	if ((await confirmGrant(context, grant, pass, grant.requested_end_at)) === null) return false;
	await jobs.wake(GRANT_JOB, grantId);
	return true;
}
