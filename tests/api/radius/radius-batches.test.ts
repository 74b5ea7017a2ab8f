/** Interim reports that arrive together are stored together, and answered when they are stored. */
import { beforeEach, describe, expect, it } from 'vitest';
import { loginUser } from '../../../src/lib/domain/wifi.ts';
import { registerRadius } from '../../support/gateways/gateways.ts';
import { radiusCalls, type RadiusCalls } from '../../support/gateways/radius-calls.ts';
import { BOTH_DATABASES, useNewFixtures } from '../../support/server/fixture.ts';

const ROUTER = 3;
const NAMES = Array.from({ length: 40 }, (_, index) => `together-${index}`);

describe.each(BOTH_DATABASES)('on %s', (database) => {
	const fixture = useNewFixtures({ database });
	let calls: RadiusCalls;
	let pass: number;
	beforeEach(async () => {
		const gateway = await registerRadius(fixture(), {
			kind: 'mikrotik',
			access: 'portal_login',
			router: ROUTER
		});
		calls = radiusCalls(fixture().server.url, gateway);
		const { session } = await fixture().buy({ router_id: ROUTER, duration: '1h' });
		pass = session.id;
		await Promise.all(NAMES.map((name) => calls.account('start', name, { user: loginUser(pass) })));
	});

	const report = (name: string, bytes: number) =>
		calls.account('interim', name, { user: loginUser(pass), lasted: String(bytes), out: String(bytes) });
	const bytesOf = async () => {
		const rows = await fixture().sql.all('select acct_session_id, bytes_out from connections');
		return new Map(rows.map((row) => [String(row['acct_session_id']), Number(row['bytes_out'])]));
	};
	const used = () => fixture().sql.count('select data_used_bytes from passes where id = ?', pass);
	const all = (bytes: number) => new Map(NAMES.map((name) => [name, bytes]));

	it('one transaction stores the reports of several connections, and the newest of a connection counts', async () => {
		await Promise.all(NAMES.flatMap((name) => [report(name, 200), report(name, 100)]));
		expect(await bytesOf()).toEqual(all(200));
		expect(await used()).toBe(200 * NAMES.length);
		if (database === 'sqlite') return;
		const transactions = 'select count(distinct xmin::text) from connections';
		expect(await fixture().sql.count(transactions)).toBeLessThan(NAMES.length);
	});

	it.each(['SIGTERM', 'SIGKILL'] as const)('%s loses no answered report; all count once', async (signal) => {
		const answers = NAMES.map((name) => report(name, 300).catch(() => null));
		await Promise.race(answers);
		await fixture().server.kill(signal);
		const statuses = await Promise.all(answers);
		await fixture().server.restart();
		const bytes = await bytesOf();
		const answered = NAMES.filter((_, index) => statuses[index] === 204);
		expect(answered.length).toBeGreaterThan(0);
		expect(answered.filter((name) => bytes.get(name) !== 300)).toEqual([]);
		// The gateway got no answer to the others.
		await Promise.all(NAMES.map((name) => report(name, 300)));
		expect(await bytesOf()).toEqual(all(300));
		expect(await used()).toBe(300 * NAMES.length);
	});
});
