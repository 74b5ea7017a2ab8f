import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '#lib/server/platform/clock.ts';
import type { Database } from '#lib/server/db/database.ts';
import type { Reach, DeviceController } from '#lib/server/gateways/gateway.ts';
import type { Gateways, RegisteredGateway } from '#lib/server/gateways/gateways.ts';
import { adapterOf } from '#lib/server/gateways/registry.ts';
import type { Jobs } from '#lib/server/jobs/jobs.ts';
import * as gatewayStore from './gateway-store.ts';
import { LATE_MS } from './grants.ts';
import { letInAgain } from './regrant.ts';
import * as store from './store.ts';

/** What became of a gateway, and of the guests (devices, or users) that it was to let in. */
export interface Removal {
	isRemoved: boolean;
	putOut: number;
	/** It cannot be told to put them out, or not while they are away: they may be online until the end that it was told. */
	staying: number;
	/** It could not be told, or was not asked any more. */
	left: number;
	/** Why; null where none is left. */
	reason: string | null;
}

export interface RemovalOptions {
	/** It is forgotten whoever is left. */
	isForced: boolean;
	/** Ends the removal: the gateway stays. */
	signal: AbortSignal;
	/** Nothing goes on before this moment: until then something can still be done that the gateway was asked for. */
	onWait(untilMs: number): void;
}

export interface RemovalParts {
	database: Database;
	clock: Clock;
	jobs: Jobs;
	gateways: Gateways;
	reach: Reach;
	/** Job GRANT_JOB. */
	settle(grantId: number): Promise<number | null>;
}

const AT_ONCE = 100;
/** A guest for whom the gateway could not be told so often is left. */
const MAX_TRIES = 3;
/** With so many of them left, a gateway that is to be forgotten all the same is not asked for the rest. */
const MAX_LEFT = 3;
/** Guests who come meanwhile are put out as well; where they go on coming, there is an end to it. */
const MAX_ROUNDS = 5;
/** A wait is over, or given up, within this time. */
const LOOK_AGAIN_MS = 250;

type Outcome = 'out' | 'staying' | 'left';

/**
 * Puts out whoever a gateway lets in, one by one, and forgets it then: nobody can do it later. Where somebody is left, it
 * stays, and so do the guests: those that it has put out already are let in again.
 */
export async function removeGateway(
	parts: RemovalParts,
	gateway: RegisteredGateway,
	options: RemovalOptions
): Promise<Removal> {
	const { database, gateways, reach } = parts;
	const { db } = database;
	const nobody: Removal = { isRemoved: true, putOut: 0, staying: 0, left: 0, reason: null };
	const count = await gatewayStore.countOpenAt(db, { gatewayId: gateway.id, afterId: 0 });
	const controller = controllerOf(gateway);
	if (!controller) {
		const connected = await gatewayStore.countConnectedAt(db, gateway.id);
		await gateways.remove(db, gateway);
		return { ...nobody, staying: count + connected };
	}
	const { reachable, problems } =
		count === 0 ? { reachable: true, problems: [] } : await controller.status(gateway, reach);
	if (!reachable) {
		if (options.isForced) await gateways.remove(db, gateway);
		const reason = problems[0] ?? 'It does not answer.';
		return { ...nobody, isRemoved: options.isForced, left: count, reason };
	}
	const clearing = createClearing(parts, gateway, options);
	let isRemoved = false;
	try {
		isRemoved = await clearing.run();
		const result = { isRemoved, ...(await clearing.result()) };
		if (isRemoved || !options.isForced || options.signal.aborted) return result;
		await gateways.remove(db, gateway);
		isRemoved = true;
		return { ...result, isRemoved };
	} finally {
		if (!isRemoved) await letAllInAgain(parts, clearing.released);
	}
}

/** One after the other; one that fails keeps nobody else outside. */
async function letAllInAgain(parts: RemovalParts, ids: readonly number[]): Promise<void> {
	const failures: unknown[] = [];
	for (const id of ids) {
		await letInAgain(parts, id, parts.clock.now()).catch((error: unknown) => failures.push(error));
	}
	if (failures.length > 0) throw new AggregateError(failures, 'Not all guests could be let in again');
}

function createClearing(
	{ database, clock, gateways, settle }: RemovalParts,
	gateway: RegisteredGateway,
	{ isForced, signal, onWait }: RemovalOptions
) {
	const { db } = database;
	/** Grants that were valid before. */
	const released: number[] = [];
	const outcomes = new Map<number, Outcome>();
	let reason: string | null = null;
	let afterId = 0;

	const number = (wanted: Outcome) => [...outcomes.values()].filter((outcome) => outcome === wanted).length;

	async function putOut(row: store.GrantRow): Promise<Outcome> {
		const { id } = row;
		const toldAt = clock.now();
		released.push(...(await gatewayStore.releaseGuest(db, row, toldAt)));
		let { attempts } = row;
		for (let tries = 0; tries < MAX_TRIES; tries += 1) {
			await settle(id);
			const grant = await store.findGrant(db, id);
			if (!grant || grant.state === 'revoked' || (grant.revoked_at ?? -Infinity) >= toldAt) return 'out';
			// It was told, and knows no such device at the moment.
			if (grant.attempts === attempts) return 'staying';
			({ attempts } = grant);
			reason = grant.last_error;
		}
		return 'left';
	}

	/** Puts out everybody of this moment. @returns false where that was given up */
	async function round(): Promise<boolean> {
		afterId = 0;
		for (let isMore = true; isMore;) {
			const rows = await gatewayStore.openGrantsAt(db, { gatewayId: gateway.id, afterId }, AT_ONCE);
			for (const row of rows) {
				if (signal.aborted) return false;
				outcomes.set(row.id, await putOut(row));
				afterId = row.id;
				if (number('left') >= (isForced ? MAX_LEFT : 1)) return false;
			}
			isMore = rows.length === AT_ONCE;
		}
		return true;
	}

	/** @param since nothing that it was asked for before can still be done */
	const removeUnlessBusy = (since: number): Promise<boolean> =>
		database.transact(async (trx) => {
			if (await gatewayStore.mayLetIn(trx, gateway.id, since)) return false;
			await gateways.remove(trx, gateway);
			return true;
		});

	async function until(atMs: number): Promise<void> {
		if (clock.now() < atMs) onWait(atMs);
		while (clock.now() < atMs && !signal.aborted) await sleep(LOOK_AGAIN_MS);
	}

	return {
		released,
		/** @returns whether the gateway is removed */
		async run(): Promise<boolean> {
			for (let rounds = 0; rounds < MAX_ROUNDS; rounds += 1) {
				const since = clock.now() - LATE_MS;
				if (!(await round())) return false;
				if (signal.aborted) return false;
				if (await removeUnlessBusy(since)) return true;
				// A job of the server may have asked it for one of these before, and its answer is not there yet.
				await until(((await gatewayStore.lastAskedAt(db, gateway.id)) ?? -Infinity) + LATE_MS);
			}
			reason = 'Guests go on coming in there.';
			return false;
		},
		async result(): Promise<Omit<Removal, 'isRemoved'>> {
			const rest = await gatewayStore.countOpenAt(db, { gatewayId: gateway.id, afterId });
			const left = number('left') + rest;
			const why = signal.aborted ? 'It was interrupted.' : reason;
			return { putOut: number('out'), staying: number('staying'), left, reason: why };
		}
	};
}

const controllerOf = (gateway: RegisteredGateway): DeviceController | null => {
	const adapter = adapterOf(gateway.kind);
	return adapter.controlMode(gateway) === 'push' ? adapter.controller : null;
};
