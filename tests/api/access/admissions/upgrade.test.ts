/** A database of the release before, whose `grants` say what gateways were told: nobody who has paid is disconnected. */
import { describe, expect, it } from 'vitest';
import { DIALECTS } from '#lib/server/db/migrate.ts';
import { initial } from '#lib/server/db/migrations/0001-initial.ts';
import { BOTH_DATABASES, eventually } from '../../../support/server/fixture.ts';
import { withoutBooks } from '../../../support/database/without-books.ts';
import { ACTIONS, useAdmissions } from './use-admissions.ts';

/** Takes the database back to version 1. */
const down = (database: keyof typeof DIALECTS) => [
	...initial.statements(DIALECTS[database]).filter((statement) => /^create .*\bgrants\b/.test(statement)),
	`insert into grants (pass_id, gateway_id, captive_session_id, mac, state, requested_end_at, confirmed_end_at, granted_at,
			unanswered_at, created_at, updated_at)
		select pass_id, gateway_id, captive_session_id, mac,
			case when released_at is not null then 'revoking' when allowed_at is null then 'granting' else 'granted' end,
			sent_until, allowed_until, allowed_at, unanswered_at, created_at, created_at from admissions order by id`,
	`delete from jobs where kind = 'access.gateway'`,
	`insert into jobs (kind, subject_id, run_at, created_at) select 'access.grant', id, 0, 0 from grants`,
	'drop table admissions',
	'drop table operator_tokens',
	'drop table if exists rate_counts',
	'alter table connections drop column check_at',
	'alter table gateways drop column removing_at',
	'drop index extra_time_outage',
	'alter table extra_time drop column outage_id',
	'drop table outages',
	'alter table gateways drop column silent_since',
	'alter table routers drop column gives_time_back',
	...['vouchers', 'cash_closings', 'voucher_batches'].map((table) => `drop table ${table}`),
	'delete from schema_migrations where version > 1'
];

describe.each(BOTH_DATABASES)('on %s', (database) => {
	const { fixture, unifi, hotspot, admissions, becomes, inside, isIn, isOut, buyJoined, buyAtHotspot, end } =
		useAdmissions(database);

	it('goes on with what gateways were told before the upgrade', async () => {
		const { server, sql } = fixture();
		const user = await buyAtHotspot();
		const stays = await inside();
		const leaves = await inside();
		unifi().fail('down');
		await end(leaves.sessionId);
		const waits = await buyJoined();
		await eventually('it was tried', async () => (await admissions(waits.sessionId))[0]?.['problem'] != null);
		await server.kill('SIGTERM');
		for (const statement of [...withoutBooks(database), ...down(database)]) await sql.run(statement);

		unifi().heal();
		const before = unifi().asked.length;
		await server.restart();
		await becomes(waits.sessionId, 'active');
		await isIn(waits);
		await isOut(leaves);
		// One call each: what is known is not sent again.
		expect(
			unifi()
				.asked.slice(before)
				.filter((line) => ACTIONS.test(line))
		).toHaveLength(2);
		expect(unifi().isIn(stays.mac)).toBe(true);
		expect(hotspot().user(`s${user.id}`)).not.toBeNull();
		await eventually('the jobs of before are over', async () => {
			return (await sql.count("select count(*) from jobs where kind = 'access.grant'")) === 0;
		});
		await end(stays.sessionId);
		await isOut(stays);
		await end(user.id);
		await eventually('the user is out', async () => hotspot().user(`s${user.id}`) === null);
	});
});
