import { Unavailable } from '#lib/server/gateways/gateway.ts';
import type { RegisteredGateway } from '#lib/server/gateways/gateways.ts';
import type { AccessContext } from '../context.ts';
import * as store from './store.ts';

export const MAX_BACKOFF_MS = 60_000;

/** Calls a gateway. Returns Unavailable if the adapter throws. */
export const tryCall = <T>(
	{ log }: AccessContext,
	gateway: RegisteredGateway,
	work: () => Promise<T>
): Promise<T | Unavailable> =>
	work().catch((error: unknown) => {
		if (error instanceof Unavailable) return error;
		log.error({ err: error, gateway: gateway.name }, 'a gateway adapter failed');
		return new Unavailable('An error of ours; see the log.');
	});

/** Calls a gateway to change it; stores that it answered, or its error. */
export async function callGateway<T>(
	context: AccessContext,
	gateway: RegisteredGateway,
	work: () => Promise<T>
): Promise<T | Unavailable> {
	const result = await tryCall(context, gateway, work);
	await context.gateways.recordStatus(gateway, {
		...(!(result instanceof Unavailable) && result !== 'impossible' && { seen: true }),
		trouble: result instanceof Unavailable ? result.message : null
	});
	return result;
}

/** Calls an unresponsive gateway often only while a buyer waits. */
export const backoffMs = (
	{ attempts }: store.GrantRow,
	{ unresponsiveSince }: RegisteredGateway,
	isAwaited: boolean
): number => (unresponsiveSince !== null && !isAwaited ? MAX_BACKOFF_MS : exponentialMs(attempts));

export const exponentialMs = (attempts: number): number =>
	Math.min(MAX_BACKOFF_MS, 1_000 * 2 ** Math.min(attempts, 10));

export async function recordFailure(
	{ database, clock, log }: AccessContext,
	grant: store.GrantRow,
	gateway: RegisteredGateway,
	{ message: reason }: Unavailable
): Promise<void> {
	log.warn({ gateway: gateway.name, grant: grant.id, reason }, 'a gateway could not be called');
	const to = { attempts: grant.attempts + 1, last_error: reason.slice(0, 500), updated_at: clock.now() };
	await store.changeOpen(database.db, grant.id, to);
}
