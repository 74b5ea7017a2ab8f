import type { Tx } from '#lib/server/db/database.ts';
import { namesDevices, type RegisteredGateway } from '#lib/server/gateways/gateways.ts';
import { forgetAttempts, openConnections } from '../device-slots/connection-store.ts';
import { CONNECTION_JOB, GRANT_JOB } from '../job-kinds.ts';
import type { PassRow } from '../../passes/passes.ts';
import type { ProvisioningContext } from './context.ts';
import * as store from './grants/store.ts';

/** A device at a gateway, with its captive session; or a user, without address and captive session. */
type GrantSubject = Pick<store.GrantRow, 'gateway_id' | 'mac' | 'captive_session_id'>;

export const userAt = (gatewayId: number): GrantSubject => ({
	...{ gateway_id: gatewayId, mac: null, captive_session_id: null }
});

/** Requests a new grant, or the existing one again: a returning device has lost its login at the gateway. */
export async function requestGrant(
	context: ProvisioningContext,
	trx: Tx,
	passId: number,
	{ gateway_id, mac, captive_session_id }: GrantSubject
): Promise<void> {
	const { clock, jobs } = context;
	const same = (await store.wantedGrantsOf(trx, passId)).find(
		(one) => one.gateway_id === gateway_id && one.mac === mac
	);
	if (same) return requestAgain(context, trx, { id: same.id }, { captive_session_id });
	const now = clock.now();
	const { id } = await store.insertGrant(trx, {
		...{ pass_id: passId, gateway_id, mac, captive_session_id },
		...{ state: 'granting', created_at: now, updated_at: now }
	});
	await jobs.schedule(trx, GRANT_JOB, id, now);
}

/** Requests grants again that a gateway has forgotten, or may have. */
export async function requestAgain(
	{ clock, jobs }: ProvisioningContext,
	trx: Tx,
	which: Parameters<typeof store.requestAgain>[1],
	to: Partial<Pick<store.GrantRow, 'captive_session_id'>> = {}
): Promise<void> {
	const now = clock.now();
	for (const id of await store.requestAgain(trx, which, { ...to, updated_at: now })) {
		await jobs.schedule(trx, GRANT_JOB, id, now);
	}
}

/** Buyers can reload a purchase page at will, so its user is requested again only this often. */
const REQUEST_USER_AGAIN_MS = 10 * 1000;

/** @param lostAtGateway gateway that may have lost its user, to request it again; null for none */
export async function requestUsers(
	context: ProvisioningContext,
	trx: Tx,
	pass: PassRow,
	targets: readonly RegisteredGateway[],
	lostAtGateway: number | null
): Promise<void> {
	const { clock, jobs } = context;
	const now = clock.now();
	const open = (await store.wantedGrantsOf(trx, pass.id)).filter(({ mac }) => mac === null);
	for (const gateway of targets.filter((one) => !namesDevices(one))) {
		const own = open.find(({ gateway_id: gatewayId }) => gatewayId === gateway.id);
		if (!own) {
			await requestGrant(context, trx, pass.id, userAt(gateway.id));
		} else if (gateway.id === lostAtGateway && Math.abs(now - own.updated_at) > REQUEST_USER_AGAIN_MS) {
			// A request in progress still counts once confirmed; only its job runs sooner.
			if (own.state === 'granted') await requestAgain(context, trx, { id: own.id });
			else await jobs.schedule(trx, GRANT_JOB, own.id, now);
		}
	}
}

/** Schedules the jobs that compare gateways with a changed pass. */
export async function scheduleGatewayCalls(
	{ clock, jobs }: ProvisioningContext,
	trx: Tx,
	passId: number
): Promise<void> {
	const now = clock.now();
	for (const { id } of await store.openGrantsOf(trx, passId)) await jobs.schedule(trx, GRANT_JOB, id, now);
	// Failed attempts to set the old end say nothing about the new one.
	await forgetAttempts(trx, passId);
	for (const { id } of await openConnections(trx, { passId })) {
		await jobs.schedule(trx, CONNECTION_JOB, id, now);
	}
}

/** Releases all grants of a pass, so that jobs disconnect its devices. */
export async function scheduleRevokes(
	{ clock, jobs }: ProvisioningContext,
	trx: Tx,
	passId: number
): Promise<void> {
	const now = clock.now();
	for (const { id } of await store.openGrantsOf(trx, passId)) {
		await store.changeWanted(trx, { id }, { released_at: now, updated_at: now });
		await jobs.schedule(trx, GRANT_JOB, id, now);
	}
}
