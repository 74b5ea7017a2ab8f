import type { Database } from '../db/database.ts';
import { messageOf } from '../platform/errors.ts';
import { ok, warn, type Finding } from './finding.ts';

export async function* checkReplica({ database }: { database: Database }): AsyncGenerator<Finding> {
	if (!database.checkReplica) return;
	try {
		await database.checkReplica();
		yield ok('replica', 'it has all that the primary has');
	} catch (error) {
		const advice =
			'let it follow the primary, or correct DATABASE_REPLICA_URL; until then reports read the primary';
		yield warn('replica', messageOf(error), advice);
	}
}
