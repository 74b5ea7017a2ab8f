import type { Tx } from '../db/database.ts';
import type { RegisteredGateway } from '../gateways/gateways.ts';
import type { JobHandler } from '../jobs/jobs.ts';
import { account, type AccountingReport } from '../radius/accounting.ts';
import { accepted, authorize, type Login } from '../radius/authorize.ts';
import { settleConnection } from '../radius/connections.ts';
import { lifeOf } from '../radius/probe.ts';
import { createOffers } from '../radius/psk-offers.ts';
import { admitStay, endStay, type Stay } from './binauth.ts';
import { deviceState, type Device } from './device-slots/device-state.ts';
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
	type UseOf
} from './provisioning/grants/fetched-grants.ts';
import { pendingAt } from './provisioning/grants/gateway-store.ts';
import { movePass } from './provisioning/move-pass.ts';
import { removeGateway, type RemovalOptions } from './provisioning/gateway-changes/remove-gateway.ts';

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

export type Access = ReturnType<typeof createAccess>;

/** Access: which devices may be online at which gateway, and until when. */
export function createAccess(services: Omit<AccessContext, 'concurrencyLimit' | 'offers'>) {
	const context: AccessContext = {
		...services,
		concurrencyLimit: createConcurrencyLimit(services),
		offers: createOffers()
	};
	const { database, clock, jobs } = context;
	return {
		fetchGrants: (gateway: RegisteredGateway, limit: number, useOf: UseOf) =>
			fetchGrants(context, gateway, limit, useOf),
		unconfirmedGrants: (gateway: RegisteredGateway, limit: number) =>
			unconfirmedGrants(context, gateway, limit),
		confirm: (gateway: RegisteredGateway, grantId: number) => confirmFetched(context, gateway, grantId),
		/** Lets in the device of a captive session on which a purchase was made or opened. */
		async deviceCame(tokenHash: string, isOnline: boolean): Promise<void> {
			await database.transact(async (trx) => {
				for (const pass of await passesOfPurchase(trx, tokenHash, clock.now())) {
					await deviceCame(context, trx, pass, isOnline);
				}
			});
			jobs.nudge();
		},
		/** Plans grants for running passes at a new gateway, in the transaction that creates it. */
		gatewayAdded: (trx: Tx, { id }: Pick<RegisteredGateway, 'id'>) =>
			jobs.schedule(trx, GATEWAY_JOB, id, clock.now()),
		/** Gives the slots of a purchase's passes to its newest device. Returns false when none moved. */
		async move(tokenHash: string): Promise<boolean> {
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
		stateOf: (tokenHash: string, device: Device) => deviceState(database.db, tokenHash, device, clock.now()),
		radius: {
			authorize: (gateway: RegisteredGateway, login: Login) => authorize(context, gateway, login),
			accepted: (gateway: RegisteredGateway, login: Login) => accepted(context, gateway, login),
			account: (gateway: RegisteredGateway, report: AccountingReport) => account(context, gateway, report)
		},
		admitStay: (gateway: RegisteredGateway, stay: Stay) => admitStay(context, gateway, stay),
		endStay: (gateway: RegisteredGateway, stay: Stay) => endStay(context, gateway, stay),
		pendingAt: (gatewayId: number) => pendingAt(database.db, gatewayId),
		remove: (gateway: RegisteredGateway, options: RemovalOptions) => removeGateway(context, gateway, options),
		lifeOf: (gateway: RegisteredGateway) => lifeOf(context, gateway),
		/** Handlers of the durable jobs. */
		jobs: {
			[GRANT_JOB]: (grantId: number) => applyGrant(context, grantId),
			[GATEWAY_JOB]: (gatewayId: number) => gatewayAdded(context, gatewayId),
			[ACTIVATION_JOB]: (passId: number) => activationTimeout(context, passId),
			[ROUTER_JOB]: (passId: number) => awaitRouter(context, passId),
			[ADDED_JOB]: (sessionId: number) => checkAddedTime(context, sessionId),
			[CONNECTION_JOB]: (connectionId: number) => settleConnection(context, connectionId)
		}
	};
}
