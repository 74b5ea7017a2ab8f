import { setTimeout as sleep } from 'node:timers/promises';
import type { Tx } from '#lib/server/db/database.ts';
import type { RegisteredGateway } from '#lib/server/gateways/gateways.ts';
import { gatewayStatus } from '#lib/server/gateways/registry.ts';
import type { AccessContext } from '../context.ts';
import { applyGrant } from '../grants/apply-grant.ts';
import * as gatewayStore from '../grants/gateway-store.ts';
import { LATE_MS } from '../grants/revoke-at-gateway.ts';
import * as store from '../grants/store.ts';
import { regrant } from './regrant.ts';
import { controllerOf } from '../targets.ts';

/** Counts devices and users that the gateway let in. */
export interface Removal {
	isRemoved: boolean;
	putOut: number;
	/** Cannot be disconnected, at least while away: may stay online until the end that the gateway knows. */
	staying: number;
	/** Not disconnected, because the call failed or was not made. */
	left: number;
	reason: string | null;
}

export interface RemovalOptions {
	isForced: boolean;
	/** Stops the removal: the gateway stays. */
	signal: AbortSignal;
	/** Announces a wait: the gateway may carry out earlier requests until then (ms since the epoch). */
	onWait(untilMs: number): void;
}

const BATCH = 100;
const MAX_TRIES = 3;
/** A forced removal stops calling the gateway when this many devices are left. */
const MAX_LEFT = 3;
/** Devices may sign in during a removal, so it takes several rounds. */
const MAX_ROUNDS = 5;
const LOOK_AGAIN_MS = 250;

type Outcome = 'out' | 'staying' | 'left';

interface Clearing {
	context: AccessContext;
	gateway: RegisteredGateway;
	options: RemovalOptions;
	/** Ids of grants to request again if the gateway stays. */
	released: number[];
	outcomes: Map<number, Outcome>;
	reason: string | null;
	afterId: number;
}

/**
 * Disconnects the devices of a gateway and deletes it. Nobody could disconnect them later. If a device is
 * left, the gateway stays unless forced, and disconnected devices are let in again.
 * @throws InputError if its router sells a limit that only this gateway holds
 */
export async function removeGateway(
	context: AccessContext,
	gateway: RegisteredGateway,
	options: RemovalOptions
): Promise<Removal> {
	const { database, reach } = context;
	const { db } = database;
	await context.offers.checkHeld(db, gateway.routerId, { gateway: { before: gateway, after: null } });
	const remove = () => database.transact((trx) => deleteGateway(context, trx, gateway));
	const none: Removal = { isRemoved: true, putOut: 0, staying: 0, left: 0, reason: null };
	const count = await gatewayStore.countOpenAt(db, { gatewayId: gateway.id, afterId: 0 });
	if (!controllerOf(gateway)) {
		const connected = await gatewayStore.countConnectedAt(db, gateway.id);
		await remove();
		return { ...none, staying: count + connected };
	}
	const status = count === 0 ? null : await gatewayStatus(gateway.kind, gateway, reach);
	if (status && !status.reachable) {
		if (options.isForced) await remove();
		const reason = status.problems[0] ?? 'It does not answer.';
		return { ...none, isRemoved: options.isForced, left: count, reason };
	}
	const clearing: Clearing = {
		...{ context, gateway, options },
		...{ released: [], outcomes: new Map(), reason: null, afterId: 0 }
	};
	let isRemoved = false;
	try {
		isRemoved = await clear(clearing);
		const result = await resultOf(clearing);
		if (!isRemoved && options.isForced && !options.signal.aborted) {
			await remove();
			isRemoved = true;
		}
		return { isRemoved, ...result };
	} finally {
		if (!isRemoved) await regrantAll(context, clearing.released);
	}
}

/** A failure does not stop the other devices. */
async function regrantAll(context: AccessContext, ids: readonly number[]): Promise<void> {
	const failures: unknown[] = [];
	for (const id of ids) await regrant(context, id).catch((error: unknown) => failures.push(error));
	if (failures.length > 0) throw new AggregateError(failures, 'Not all devices could be let in again');
}

