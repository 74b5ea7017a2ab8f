import type { RegisteredGateway } from '#lib/server/gateways/gateways.ts';
import type { GatewayChange } from '#lib/server/gateways/settings/input.ts';
import type { Tx } from '#lib/server/db/database.ts';
import { InputError } from '#lib/server/platform/errors.ts';
import { GATEWAY_JOB, GRANT_JOB } from '../../job-kinds.ts';
import { openPassesAt } from '#lib/server/passes/store.ts';
import type { AccessContext } from '../context.ts';
import * as store from '../grants/store.ts';

/**
 * Changes the settings of a gateway. Its portal address and secrets stay. Devices stay online: what was granted
 * is granted again over a new connection.
 * @param audit writes rows in the same transaction
 * @throws InputError with every wrong field, or if somebody would lose access; then nothing changes
 */
export const changeGateway = (
	context: AccessContext,
	id: number,
	change: GatewayChange,
	audit?: (trx: Tx, after: RegisteredGateway) => Promise<void>
): Promise<RegisteredGateway> =>
	context.database.transact(async (trx) => {
		const { clock, gateways, jobs, offers } = context;
		const { before, after, isReconnected } = await gateways.set(trx, id, change);
		await refuseStranding(context, trx, before, after);
		for (const routerId of new Set([before.routerId, after.routerId])) {
			await offers.checkHeld(trx, routerId, { gateway: { before, after } });
		}
		await audit?.(trx, after);
		if (!isReconnected) return after;
		const now = clock.now();
		for (const grant of await store.requestAllAgain(trx, after.id, now)) {
			await jobs.schedule(trx, GRANT_JOB, grant, now);
		}
		await jobs.schedule(trx, GATEWAY_JOB, after.id, now);
		return after;
	});

async function refuseStranding(
	{ clock }: AccessContext,
	trx: Tx,
	before: RegisteredGateway,
	after: RegisteredGateway
): Promise<void> {
	if (before.routerId !== after.routerId) {
		const [open] = await openPassesAt(trx, { routerId: before.routerId, afterId: 0 }, clock.now(), 1);
		if (open) {
			const reason = `buyers have time left at router ${before.routerId}, and would lose access; move the gateway when it has ended`;
			throw new InputError([{ field: 'router', reason }]);
		}
	}
	if (before.mode === after.mode) return;
	const { length: count } = await store.openIdsAt(trx, before.id);
	if (count === 0) return;
	const reason = `buyers are online there (${count}), and their access could no longer be ended; change this after their time has ended`;
	const field = before.kind === 'mikrotik' ? 'control' : before.kind === 'unifi' ? 'api' : 'level';
	throw new InputError([{ field, reason }]);
}
