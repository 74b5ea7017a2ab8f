import { isPaying } from '../billing/sessions.ts';
import { requireHeldLimits } from '../offers.ts';
import type { RegisteredGateway } from '../gateways/gateways.ts';
import type { GatewayChange } from '../gateways/settings.ts';
import type { Queries, Tx } from '../db/database.ts';
import { InputError } from '../platform/errors.ts';
import { openPassesAt, type PassRow } from '../passes.ts';
import { GATEWAY_JOB } from './job-kinds.ts';
import { type AccessContext, type AccessJob, controllerOf, targetsAt } from './provisioning.ts';
import * as store from './grants.ts';
import { applyGrant, openIdsAt, requestAgain, requestUsers } from './grants.ts';
import { REPORT_LIFETIME_MS } from './device-slots.ts';

/**
 * Changes the settings of a gateway. Its portal address and secrets stay. Devices stay online: what was granted
 * is granted again over a new connection.
 * @param audit writes rows in the same transaction
 * @throws InputError with every wrong field, or if somebody would lose access; then nothing changes
 */
export const changeGateway = (
	context: AccessContext,
	id: number,
	change: GatewayChange,
	audit?: (trx: Tx, after: RegisteredGateway) => Promise<void>
): Promise<RegisteredGateway> =>
	context.database.transact(async (trx) => {
		const { clock, gateways, jobs, offers } = context;
		const { before, after, isReconnected } = await gateways.set(trx, id, change);
		await refuseStranding(context, trx, before, after);
		for (const routerId of new Set([before.routerId, after.routerId])) {
			await requireHeldLimits(offers, trx, routerId, { gateway: { before, after } });
		}
		await audit?.(trx, after);
		if (!isReconnected) return after;
		await requestAgain(context, trx, { gatewayId: after.id });
		await jobs.schedule(trx, GATEWAY_JOB, after.id, clock.now());
		return after;
	});

async function refuseStranding(
	{ clock }: AccessContext,
	trx: Tx,
	before: RegisteredGateway,
	after: RegisteredGateway
): Promise<void> {
	if (before.routerId !== after.routerId) {
		const [open] = await openPassesAt(trx, { routerId: before.routerId, afterId: 0 }, clock.now(), 1);
		if (open) {
			const reason = `buyers have time left at router ${before.routerId}, and would lose access; move the gateway when it has ended`;
			throw new InputError([{ field: 'router', reason }]);
		}
	}
	if (before.mode === after.mode) return;
	const { length: count } = await openIdsAt(trx, before.id);
	if (count === 0) return;
	const reason = `buyers are online there (${count}), and their access could no longer be ended; change this after their time has ended`;
	const field = before.kind === 'mikrotik' ? 'control' : before.kind === 'unifi' ? 'api' : 'level';
	throw new InputError([{ field, reason }]);
}

/** Passes per transaction, so that other writers get a turn. */
const BATCH = 100;

/** Requests users at a new gateway (job GATEWAY_JOB). Safe to repeat: existing grants do not change. */
export async function gatewayAdded(context: AccessJob, gatewayId: number): Promise<null> {
	const { clock, gateways } = context;
	const gateway = await gateways.byId(gatewayId);
	if (!gateway) return null;
	const { routerId } = gateway;
	let afterId = 0;
	let passes: PassRow[];
	do {
		const after = { routerId, afterId };
		passes = await context.database.transact(async (trx) => {
			const batch = await openPassesAt(trx, after, clock.now(), BATCH);
			const targets = await targetsAt(context, trx, routerId);
			for (const pass of batch) await requestUsers(context, trx, pass, targets, null);
			return batch;
		});
		afterId = passes.at(-1)?.id ?? afterId;
	} while (passes.length === BATCH);
	return null;
}

/** Counts devices and users that the gateway let in. */
export interface Removal {
	disconnected: number;
	/** May stay online until the end that the gateway knows. */
	left: number;
}

/** Stops calling the gateway when this many devices are left. */
const MAX_LEFT = 3;

