import type { Queries, Tx } from '#lib/server/db/database.ts';
import type { Gateways, RegisteredGateway } from '#lib/server/gateways/gateways.ts';
import { adapterOf } from '#lib/server/gateways/registry.ts';
import type { SessionRow } from '#lib/server/billing/sessions/sessions.ts';
import { release, type GiveUpParts } from '../provisioning/activation-timeout.ts';
import { placesOf, type PlaceRow } from '../device-slots/store.ts';
import * as store from '../provisioning/store.ts';
import { ACTIVATING_MS, TOLD_ABOUT_MS } from '../job-kinds.ts';

export interface AddedTimeParts extends GiveUpParts {
	gateways: Gateways;
}

/** So long before the end of added time nobody waits for its gateway any more. */
const LAST_LOOK_MS = 60_000;

/**
 * Added time begins by the clock, where the time before it ends, and its gateway puts the buyer out there until it is
 * told the new end. Where it was not told for as long as a buyer waits for a gateway, the buyer was outside all that
 * time: what was added goes back, with all that follows it. The pass is over then, also where the gateway comes back.
 *
 * Where the operator sends no money back, the time is all that its buyer can get: the gateway is told of it as long as
 * there is any, and a person learns of it where it never was.
 * @returns when to look again, or null when the gateway knows, or the time is over or given back
 */
export async function settleAdded(parts: AddedTimeParts, sessionId: number): Promise<number | null> {
	const { database, clock, jobs, sessions, payments } = parts;
	const next = await database.transact(async (trx) => {
		const session = await sessions.known(trx, sessionId);
		const { starts_at: startsAt, expires_at: expiresAt, pass_id: passId, status } = session;
		if (startsAt === null || expiresAt === null) return null;
		if (status !== 'active' && status !== 'expired') return null;
		// A clock that was set back wakes all jobs.
		if (clock.now() < startsAt + ACTIVATING_MS) return startsAt + ACTIVATING_MS;
		if (await isKnown(parts, trx, { session, startsAt, expiresAt })) return null;
		const canGoBack = (one: SessionRow) => payments.canGoBack(trx, paymentOf(one));
		const lastLookAt = expiresAt - LAST_LOOK_MS;
		if (clock.now() < lastLookAt && !(await canGoBack(session))) return lastLookAt;
		const open = await store.openSessionsOf(trx, passId);
		const later = open.filter(({ starts_at: at }) => at !== null && at >= expiresAt);
		let isOver = true;
		for (const one of [session, ...later]) {
			if (one.id !== sessionId && !(await canGoBack(one))) isOver = false;
			else if (await sessions.takeBack(trx, one.id)) await payments.refundUnprovisioned(trx, paymentOf(one));
		}
		if (isOver) await release(parts, trx, passId);
		return null;
	});
	jobs.nudge();
	return next;
}

function paymentOf({ id, payment_id: paymentId }: SessionRow): number {
	if (paymentId === null) throw new Error(`Session ${id} was added unpaid`);
	return paymentId;
}

interface Added {
	session: SessionRow;
	startsAt: number;
	expiresAt: number;
}

/** Whether the gateway at which the buyer is has learnt the end of added time; without a visit: whether any has. */
async function isKnown(parts: AddedTimeParts, trx: Tx, { session, startsAt, expiresAt }: Added) {
	const { pass_id: passId, router_id: routerId } = session;
	const all = await parts.gateways.ofRouter(trx, routerId);
	const [newest] = await store.devicesOf(trx, { passId, routerId }, parts.clock.now());
	const own = all.find(({ id }) => id === newest?.gateway_id);
	// It asks by itself who may be in, or nobody has to know.
	if (own && !isTold(own)) return true;
	const grants = await store.grantsOf(trx, passId);
	if (grants.length === 0) return true;
	const atOwn = await atGateway(parts, trx, grants, own);
	const isHeard = (grant: store.GrantRow) => {
		const { confirmed_until_at: confirmed, until_at: handedOut, updated_at: handedOutAt } = grant;
		if ((confirmed ?? 0) >= expiresAt - TOLD_ABOUT_MS) return true;
		// What fetches it knows it, though it confirms only what it does for a device that comes. Of a device that is in it
		// takes no new end: only what it has fetched since the old one counts.
		const gateway = all.find(({ id }) => id === grant.gateway_id);
		const isFetched = gateway !== undefined && controlModeOf(gateway) === 'poll' && handedOutAt > startsAt;
		return isFetched && (handedOut ?? 0) >= expiresAt - TOLD_ABOUT_MS;
	};
	if ((atOwn.length > 0 ? atOwn : grants).some(isHeard)) return true;
	// Somebody is in all the same, at a gateway that is not told. Of one that is only expected there, the sign-in counts.
	const heardAt = (one: PlaceRow) => (one.is_expected ? one.bound_at : one.seen_at);
	return (await placesOf(trx, passId)).some((one) => heardAt(one) > startsAt);
}

async function atGateway(
	{ gateways }: AddedTimeParts,
	queries: Queries,
	grants: readonly store.GrantRow[],
	gateway: RegisteredGateway | undefined
): Promise<store.GrantRow[]> {
	if (!gateway) return [];
	const same = await gateways.sharingConsole(queries, gateway);
	return grants.filter(({ gateway_id: id }) => same.includes(id));
}

const controlModeOf = (gateway: RegisteredGateway) => adapterOf(gateway.kind).controlMode(gateway);
const isTold = (gateway: RegisteredGateway) => ['push', 'poll'].includes(controlModeOf(gateway));
