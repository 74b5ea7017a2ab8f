import type { Clock } from '../platform/clock.ts';
import type { Tx } from '../db/database.ts';
import type { RegisteredGateway } from '../gateways/gateways.ts';
import type { JobHandler } from '../jobs/jobs.ts';
import type { Routers } from '../routers/routers.ts';
import { settleAdded } from './passes/added-time.ts';
import { awaitSign } from './provisioning/await-sign.ts';
import { createBinauth, type Binauth } from './binauth.ts';
import { createConnections } from '../radius/connections.ts';
import * as gatewayStore from './provisioning/gateway-store.ts';
import { createGrants, type Grants, type GrantsParts, type Waiting } from './provisioning/grants.ts';
import { handedOut } from './provisioning/handed-out.ts';
import type { Plan } from './provisioning/provisioning.ts';
import { lifeOf, type Life } from '../radius/probe.ts';
import { createRadius, type Radius } from '../radius/authorize.ts';
import { removeGateway, type Removal, type RemovalOptions } from './provisioning/removal.ts';
import { ACTIVATING_JOB, ADDED_JOB, CONNECTION_JOB, GATEWAY_JOB, GRANT_JOB, SIGN_JOB } from './job-kinds.ts';
import { tellRunning } from './provisioning/tell-running.ts';
import { createConcurrencyLimit } from './provisioning/concurrency-limit.ts';
import { deviceState, type Device, type DeviceState } from './device-slots/device-state.ts';
import * as store from './provisioning/store.ts';

/**
 * Who may be online at which gateway, until when, with which devices: the noun between sessions (what was paid) and
 * gateways (what lets devices in).
 */
export interface Access extends Pick<Grants, 'waiting' | 'confirm'> {
	/** Guests that a gateway has fetched by `waiting` and not confirmed yet. */
	handedOut(gateway: RegisteredGateway, limit: number): Promise<Pick<Waiting, 'grantId' | 'login'>[]>;
	/**
	 * A purchase was made or opened on a visit: its device is let in where its pass has room for it.
	 * @param isIn the gateway says that the device is online already
	 */
	captiveSessionBound(purchaseTokenHash: string, isIn: boolean): Promise<void>;
	/**
	 * In the transaction in which a gateway is registered: where it is told of users, it will hear of those whose time
	 * runs at its router.
	 */
	gatewayAdded(trx: Tx, gateway: Pick<RegisteredGateway, 'id'>): Promise<void>;
	/** The device of a purchase's newest visit takes the place of its others. @returns false when there is none, or it is too soon */
	move(purchaseTokenHash: string): Promise<boolean>;
	/** What a RADIUS server asks and reports. */
	radius: Radius;
	/** What a gateway asks that has nobody to ask but us. */
	binauth: Binauth;
	/** Where a device of a purchase stands; null where nothing of it is known. */
	stateOf(purchaseTokenHash: string, device: Device): Promise<DeviceState | null>;
	/** Guests that a gateway has yet to let in, or put out, and why it has not. */
	pendingAt(gatewayId: number): ReturnType<typeof gatewayStore.pendingAt>;
	/** Puts out whoever a gateway lets in, and forgets it. */
	remove(gateway: RegisteredGateway, options: RemovalOptions): Promise<Removal>;
	/** Whether a gateway that asks RADIUS is there. */
	lifeOf(gateway: RegisteredGateway): Promise<Life>;
	/** Handlers of the durable jobs. */
	jobs: Record<string, JobHandler>;
}

export { AccessInputError, createAccessKinds, type AccessKinds } from './passes/access-kinds.ts';
export { createGuests, type Guests } from './passes/api-buyers.ts';
export { createPlan, type Plan } from './provisioning/provisioning.ts';
export type { AccountingReport } from '../radius/accounting.ts';
export type { Login, LoginAnswer } from '../radius/authorize.ts';
export type { Life } from '../radius/probe.ts';
export type { Removal } from './provisioning/removal.ts';
export type { DeviceState } from './device-slots/device-state.ts';

export interface AccessParts extends Omit<GrantsParts, 'concurrencyLimit'> {
	clock: Clock;
	plan: Plan;
	routers: Routers;
}

export function createAccess(given: AccessParts): Access {
	const { database, clock, jobs, plan } = given;
	const parts = { ...given, concurrencyLimit: createConcurrencyLimit(given) };
	const grants = createGrants(parts);
	const connections = createConnections(parts);
	return {
		waiting: grants.waiting,
		handedOut: (gateway, limit) => handedOut(parts, gateway, limit),
		confirm: grants.confirm,
		pendingAt: (gatewayId) => gatewayStore.pendingAt(database.db, gatewayId),
		async captiveSessionBound(tokenHash, isIn) {
			await database.transact(async (trx) => {
				for (const pass of await passesOf(trx, tokenHash)) await plan.deviceCame(trx, pass, isIn);
			});
			jobs.nudge();
		},
		gatewayAdded: (trx, { id }) => jobs.schedule(trx, GATEWAY_JOB, id, clock.now()),
		async move(tokenHash) {
			const moved = await database.transact(async (trx) => {
				let any = false;
				for (const pass of await passesOf(trx, tokenHash)) any = (await plan.move(trx, pass)) || any;
				return any;
			});
			jobs.nudge();
			return moved;
		},
		stateOf: (tokenHash, device) => deviceState(database.db, tokenHash, device, clock.now()),
		radius: createRadius(parts),
		binauth: createBinauth(parts),
		remove: (gateway, options) => removeGateway({ ...parts, settle: grants.settle }, gateway, options),
		lifeOf: (gateway) => lifeOf(parts, gateway),
		jobs: {
			[GRANT_JOB]: grants.settle,
			[GATEWAY_JOB]: (gatewayId) => tellRunning(parts, gatewayId),
			[ACTIVATING_JOB]: grants.giveUp,
			[SIGN_JOB]: (sessionId) => awaitSign(parts, sessionId),
			[ADDED_JOB]: (sessionId) => settleAdded(parts, sessionId),
			[CONNECTION_JOB]: connections.settle
		}
	};
}

/** One of the sessions of each pass that a purchase has running, or about to run. */
async function passesOf(trx: Tx, tokenHash: string) {
	return new Map((await store.passesOfPurchase(trx, tokenHash)).map((row) => [row.pass_id, row])).values();
}
