import type { Tx } from '../db/database.ts';
import type { RegisteredGateway } from '../gateways/gateways.ts';
import type { JobHandler } from '../jobs/jobs.ts';
import { createRadius, type Radius } from '../radius/authorize.ts';
import { createConnections } from '../radius/connections.ts';
import { lifeOf, type Life } from '../radius/probe.ts';
import { admitStay, endStay, type Stay } from './binauth.ts';
import { deviceState, type Device, type DeviceState } from './device-slots/device-state.ts';
import {
	ACTIVATION_JOB,
	ADDED_JOB,
	CONNECTION_JOB,
	GATEWAY_JOB,
	GRANT_JOB,
	ROUTER_JOB
} from './job-kinds.ts';
import { activationTimeout } from './provisioning/activation-timeout.ts';
import { awaitRouter } from './provisioning/await-router.ts';
import { checkAddedTime } from './provisioning/check-added-time.ts';
import type { AccessContext } from './provisioning/context.ts';
import { deviceCame } from './provisioning/device-came.ts';
import { passesOfPurchase } from './provisioning/devices.ts';
import { gatewayAdded } from './provisioning/gateway-changes/gateway-added.ts';
import { applyGrant } from './provisioning/grants/apply-grant.ts';
import { createConcurrencyLimit } from './provisioning/grants/concurrency-limit.ts';
import {
	confirmFetched,
	fetchGrants,
	unconfirmedGrants,
	type FetchedGrant,
	type UseOf
} from './provisioning/grants/fetched-grants.ts';
import { pendingAt } from './provisioning/grants/gateway-store.ts';
import { movePass } from './provisioning/move-pass.ts';
import {
	removeGateway,
	type Removal,
	type RemovalOptions
} from './provisioning/gateway-changes/remove-gateway.ts';

export { AccessInputError, createAccessKinds, type AccessKinds } from './passes/access-kinds.ts';
export { createApiBuyers, type ApiBuyers } from './passes/api-buyers.ts';
export { createPasses, type Passes } from './passes/passes.ts';
export { createProvisioning } from './provisioning/session-provisioning.ts';
export type { AccountingReport } from '../radius/accounting.ts';
export type { Login, LoginAnswer } from '../radius/authorize.ts';
export type { Life } from '../radius/probe.ts';
export type { Stay } from './binauth.ts';
export type { DeviceState } from './device-slots/device-state.ts';
export type { FetchedGrant } from './provisioning/grants/fetched-grants.ts';
export type { Removal } from './provisioning/gateway-changes/remove-gateway.ts';

/** Access: which devices may be online at which gateway, and until when. */
export interface Access {
	fetchGrants(gateway: RegisteredGateway, limit: number, useOf: UseOf): Promise<FetchedGrant[]>;
	unconfirmedGrants(
		gateway: RegisteredGateway,
		limit: number
	): Promise<Pick<FetchedGrant, 'grantId' | 'login'>[]>;
	confirm(gateway: RegisteredGateway, grantId: number): Promise<boolean>;
	/** Lets in the device of a captive session on which a purchase was made or opened (its token's hash). */
	deviceCame(purchaseTokenHash: string, isOnline: boolean): Promise<void>;
	/** Plans grants for running passes at a new gateway, in the transaction that creates it. */
	gatewayAdded(trx: Tx, gateway: Pick<RegisteredGateway, 'id'>): Promise<void>;
	/** Gives the slots of a purchase's passes to its newest device. Returns false when none moved. */
	move(purchaseTokenHash: string): Promise<boolean>;
	radius: Radius;
	admitStay(gateway: RegisteredGateway, stay: Stay): Promise<number | null>;
	endStay(gateway: RegisteredGateway, stay: Stay): Promise<void>;
	stateOf(purchaseTokenHash: string, device: Device): Promise<DeviceState | null>;
	pendingAt(gatewayId: number): ReturnType<typeof pendingAt>;
	remove(gateway: RegisteredGateway, options: RemovalOptions): Promise<Removal>;
	/** Whether a gateway that uses RADIUS responds. */
	lifeOf(gateway: RegisteredGateway): Promise<Life>;
	/** Handlers of the durable jobs. */
	jobs: Record<string, JobHandler>;
}

export function createAccess(services: Omit<AccessContext, 'concurrencyLimit'>): Access {
	const context: AccessContext = { ...services, concurrencyLimit: createConcurrencyLimit(services) };
	const { database, clock, jobs } = context;
	const connections = createConnections(context);
	return {
		fetchGrants: (gateway, limit, useOf) => fetchGrants(context, gateway, limit, useOf),
		unconfirmedGrants: (gateway, limit) => unconfirmedGrants(context, gateway, limit),
		confirm: (gateway, grantId) => confirmFetched(context, gateway, grantId),
		async deviceCame(tokenHash, isOnline) {
			await database.transact(async (trx) => {
				for (const pass of await passesOfPurchase(trx, tokenHash, clock.now())) {
					await deviceCame(context, trx, pass, isOnline);
				}
			});
			jobs.nudge();
		},
		gatewayAdded: (trx, { id }) => jobs.schedule(trx, GATEWAY_JOB, id, clock.now()),
		async move(tokenHash) {
			const moved = await database.transact(async (trx) => {
				let any = false;
				for (const pass of await passesOfPurchase(trx, tokenHash, clock.now())) {
					any = (await movePass(context, trx, pass)) || any;
				}
				return any;
			});
			jobs.nudge();
			return moved;
		},
		stateOf: (tokenHash, device) => deviceState(database.db, tokenHash, device, clock.now()),
		radius: createRadius(context),
		admitStay: (gateway, stay) => admitStay(context, gateway, stay),
		endStay: (gateway, stay) => endStay(context, gateway, stay),
		pendingAt: (gatewayId) => pendingAt(database.db, gatewayId),
		remove: (gateway, options) => removeGateway(context, gateway, options),
		lifeOf: (gateway) => lifeOf(context, gateway),
		jobs: {
			[GRANT_JOB]: (grantId) => applyGrant(context, grantId),
			[GATEWAY_JOB]: (gatewayId) => gatewayAdded(context, gatewayId),
			[ACTIVATION_JOB]: (passId) => activationTimeout(context, passId),
			[ROUTER_JOB]: (passId) => awaitRouter(context, passId),
			[ADDED_JOB]: (sessionId) => checkAddedTime(context, sessionId),
			[CONNECTION_JOB]: connections.settle
		}
	};
}
