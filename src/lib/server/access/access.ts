import {
	ACTIVATION_JOB,
	AWAIT_ROUTER_JOB,
	type AccessContext,
	type AccessJob,
	UNCONFIRMED_JOB,
	awaitRouter,
	findTargets,
	letInDevice,
	movePass,
	refundUnactivated,
	refundUnconfirmed
} from './provisioning.ts';
import { applyGrant, createConcurrencyLimit, runGrantJob } from './gateway-calls.ts';
import { createPskCandidates } from './radius-login.ts';
import { CONNECTION_JOB, REPORT_LIFETIME_MS, findPassesOfPurchase } from './device-slots.ts';
import {
	GRANT_JOB,
	LATE_REDIRECT_MS,
	changeWantedGrant,
	countConnectedAt,
	findGrant,
	findOpenGrantIds,
	requestAgain,
	requestUsers
} from './grants.ts';
import { runConnectionJob } from './radius-connections.ts';
import {
	type RegisteredGateway,
	deleteGateway,
	findController,
	findGatewayById,
	findGatewaysOfRouter
} from '../gateways/gateways.ts';
import type { Queries, Tx } from '../db/database.ts';
import type { Moved } from '#lib/server/gateways/captive-sessions.ts';
import { type JobHandlers, fenceHandlers } from '../jobs.ts';
import { type PassRow, openPassesAt } from '../passes.ts';
import { requireHeldLimits } from '../offers.ts';
import { type GatewayChange, setGateway } from '../gateways/settings.ts';
import { refuseFields } from '../platform/errors.ts';
import { isPaying } from '../billing/sessions.ts';

export { REPORT_LIFETIME_MS } from './device-slots.ts';
export { createProvisioning } from './provisioning.ts';

/** Creates the users of running passes at an added gateway; its subject is the gateway. */
const GATEWAY_JOB = 'access.gateway';

/** Passes per transaction, so that other writers get a turn. */
const BATCH = 100;

/** Stops calling a gateway that is removed when this many devices are left. */
const MAX_LEFT = 3;

/** Decides which devices may be online at which gateway, and until when. */
export type Access = AccessContext;

export const openAccess = (services: Omit<Access, 'concurrencyLimit' | 'pskCandidates'>): Access => ({
	...services,
	concurrencyLimit: createConcurrencyLimit(services),
	pskCandidates: createPskCandidates()
});

export const accessJobs = (context: Access): JobHandlers =>
	fenceHandlers(context, {
		[GRANT_JOB]: runGrantJob,
		[GATEWAY_JOB]: requestUsersAtGateway,
		[ACTIVATION_JOB]: refundUnactivated,
		[AWAIT_ROUTER_JOB]: awaitRouter,
		[UNCONFIRMED_JOB]: refundUnconfirmed,
		[CONNECTION_JOB]: runConnectionJob
	});

export async function letInBuyer(
	context: AccessContext,
	tokenHash: string,
	isOnline: boolean
): Promise<void> {
	await forEachPass(context, tokenHash, (trx, pass) => letInDevice(context, trx, pass, isOnline));
}

/** Its gateway redirected the device, so it has forgotten the grants that it has confirmed. */
export const requestDeviceAgain = (
	context: AccessContext,
	device: { gatewayId: number; mac: string }
): Promise<void> =>
	context.database.transact((trx) =>
		requestAgain(context, trx, { ...device, grantedBefore: context.clock.now() - LATE_REDIRECT_MS })
	);

/** @param record of a person who helps the buyer; joins the transaction of each pass that moves */
export async function movePurchase(
	context: AccessContext,
	tokenHash: string,
	record?: (trx: Tx) => Promise<void>
): Promise<Moved> {
	const results = await forEachPass(context, tokenHash, async (trx, pass) => {
		const result = await movePass(context, trx, pass, { isHelp: record !== undefined });
		if (result === 'moved') await record?.(trx);
		return result;
	});
	const isMoved = results.includes('moved');
	return isMoved ? 'moved' : (results.find((one) => one !== 'no_device') ?? 'no_device');
}

