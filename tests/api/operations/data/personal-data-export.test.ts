/** `personal-data export`: who had access with an address, and the audit log. */
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'csv-parse/sync';
import { numberEnding, type Session } from '../../../support/api/api.ts';
import { registerGateway } from '../../../support/gateways/gateways.ts';
import { clockOf, connect } from '../../../support/gateways/watch.ts';
import { DATABASES, useFixture, runsAllOn } from '../../../support/server/fixture.ts';
import { cli } from '../../../support/server/cli.ts';

const day = 86_400_000;
const MAC = '02:00:5e:10:00:01';
const ASKED = ['--by', 'Ada', '--note', 'request 12/2026'];

const folder = mkdtempSync(path.join(tmpdir(), 'airtill-export-'));
afterAll(() => rmSync(folder, { recursive: true }));
const at = (name: string) => path.join(folder, name);

describe.each(DATABASES)('on %s', (database) => {
	const fixture = useFixture({ database, env: { REPORT_TIMEZONE: 'UTC' } });
	let mine: Session;
	let gateway: string;
	let today: string;
	let files = 0;

	beforeAll(async () => {
		const { server } = fixture();
		gateway = (await registerGateway(server, 'coova', { loginHost: '10.1.0.1', router: 3 })).name;
		mine = (await fixture().buy({ router_id: 3 })).session;
		const other = (await fixture().buy({ router_id: 3, phone: numberEnding('108') })).session;
		const connection = { gateway, startedAgoMs: 0 };
		await connect(fixture(), { ...connection, passId: mine.id, mac: MAC });
		await connect(fixture(), { ...connection, passId: other.id, mac: '02:00:5e:10:00:02' });
		today = new Date(clockOf(fixture()).now()).toISOString().slice(0, 10);
	});

	async function exported(...options: string[]) {
		const file = at(`${database}-${(files += 1)}.csv`);
		const { code, stderr } = await cli(['personal-data', 'export', file, ...options, ...ASKED], fixture().server);
		expect(code, stderr).toBe(0);
		const rows = parse(readFileSync(file), { columns: true, bom: true });
		return { file, stderr, rows: rows as Record<string, string>[] };
	}

	it('lists who had a MAC address, when and where, and nobody else', async () => {
		const { rows } = await exported('--mac', MAC.toUpperCase(), '--from', today);
		expect(rows).toEqual([
			expect.objectContaining({
				...{ payer: `'${mine.phone}`, session_id: String(mine.id), pass_id: String(mine.pass_id) },
				...{ session_start: mine.starts_at, session_end: mine.expires_at, router_id: '3' },
				...{ gateway, mac: MAC, source: 'connection' }
			})
		]);
		expect(rows[0]?.['device_start']).toMatch(/^\d{4}-\d\d-\d\dT/);
	});

	it('lists the devices of a number; on other days nothing', async () => {
		const { rows } = await exported('--phone', mine.phone, '--from', today);
		expect(rows.map(({ mac }) => mac)).toContain(MAC);
		expect(new Set(rows.map(({ session_id }) => session_id))).toEqual(new Set([String(mine.id)]));
		const before = new Date(Date.parse(today) - 9 * day).toISOString().slice(0, 10);
		const earlier = await exported('--phone', mine.phone, '--from', before, '--to', before);
		expect(earlier.rows).toEqual([]);
	});

	it('lists an IP address that a gateway reported', async () => {
		await fixture().sql.run(`update connections set ip = '10.1.0.77' where mac = ?`, MAC);
		const { rows } = await exported('--ip', '10.1.0.77', '--from', today);
		expect(rows).toMatchObject([{ ip: '10.1.0.77', session_id: String(mine.id) }]);
	});

	it('can be read by its user only, and is in the audit log with its reason', async () => {
		const { file, stderr } = await exported('--mac', MAC, '--from', today);
		expect(statSync(file).mode & 0o777).toBe(0o600);
		const entries = `select actor, reason, after from audit_log where action = 'personal-data.exported' order by id desc`;
		const [entry] = await fixture().sql.all(entries);
		expect(entry).toMatchObject({ actor: 'Ada', reason: 'request 12/2026' });
		const after = JSON.parse(String(entry?.['after'])) as { sha256: string };
		expect(after).toMatchObject({ mac: '…00:01', rows: 1, sessions: [mine.id] });
		expect(stderr).toContain(after.sha256);
	});

	if (!runsAllOn(database)) return;

	it.each([
		[/^--phone is a mobile number/, ['--phone', '12', '--from', '2026-11-20']],
		[/^--mac is a MAC address/, ['--mac', '02:00', '--from', '2026-11-20']],
		[/^--ip is an IP address/, ['--ip', '10.0.0', '--from', '2026-11-20']],
		[/^Use one of --phone, --mac and --ip\./, ['--from', '2026-11-20']],
		[/^Use one of --phone, --mac and --ip\./, ['--mac', MAC, '--ip', '10.0.0.1', '--from', '2026-11-20']],
		[/^--from is a date/, ['--mac', MAC, '--from', 'today']],
		[/^--to is before --from/, ['--mac', MAC, '--from', '2026-11-20', '--to', '2026-11-19']],
		[/^--note is missing/, ['--mac', MAC, '--from', '2026-11-20', '--note', '']]
	])('refuses with %s, and exports nothing', async (message, options) => {
		const { sql, server } = fixture();
		const count = `select count(*) from audit_log where action = 'personal-data.exported'`;
		const before = await sql.count(count);
		const given = [...ASKED, ...options];
		const { code, stderr } = await cli(['personal-data', 'export', at('refused.csv'), ...given], server);
		expect(code).not.toBe(0);
		expect(stderr).toMatch(message);
		expect(existsSync(at('refused.csv'))).toBe(false);
		expect(await sql.count(count)).toBe(before);
	});

	it('never replaces a file', async () => {
		const { file } = await exported('--mac', MAC, '--from', today);
		const bytes = readFileSync(file);
		const given = ['--mac', MAC, '--from', today, ...ASKED];
		const { code, stderr } = await cli(['personal-data', 'export', file, ...given], fixture().server);
		expect([code, stderr]).toEqual([1, expect.stringContaining('EEXIST')]);
		expect(readFileSync(file).equals(bytes)).toBe(true);
	});
});
