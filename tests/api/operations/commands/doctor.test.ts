/** `doctor`: what it checks, and what it says to do. */
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { createSecrets } from '#lib/server/platform/secrets.ts';
import { cli } from '../../../support/server/cli.ts';
import { DATABASES, SECRET, useFixture } from '../../../support/server/fixture.ts';
import { usePlace } from './place.ts';

describe.each(DATABASES)('on %s', (database) => {
	describe('beside a server', () => {
		const fixture = useFixture({ database });

		it('doctor finds everything well, and a secret that cannot open the stored passwords', async () => {
			const { server, buy } = fixture();
			await buy();
			const well = await cli(['doctor'], server);
			expect(well.stdout).toMatch(/^ok secret: opens what this database keeps sealed$/m);
			// The database's clock stays where it is while the tests' clock moves.
			expect(well.stdout).toMatch(database === 'sqlite' ? /^ok clock: /m : /^(ok|warn|FAIL) clock: /m);

			const env = { ...server.env, AIRTILL_SECRET: `another ${SECRET}` };
			const { code, stdout } = await cli(['doctor'], { env });
			expect(stdout).toMatch(/^FAIL secret: .* - put back the AIRTILL_SECRET/m);
			expect(code).toBe(1);
			// Looking did no harm: the portal's own key still works.
			expect((await fetch(`${server.url}/r/3`)).status).toBe(200);
		});

		it('doctor finds that earlier buyers have passwords of another secret', async () => {
			const { server, sql, buy } = fixture();
			await buy();
			const [pass] = await sql.all('select max(id) as id from passes where password_sealed is not null');
			const sealed = createSecrets(`another ${SECRET}`).encrypt('k7mq-x2vd-9hta', `pass:${pass?.['id']}`);
			await sql.run(`update passes set password_sealed = '${sealed}' where password_sealed is not null`);
			await buy();
			const { stdout } = await cli(['doctor'], server);
			expect(stdout).toMatch(/^warn secret: .* AIRTILL_SECRET_FALLBACK/m);
		});
	});

	describe('doctor', () => {
		const place = usePlace(database, false);

		it('reports one line for each check and ends with 0 when all is well', async () => {
			const { code, stdout, stderr } = await place().run('doctor');
			const lines = stdout.trimEnd().split('\n');
			expect(lines.map((line) => line.split(':')[0])).toEqual([
				...['ok configuration', 'ok database', 'ok clock', 'ok backup', 'ok secret', 'ok disk'],
				...['ok operator', 'ok reviews', 'ok gateways', 'ok address', 'ok callbacks', 'ok mail'],
				...['ok map']
			]);
			expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
			expect(stdout).toMatch(/^ok database: .* schema version \d+, /m);
		});

		it('says what to do about a wrong clock', async () => {
			const env = { ...place().env, AIRTILL_TEST_CLOCK_OFFSET_MS: String(-20 * 365 * 24 * 60 * 60_000) };
			const { code, stdout } = await cli(['doctor'], { env });
			expect(stdout).toMatch(/^FAIL clock: .* cannot be - set the clock/m);
			expect(code).toBe(1);
		});

		it('says what is missing in live mode', async () => {
			const env = { ...place().env, AIRTILL_MODE: 'live' };
			const { code, stdout } = await cli(['doctor'], { env });
			expect(stdout).toMatch(/^warn address: ORIGIN is not set.* - set ORIGIN/m);
			expect(stdout).toMatch(/^warn contact: .* - set CONTACT$/m);
			expect(stdout).toMatch(/^FAIL callbacks: operators cannot reach http:\/\/127\.0\.0\.1:3000/m);
			expect(code).toBe(1);
		});

		it('names a database of a newer version', async () => {
			const { sql, run } = place();
			await sql.run("insert into schema_migrations (version, name) values (99, 'future')");
			try {
				const { code, stdout } = await run('doctor');
				expect(stdout).toMatch(
					/^FAIL database: .* schema version 99, .* - use the version of Airtill that made it, or another database$/m
				);
				expect(code).toBe(1);
				const list = await run('gateways', 'list');
				expect(list).toEqual({ code: 1, stdout: '', stderr: expect.stringContaining('schema version 99') });
			} finally {
				await sql.run('delete from schema_migrations where version = 99');
			}
		});
	});
});

describe('doctor and the others, where the configuration is broken', () => {
	const place = usePlace('sqlite', false);

	it('doctor names every wrong variable, the others refuse to run', async () => {
		const env = { ...place().env, CURRENCY: 'XXX', MAP_CENTRE: 'here' };
		const { code, stdout } = await cli(['doctor'], { env });
		expect(stdout).toMatch(/^FAIL configuration: CURRENCY: .* - correct the environment variable/m);
		expect(stdout).toMatch(/^FAIL configuration: MAP_CENTRE: /m);
		expect(code).toBe(1);
		const list = await cli(['gateways', 'list'], { env });
		expect(list).toEqual({ code: 1, stdout: '', stderr: expect.stringContaining('CURRENCY: ') });
		expect(list.stderr).not.toContain('    at ');
	});

	it.each([
		['a file that is no database', () => `file:${fileURLToPath(import.meta.url)}`, 'file is not a database'],
		['a server that is not there', () => 'postgres://me:hidden@127.0.0.1:1/airtill', 'ECONNREFUSED']
	])('%s: a sentence, no stack, no password', async (_, url, reason) => {
		const env = { ...place().env, DATABASE_URL: url() };
		const doctor = await cli(['doctor'], { env });
		expect(doctor.stdout).toMatch(new RegExp(`^FAIL database: .*${reason}.* - see that`, 'm'));
		expect(doctor.code).toBe(1);
		const list = await cli(['gateways', 'list'], { env });
		expect(list).toEqual({ code: 1, stdout: '', stderr: expect.stringContaining(reason) });
		expect(`${doctor.stdout}${doctor.stderr}${list.stderr}`).not.toMatch(/hidden| {4}at /);
	});
});
