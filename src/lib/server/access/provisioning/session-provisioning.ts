import type { SessionProvisioning } from '#lib/server/billing/sessions/sessions.ts';
import { ACTIVATION_TIMEOUT_MS, ADDED_JOB } from '../job-kinds.ts';
import { beginPass } from './begin-pass.ts';
import type { PlanContext } from './context.ts';
import { passChanged } from './request-grant.ts';

/** The part of provisioning that sessions use; it needs no session itself, so it is created before them. */
export const createProvisioning = (context: PlanContext): SessionProvisioning => ({
	begin: (trx, pass) => beginPass(context, trx, pass),
	changed: (trx, passId) => passChanged(context, trx, passId),
	// Also where no gateway needs a grant yet: the device may go to one that does.
	added: (trx, { id }, startsAt) =>
		context.jobs.schedule(trx, ADDED_JOB, id, startsAt + ACTIVATION_TIMEOUT_MS)
});
