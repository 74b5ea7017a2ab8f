import { Unavailable } from '#lib/server/gateways/gateway.ts';
import type { RegisteredGateway } from '#lib/server/gateways/gateways.ts';
import { openPass, type OpenPass } from '#lib/server/passes/passes.ts';
import { GRANT_JOB } from '../../job-kinds.ts';
import type { AccessContext } from '../context.ts';
import { countUsage, nextRead, readUsage } from '../count-data.ts';
import { controllerOf } from '../targets.ts';
import { backoffMs, callGateway, MAX_BACKOFF_MS, recordFailure } from './call-gateway.ts';
import { confirmGrant } from './confirm-grant.ts';
import { desiredEnd, loginOf, SLACK_MS } from './desired-end.ts';
import { revokeAtGateway } from './revoke-at-gateway.ts';
import * as store from './store.ts';

/** Interval of checks on a grant that its gateway fetches. */
const FETCH_WAIT_MS = 5_000;

/**
 * Brings a gateway to what the pass wants: grants or revokes (job GRANT_JOB).
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
	// With another AIRTILL_SECRET its credentials do not open.
	if (gateway.unreadable.length > 0) return clock.now() + MAX_BACKOFF_MS;
	/** null: no pass wants the grant, so it is revoked. */
	const pass = store.isWanted(grant) ? await openPass(database.db, grant.pass_id, clock.now()) : null;
	const work = () =>
		pass ? grantAtGateway(context, grant, gateway, pass) : revokeAtGateway(context, grant, gateway);
	if (!controllerOf(gateway)) return work();
	return concurrencyLimit.run({ kind: GRANT_JOB, id, gateway, isBuyer: pass?.kind === 'waits' }, work);
}

/** Sends the desired end to a gateway that has not confirmed it. Returns when to run again. */
async function grantAtGateway(
	context: AccessContext,
	grant: store.GrantRow,
	gateway: RegisteredGateway,
	open: OpenPass
): Promise<number | null> {
	const { database, clock } = context;
	const isWaiting = open.kind === 'waits';
	const endMs = await desiredEnd(context, grant, gateway, open);
	const { id, revision, requested_end_at: requested } = grant;
	const isCurrent = requested !== null && requested >= endMs && requested <= endMs + SLACK_MS;
	const isConfirmed = grant.state === 'granted' && isCurrent;
	if (isConfirmed && !isWaiting) return readUsage(context, grant, gateway, open);
	const controller = controllerOf(gateway);
	if (!controller) return awaitFetch(context, grant, open);
	// Counts first: a request delays the next read, and a buyer who reloads must not keep us from counting.
	const mayRead = grant.confirmed_end_at !== null && gateway.unresponsiveSince === null;
	const pass = mayRead ? await countUsage(context, grant, gateway, open) : open;
	// Its data is used up: the next run revokes.
	if (!pass) return clock.now();
	// Stored before the call: after a crash, the next job knows that an answer may be missing.
	const now = clock.now();
	const to = { state: 'granting', requested_end_at: endMs, unanswered_at: now, updated_at: now } as const;
	// Unless it was requested again meanwhile, or another run of this job sends an end.
	if (!(await store.changeWanted(database.db, { id, revision, requested_end_at: requested }, to))) return now;
	const login = await loginOf(context, grant, pass);
	const result = await callGateway(context, gateway, () =>
		controller.connect(login, endMs, gateway, context.transport)
	);
	if (!(result instanceof Unavailable)) {
		// null: requested again, or released, meanwhile.
		const next = (await confirmGrant(context, grant, pass, endMs)) ?? clock.now();
		return Math.min(next, nextRead(context, gateway, pass));
	}
	await recordFailure(context, grant, gateway, result);
	const again = clock.now() + backoffMs(grant, gateway, isWaiting);
	return isWaiting ? again : Math.min(again, pass.untilMs);
}

/** Waits until the gateway fetches the grant, also for the new end of an online device. */
async function awaitFetch({ database, clock }: AccessContext, grant: store.GrantRow, pass: OpenPass) {
	const { id, revision, state } = grant;
	// Unless it was confirmed meanwhile: then it has its end.
	if (state === 'granted')
		await store.changeWanted(database.db, { id, revision, state }, { state: 'granting' });
	const again = clock.now() + FETCH_WAIT_MS;
	return pass.kind === 'waits' ? again : Math.min(again, pass.untilMs);
}
