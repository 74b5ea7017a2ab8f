import type { Database } from '#lib/server/db/database.ts';
import type { RegisteredGateway } from '#lib/server/gateways/gateways.ts';
import type { CaptiveSessions } from '#lib/server/gateways/captive-sessions/captive-sessions.ts';
import type { Waiting } from './grants.ts';
import * as gatewayStore from './gateway-store.ts';

/** Guests that a gateway has fetched (Grants.waiting) and not confirmed yet. */
export async function handedOut(
	{ database, captiveSessions }: { database: Database; captiveSessions: CaptiveSessions },
	gateway: RegisteredGateway,
	limit: number
): Promise<Pick<Waiting, 'grantId' | 'login'>[]> {
	const grants = await gatewayStore.handedOutAt(database.db, gateway.id, limit);
	return Promise.all(
		grants.map(async ({ id, visit_id }) => ({
			grantId: id,
			login: visit_id === null ? {} : await captiveSessions.loginOf(visit_id)
		}))
	);
}
