/** Routers from a CSV file: a preview stores nothing, the import stores the good rows once, and the audit log names both. */
import { beforeAll, expect, it } from 'vitest';
import { signInAs, type Browsing } from '../../support/pages/browsing.ts';
import { alertOf, newOwner, type Owner } from '../../support/pages/owners.ts';
import { useFixture } from '../../support/server/fixture.ts';

const CSV = [
	'id,Name,ssid,lat,lon,price,Colour',
	'a1,"Harbour, east",Harbour Net,0.31,32.58,500,red',
	'a2,<b>Mill</b>,Mill Net,0.32,32.59,,blue',
	'a3,Nowhere,Far Net,91,32.59,500,blue',
	'a1,Twice,Harbour Net,0.31,32.58,500,red'
].join('\r\n');

const fixture = useFixture({ database: 'sqlite' });
let admin: Browsing;
let owner: Owner;

beforeAll(async () => {
	admin = await signInAs(fixture().server, 'admin');
	owner = await newOwner(fixture());
});

async function send(fields: Record<string, string | File>) {
	const form = new FormData();
	const all = { owner: owner.email, price: '750', note: 'Opens in May', ...fields };
	for (const [name, value] of Object.entries(all)) form.set(name, value);
	const response = await admin.raw('/admin/routers/import', {
		...{ method: 'POST', body: form, headers: { origin: fixture().server.url } }
	});
	const html = await response.text();
	const text = html.replace(/<[^>]+>/g, ' ').replace(/\s+/g, ' ');
	return { status: response.status, html, text };
}
const file = (text: string) => new File([text], 'routers.csv', { type: 'text/csv' });
const routers = () =>
	fixture().sql.all(
		'select external_id, name, price_minor from routers where owner_account_id = ? order by external_id',
		owner.accountId
	);
const entries = () =>
	fixture().sql.all(`select actor, reason, after from audit_log where action = 'routers.imported'`);

it('a preview names good and bad rows with their lines, and stores nothing', async () => {
	const { status, text, html } = await send({ file: file(CSV), do: 'preview' });
	expect(status).toBe(200);
	expect(text).toContain('New 2 Changed 0 Unchanged 0 Bad rows, not imported 2');
	expect(text).toContain('4 latitude 91 is out of range');
	expect(text).toContain('5 duplicate id "a1", already on line 2');
	expect(html).toContain('&lt;b>Mill&lt;/b>');
	expect(text).toContain('UGX 750');
	expect(text).toContain('Skip the bad rows and import 2');
	expect(await routers()).toEqual([]);
	expect(await entries()).toEqual([]);
});

it('an import stores the good rows once, however often its form is sent', async () => {
	const answers = await Promise.all([1, 2].map(() => send({ csv: CSV, do: 'import' })));
	expect(answers.map(({ status }) => status)).toEqual([200, 200]);
	expect(answers.map(({ text }) => /New (\d) Changed 0 Unchanged (\d)/.exec(text)?.slice(1).join())).toEqual(
		expect.arrayContaining(['2,0', '0,2'])
	);
	expect(await routers()).toEqual([
		{ external_id: 'a1', name: 'Harbour, east', price_minor: 500 },
		{ external_id: 'a2', name: '<b>Mill</b>', price_minor: 750 }
	]);
	const [entry, ...others] = await entries();
	expect(others).toEqual([]);
	expect(entry).toMatchObject({
		reason: 'Opens in May',
		actor: expect.stringMatching(/^account /) as string
	});
	expect(JSON.parse(String(entry?.['after']))).toEqual({
		...{ owner_account_id: owner.accountId, added: 2, changed: 0, unchanged: 0, skipped: 2 }
	});
	expect((await send({ csv: CSV, do: 'preview' })).text).toContain('There is nothing to import.');
});

it.each([
	['Owner:', { owner: 'nobody@people.example' }],
	['Price:', { price: '-1' }],
	['Reason:', { note: ' ' }],
	['File:', { file: file('x'.repeat(1024 * 1024 + 1)) }],
	['no column lat, lon', { file: file('ssid,price\r\nx,500') }],
	['UTF-8', { file: new File([Uint8Array.of(0x73, 0xff)], 'a.csv') }]
])('a form that cannot be read (%s) keeps what was typed', async (problem, fields) => {
	const { status, html } = await send({ file: file(CSV), do: 'import', ...fields });
	expect(status).toBe(400);
	expect(alertOf({ html } as Parameters<typeof alertOf>[0])).toContain(problem);
	if (!('owner' in fields)) expect(html).toContain(owner.email);
});
