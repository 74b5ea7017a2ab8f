import type { RoutersContext } from './context.ts';
import { existingRouter } from './read-routers.ts';
import * as store from './store.ts';

export interface AccessConfirmation {
	isConfirmed: boolean;
	/** Name of the administrator. */
	by: string;
	note: string;
}

/**
 * Records that buyers get access at a router without a gateway of Airtill, or withdraws that.
 * @throws AppError `router_not_found`
 */
export const confirmAccess = (
	{ database, clock, audit }: RoutersContext,
	id: number,
	{ isConfirmed, by, note }: AccessConfirmation
): Promise<void> =>
	database.transact(async (trx) => {
		const { access_confirmed_at: before } = await existingRouter(trx, id);
		const after = isConfirmed ? clock.now() : null;
		await store.update(trx, id, { access_confirmed_at: after });
		await audit.record(trx, {
			actor: by,
			action: isConfirmed ? 'router.access_confirmed' : 'router.access_withdrawn',
			paymentId: null,
			reason: note,
			before: { router_id: id, access_confirmed_at: before },
			after: { router_id: id, access_confirmed_at: after }
		});
	});
