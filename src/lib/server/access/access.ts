import type { Held } from '../db/locks.ts';
import {
	ACTIVATION_JOB,
	AWAIT_ROUTER_JOB,
	type AccessContext,
	UNCONFIRMED_JOB,
	awaitRouter,
	letInDevice,
	movePass,
	refundUnactivated,
	refundUnconfirmed
} from './provisioning.ts';
import { GATEWAY_JOB, LATE_REDIRECT_MS, forget } from './admissions.ts';
import { compareGateway } from './compare.ts';
import { createPskCandidates } from './radius-login.ts';
import { lockPassesOfPurchase } from './device-slots.ts';
import { giveTimeBack } from './outages.ts';
import { CONNECTION_JOB, runOldConnectionJob } from './radius-connections.ts';
import { OUTAGE_JOB } from '../gateways/outages.ts';
import type { Tx } from '../db/database.ts';
import type { Moved } from '#lib/server/gateways/captive-sessions.ts';
import { type JobHandlers, fenceHandlers } from '../jobs.ts';
import type { PassRow } from '../passes.ts';

/**
 * Which devices may be online at which gateway, and until when: the jobs that compare it, and what a buyer's page asks for.
 * What passes want at a gateway: provisioning.ts and admissions.ts; the comparison: compare.ts.
 */

export const openAccess = (
	services: Omit<AccessContext, 'calledGateways' | 'unreportedFetches' | 'pskCandidates'>
): AccessContext => ({
	...services,
	calledGateways: new Map(),
	unreportedFetches: new Map(),
	pskCandidates: createPskCandidates()
});

export const accessJobs = (context: AccessContext): JobHandlers =>
	fenceHandlers(context, {
		[GATEWAY_JOB]: compareGateway,
		[ACTIVATION_JOB]: refundUnactivated,
		[AWAIT_ROUTER_JOB]: awaitRouter,
		[UNCONFIRMED_JOB]: refundUnconfirmed,
		[CONNECTION_JOB]: runOldConnectionJob,
		[OUTAGE_JOB]: giveTimeBack
	});

export async function letInBuyer(
	context: AccessContext,
	tokenHash: string,
	isOnline: boolean
): Promise<void> {
	await forEachPass(context, tokenHash, (trx, pass) => letInDevice(context, trx, pass, isOnline));
}

/** Its gateway redirected the device, so it does not let it in any more. */
export const forgetDevice = (
	context: AccessContext,
	device: { gatewayId: number; mac: string }
): Promise<void> =>
	context.database.transact((trx) =>
		forget(context, trx, { ...device, allowedBefore: context.clock.now() - LATE_REDIRECT_MS })
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
	work: (trx: Tx, pass: Held<PassRow>) => Promise<T>
): Promise<T[]> =>
	context.database.transact(async (trx) => {
		const done: T[] = [];
		for (const pass of await lockPassesOfPurchase(trx, tokenHash, context.clock.now())) {
			done.push(await work(trx, pass));
		}
		return done;
	});
