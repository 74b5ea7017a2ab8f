import type { SessionProvisioning } from '#lib/server/billing/sessions/sessions.ts';
import { ACTIVATION_TIMEOUT_MS, ADDED_JOB } from '../job-kinds.ts';
import { beginPass } from './begin-pass.ts';
import type { PlanContext } from './context.ts';
import { passChanged } from './request-grant.ts';

/** The part of provisioning that sessions use. It needs no sessions, so it is created before them. */
export const createProvisioning = (context: PlanContext): SessionProvisioning => ({
	begin: (trx, pass) => beginPass(context, trx, pass),
	changed: (trx, passId) => passChanged(context, trx, passId),
	// Scheduled even if no gateway needs a grant yet: the device may move to one that does.
	added: (trx, { id }, startsAt) =>
		context.jobs.schedule(trx, ADDED_JOB, id, startsAt + ACTIVATION_TIMEOUT_MS)
});
