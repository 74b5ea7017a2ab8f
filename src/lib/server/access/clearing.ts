import type { Clock } from '../clock.ts';
import type { Database } from '../db/database.ts';
import type { Reach } from '../gateways/gateway.ts';
import type { RegisteredGateway } from '../gateways/gateways.ts';
import { adapterOf } from '../gateways/registry.ts';
import type { Jobs } from '../jobs/jobs.ts';
import * as store from './store.ts';
import { GRANT_JOB } from './work.ts';

/** What became of the guests (devices, or users) that a gateway was to let in. */
export interface Cleared {
	putOut: number;
	/** It cannot be told to put them out, or not while they are away: they may be online until the end that it was told. */
	staying: number;
	/** It could not be told. */
	left: number;
	/** Why not; null where none is left. */
	reason: string | null;
}

export interface ClearingParts {
	database: Database;
	clock: Clock;
	jobs: Jobs;
	reach: Reach;
	/** Job GRANT_JOB. */
	settle(grantId: number): Promise<number | null>;
}

const AT_ONCE = 100;
/** A gateway that could not be told so often is not asked for the rest. */
const MAX_FAILURES = 3;

/**
 * Puts out whoever a gateway lets in, before it is forgotten: nobody can do it later. One that does not answer at all
 * changes nothing.
 */
export async function clearGateway(parts: ClearingParts, gateway: RegisteredGateway): Promise<Cleared> {
	const { database, clock, jobs, reach, settle } = parts;
	const { db } = database;
	const count = await store.countOpenAt(db, gateway.id);
	const cleared: Cleared = { putOut: 0, staying: 0, left: 0, reason: null };
	if (count === 0) return cleared;
	const adapter = adapterOf(gateway.kind);
	const teller = adapter.way(gateway) === 'push' ? adapter.tell : null;
	if (!teller) return { ...cleared, staying: count };
	const { reachable, problems } = await teller.status(gateway, reach);
	if (!reachable) return { ...cleared, left: count, reason: problems[0] ?? 'It does not answer.' };

	const startedAt = clock.now();
	await store.releaseAt(db, gateway.id, startedAt);
	let failures = 0;
	let afterId = 0;
	for (let isMore = true; isMore;) {
		const rows = await store.openGrantsAt(db, { gatewayId: gateway.id, afterId }, AT_ONCE);
		for (const { id, attempts } of rows) {
			const isAsked = failures < MAX_FAILURES;
			if (isAsked) await settle(id);
			const grant = await store.findGrant(db, id);
			if (!grant || (grant.revoked_at !== null && grant.revoked_at >= startedAt)) {
				cleared.putOut += 1;
			} else if (isAsked && grant.attempts === attempts) {
				// It was told, and knows no such device at the moment.
				cleared.staying += 1;
			} else {
				failures += 1;
				cleared.left += 1;
				cleared.reason ??= grant.last_error;
				await jobs.schedule(db, GRANT_JOB, id, clock.now());
			}
		}
		afterId = rows.at(-1)?.id ?? afterId;
		isMore = rows.length === AT_ONCE;
	}
	return cleared;
}
