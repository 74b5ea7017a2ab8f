/** A gateway whose key or secrets do not open with AIRTILL_SECRET sells nothing, and hinders no other gateway. */
import { describe, expect, it } from 'vitest';
import { registerGateway } from '../../../support/gateways/gateways.ts';
import { minutes } from '../../../support/gateways/watch.ts';
import { signInAs } from '../../../support/pages/browsing.ts';
import { cli } from '../../../support/server/cli.ts';
import { DATABASES, useNewFixtures } from '../../../support/server/fixture.ts';

const [ROUTER, OTHER_ROUTER] = [3, 4];

describe.each(DATABASES)('on %s', (database) => {
	const fixture = useNewFixtures({ database });
	const run = (...args: string[]) => cli(args, fixture().server);
	const statuses = async () => {
		const routers = await Promise.all([ROUTER, OTHER_ROUTER].map((id) => fixture().api.getRouter(id)));
		return routers.map(({ status }) => status);
	};

	async function polling(router: number): Promise<string> {
		const more = ['--level', '4'];
		return (await registerGateway(fixture().server, 'opennds', { loginHost: '10.0.0.1', router, more })).name;
	}

	/** @returns puts them back */
	async function damage(name: string, ...columns: string[]): Promise<() => Promise<unknown>> {
		const { sql } = fixture();
		const [row] = await sql.all('select * from gateways where name = ?', name);
		for (const column of columns) {
			await sql.run(`update gateways set ${column} = 'v1.damaged' where name = ?`, name);
		}
		return async () => {
			for (const column of columns) {
				await sql.run(`update gateways set ${column} = ? where name = ?`, String(row?.[column]), name);
			}
		};
	}

	it('takes its router off sale while the others are checked, and sells again when it is readable', async () => {
		const [name, other] = [await polling(ROUTER), await polling(OTHER_ROUTER)];
		await minutes(fixture(), 1, [name, other]);
		expect(await statuses()).toEqual(['online', 'online']);
		const restore = await damage(name, 'secret_sealed', 'credentials_sealed');
		await minutes(fixture(), 1, [name, other]);
		expect(await statuses()).toEqual(['offline', 'online']);
		await minutes(fixture(), 3);
		expect(await statuses()).toEqual(['offline', 'offline']);

		const fix = `gateways rotate ${name} --secret --token`;
		const doctor = await run('doctor');
		expect(doctor.stdout).toMatch(new RegExp(`^FAIL gateways: ${name}, secrets: .*"${fix}"$`, 'm'));
		for (const args of [
			['gateways', 'config', name],
			['gateways', 'set', name, '--login-host', '10.0.0.2']
		]) {
			const { code, stderr } = await run(...args);
			expect([code, stderr], args.join(' ')).toEqual([1, expect.stringContaining(fix)]);
		}
		const admin = await signInAs(fixture().server, 'admin');
		expect((await admin.get(`/admin/routers/${ROUTER}`)).text).toContain(fix);

		await restore();
		await minutes(fixture(), 1, [name, other]);
		expect(await statuses()).toEqual(['online', 'online']);
	});

	it('responds again with new secrets and a new key', async () => {
		const name = await polling(ROUTER);
		await minutes(fixture(), 1, [name]);
		await damage(name, 'key_sealed', 'secret_sealed', 'credentials_sealed');
		await minutes(fixture(), 1);
		expect((await fixture().api.getRouter(ROUTER)).status).toBe('offline');
		expect((await run('gateways', 'rotate', name, '--key', '--secret', '--token')).code).toBe(0);
		expect((await run('gateways', 'config', name)).stdout).toMatch(/option faskey '\w{32}'/);
		await minutes(fixture(), 1, [name]);
		expect((await fixture().api.getRouter(ROUTER)).status).toBe('online');
	});

	it('leaves a router on sale that has another gateway', async () => {
		const [name, second] = [await polling(ROUTER), await polling(ROUTER)];
		await minutes(fixture(), 1, [name, second]);
		await damage(name, 'credentials_sealed');
		await minutes(fixture(), 1, [second]);
		expect((await fixture().api.getRouter(ROUTER)).status).toBe('online');
	});
});
