import type { Tx } from '../db/database.ts';
import type { RegisteredGateway } from '../gateways/gateways.ts';
import type { Moved } from '#lib/server/gateways/captive-sessions.ts';
import { binder } from '../platform/bind.ts';
import { recordAccounting } from './radius/accounting.ts';
import { fenceHandlers } from '../jobs.ts';
import { acceptLogin, authorizeLogin } from './radius/authorize.ts';
import { probeRadiusGateway, runConnectionJob } from './radius/connections.ts';
import { createPskCandidates } from './radius/psk-candidates.ts';
import { admitClient, confirmClient, endClient, fetchGrants } from './opennds-clients.ts';
import { findDeviceState } from './device-slots.ts';
import {
	ACTIVATION_JOB,
	UNCONFIRMED_JOB,
	CONNECTION_JOB,
	GATEWAY_JOB,
	GRANT_JOB,
	AWAIT_ROUTER_JOB
} from './job-kinds.ts';
import {
	type AccessContext,
	refundUnactivated,
	awaitRouter,
	letInDevice,
	movePass,
	findPassesOfPurchase,
	refundUnconfirmed
} from './provisioning.ts';
import type { PassRow } from '../passes/passes.ts';
import {
	changeGatewaySettings,
	requestUsersAtGateway,
	removeGatewayForOwner,
	removeGateway
} from './gateway-changes.ts';
import { LATE_REDIRECT_MS, countPendingGrants, requestAgain, runGrantJob } from './grants.ts';
import { createConcurrencyLimit } from './gateway-calls.ts';

export { REPORT_LIFETIME_MS } from './device-slots.ts';
export { createProvisioning } from './provisioning.ts';
export type { LoginAnswer } from './radius/authorize.ts';
export type { Removal } from './gateway-changes.ts';

export type Access = ReturnType<typeof createAccess>;

/** Decides which devices may be online at which gateway, and until when. */
export function createAccess(services: Omit<AccessContext, 'concurrencyLimit' | 'pskCandidates'>) {
	const context: AccessContext = {
		...services,
		concurrencyLimit: createConcurrencyLimit(services),
		pskCandidates: createPskCandidates()
	};
	const bind = binder(context);
	return {
		fetchGrants: bind(fetchGrants),
		purchaseOpened: bind(letInBuyer),
		deviceReturned: bind(requestDeviceAgain),
		scheduleGatewayAdded: bind(scheduleGatewayAdded),
		changeGateway: bind(changeGatewaySettings),
		move: bind(movePurchase),
		stateOf: bind(findDeviceState),
		radius: { authorize: bind(authorizeLogin), accepted: bind(acceptLogin), account: bind(recordAccounting) },
		admitClient: bind(admitClient),
		confirmClient: bind(confirmClient),
		endClient: bind(endClient),
		pendingAt: (gatewayId: number) => countPendingGrants(context.database.db, gatewayId),
		remove: bind(removeGateway),
		removeForOwner: bind(removeGatewayForOwner),
		probeRadiusGateway: bind(probeRadiusGateway),
		jobs: fenceHandlers(context, {
			[GRANT_JOB]: runGrantJob,
			[GATEWAY_JOB]: requestUsersAtGateway,
			[ACTIVATION_JOB]: refundUnactivated,
			[AWAIT_ROUTER_JOB]: awaitRouter,
			[UNCONFIRMED_JOB]: refundUnconfirmed,
			[CONNECTION_JOB]: runConnectionJob
		})
	};
}

async function letInBuyer(context: AccessContext, tokenHash: string, isOnline: boolean): Promise<void> {
	await forEachPass(context, tokenHash, (trx, pass) => letInDevice(context, trx, pass, isOnline));
}

/** Its gateway redirected the device, so it has forgotten the grants that it has confirmed. */
const requestDeviceAgain = (
	context: AccessContext,
	device: { gatewayId: number; mac: string }
): Promise<void> =>
	context.database.transact((trx) =>
		requestAgain(context, trx, { ...device, grantedBefore: context.clock.now() - LATE_REDIRECT_MS })
	);

/** @param record of a person who helps the buyer; joins the transaction of each pass that moves */
async function movePurchase(
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
const scheduleGatewayAdded = (
	{ jobs, clock }: AccessContext,
	trx: Tx,
	{ id }: Pick<RegisteredGateway, 'id'>
) => jobs.schedule(trx, GATEWAY_JOB, id, clock.now());
