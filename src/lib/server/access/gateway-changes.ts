import { lockRouter } from '../routers/routers.ts';
import { findById } from '../db/queries.ts';
import type { AccessContext } from './provisioning.ts';
import { GATEWAY_JOB, findAdmission, findUsedAdmissions, forget, scheduleComparison } from './admissions.ts';
import { disallow, readComparison } from './compare.ts';
import { REPORT_LIFETIME_MS, countConnectedAt } from './device-slots.ts';
import {
	type RegisteredGateway,
	REMOVAL_MS,
	deleteGateway,
	findController,
	findGatewayById,
	findGatewaysOfRouter,
	updateGateway
} from '../gateways/gateways.ts';
import type { Queries, Tx } from '../db/database.ts';
import { findOpenPassesAt } from '../passes.ts';
import { loginUser } from '../../domain/wifi.ts';
import { requireHeldLimits } from '../offers.ts';
import { type GatewayChange, setGateway } from '../gateways/settings.ts';
import { refuseFields } from '../platform/errors.ts';
import { isPaying } from '../billing/sessions.ts';

/**
 * A gateway is changed or removed: buyers keep what they have paid for. What would take it from them is refused, and a
 * removed gateway first disconnects whom it let in, as nobody could end that later. The steps for a new one are in
 * gateway-setup.ts.
 */

/** Stops calling a gateway that is removed when this many devices are left. */
const MAX_LEFT = 3;

/**
 * Changes the settings of a gateway. Its portal address and secrets stay. Devices stay online: what was sent
 * is sent again over a new connection.
 * @param audit writes rows in the same transaction
 * @throws Refused with every wrong field, or if somebody would lose access; then nothing changes
 */
export const changeGatewaySettings = (
	context: AccessContext,
	id: number,
	change: GatewayChange,
	audit?: (trx: Tx, after: RegisteredGateway) => Promise<void>
): Promise<RegisteredGateway> =>
	context.database.transact(async (trx) => {
		const { gateways, offers } = context;
		await lockRoutersOf(trx, id, change.routerId);
		const { before, after, isReconnected } = await setGateway(gateways, trx, id, change);
		await refuseStranding(context, trx, before, after);
		for (const routerId of new Set([before.routerId, after.routerId])) {
			await requireHeldLimits(offers, trx, routerId, { gateway: { before, after } });
		}
		await audit?.(trx, after);
		if (!isReconnected) return after;
		await forget(context, trx, { gatewayId: after.id });
		await scheduleComparison(context, trx, after.id);
		return after;
	});

/** Before anything is decided: no pass begins there, and no offer changes, until the end. */
async function lockRoutersOf(trx: Tx, gatewayId: number, newRouterId: number | undefined): Promise<void> {
	const known = await findById(trx, 'gateways', gatewayId);
	const ids = [known?.router_id, newRouterId].filter((id) => id !== undefined).sort((a, b) => a - b);
	for (const id of ids) await lockRouter(trx, id);
}

async function refuseStranding(
	{ clock }: AccessContext,
	trx: Tx,
	before: RegisteredGateway,
	after: RegisteredGateway
): Promise<void> {
	if (before.routerId !== after.routerId) {
		const [open] = await findOpenPassesAt(trx, { routerId: before.routerId, afterId: 0 }, clock.now(), 1);
		if (open) {
			const reason = `buyers have time left at router ${before.routerId}, and would lose access; move the gateway when it has ended`;
			throw refuseFields({ field: 'router', reason });
		}
	}
	if (before.mode === after.mode) return;
	const { length: count } = await findUsedAdmissions(trx, before.id, clock.now());
	if (count === 0) return;
	const reason = `buyers are online there (${count}), and their access could no longer be ended; change this after their time has ended`;
	const field = before.kind === 'mikrotik' ? 'control' : before.kind === 'unifi' ? 'api' : 'level';
	throw refuseFields({ field, reason });
}

/** Counts devices and users that the gateway let in. */
interface Removal {
	disconnected: number;
	/** May stay online until the end that the gateway knows. */
	left: number;
}

