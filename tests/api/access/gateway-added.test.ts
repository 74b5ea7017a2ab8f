/** A gateway that is registered at a router with running passes. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loginUser } from '../../../src/lib/domain/wifi.ts';
import { connectRouterOs, ROUTER_OS_ROUTER } from '../../support/gateways/consoles.ts';
import { DATABASES, eventually, startFixture, type Fixture } from '../../support/server/fixture.ts';

/** Makes every insert of a row fail, as if the process had died. */
const BREAK = {
	sqlite: [`create trigger no_rows before insert on admissions begin select raise(abort, 'no rows'); end`],
	postgres: [
		`create function no_rows() returns trigger language plpgsql as $$ begin raise exception 'no rows'; end $$`,
		`create trigger no_rows before insert on admissions for each row execute function no_rows()`
	]
};
const MEND = {
	sqlite: 'drop trigger no_rows',
	postgres: 'drop trigger no_rows on admissions'
};

describe.each(DATABASES)('on %s', (database) => {
	let fixture: Fixture;

	beforeEach(async () => {
		fixture = await startFixture({ database });
	});
	afterEach(() => fixture.stop());

	const gateways = () => fixture.sql.count('select count(*) from gateways');

	it('gets the users of running passes, whatever happens after it was added', async () => {
		const { session } = await fixture.buy({ router_id: ROUTER_OS_ROUTER });
		const user = loginUser(session.id);
		for (const statement of BREAK[database]) await fixture.sql.run(statement);
		const hotspot = await connectRouterOs(fixture);
		try {
			expect(await gateways()).toBe(1);
			await eventually('the job has failed', () =>
				fixture.sql.count(
					"select count(*) from jobs where kind = 'access.gateway' and last_error is not null"
				)
			);
			expect(hotspot.user(user)).toBeNull();
			await fixture.server.kill();
			await fixture.sql.run(MEND[database]);
			await fixture.server.restart();
			await eventually('the hotspot knows the user', async () => {
				await fixture.server.advance(20_000);
				return hotspot.user(user) !== null;
			});
			expect(hotspot.signIn(user, session.password ?? '', '02:00:00:00:00:01')).toBe('online');
		} finally {
			await hotspot.stop();
		}
	});

	it('is not added if its job cannot be stored', async () => {
		await fixture.sql.run('alter table jobs rename to jobs_away');
		try {
			await expect(connectRouterOs(fixture)).rejects.toThrow();
		} finally {
			await fixture.sql.run('alter table jobs_away rename to jobs');
		}
		expect(await gateways()).toBe(0);
	});
});
