import type { Clock } from '#lib/server/platform/clock.ts';
import type { Database } from '#lib/server/db/database.ts';
import type { Jobs } from '#lib/server/jobs/jobs.ts';
import { passNow } from '../passes/pass-now.ts';
import * as store from './store.ts';
import { GRANT_JOB } from '../job-kinds.ts';

/**
 * A guest was released, and maybe put out, by mistake: where its pass still runs, another grant takes the place of that
 * one, so that whatever a job still does to the old one is seen to be undone.
 */
export async function letInAgain(
	{ database, clock, jobs }: { database: Database; clock: Clock; jobs: Jobs },
	id: number,
	now: number
): Promise<void> {
	await database.transact(async (trx) => {
		const old = await store.findGrant(trx, id);
		if (!old) return;
		await jobs.schedule(trx, GRANT_JOB, id, now);
		const pass = await passNow(trx, clock, old.pass_id);
		if (!pass) return;
		const inside = (await store.openGrantsOf(trx, old.pass_id)).filter(
			({ state, released_at }) => state !== 'revoking' && released_at === null
		);
		// It came again by itself, or another device took its place.
		if (inside.some(({ gateway_id, mac }) => gateway_id === old.gateway_id && mac === old.mac)) return;
		const devices = inside.filter(({ mac }) => mac !== null).length;
		if (old.mac !== null && devices >= pass.session.max_devices) return;
		const row = await store.insertGrant(trx, {
			pass_id: old.pass_id,
			gateway_id: old.gateway_id,
			mac: old.mac,
			visit_id: old.visit_id,
			state: 'granting',
			until_at: null,
			granted_at: null,
			released_at: null,
			revoked_at: null,
			// What the gateway was asked for the old one may still be done: who is put out next, is put out twice.
			asked_at: old.asked_at,
			is_marked: old.is_marked,
			last_error: null,
			created_at: now,
			updated_at: now
		});
		// As one that was put out: a user that is to be in again stays then, see `take`.
		const from = { id, state: ['granting', 'granted', 'revoking'] } as const;
		await store.changeGrant(trx, from, { state: 'revoking', revoked_at: now, updated_at: now });
		await jobs.schedule(trx, GRANT_JOB, row.id, now);
	});
	jobs.nudge();
}
