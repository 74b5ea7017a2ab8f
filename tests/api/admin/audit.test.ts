/** Search and export of the audit log. */
import { beforeAll, describe, expect, it } from 'vitest';
import { fieldValue, signInAs, type Browsing } from '../../support/pages/browsing.ts';
import { DATABASES, useFixture, runsAllOn } from '../../support/server/fixture.ts';

const NOON = Date.parse('2026-03-10T12:00:00Z');
const DAY = 24 * 60 * 60_000;
const COUNT = 130;

describe.each(DATABASES)('on %s', (database) => {
	const fixture = useFixture({ database });
	let admin: Browsing;
	let paymentId: number;
	let adminId: number;

	beforeAll(async () => {
		const { server, sql, buy } = fixture();
		admin = await signInAs(server, 'admin');
		paymentId = (await buy()).payment.id;
		adminId = await sql.count(`select id from accounts where email = 'admin@airtill.example'`);
		const add = (at: number, actor: string, action: string, reason: string, payment: number | null = null) =>
			sql.run(
				`insert into audit_log (at, actor, action, payment_id, reason, before, after)
				values (?, ?, ?, ?, ?, '{"name":"Old","kept":1}', '{"name":"New","kept":1,"ends_at":${NOON}}')`,
				...[at, actor, action, payment, reason]
			);
		// Pairs share their moment.
		for (let n = 0; n < COUNT; n += 1) await add(NOON + Math.floor(n / 2), 'ann', 'test.many', `many ${n}`);
		await add(NOON + DAY, `account ${adminId}`, 'test.one', '=HYPERLINK("http://evil.example")', paymentId);
		// 22:00 in UTC is the next day in Kampala.
		await add(NOON + 10 * 60 * 60_000, 'ben', 'test.late', 'late');
	});

	const reasons = ({ html }: { html: string }) =>
		[...html.matchAll(/<p>((?:many|late)[^<]*)<\/p>/g)].map(([, reason]) => reason);
	const exported = async (search: string) => {
		const text = await (await admin.raw(`/admin/audit/export?${search}`)).text();
		return text.trim().split('\r\n').slice(1);
	};

	it('every entry of a search is on one of its pages, newest first, and in its file', async () => {
		const wanted = Array.from({ length: COUNT }, (_, n) => `many ${COUNT - 1 - n}`);
		const seen: (string | undefined)[] = [];
		let path: string | undefined = '/admin/audit?actor=ann&action=test.many';
		let pages = 0;
		while (path !== undefined) {
			const page = await admin.get(path);
			seen.push(...reasons(page));
			path = /<a href="([^"]*at=[^"]*)"/.exec(page.html)?.[1]?.replaceAll('&amp;', '&');
			pages += 1;
		}
		expect(pages).toBe(3);
		expect(seen).toEqual(wanted);
		expect((await exported('action=test.many')).map((line) => line.split(',')[8])).toEqual(wanted);
		expect((await exported('who=all')).length).toBe(
			await fixture().sql.count('select count(*) from audit_log')
		);
	});

	it('decisions of people come first; those of Airtill are found with all, or by name', async () => {
		const machine = ['reconciler', 'refunds', 'access', 'airtill', 'demo'];
		for (const actor of [...machine, 'command line', 'zoe'])
			await fixture().sql.run(
				`insert into audit_log (at, actor, action, reason, before, after) values (?, ?, 'test.who', ?, '{}', '{}')`,
				...[NOON + 3 * DAY, actor, `by ${actor}`]
			);
		const day = 'from=2026-03-13&to=2026-03-13';
		const shown = async (search: string) =>
			[...(await admin.get(`/admin/audit?${search}`)).html.matchAll(/<p>by ([^<]*)<\/p>/g)].map(
				([, by]) => by
			);
		const all = ['zoe', 'command line', ...machine.toReversed()];
		expect(await shown(day)).toEqual(['zoe', 'command line']);
		expect(await exported(day)).toHaveLength(2);
		expect(await shown(`${day}&who=all`)).toEqual(all);
		expect(await shown(`${day}&action=test.who`)).toEqual(all);
		expect(await shown(`${day}&actor=refunds`)).toEqual(['refunds']);
	});

	it('an account is found by its email address, a payment by its number, and changes are shown', async () => {
		const byEmail = await admin.get('/admin/audit?actor=Admin@airtill.example&action=test.one');
		expect(byEmail.text).toContain('test.one, payment');
		expect(byEmail.text).toContain('2026-03-11 15:00:00, admin@airtill.example');
		expect(byEmail.text).toContain('name: Old → New · kept: 1 · ends_at: 2026-03-10 15:00:00');
		expect(fieldValue(byEmail, 'actor')).toBe('Admin@airtill.example');
		const byPayment = await admin.get(`/admin/audit?payment=${paymentId}`);
		expect(byPayment.text).toContain('payment.success');
		expect(byPayment.text).toContain('test.one');
		expect(byPayment.text).not.toContain('test.many,');
		expect((await admin.get('/admin/audit?actor=nobody')).text).toContain('No matching entries.');
	});

	it('days are those of the time zone, with their first and last moment', async () => {
		expect(reasons(await admin.get('/admin/audit?from=2026-03-11&to=2026-03-11'))).toEqual(['late']);
		expect(await exported('to=2026-03-10')).toHaveLength(COUNT);
		expect(await exported('from=2026-03-11&to=2026-03-11&actor=ben')).toHaveLength(1);
	});

	it('the file names account and person, and holds no formula', async () => {
		const response = await admin.raw('/admin/audit/export?action=test.one');
		expect(response.headers.get('content-type')).toBe('text/csv; charset=utf-8');
		expect(response.headers.get('content-disposition')).toMatch(/"airtill-audit-[\d-]{10}\.csv"$/);
		const text = await response.text();
		expect(text).toContain(`account ${adminId},admin@airtill.example,test.one,${paymentId},`);
		expect(text).toContain(`"'=HYPERLINK(""http://evil.example"")"`);
		expect(text).toContain('2026-03-11 15:00:00,2026-03-11T12:00:00.000Z');
	});

	if (!runsAllOn(database)) return;

	it.each([
		['actor', `actor=${'x'.repeat(201)}`, 'Email or name of the actor: '],
		['action', 'action=%00', 'Action: '],
		['payment', 'payment=one', 'Payment number: '],
		['from', 'from=2026-02-30', 'From: '],
		['to', 'from=2026-03-11&to=2026-03-10', 'To: ']
	])('a wrong %s is named (%s)', async (field, search, name) => {
		const page = await admin.get(`/admin/audit?${search}`);
		expect(page.status).toBe(200);
		expect(page.text).toContain(name);
		expect(page.html).toContain(`aria-describedby="${field}-error"`);
		expect(page.html).not.toContain('class="things"');
		const file = await admin.get(`/admin/audit/export?${search}`);
		expect(file).toMatchObject({ status: 400, text: expect.stringContaining(name) });
	});
});
