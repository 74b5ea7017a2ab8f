/** An owner shows a customer's code again: only at the owner's routers, with a reason, and the audit log says who saw it. */
import { beforeAll, expect, it } from 'vitest';
import { numberEnding } from '../../../support/api/api.ts';
import { addRouter, newOwner, type Owner } from '../../../support/pages/owners.ts';
import { buyAt, shownCode } from '../../../support/pages/purchase.ts';
import { eventually, useFixture } from '../../../support/server/fixture.ts';

const NOTE = { note: 'Lost the phone, knows the time and the sum' };

const fixture = useFixture({ database: 'sqlite' });
let owner: Owner;
let router: number;
let page: string;
let session: number;

beforeAll(async () => {
	owner = await newOwner(fixture());
	router = await addRouter(fixture(), owner.accountId);
	page = await buyAt(fixture().server.url, `/r/${router}`, numberEnding('008'));
	session = await eventually('the purchase is paid', () =>
		fixture().sql.count("select coalesce(max(id), 0) from sessions where status = 'active'")
	);
});

const path = () => `/owner/help/${session}/code`;
const entries = () =>
	fixture().sql.all(
		"select actor, reason, router_id from audit_log where action = 'purchase.code_shown' order by id"
	);

it('nothing is shown, and nothing logged, without a reason', async () => {
	expect((await owner.get(`/owner/help/${session}`)).html).toContain(`href="${path()}"`);
	expect((await owner.get(path())).html).not.toContain(page);
	const refused = await owner.post(path(), { note: ' ' });
	expect([refused.status, refused.text.includes('Reason: enter 1 to 500 characters.')]).toEqual([400, true]);
	expect(refused.html).not.toContain(page);
	expect(await entries()).toEqual([]);
});

it('the code and the page are shown, which open the purchase, and each look is logged', async () => {
	const shown = await owner.raw(path(), {
		method: 'POST',
		body: new URLSearchParams(NOTE),
		headers: { origin: fixture().server.url }
	});
	expect([shown.status, shown.headers.get('cache-control')]).toEqual([200, 'no-store']);
	const html = await shown.text();
	expect(html).toContain(`href="${fixture().server.url}${page}"`);
	const found = await owner.get(`/owner/help?q=${shownCode(html) ?? ''}`);
	expect(found.html).toContain(`href="/owner/help/${session}"`);
	await owner.post(path(), NOTE);
	const entry = { actor: `account ${owner.accountId}`, reason: NOTE.note, router_id: router };
	expect(await entries()).toEqual([entry, entry]);
});

it('a purchase of the API has no page to show', async () => {
	const { session: other } = await fixture().buy({ router_id: router });
	const refused = await owner.post(`/owner/help/${other.id}/code`, NOTE);
	expect([refused.status, refused.text.includes('This purchase has no code')]).toEqual([409, true]);
	expect((await owner.get(`/owner/help/${other.id}`)).html).not.toContain('/code"');
});
