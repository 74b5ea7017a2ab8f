import type { Tx } from '../db/database.ts';
import type { RegisteredGateway } from '../gateways/gateways.ts';
import type { Moved } from '#lib/server/gateways/captive-sessions.ts';
import { binder } from '../platform/bind.ts';
import { account } from './radius/accounting.ts';
import { fenceHandlers } from '../jobs.ts';
import { accepted, authorize } from './radius/authorize.ts';
import { probeRadiusGateway, runConnectionJob } from './radius/connections.ts';
import { createPskCandidates } from './radius/psk-candidates.ts';
import { admitClient, confirmClient, endClient, fetchGrants } from './opennds-clients.ts';
import { deviceState } from './device-slots.ts';
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
	activationTimeout,
	awaitRouter,
	letInDevice,
	movePass,
	passesOfPurchase,
	refundUnconfirmed
} from './provisioning.ts';
import type { PassRow } from '../passes.ts';
import { changeGateway, gatewayAdded, removeForOwner, removeGateway } from './gateway-changes.ts';
import { LATE_REDIRECT_MS, pendingAt, requestAgain, runGrantJob } from './grants.ts';
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
		purchaseOpened: bind(purchaseOpened),
		deviceReturned: bind(deviceReturned),
		scheduleGatewayAdded: bind(scheduleGatewayAdded),
		changeGateway: bind(changeGateway),
		move: bind(movePurchase),
		stateOf: bind(deviceState),
		radius: { authorize: bind(authorize), accepted: bind(accepted), account: bind(account) },
		admitClient: bind(admitClient),
		confirmClient: bind(confirmClient),
		endClient: bind(endClient),
		pendingAt: (gatewayId: number) => pendingAt(context.database.db, gatewayId),
		remove: bind(removeGateway),
		removeForOwner: bind(removeForOwner),
		probeRadiusGateway: bind(probeRadiusGateway),
		jobs: fenceHandlers(context, {
			[GRANT_JOB]: runGrantJob,
			[GATEWAY_JOB]: gatewayAdded,
			[ACTIVATION_JOB]: activationTimeout,
			[AWAIT_ROUTER_JOB]: awaitRouter,
			[UNCONFIRMED_JOB]: refundUnconfirmed,
			[CONNECTION_JOB]: runConnectionJob
		})
	};
}

async function purchaseOpened(context: AccessContext, tokenHash: string, isOnline: boolean): Promise<void> {
	await eachPass(context, tokenHash, (trx, pass) => letInDevice(context, trx, pass, isOnline));
}

/** Its gateway redirected the device, so it has forgotten the grants that it has confirmed. */
const deviceReturned = (context: AccessContext, device: { gatewayId: number; mac: string }): Promise<void> =>
	context.database.transact((trx) =>
		requestAgain(context, trx, { ...device, grantedBefore: context.clock.now() - LATE_REDIRECT_MS })
	);

/** @param record of a person who helps the buyer; joins the transaction of each pass that moves */
async function movePurchase(
	context: AccessContext,
	tokenHash: string,
	record?: (trx: Tx) => Promise<void>
): Promise<Moved> {
	const results = await eachPass(context, tokenHash, async (trx, pass) => {
		const result = await movePass(context, trx, pass, { isHelp: record !== undefined });
		if (result === 'moved') await record?.(trx);
		return result;
	});
	const isMoved = results.includes('moved');
	return isMoved ? 'moved' : (results.find((one) => one !== 'no_device') ?? 'no_device');
}

const eachPass = <T>(
	context: AccessContext,
	tokenHash: string,
	work: (trx: Tx, pass: PassRow) => Promise<T>
): Promise<T[]> =>
	context.database.transact(async (trx) => {
		const done: T[] = [];
		const passes = await passesOfPurchase(trx, tokenHash, context.clock.now());
		for (const pass of passes) done.push(await work(trx, pass));
		return done;
	});

/** Schedules GATEWAY_JOB in the transaction that creates the gateway. */
const scheduleGatewayAdded = (
	{ jobs, clock }: AccessContext,
	trx: Tx,
	{ id }: Pick<RegisteredGateway, 'id'>
) => jobs.schedule(trx, GATEWAY_JOB, id, clock.now());