/**
 * Deletes a gateway. If Airtill controls it, it stays while passes have access there: nobody could end that later, and
 * their buyers have paid for it. By force, it is deleted all the same, and its devices are disconnected if it answers.
 * @param options `check` runs in the transaction before the removal, `apply` after it; either refuses it by throwing
 * @throws InputError if devices have access there, or if its router sells a limit that only this gateway holds
 */
export async function removeGateway(
	context: AccessContext,
	gateway: RegisteredGateway,
	{
		isForced,
		check,
		apply
	}: { isForced: boolean; check?(trx: Tx): Promise<void>; apply?(trx: Tx): Promise<void> }
): Promise<Removal> {
	const { clock, database, gateways, offers } = context;
	const removal = { gateway: { before: gateway, after: null } };
	await requireHeldLimits(offers, database.db, gateway.routerId, removal);
	const isControlled = controllerOf(gateway) !== null;
	const disconnected = isControlled && isForced ? await disconnectAll(context, gateway) : new Set();
	return database.transact(async (trx) => {
		await check?.(trx);
		const open = await store.openIdsAt(trx, gateway.id);
		if (isControlled && !isForced && open.length > 0) {
			const reason =
				`buyers have access there (${open.length}), which nobody could end later. Disable the router and remove the ` +
				'gateway when their time has ended, or use --force';
			throw new InputError([{ field: 'name', reason }]);
		}
		const connected = isControlled
			? 0
			: await store.countConnectedAt(trx, gateway.id, reportsAt(clock.now()));
		await gateways.remove(trx, gateway);
		await requireHeldLimits(offers, trx, gateway.routerId, removal);
		await apply?.(trx);
		const left = open.filter((id) => !disconnected.has(id)).length + connected;
		return { disconnected: disconnected.size, left };
	});
}

/**
 * Deletes a gateway for the owner of its router, but not one that buyers may still need.
 * @throws InputError with the field `in_use`, or as `removeGateway`
 */
export async function removeForOwner(
	context: AccessContext,
	gateway: RegisteredGateway,
	apply: (trx: Tx) => Promise<void>
): Promise<void> {
	const check = async (queries: Queries) => {
		if (await isNeeded(context, queries, gateway))
			throw new InputError([{ field: 'in_use', reason: 'buyers have access there, or are paying' }]);
	};
	// Before a device is disconnected, and again when nobody can pay any more.
	await check(context.database.db);
	await removeGateway(context, gateway, { isForced: gateway.unresponsiveSince !== null, check, apply });
}

async function isNeeded(
	{ clock, gateways }: AccessContext,
	queries: Queries,
	gateway: RegisteredGateway
): Promise<boolean> {
	const { id, routerId } = gateway;
	const now = clock.now();
	const others = (await gateways.ofRouter(queries, routerId)).filter((one) => one.id !== id && responds(one));
	if (others.length > 0 && !responds(gateway)) return false;
	if (await isPaying(queries, routerId)) return true;
	if (others.length === 0) return (await openPassesAt(queries, { routerId, afterId: 0 }, now, 1)).length > 0;
	const open = await store.openIdsAt(queries, id);
	return open.length > 0 || (await store.countConnectedAt(queries, id, reportsAt(now))) > 0;
}

const reportsAt = (now: number) => ({ now, since: now - REPORT_LIFETIME_MS });

const responds = ({ seenAt, unresponsiveSince }: RegisteredGateway) =>
	seenAt !== null && unresponsiveSince === null;

/** Returns the ids of the grants whose device or user the gateway has disconnected. */
async function disconnectAll(context: AccessContext, gateway: RegisteredGateway): Promise<Set<number>> {
	const { database, clock } = context;
	const out = new Set<number>();
	let left = 0;
	for (const id of await store.openIdsAt(database.db, gateway.id)) {
		const now = clock.now();
		await store.changeWanted(database.db, { id }, { released_at: now, updated_at: now });
		await applyGrant(context, id);
		if ((await store.findGrant(database.db, id))?.revoked_at != null) out.add(id);
		else left += 1;
		if (left === MAX_LEFT) break;
	}
	return out;
}
