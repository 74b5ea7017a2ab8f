/** The owner's help: finds a purchase by each thing that a customer can show, and says what happened to it. */
import { beforeAll, describe, expect, it } from 'vitest';
import { numberEnding } from '../../../support/api/api.ts';
import { fieldValue, signInAs, type Browsing } from '../../../support/pages/browsing.ts';
import { addRouter, newOwner, newStaff, type Owner } from '../../../support/pages/owners.ts';
import { buyAt, shownCode } from '../../../support/pages/purchase.ts';
import { eventually, useFixture } from '../../../support/server/fixture.ts';

const NOTHING = 'No purchase at your routers matches.';

const fixture = useFixture({ database: 'sqlite' });
let owner: Browsing;
let other: Owner;
let bought: { id: number; payment: number; phone: string; transaction: string; code: string };

beforeAll(async () => {
	owner = await signInAs(fixture().server, 'owner');
	other = await newOwner(fixture());
	const phone = numberEnding('008');
	const { url } = fixture().server;
	const path = await buyAt(url, '/r/3', phone);
	const [row] = await eventually('the purchase is paid', async () => {
		const rows = await fixture().sql.all(
			"select id, session_id, provider_reference from payments where phone = ? and status = 'success'",
			phone
		);
		return rows.length > 0 && rows;
	});
	const page = await (await fetch(url + path)).text();
	bought = {
		id: Number(row?.['session_id']),
		payment: Number(row?.['id']),
		phone,
		transaction: String(row?.['provider_reference']),
		code: shownCode(page) ?? /\b[0-9A-Z]{4}\W+[0-9A-Z]{4}\b/.exec(page)?.[0] ?? ''
	};
});

const search = (person: Browsing, typed: string, day = '') =>
	person.get(`/owner/customers?${new URLSearchParams({ q: typed, day }).toString()}`);
const messageOf = (transaction: string) =>
	`Y'ello. You have paid UGX 1,000 to BLUE CAFE on 2026-11-28 at 10:20. Transaction ID: ${transaction}. Balance UGX 20,400.`;
const linksTo = (id: number) => `href="/owner/customers/${id}"`;

it.each([
	['the code', () => bought.code],
	['the last four digits', () => bought.phone.slice(-4)],
	['the whole number', () => `0${bought.phone.slice(4)}`],
	['the transaction id', () => bought.transaction],
	['the whole message of the operator', () => messageOf(bought.transaction)],
	['the number of the payment', () => String(bought.payment)]
])('%s finds the purchase for the owner of its router only', async (_what, typed) => {
	expect((await search(owner, typed())).html).toContain(linksTo(bought.id));
	expect((await search(other, typed())).text).toContain(NOTHING);
});

it('a whole number does not find another one that ends alike', async () => {
	const another = `0${bought.phone[4] === '7' ? '6' : '7'}${bought.phone.slice(5)}`;
	expect((await search(owner, another)).text).toContain(NOTHING);
});

it('a day limits the search, and alone lists its purchases; without anything, those of today', async () => {
	const today = new Intl.DateTimeFormat('en-CA', { timeZone: 'Africa/Kampala' }).format(Date.now());
	expect((await search(owner, bought.phone.slice(-4), today)).html).toContain(linksTo(bought.id));
	expect((await search(owner, bought.phone.slice(-4), '2020-02-29')).text).toContain(NOTHING);
	expect((await search(owner, '', today)).html).toContain(linksTo(bought.id));
	expect((await owner.get('/owner/customers')).html).toContain(linksTo(bought.id));
	expect((await other.get('/owner/customers')).html).not.toContain('/owner/customers/');
});

it.each([
	['q', '1x', '', 'Search for: enter 4 to 1,000 characters, or the number of a payment or voucher.'],
	['day', 'K7MQ-29XT', '2026-02-30', 'Day: enter a date such as 2026-11-20, or leave it empty.']
])('a wrong %s (%j, %j) is named, and stays in its field', async (field, typed, day, problem) => {
	const { html, text, status } = await search(owner, typed, day);
	expect([status, text.includes(problem)]).toEqual([200, true]);
	expect(html).toMatch(new RegExp(`id="${field}"[^>]*aria-invalid="true"`));
	expect(html).toContain(`value="${typed}"`);
});