/**
 * Deletes a gateway. If Airtill controls it, it stays while passes have access there: nobody could end that later, and
 * their buyers have paid for it. By force, it is deleted all the same, and its devices are disconnected if it answers.
 * @param options `check` runs in the transaction before the removal, `apply` after it; either refuses it by throwing
 * @throws Refused if devices have access there, or if its router sells a limit that only this gateway holds
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
	const { clock, database, offers } = context;
	const removal = { gateway: { before: gateway, after: null } };
	await requireHeldLimits(offers, database.db, gateway.routerId, removal);
	const isControlled = findController(gateway) !== null;
	// It would keep its users.
	const endsAccess = isControlled || gateway.mode === 'fetch';
	const remove = (out: ReadonlySet<number>, disconnected: number) =>
		database.transact(async (trx) => {
			await lockRouter(trx, gateway.routerId);
			await check?.(trx);
			const open = await findUsedAdmissions(trx, gateway.id, clock.now());
			if (endsAccess && !isForced && open.length > 0) {
				const reason =
					`buyers have access there (${open.length}), which nobody could end later. Disable the router and remove the ` +
					'gateway when their time has ended, or use --force';
				throw refuseFields({ field: 'name', reason });
			}
			const connected = endsAccess
				? 0
				: await countConnectedAt(trx, gateway.id, describeReports(clock.now()));
			await deleteGateway(trx, gateway);
			await requireHeldLimits(offers, trx, gateway.routerId, removal);
			await apply?.(trx);
			const left = open.filter((id) => !out.has(id)).length + connected;
			return { disconnected, left };
		});
	if (!isControlled || !isForced) return remove(new Set(), 0);
	const out = await disconnectAll(context, gateway);
	try {
		return await remove(out.rows, out.subjects.size);
	} catch (error) {
		await database.transact(async (trx) => {
			await updateGateway(trx, gateway.id, { removing_at: null });
			await scheduleComparison(context, trx, gateway.id);
		});
		throw error;
	}
}

/**
 * Deletes a gateway for the owner of its router, but not one that buyers may still need.
 * @throws Refused with the field `in_use`, or as `removeGateway`
 */
export async function removeGatewayForOwner(
	context: AccessContext,
	gateway: RegisteredGateway,
	apply: (trx: Tx) => Promise<void>
): Promise<void> {
	const check = async (queries: Queries) => {
		if (await isNeeded(context, queries, gateway))
			throw refuseFields({ field: 'in_use', reason: 'buyers have access there, or are paying' });
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
	const others = (await findGatewaysOfRouter(gateways, queries, routerId)).filter(
		(one) => one.id !== id && responds(one)
	);
	if (others.length > 0 && !responds(gateway)) return false;
	if (await isPaying(queries, routerId)) return true;
	if (others.length === 0)
		return (await findOpenPassesAt(queries, { routerId, afterId: 0 }, now, 1)).length > 0;
	const open = await findUsedAdmissions(queries, id, now);
	return open.length > 0 || (await countConnectedAt(queries, id, describeReports(now))) > 0;
}

const describeReports = (now: number) => ({ now, since: now - REPORT_LIFETIME_MS });

const responds = ({ seenAt, unresponsiveSince }: RegisteredGateway) =>
	seenAt !== null && unresponsiveSince === null;

/**
 * Marks the gateway, so that nothing is wanted there, and disconnects what it let in. If the mark is not taken back, the
 * comparison lets in its buyers again later.
 * @returns rows that are not let in any more, with the devices or users that were
 */
async function disconnectAll(context: AccessContext, gateway: RegisteredGateway) {
	const { database, clock, gateways, jobs } = context;
	const out = { rows: new Set<number>(), subjects: new Set<string>() };
	await database.transact(async (trx) => {
		await updateGateway(trx, gateway.id, { removing_at: clock.now() });
		await jobs.schedule(trx, GATEWAY_JOB, gateway.id, clock.now() + REMOVAL_MS);
	});
	const leaving = await findGatewayById(gateways, gateway.id);
	if (!leaving) return out;
	const comparison = await readComparison(context, leaving);
	let left = 0;
	for (const { row } of comparison.compared) {
		const isIn = row.sent_until !== null;
		if (isIn) await disallow(context, comparison, row);
		const after = isIn ? await findAdmission(database.db, row.id) : row;
		if (after?.sent_until == null) out.rows.add(row.id);
		else if (after.problem !== null) left += 1;
		if (isIn && out.rows.has(row.id)) out.subjects.add(row.mac ?? loginUser(row.pass_id));
		if (left === MAX_LEFT) break;
	}
	return out;
}