const forEachPass = <T>(
	context: AccessContext,
	tokenHash: string,
	work: (trx: Tx, pass: PassRow) => Promise<T>
): Promise<T[]> =>
	context.database.transact(async (trx) => {
		const done: T[] = [];
		const passes = await findPassesOfPurchase(trx, tokenHash, context.clock.now());
		for (const pass of passes) done.push(await work(trx, pass));
		return done;
	});

/** Schedules GATEWAY_JOB in the transaction that creates the gateway. */
export const scheduleGatewayAdded = (
	{ jobs, clock }: AccessContext,
	trx: Tx,
	{ id }: Pick<RegisteredGateway, 'id'>
) => jobs.schedule(trx, GATEWAY_JOB, id, clock.now());

/**
 * Changes the settings of a gateway. Its portal address and secrets stay. Devices stay online: what was granted
 * is granted again over a new connection.
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
		const { clock, gateways, jobs, offers } = context;
		const { before, after, isReconnected } = await setGateway(gateways, trx, id, change);
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
			throw refuseFields({ field: 'router', reason });
		}
	}
	if (before.mode === after.mode) return;
	const { length: count } = await findOpenGrantIds(trx, before.id);
	if (count === 0) return;
	const reason = `buyers are online there (${count}), and their access could no longer be ended; change this after their time has ended`;
	const field = before.kind === 'mikrotik' ? 'control' : before.kind === 'unifi' ? 'api' : 'level';
	throw refuseFields({ field, reason });
}

/** Requests users at a new gateway (job GATEWAY_JOB). Safe to repeat: existing grants do not change. */
async function requestUsersAtGateway(context: AccessJob, gatewayId: number): Promise<null> {
	const { clock, gateways } = context;
	const gateway = await findGatewayById(gateways, gatewayId);
	if (!gateway) return null;
	const { routerId } = gateway;
	let afterId = 0;
	let passes: PassRow[];
	do {
		const after = { routerId, afterId };
		passes = await context.database.transact(async (trx) => {
			const batch = await openPassesAt(trx, after, clock.now(), BATCH);
			const targets = await findTargets(context, trx, routerId);
			for (const pass of batch) await requestUsers(context, trx, pass, targets, null);
			return batch;
		});
		afterId = passes.at(-1)?.id ?? afterId;
	} while (passes.length === BATCH);
	return null;
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
	const disconnected = isControlled && isForced ? await disconnectAll(context, gateway) : new Set();
	return database.transact(async (trx) => {
		await check?.(trx);
		const open = await findOpenGrantIds(trx, gateway.id);
		if (isControlled && !isForced && open.length > 0) {
			const reason =
				`buyers have access there (${open.length}), which nobody could end later. Disable the router and remove the ` +
				'gateway when their time has ended, or use --force';
			throw refuseFields({ field: 'name', reason });
		}
		const connected = isControlled
			? 0
			: await countConnectedAt(trx, gateway.id, describeReports(clock.now()));
		await deleteGateway(trx, gateway);
		await requireHeldLimits(offers, trx, gateway.routerId, removal);
		await apply?.(trx);
		const left = open.filter((id) => !disconnected.has(id)).length + connected;
		return { disconnected: disconnected.size, left };
	});
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
	if (others.length === 0) return (await openPassesAt(queries, { routerId, afterId: 0 }, now, 1)).length > 0;
	const open = await findOpenGrantIds(queries, id);
	return open.length > 0 || (await countConnectedAt(queries, id, describeReports(now))) > 0;
}

const describeReports = (now: number) => ({ now, since: now - REPORT_LIFETIME_MS });

const responds = ({ seenAt, unresponsiveSince }: RegisteredGateway) =>
	seenAt !== null && unresponsiveSince === null;

/** Returns the ids of the grants whose device or user the gateway has disconnected. */
async function disconnectAll(context: AccessContext, gateway: RegisteredGateway): Promise<Set<number>> {
	const { database, clock } = context;
	const out = new Set<number>();
	let left = 0;
	for (const id of await findOpenGrantIds(database.db, gateway.id)) {
		const now = clock.now();
		await changeWantedGrant(database.db, { id }, { released_at: now, updated_at: now });
		await applyGrant(context, id);
		if ((await findGrant(database.db, id))?.revoked_at != null) out.add(id);
		else left += 1;
		if (left === MAX_LEFT) break;
	}
	return out;
}