it('the page of a purchase says what happened, without the number, the code and the password', async () => {
	const { text, html } = await owner.get(`/owner/customers/${bought.id}`);
	expect(text).toMatch(
		new RegExp(
			'The time is running\\. .*Your Wi.Fi is paid until .*' +
				`Ordered: .*Payment ${bought.payment}: the operator says that UGX.* was paid\\. ` +
				`Transaction ID: ${bought.transaction}\\. .*The time started\\.`
		)
	);
	for (const secret of [bought.phone, bought.phone.slice(-9), bought.code])
		expect(html).not.toContain(secret);
});

it('while the operator has not got the request, it says what the buyer reads', async () => {
	const phone = numberEnding('003');
	const path = await buyAt(fixture().server.url, '/r/3', phone);
	await eventually('the operator has it', async () => {
		const asked = `select count(*) from payments where phone = ? and submit_state = 'accepted'`;
		return (await fixture().sql.count(asked, phone)) === 1;
	});
	await fixture().sql.run(
		`update payments set created_at = created_at - 10000, submit_state = 'created', submitted_at = null where phone = ?`,
		phone
	);
	const [row] = await fixture().sql.all('select session_id from payments where phone = ?', phone);
	const reads = 'We have not reached the MTN MoMo service yet.';
	expect(await (await fetch(fixture().server.url + path)).text()).toContain(reads);
	const { text } = await owner.get(`/owner/customers/${row?.['session_id']}`);
	expect(text).toContain(reads);
	expect(text).not.toContain('Check your phone');
});

it('where the sign-in page takes the code, it names the code instead of a password', async () => {
	const access = { access_kind: 'portal_login', security: 'nopass' };
	const router = await addRouter(fixture(), other.accountId, access);
	const { session } = await fixture().buy({ router_id: router });
	const page = () => other.get(`/owner/customers/${session.id}`);
	expect((await page()).text).toContain('It shows the password.');
	const form = `/owner/routers/${router}/gateway`;
	const key = fieldValue(await other.get(`${form}?kind=opennds`), 'key');
	await other.post(form, { key, kind: 'opennds', loginHost: '192.168.1.1' });
	const { text } = await page();
	expect(text).toContain('the customer chooses “Paid already? Do not pay again. Enter your code” there');
	expect(text).toContain('enter this code to connect your device.');
	expect(text.slice(text.indexOf('The customer’s page says'), text.indexOf('What happened'))).not.toContain(
		'password'
	);
});

it('another owner learns nothing: the page of a foreign purchase is that of a missing one', async () => {
	const [foreign, missing] = [
		await other.get(`/owner/customers/${bought.id}`),
		await other.get('/owner/customers/999999')
	];
	expect([foreign.status, missing.status]).toEqual([404, 404]);
	expect(foreign.text).toBe(missing.text);
});

it('a cashier finds a purchase of another day only by something that the customer knows', async () => {
	const router = await addRouter(fixture(), other.accountId);
	const cashier = await newStaff(fixture(), other, 'cashier');
	const { session } = await fixture().buy({ router_id: router });
	expect((await cashier.get('/owner/customers')).html).toContain(`/owner/customers/${session.id}`);
	const refused = await cashier.get('/owner/customers?day=2026-11-01');
	expect(refused.text).toContain('Search for: enter 4 to 1,000 characters');
	expect((await cashier.get('/owner/customers?q=9999&day=2026-11-01')).text).not.toContain(
		'Search for: enter'
	);
	expect((await other.get('/owner/customers?day=2026-11-01')).text).not.toContain('Search for: enter');
});

describe('each fault of the sandbox', () => {
	/** [ending of the number, seconds to wait, what to do, what happened] */
	const FAULTS = [
		['001', 0, 'have not received any money', 'The customer declined, or the PIN was wrong.'],
		['003', 0, 'Ask the customer to approve the request', 'the request was sent to'],
		['003', 900, 'has not said whether money was taken', 'gave no answer in time'],
		['009', 0, 'money was returned', 'The operator took another amount.']
	] as const;

	it.each(FAULTS)('%s after %i s: %s', async (digits, seconds, advice, event) => {
		const { api, server, sql } = fixture();
		const session = await api.createSession({ phone: numberEnding(digits) });
		const payment = await api.pay(session);
		await fixture().asked(payment);
		if (digits !== '003') await fixture().decided(payment);
		if (seconds > 0) {
			await server.advance(seconds * 1000);
			await eventually('the payment has expired', async () =>
				sql.count("select count(*) from payments where id = ? and status = 'expired'", payment.id)
			);
		}
		const page = await eventually('the page says it', async () => {
			const shown = await owner.get(`/owner/customers/${session.id}`);
			return shown.text.includes(advice) && shown;
		});
		expect(page.text).toContain(event);
	});
});