async function clear(clearing: Clearing): Promise<boolean> {
	const { context, gateway, options } = clearing;
	const { database, clock } = context;
	for (let rounds = 0; rounds < MAX_ROUNDS; rounds += 1) {
		const since = clock.now() - LATE_MS;
		if (!(await disconnectAll(clearing)) || options.signal.aborted) return false;
		if (await removeUnlessBusy(clearing, since)) return true;
		// A job of the server may have called the gateway before and still wait for its answer.
		const askedAt = await gatewayStore.lastUnansweredAt(database.db, gateway.id);
		await waitUntil(clearing, (askedAt ?? -Infinity) + LATE_MS);
	}
	clearing.reason = 'Devices keep signing in there.';
	return false;
}

const countOf = ({ outcomes }: Clearing, wanted: Outcome) =>
	[...outcomes.values()].filter((outcome) => outcome === wanted).length;

/** Returns false when it gives up. */
async function disconnectAll(clearing: Clearing): Promise<boolean> {
	const { context, gateway, options, outcomes } = clearing;
	clearing.afterId = 0;
	for (let isMore = true; isMore;) {
		const page = { gatewayId: gateway.id, afterId: clearing.afterId };
		const rows = await gatewayStore.openGrantsAt(context.database.db, page, BATCH);
		for (const row of rows) {
			if (options.signal.aborted) return false;
			outcomes.set(row.id, await disconnect(clearing, row));
			clearing.afterId = row.id;
			if (countOf(clearing, 'left') >= (options.isForced ? MAX_LEFT : 1)) return false;
		}
		isMore = rows.length === BATCH;
	}
	return true;
}

async function disconnect(clearing: Clearing, row: store.GrantRow): Promise<Outcome> {
	const { context, released } = clearing;
	const { db } = context.database;
	const releasedAt = context.clock.now();
	released.push(...(await gatewayStore.releaseDevice(db, row, releasedAt)));
	let { attempts } = row;
	for (let tries = 0; tries < MAX_TRIES; tries += 1) {
		await applyGrant(context, row.id);
		const grant = await store.findGrant(db, row.id);
		if (!grant || grant.state === 'revoked' || (grant.revoked_at ?? -Infinity) >= releasedAt) return 'out';
		// The call succeeded, and the gateway knows no such device at the moment.
		if (grant.attempts === attempts) return 'staying';
		({ attempts } = grant);
		clearing.reason = grant.last_error;
	}
	return 'left';
}

/** Returns false if the gateway may still carry out a request that was sent after `since`. */
function removeUnlessBusy({ context, gateway }: Clearing, since: number): Promise<boolean> {
	return context.database.transact(async (trx) => {
		if (await gatewayStore.mayLetIn(trx, gateway.id, since)) return false;
		await deleteGateway(context, trx, gateway);
		return true;
	});
}

/** Checks the offers again: the owner may have changed them while devices were disconnected. */
async function deleteGateway(context: AccessContext, trx: Tx, gateway: RegisteredGateway): Promise<void> {
	await context.gateways.remove(trx, gateway);
	await context.offers.checkHeld(trx, gateway.routerId, { gateway: { before: gateway, after: null } });
}

async function waitUntil({ context: { clock }, options }: Clearing, atMs: number): Promise<void> {
	if (clock.now() < atMs) options.onWait(atMs);
	while (clock.now() < atMs && !options.signal.aborted) await sleep(LOOK_AGAIN_MS);
}

async function resultOf(clearing: Clearing): Promise<Omit<Removal, 'isRemoved'>> {
	const { context, gateway, options, afterId } = clearing;
	const rest = await gatewayStore.countOpenAt(context.database.db, { gatewayId: gateway.id, afterId });
	return {
		putOut: countOf(clearing, 'out'),
		staying: countOf(clearing, 'staying'),
		left: countOf(clearing, 'left') + rest,
		reason: options.signal.aborted ? 'It was interrupted.' : clearing.reason
	};
}
