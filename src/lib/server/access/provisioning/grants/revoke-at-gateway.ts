import { Unavailable, type CommandResult } from '#lib/server/gateways/gateway.ts';
import type { RegisteredGateway } from '#lib/server/gateways/gateways.ts';
import { openPass } from '#lib/server/passes/passes.ts';
import type { AccessContext } from '../context.ts';
import { countUsage } from '../count-data.ts';
import { requestAgain } from '../request-grant.ts';
import { controllerOf } from '../targets.ts';
import { backoffMs, callGateway, MAX_BACKOFF_MS, recordFailure } from './call-gateway.ts';
import { loginOf, openOthers, othersOf } from './desired-end.ts';
import * as store from './store.ts';

/** Retries continue for this long after the end that the gateway knows. */
const REVOKE_MS = 24 * 60 * 60 * 1000;
/** For users, whose unused time does not run down at the gateway: a router repair may take this long. */
const REVOKE_USER_MS = 90 * REVOKE_MS;
/** Retry interval for users after the first day. */
const SELDOM_MS = 60 * 60 * 1000;
/** A gateway may carry out a request this late after a lost answer. Then it is revoked once more. */
const LATE_MS = 60_000;

/** Disconnects the device or user of a grant. Returns when to run again, or null when done or given up. */
export async function revokeAtGateway(
	context: AccessContext,
	grant: store.GrantRow,
	gateway: RegisteredGateway
): Promise<number | null> {
	const { database, clock } = context;
	const now = clock.now();
	const isRevoking = await database.transact(async (trx) => {
		// Time given since the pass was read keeps the grant; its job is due again.
		if (store.isWanted(grant) && (await openPass(trx, grant.pass_id, clock.now()))) return false;
		return store.changeOpen(trx, grant.id, { state: 'revoking', updated_at: now });
	});
	if (!isRevoking) return null;
	// A device that another pass holds stays online; so does a user that was revoked before and is wanted again.
	const mayStay = grant.mac !== null || grant.revoked_at !== null;
	const stays = mayStay && (await openOthers(context, grant, gateway)).length > 0;
	const result = stays ? 'done' : await callRevoke(context, grant, gateway);
	// A request with a shorter end does not end what was confirmed before.
	const endsItselfAt = Math.max(grant.requested_end_at ?? grant.created_at, grant.confirmed_end_at ?? 0);
	if (result instanceof Unavailable) {
		await recordFailure(context, grant, gateway, result);
		return retryRevoke(context, grant, gateway, endsItselfAt);
	}
	// The gateway ends the access itself. An absent device may return before that.
	if (result === 'impossible' && endsItselfAt > now) {
		return controllerOf(gateway) ? Math.min(endsItselfAt, now + MAX_BACKOFF_MS) : endsItselfAt;
	}
	// `now` is from before the call: the gateway may carry out the late request during it.
	const lateAt = (grant.unanswered_at ?? -Infinity) + LATE_MS;
	const isOver = stays || lateAt <= now;
	await recordRevoked(context, grant, gateway, isOver ? 'revoked' : 'revoking');
	return isOver ? null : lateAt;
}

async function callRevoke(
	context: AccessContext,
	grant: store.GrantRow,
	gateway: RegisteredGateway
): Promise<CommandResult | Unavailable> {
	const controller = controllerOf(gateway);
	if (!controller) return 'impossible';
	// A pass that goes on elsewhere has used this data. The gateway may forget it.
	const open = await openPass(context.database.db, grant.pass_id, context.clock.now());
	if (open && gateway.unresponsiveSince === null) await countUsage(context, grant, gateway, open);
	const login = await loginOf(context, grant, null);
	return callGateway(context, gateway, () => controller.disconnect(login, gateway, context.transport));
}

async function retryRevoke(
	{ database, clock, log }: AccessContext,
	grant: store.GrantRow,
	gateway: RegisteredGateway,
	endsItselfAt: number
): Promise<number | null> {
	const now = clock.now();
	const overMs = now - endsItselfAt;
	if (overMs < REVOKE_MS) return now + backoffMs(grant, gateway, false);
	if (grant.mac === null && overMs < REVOKE_USER_MS) return now + SELDOM_MS;
	await store.changeOpen(database.db, grant.id, { state: 'failed', updated_at: now });
	log.error({ gateway: gateway.name, grant: grant.id }, 'could not disconnect a device');
	return null;
}

/**
 * Requests other passes of the device again, because they may have been disconnected with it.
 * @param state `revoking` to revoke again when no late request is possible
 */
async function recordRevoked(
	context: AccessContext,
	grant: store.GrantRow,
	gateway: RegisteredGateway,
	state: 'revoking' | 'revoked'
): Promise<void> {
	const { clock } = context;
	await context.database.transact(async (trx) => {
		const now = clock.now();
		const done = { state, revoked_at: now, last_error: null, updated_at: now } as const;
		const to = state === 'revoked' ? { ...done, unanswered_at: null } : done;
		await store.changeOpen(trx, grant.id, to);
		for (const other of await othersOf(context, trx, grant, gateway)) {
			await requestAgain(context, trx, { id: other.id });
		}
	});
}
