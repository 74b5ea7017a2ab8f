import { openPass } from '#lib/server/passes/pass-state.ts';
import { GRANT_JOB } from '../../job-kinds.ts';
import type { AccessContext } from '../context.ts';
import { controllerOf } from '../targets.ts';
import { MAX_BACKOFF_MS } from './call-gateway.ts';
import { grantAtGateway } from './grant-at-gateway.ts';
import { revokeAtGateway } from './revoke-at-gateway.ts';
import * as store from './store.ts';

/**
 * Makes a gateway carry out a grant (job GRANT_JOB).
 *
 * Purpose: compares the pass with the state that the gateway confirmed, and calls it until both match.
 * States: paid -> `granting` -> `granted`; over, ended, moved or refunded -> `revoking` -> `revoked`,
 * or `failed` when Airtill gives up.
 * Guarantees: the request is stored before the call, so a process may die at any point. One job works on a
 * grant at a time. If a job presumed dead returns late, its grant is revoked again, unless the pass wants it.
 * @returns when to run again (ms since the epoch), or null when the grant is over
 */
export async function applyGrant(context: AccessContext, id: number): Promise<number | null> {
	const { database, clock, gateways, concurrencyLimit } = context;
	const grant = await store.findGrant(database.db, id);
	if (!grant || grant.state === 'revoked' || grant.state === 'failed') return null;
	const gateway = await gateways.byId(grant.gateway_id);
	if (!gateway) return null;
	if (gateway.unreadable.length > 0) return clock.now() + MAX_BACKOFF_MS;
	const pass = store.isWanted(grant) ? await openPass(database.db, grant.pass_id, clock.now()) : null;
	const work = () =>
		pass ? grantAtGateway(context, grant, gateway, pass) : revokeAtGateway(context, grant, gateway);
	if (!controllerOf(gateway)) return work();
	const isBuyer = pass?.kind === 'waits';
	return concurrencyLimit.run({ kind: GRANT_JOB, id, gateway, isBuyer }, work);
}
