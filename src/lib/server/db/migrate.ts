import { sql } from 'kysely';
import type { Database } from './database.ts';
import { initial } from './migrations/0001-initial.ts';
import { rateLimits } from './migrations/0002-rate-limits.ts';
import { idempotency } from './migrations/0003-idempotency.ts';
import { owners } from './migrations/0004-owners.ts';
import { portalPlan } from './migrations/0005-portal-plan.ts';
import { webhooks } from './migrations/0006-webhooks.ts';
import { signIn } from './migrations/0007-sign-in.ts';
import { requestLog } from './migrations/0008-request-log.ts';
import { accountPayments } from './migrations/0009-account-payments.ts';
import { moneyEvidence } from './migrations/0010-money-evidence.ts';
import { passes } from './migrations/0011-passes.ts';
import { gateways } from './migrations/0012-gateways.ts';
import { branding } from './migrations/0013-branding.ts';
import { access } from './migrations/0014-access.ts';
import { silence } from './migrations/0015-silence.ts';
import { accessServers } from './migrations/0016-access-servers.ts';
import { markedUsers } from './migrations/0017-marked-users.ts';
import { confirmedEnds } from './migrations/0018-confirmed-ends.ts';
import { passRows } from './migrations/0019-pass-rows.ts';
import { accessNames } from './migrations/0020-access-names.ts';
import { oneQueue } from './migrations/0022-one-queue.ts';
import { gatewayHealth } from './migrations/0025-gateway-health.ts';
import { verifiedAccess } from './migrations/0026-verified-access.ts';

/** One step of the schema, in the SQL of the given database. Never change a released migration. */
export interface Migration {
	name: string;
	statements(kind: Database['kind']): string[];
}

/** In order; the position (from 1) is the version. */
const MIGRATIONS: readonly Migration[] = [
	initial,
	rateLimits,
	idempotency,
	owners,
	portalPlan,
	webhooks,
	signIn,
	requestLog,
	accountPayments,
	moneyEvidence,
	passes,
	gateways,
	branding,
	access,
	silence,
	accessServers,
	markedUsers,
	confirmedEnds,
	passRows,
	accessNames,
	oneQueue,
	gatewayHealth,
	verifiedAccess
];

/** Arbitrary but fixed: identifies the migrations among PostgreSQL's advisory locks. */
const LOCK_ID = 7_243_001;

export class NewerDatabaseError extends Error {
	constructor(found: number, known: number) {
		super(
			`The database has schema version ${found}, this Airtill knows up to ${known}. ` +
				'Start the newer version again, or restore a backup from before the upgrade.'
		);
		this.name = 'NewerDatabaseError';
	}
}

/**
 * Applies the missing migrations in one transaction under a lock. Of two processes that start at once, one applies
 * them. A failed migration leaves the database unchanged.
 */
export async function migrate(database: Database): Promise<void> {
	if (database.kind === 'postgres') return applyMissing(database);
	// Rebuilding a table needs foreign keys off, which works only outside a transaction
	// (sqlite.org/lang_altertable.html, 7).
	await sql`pragma foreign_keys = off`.execute(database.db);
	try {
		await applyMissing(database);
	} finally {
		await sql`pragma foreign_keys = on`.execute(database.db);
	}
}

async function applyMissing(database: Database): Promise<void> {
	await database.db.transaction().execute(async (trx) => {
		// On SQLite, `begin immediate` is the lock.
		if (database.kind === 'postgres') {
			// A large table, or the wait for the lock, may exceed the server's statement timeout.
			await sql`set local statement_timeout = 0`.execute(trx);
			await sql`select pg_advisory_xact_lock(${LOCK_ID})`.execute(trx);
		}
		await sql`create table if not exists schema_migrations (
			version integer primary key, name text not null, applied_at text not null default current_timestamp
		)`.execute(trx);
		const applied = await sql<{ version: number | null }>`
			select max(version) as version from schema_migrations`.execute(trx);
		const version = applied.rows[0]?.version ?? 0;
		if (version > MIGRATIONS.length) throw new NewerDatabaseError(version, MIGRATIONS.length);
		for (const [index, migration] of MIGRATIONS.entries()) {
			if (index < version) continue;
			for (const statement of migration.statements(database.kind)) await sql.raw(statement).execute(trx);
			await sql`insert into schema_migrations (version, name) values (${index + 1}, ${migration.name})`.execute(
				trx
			);
		}
		if (database.kind === 'sqlite' && version < MIGRATIONS.length) {
			const broken = await sql`pragma foreign_key_check`.execute(trx);
			if (broken.rows.length > 0) throw new Error('A migration broke a foreign key');
		}
	});
}
