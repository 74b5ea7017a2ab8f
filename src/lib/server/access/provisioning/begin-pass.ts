import type { SessionProvisioning } from '#lib/server/billing/sessions/sessions.ts';
import type { Tx } from '#lib/server/db/database.ts';
import { namesDevices } from '#lib/server/gateways/gateways.ts';
import { isUnresponsive } from '#lib/server/routers/routers.ts';
import { ACTIVATION_JOB, ACTIVATION_TIMEOUT_MS, UNCONFIRMED_JOB, ROUTER_JOB } from '../job-kinds.ts';
import type { PassRow } from '../passes/passes.ts';
import { AWAIT_ROUTER_MS } from './await-router.ts';
import type { PlanContext } from './context.ts';
import { devicesOf } from './devices.ts';
import { passChanged, requestGrant, type GrantSubject } from './request-grant.ts';
import { grantsDevices, signsInItself, targetsAt } from './targets.ts';

/** The part of provisioning that sessions use. It needs no sessions, so it is created before them. */
export const createProvisioning = (context: PlanContext): SessionProvisioning => ({
	begin: (trx, pass) => beginPass(context, trx, pass),
	changed: (trx, passId) => passChanged(context, trx, passId),
	// Scheduled even if no gateway needs a grant yet: the device may move to one that does.
	added: (trx, { id }, startsAt) =>
		context.jobs.schedule(trx, UNCONFIRMED_JOB, id, startsAt + ACTIVATION_TIMEOUT_MS)
});

/**
 * Requests the grants of a paid pass.
 * @returns the deadline for a confirmation (ms since the epoch), or null if the time may start now
 */
async function beginPass(context: PlanContext, trx: Tx, pass: PassRow): Promise<number | null> {
	const { clock, jobs, routers } = context;
	const now = clock.now();
	const targets = await targetsAt(context, trx, pass.router_id);
	const brought = await devicesOf(trx, pass, now);
	const devices = brought.filter((one) => grantsDevices(targets, one.gateway_id));
	const subjects: GrantSubject[] = [
		...targets
			.filter((gateway) => !namesDevices(gateway))
			.map(({ id }) => ({ gatewayId: id, mac: null, captiveSessionId: null })),
		...devices
			.slice(0, pass.max_devices)
			.map(({ id, gateway_id, mac }) => ({ gatewayId: gateway_id, mac, captiveSessionId: id }))
	];
	for (const subject of subjects) await requestGrant(context, trx, pass.id, subject);
	// Only grants at the device's own gateway delay the start.
	if (subjects.length === 0 || signsInItself(brought[0] ?? null, targets)) {
		if (!isUnresponsive(await routers.findOrThrow(trx, pass.router_id))) return null;
		await jobs.schedule(trx, ROUTER_JOB, pass.id, now + AWAIT_ROUTER_MS);
	}
	const until = now + ACTIVATION_TIMEOUT_MS;
	// A separate job, because grants are deleted with their gateway.
	await jobs.schedule(trx, ACTIVATION_JOB, pass.id, until);
	return until;
}
