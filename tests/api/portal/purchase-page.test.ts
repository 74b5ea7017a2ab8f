/** The page of a purchase and its receipt: what they say about time, money and the next step. */
import { beforeAll, describe, expect, it } from 'vitest';
import { browse, fieldValue, type Browsing, type Page } from '../../support/pages/browsing.ts';
import { buyAt, shownCode } from '../../support/pages/purchase.ts';
import { numberEnding } from '../../support/api/api.ts';
import { eventually, useFixture } from '../../support/server/fixture.ts';

const MINUTE = 60_000;

describe('the page of a purchase', () => {
	const fixture = useFixture({ database: 'sqlite' });
	let person: Browsing;

	beforeAll(() => {
		person = browse(fixture().server.url);
	});

	/** Orders an hour. @returns the path of the purchase */
	const order = (digits: string) => buyAt(fixture().server.url, '/r/3', numberEnding(digits));

	const untilIt = (path: string, says: string | RegExp): Promise<Page> =>
		eventually(`${path} says ${says}`, async () => {
			const page = await person.get(path);
			return page.text.match(says) ? page : null;
		});

	async function bought(): Promise<string> {
		const path = await order('008');
		await untilIt(path, 'Your Wi‑Fi is paid until');
		return path;
	}

	/** Adds half an hour with the form of the page. @returns what was sent */
	async function addTime(path: string, digits: string): Promise<Record<string, string>> {
		const fields = {
			...{ time: '30m 250', paymentMethod: 'mobile_money', phone: numberEnding(digits) },
			purchase: fieldValue(await person.get(`${path}?more`), 'purchase')
		};
		await person.post(`${path}?/extend`, fields);
		return fields;
	}

	const receiptOf = async (path: string) => (await person.get(`${path}/receipt`)).text;

	it('has a receipt only after the operator took the money', async () => {
		const unpaid = await order('003');
		const page = await untilIt(unpaid, 'Check your phone.');
		expect(page.html).not.toContain('/receipt');
		expect((await person.get(`${unpaid}/receipt`)).path).toBe(unpaid);
		const paid = await bought();
		expect((await person.get(paid)).html).toContain(`href="${paid}/receipt"`);
		const receipt = await receiptOf(paid);
		expect(receipt).toMatch(/Receipt UGX\s500 Test mode: no real money .* Paid UGX\s500 /);
		expect(receipt).toMatch(/ \d{4} ••• 008 .*Transaction ID SBX[0-9A-F]{12} /);
		expect(receipt).toMatch(/ Code [0-9A-Z]{4}-[0-9A-Z]{4} /);
		expect(receipt).not.toMatch(/[a-z2-9]{4}-[a-z2-9]{4}-[a-z2-9]{4}/);
		// It would show how much an installation sells.
		expect(receipt).not.toMatch(/payment number/i);
	});

	it('shows all time and money of the pass after time was added', async () => {
		const path = await bought();
		await addTime(path, '008');
		const page = await untilIt(path, /Total paid UGX\s750/);
		expect(page.text).toMatch(/Time 1 hour 30 minutes/);
		expect(await receiptOf(path)).toMatch(/Time 1 hour .*Added time 30 minutes .*Total paid UGX\s750 /);
	});

	it('names the time and the number of an addition that waits for its payment', async () => {
		const path = await bought();
		const fields = await addTime(path, '003');
		// Sent again with a mistake, or at a price that is not today's.
		for (const mistake of [{ phone: '' }, { time: '1h 1' }]) {
			const repeated = await person.post(`${path}?/extend`, { ...fields, ...mistake });
			expect([repeated.status, repeated.path]).toEqual([200, path]);
			expect(repeated.text).not.toContain('You have not been charged.');
		}
		const { text } = await person.get(path);
		expect(text).toContain('Check your phone to add time.');
		expect(text).toMatch(/Time 1 hour Devices 1 Paid UGX\s500 Number .* 008/);
		expect(text).toMatch(/Added time 30 minutes Price UGX\s250 Number .* 003/);
		await person.post(`${path}?/end`);
		expect((await person.get(path)).text).toMatch(/Check your phone\. .* Added time 30 minutes/);
	});

	it('says that the operator has not answered, and what to do, until it has the request', async () => {
		const path = await order('006');
		expect((await person.get(path)).text).toContain('Check your phone.');
		await fixture().server.advance(6_000);
		const { text, html } = await untilIt(path, 'The MTN MoMo service has not answered yet.');
		expect(text).toMatch(/If your phone asks for your PIN, enter it to pay UGX\s500\./);
		expect(text).not.toMatch(/Check your phone|been charged/);
		expect(html).toMatch(/<progress[^>]* max="600" [^>]*value="[67]\b/);
		await fixture().server.advance(31_000);
		await untilIt(path, /Check your phone\.|Your Wi‑Fi is paid until/);
	});

	it('has one button after a declined addition: it leads to the form', async () => {
		const path = await bought();
		await addTime(path, '001');
		const { html, text } = await untilIt(path, 'Payment declined, or the PIN was wrong.');
		expect(text).toContain('Your Wi‑Fi is paid until');
		const main = [...html.matchAll(/<(?:a|button)[^>]*class="button"[^>]*>([^<]*)/g)].map(([, text]) => text);
		expect(main).toEqual(['Try again']);
		expect(html).toContain(`href="${path}?more#add-time">Try again</a>`);
		expect(html).not.toContain('>Add time</a>');
	});

	it('has no data apart from what people see: it holds numbers, and passwords that are not of use', async () => {
		const path = await bought();
		for (const page of [path, `${path}/kiosk`, `${path}/receipt`, '/owner'])
			expect((await person.raw(`${page}/__data.json`)).status).toBe(404);
	});

	it('that does not exist is a calm 404', async () => {
		const { status, html } = await person.get(`/s/${'A'.repeat(24)}`);
		expect([status, html.includes('<a ')]).toEqual([404, true]);
	});

	it('names the end and who ended it, on the receipt too', async () => {
		const path = await bought();
		const planned = /Ends (\d+ .*? \d\d:\d\d)/.exec(await receiptOf(path))?.[1] ?? '';
		await fixture().server.advance(9 * MINUTE);
		await person.post(`${path}?/end`);
		expect((await person.get(path)).text).toMatch(/Ended \d\d:\d\d by you/);
		const receipt = await receiptOf(path);
		expect(receipt).toMatch(/ Ended \d+ \w+ \d{4},? (at )?\d\d:\d\d by you /);
		expect(planned).not.toBe('');
		expect(receipt).not.toContain(planned);
		expect(receipt).not.toContain('Ends ');
	});

	it('names the sum and the number of a refund after a wrong amount', async () => {
		const path = await order('009');
		const page = await untilIt(path, 'MTN MoMo took');
		expect(page.text).toMatch(
			/MTN MoMo took UGX\s1,000 instead of UGX\s500\. We (are refunding|refunded) UGX\s1,000 to \d{4} ••• 009\./
		);
		expect(await receiptOf(path)).toMatch(/Paid UGX\s1,000 .*Payment Refund/);
	});

	it('shows how long it has waited, and after 30 s what to dial if no prompt came', async () => {
		const path = await order('003');
		const fresh = await untilIt(path, 'Check your phone.');
		expect(fresh.text).toMatch(/Waiting 0:0\d of 10:00/);
		expect(fresh.html).toMatch(/<p hidden[^>]*>No prompt\? Dial \*165# and approve the pending payment\./);
		await fixture().server.advance(MINUTE);
		const later = await person.get(path);
		expect(later.text).toMatch(/Waiting 1:0\d of 10:00/);
		expect(later.html).not.toMatch(/<p hidden[^>]*>No prompt/);
	});

	it('begins with the script that loads it again, so that an answer that breaks off does not end the wait', async () => {
		const { html } = await person.get(await order('003'));
		const at = ['[name=reload-after]', '<meta name="reload-after"', '<style'].map((part) =>
			html.indexOf(part)
		);
		expect(at).not.toContain(-1);
		expect(at).toEqual(at.toSorted((one, other) => one - other));
	});

	it('keeps the code while nobody knows the result, and offers to check before it offers to pay again', async () => {
		const path = await order('003');
		const waiting = await untilIt(path, 'Check your phone.');
		const code = shownCode(waiting.html);
		expect(code).toMatch(/^[0-9A-Z]{4}-[0-9A-Z]{4}$/);
		await eventually('the operator has it, and no job is at work', () =>
			fixture().sql.count(
				`select count(*) from payments where status = 'pending' and submit_state = 'accepted'
					and not exists (select 1 from jobs where kind like 'payment.%' and lease_until > 0)`
			)
		);
		await fixture().server.advance(11 * MINUTE);
		const unknown = await untilIt(path, 'We are still waiting for your');
		expect(shownCode(unknown.html)).toBe(code);
		expect(unknown.text).toMatch(/Check again Pay again/);
		expect(unknown.text).not.toMatch(/not been charged|will not be charged/);
		// Too late to pay for this order: the code stays.
		await fixture().server.advance(51 * MINUTE);
		const late = await untilIt(path, 'Check again later.');
		expect(shownCode(late.html)).toBe(code);
		expect(late.text).toMatch(/Check again Buy Wi‑Fi time/);
	});

	it('says in its own words that a number is missing, not in those of the browser', async () => {
		const shop = await person.get('/r/3');
		expect(shop.html).not.toMatch(/<input[^>]*\srequired/);
		const fields = { time: '1h 500', paymentMethod: 'mobile_money', phone: '' };
		const refused = await person.post('/r/3', { ...fields, purchase: fieldValue(shop, 'purchase') });
		expect(refused.status).toBe(400);
		expect(refused.text).toContain('Enter your mobile-money number.');
	});

	it('shows the purchase that a form began, instead of “not charged”, when it is sent again with a mistake', async () => {
		const form = async () => fieldValue(await person.get('/r/3'), 'purchase');
		const fields = { time: '1h 500', paymentMethod: 'mobile_money', purchase: await form() };
		const second = { ...fields, purchase: await form(), phone: numberEnding('003') };
		const first = await person.post('/r/3', { ...second, phone: numberEnding('001') });
		await untilIt(first.path, 'Payment declined');
		const other = await person.post('/r/3', second);
		expect(other.path).not.toBe(first.path);
		const sendWith = (digits: string) => person.post('/r/3', { ...fields, phone: numberEnding(digits) });
		const sendWithout = () => person.post('/r/3', { ...fields, phone: '' });
		const { path } = await sendWith('008');
		const repeated = await sendWithout();
		expect([repeated.status, repeated.path]).toEqual([200, path]);
		expect(repeated.text).not.toContain('You have not been charged.');
		// Another time, at a price that is not today's.
		const changed = await person.post('/r/3', { ...fields, time: '2h 1', phone: numberEnding('008') });
		expect(changed.path).toBe(path);
		const { sql } = fixture();
		await sql.run("update routers set status = 'offline' where id = 3");
		try {
			expect((await sendWith('010')).path).toBe(path);
			expect((await person.post('/r/3', second)).path).toBe(other.path);
			await sql.run("update payments set status = 'failed' where id = (select max(id) from payments)");
			const refused = await sendWithout();
			expect([refused.status, refused.path]).toEqual([400, '/r/3']);
			expect(refused.text).toContain('You have not been charged.');
		} finally {
			await sql.run("update routers set status = 'online' where id = 3");
		}
	});

	it('says that nothing was charged when the router closed while a form was open', async () => {
		const { server, sql } = fixture();
		const shop = fieldValue(await person.get('/r/3'), 'purchase');
		const declined = await order('001');
		await untilIt(declined, 'Payment declined, or the PIN was wrong.');
		await server.advance(31 * MINUTE);
		const paid = await bought();
		const added = fieldValue(await person.get(`${paid}?more`), 'purchase');
		const fields = { paymentMethod: 'mobile_money', phone: numberEnding('008') };
		await sql.run("update routers set status = 'offline' where id = 3");
		try {
			const time = { ...fields, time: '30m 250' };
			const pages = [
				await person.post('/r/3', { ...time, purchase: shop }),
				await person.post(`${paid}?/extend`, { ...time, purchase: added }),
				await person.post(`${declined}?/retry`, { ...fields, quoted: '500' })
			];
			for (const page of pages) {
				expect(page.status).toBeGreaterThanOrEqual(400);
				expect(page.text).toMatch(/You have not been charged\. This Wi‑Fi (just went offline|is closed)/);
			}
		} finally {
			await sql.run("update routers set status = 'online' where id = 3");
		}
	});
});
