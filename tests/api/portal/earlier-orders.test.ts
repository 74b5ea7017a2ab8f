/** Before a number pays twice at a router, its buyer sees the earlier order, and others learn nothing of it. */
import { expect, describe, it } from 'vitest';
import { newMac } from '../../support/gateways/consoles.ts';
import { registerGateway } from '../../support/gateways/gateways.ts';
import { ndsEntry, sha256 } from '../../support/gateways/opennds.ts';
import { numberEnding } from '../../support/pages/purchase.ts';
import { createBuyer, startRemotePortal } from '../../support/pages/remote-portal.ts';
import { hourOn } from '../../support/pages/splash.ts';
import { BOTH_DATABASES, eventually, runsAllOn, useFixture } from '../../support/server/fixture.ts';

const minute = 60_000;
const silent = '003';
const paying = '008';
const VENUE = '192.0.2.1';
const NEUTRAL = 'There is a recent order for this number here.';

describe.each(BOTH_DATABASES)('on %s', (database) => {
	const fixture = useFixture({ database, env: { ADDRESS_HEADER: 'x-client-address' } });

	async function page(path: string, fields: Record<string, string> | null = null, address = VENUE) {
		const { status, headers, text } = await createBuyer(fixture().server).page(path, {
			...(fields && { method: 'POST', body: new URLSearchParams(fields) }),
			headers: { 'x-client-address': address }
		});
		return { status, location: headers.get('location') ?? '', html: text };
	}
	const hidden = (html: string, name: string) =>
		new RegExp(`name="${name}" value="([^"]*)"`).exec(html)?.[1] ?? '';
	const titleOf = (html: string) =>
		(/<h2>(.*?)<\/h2>/s.exec(html)?.[1] ?? '').replaceAll(/<[^>]*>/g, '').replaceAll('\u00a0', ' ');
	const linkOf = (html: string) => /class="button" href="([^"]*)" autofocus/.exec(html)?.[1];

	/** A fresh form of a router's page, filled in for an hour. */
	async function form(phone: string, at = '/r/3') {
		const { html } = await page(at);
		const time = /name="time" value="(1h \d+)"/.exec(html)?.[1] ?? '';
		return { time, paymentMethod: 'mobile_money', phone, purchase: hidden(html, 'purchase') };
	}
	const buy = async (phone: string, { at = '/r/3', address = VENUE } = {}) =>
		page(at, await form(phone, at), address);
	/** Sends the form of a notice. */
	const another = (html: string, fields: Record<string, string>) =>
		page('/r/3', { ...fields, another: hidden(html, 'another') });
	const payments = (phone: string) =>
		fixture().sql.count('select count(*) from payments where phone = ?', `+256${phone.slice(1)}`);
	const accepted = (phone: string) =>
		eventually('the operator has the request', async () => {
			const asked = `select count(*) from payments where phone = ? and submit_state = 'accepted'`;
			return (await fixture().sql.count(asked, `+256${phone.slice(1)}`)) === 1;
		});
	const paid = (phone: string, count = 1) =>
		eventually('it is paid', async () => {
			const found = await fixture().sql.count(
				`select count(*) from payments where phone = ? and status = 'success' and applied`,
				`+256${phone.slice(1)}`
			);
			return found === count;
		});

	it('of fresh forms at the same moment one is sold, and the others are asked', async () => {
		for (const digits of [silent, paying]) {
			const phone = numberEnding(digits);
			const forms = await Promise.all(
				[phone, `+256${phone.slice(1)}`, `256 ${phone.slice(1)}`, ` ${phone}\u200e`, phone, phone].map(
					(typed) => form(typed)
				)
			);
			const answers = await Promise.all(forms.map((fields) => page('/r/3', fields)));
			expect(answers.map(({ status }) => status).sort()).toEqual([303, 409, 409, 409, 409, 409]);
			expect(await payments(phone)).toBe(1);
		}
	});

	it('another order is one purchase however often its form is sent, and is asked about itself', async () => {
		const phone = numberEnding(silent);
		const first = await buy(phone);
		const fields = await form(phone);
		const asked = await page('/r/3', fields);
		const answers = await Promise.all(Array.from({ length: 4 }, () => another(asked.html, fields)));
		const places = new Set(answers.map(({ location }) => location));
		expect([...places]).toEqual([expect.stringMatching(/^\/s\//)]);
		expect(places).not.toContain(first.location);
		expect(await payments(phone)).toBe(2);
		// The notice was of the first order only.
		expect((await another(asked.html, await form(phone))).status).toBe(409);
		expect((await page('/r/3', { ...(await form(phone)), another: 'yes' })).status).toBe(409);
		expect(await payments(phone)).toBe(2);
	});

	if (!runsAllOn(database)) return;

	it('who has only the address learns that there is an order, not what it is, and cannot open it', async () => {
		const [open, bought] = [numberEnding(silent), numberEnding(paying)];
		const orders = [await buy(open), await buy(bought)];
		await paid(bought);
		const notices = [await buy(open), await buy(bought)];
		const [ofOpen = '', ofPaid = ''] = notices.map(({ html }, at) => {
			expect(html).toContain(NEUTRAL);
			expect(html).not.toContain(orders[at]?.location.slice(3));
			expect(linkOf(html)).toBe('/resume');
			return html.slice(html.indexOf('<h2>'), html.indexOf('<input'));
		});
		// An unpaid order reads like a paid one.
		expect(ofOpen).toBe(ofPaid);
	});

	it('who has the form reads what it has ordered, and opens it', async () => {
		const phone = numberEnding(paying);
		const fields = await form(phone);
		const { location } = await page('/r/3', fields);
		expect((await page('/r/3', fields)).location).toBe(location);
		await paid(phone);
		await fixture().server.advance(2 * minute + 1000);
		// The buyer goes back and chooses other time.
		const changed = { ...fields, time: fields.time.replace(/^1h 500/, '2h 1000') };
		const asked = await page('/r/3', changed, '192.0.2.77');
		expect(titleOf(asked.html)).toBe('You bought 1 hour 2 minutes ago.');
		expect(linkOf(asked.html)).toBe(location);
		expect(asked.html).toMatch(/Buy another: pay UGX\s1,000/);

		const waiting = numberEnding(silent);
		const other = await form(waiting);
		await page('/r/3', other);
		const again = await page('/r/3', { ...other, time: '2h 1000' });
		expect(titleOf(again.html)).toBe(
			'A request for UGX 500 is open on this number. Approve it on your phone.'
		);
	});

	it.each([
		['unsent', `'created', submitted_at = null`, 'We have not reached the MTN MoMo service yet.'],
		['unanswered', `'uncertain'`, 'The MTN MoMo service has not answered yet.']
	])('of a request that is %s, it says what the page of the purchase says', async (_, state, title) => {
		const phone = numberEnding(silent);
		const fields = await form(phone);
		const { location } = await page('/r/3', fields);
		await accepted(phone);
		await fixture().sql.run(
			`update payments set created_at = created_at - 10000, submit_state = ${state} where phone = ?`,
			`+256${phone.slice(1)}`
		);
		const asked = await page('/r/3', { ...fields, time: '2h 1000' });
		expect(titleOf(asked.html)).toBe(title);
		expect((await page(location)).html).toContain(title);
		expect(asked.html).not.toContain('Approve it on your phone');
	});

	it('of an order whose request is still to come, it never says that nothing was asked for', async () => {
		const phone = numberEnding(silent);
		const fields = await form(phone);
		await page('/r/3', fields);
		await accepted(phone);
		// As another process leaves it for a moment.
		await fixture().sql.run(
			`update purchases set session_id = null, payment_ids = '[]' where id = (select max(id) from purchases)`
		);
		const asked = await page('/r/3', { ...fields, time: '2h 1000' });
		expect(titleOf(asked.html)).toBe(NEUTRAL);
		expect(asked.html).not.toContain('We have not requested the money');
	});

	it('nobody is asked about another number, router or network, nor after ten minutes', async () => {
		const phone = numberEnding(paying);
		const numbers = [numberEnding(paying)];
		await buy(phone);
		await paid(phone);
		expect((await buy(phone, { address: '192.0.2.2' })).status).toBe(303);
		expect((await buy(phone, { at: '/r/4' })).status).toBe(303);
		for (const number of numbers) expect((await buy(number)).status).toBe(303);
		await fixture().server.advance(9 * minute);
		expect((await buy(phone)).status).toBe(409);
		await fixture().server.advance(minute);
		expect((await buy(phone)).status).toBe(303);
	});

	it.each([
		['declined', '001', `select count(*) from payments where phone = ? and status = 'failed'`],
		['refunded', '009', `select count(*) from payments where phone = ? and status = 'refunded'`]
	])('an order that was %s asks nothing', async (_, digits, isOver) => {
		const phone = numberEnding(digits);
		await buy(phone);
		await eventually(
			'it is over',
			async () => (await fixture().sql.count(isOver, `+256${phone.slice(1)}`)) === 1
		);
		expect((await buy(phone)).status).toBe(303);
	});

	it('time that its buyer has ended asks nothing', async () => {
		const phone = numberEnding(paying);
		const { location } = await buy(phone);
		await paid(phone);
		await eventually('it runs', async () => (await page(location)).html.includes('?/end'));
		await page(`${location}?/end`, {});
		expect((await buy(phone)).status).toBe(303);
	});

	it('an order without an answer is still asked about, until its time to pay is over', async () => {
		const phone = numberEnding(silent);
		const fields = await form(phone);
		await page('/r/3', fields);
		await fixture().server.advance(11 * minute);
		await eventually('it is not open any more', async () => {
			const asked = await page('/r/3', { ...fields, time: '2h 1000' });
			expect(asked.status).toBe(409);
			return titleOf(asked.html) === 'We are still waiting for your MTN MoMo payment.';
		});
		await fixture().server.advance(20 * minute);
		await eventually('it is not asked about', async () => (await buy(phone)).status === 303);
	});

	it('an order that the API refused asks nothing', async () => {
		const { server } = fixture();
		const phone = numberEnding(silent);
		expect((await page('/r/3', { ...(await form(phone)), paymentMethod: 'none' })).status).toBe(400);
		await fixture().sql.run('update routers set status = ? where id = 3', 'offline');
		expect((await buy(phone)).status).not.toBe(303);
		await fixture().sql.run('update routers set status = ? where id = 3', 'online');
		await server.advance(31_000);
		expect((await buy(phone)).status).toBe(303);
	});

	describe('on the page of a purchase', () => {
		const running = async (phone: string) => {
			const { location } = await buy(phone);
			await paid(phone);
			await eventually('it runs', async () => (await page(location)).html.includes('?more'));
			return location;
		};
		const addForm = async (path: string, phone: string) => {
			const { html } = await page(`${path}?more`);
			const time = /name="time" value="(1h \d+)"/.exec(html)?.[1] ?? '';
			return { time, paymentMethod: 'mobile_money', phone, purchase: hidden(html, 'purchase') };
		};

		it('time is added at once, and once more only if the buyer says so', async () => {
			const phone = numberEnding(paying);
			const path = await running(phone);
			expect((await page(`${path}?/extend`, await addForm(path, phone))).status).toBe(303);
			await paid(phone, 2);
			const fields = await addForm(path, phone);
			const asked = await page(`${path}?/extend`, fields);
			expect(titleOf(asked.html)).toBe('You have just bought 1 hour.');
			expect(linkOf(asked.html)).toBe(path);
			expect(await payments(phone)).toBe(2);
			const confirmed = { ...fields, another: hidden(asked.html, 'another') };
			expect((await page(`${path}?/extend`, confirmed)).location).toBe(path);
			await paid(phone, 3);
		});

		it('of forms that add time at the same moment one is sold', async () => {
			const phone = numberEnding(paying);
			const path = await running(phone);
			const forms = await Promise.all(Array.from({ length: 4 }, () => addForm(path, phone)));
			await Promise.all(forms.map((fields) => page(`${path}?/extend`, fields)));
			expect(await payments(phone)).toBe(2);
		});

		it('a declined payment is not tried again after another order of the number', async () => {
			const phone = numberEnding(paying);
			const declined = (await buy(numberEnding('001'))).location;
			const retry = { paymentMethod: 'mobile_money', phone, quoted: '500' };
			await eventually('it is declined', async () => (await page(declined)).html.includes('?/retry'));
			const { location } = await buy(phone);
			await paid(phone);
			const asked = await page(`${declined}?/retry`, retry);
			expect(asked.html).toContain(NEUTRAL);
			expect(asked.html).not.toContain(location.slice(3));
			expect(await payments(phone)).toBe(1);
			const confirmed = { ...retry, another: hidden(asked.html, 'another') };
			expect((await page(`${declined}?/retry`, confirmed)).status).toBe(303);
			await paid(phone, 2);
		});
	});

	it('the splash page of a device names and opens its order, and connects the device to it', async () => {
		const { server } = fixture();
		const host = '192.168.8.1';
		const gateway = await registerGateway(server, 'opennds', { loginHost: host });
		const enter = (hid: string) => page(ndsEntry(gateway, { hid: sha256(hid), mac: newMac() }, host));
		const phone = numberEnding(silent);
		const splash = await enter('a device');
		const { action, fields } = hourOn({ html: splash.html } as never, phone);
		const { location } = await page(action, fields as Record<string, string>);
		// Back, from another address: the captive session is the same.
		const again = await page(action.replace('?order', ''), null, '192.0.2.44');
		const fresh = hourOn({ html: again.html } as never, phone);
		const asked = await page(fresh.action, fresh.fields as Record<string, string>, '192.0.2.44');
		expect(titleOf(asked.html)).toContain('A request for UGX 500 is open on this number.');
		const opened = linkOf(asked.html) ?? '';
		expect(opened).toMatch(/^\/s\/[\w-]{24}\?visit=[\w-]{24}$/);
		expect((await page(opened)).location).toBe(location);
		// Another device at the same address.
		const stranger = hourOn({ html: (await enter('another device')).html } as never, phone);
		const notice = await page(stranger.action, stranger.fields as Record<string, string>);
		expect(notice.html).toContain(NEUTRAL);
		expect(linkOf(notice.html)).toMatch(/^\/resume\?visit=/);
		expect(await payments(phone)).toBe(1);
	});

	it('a kiosk asks too, opens nothing, and sells another one if told so', async () => {
		const phone = numberEnding(silent);
		const order = async (another = '') => page('/kiosk/3', { ...(await form(phone)), another });
		expect((await order()).location).toMatch(/^\/s\/[\w-]{24}\/kiosk$/);
		const { status, html, location } = await order();
		expect([status, location]).toEqual([409, '']);
		expect(html).toContain(NEUTRAL);
		expect(linkOf(html)).toBeUndefined();
		const [, mark = ''] = /name="another" value="([^"]+)"/.exec(html) ?? [];
		expect((await order(mark)).status).toBe(303);
		expect(await payments(phone)).toBe(2);
	});

	it('a portal of a remote service asks too, and the API itself asks nobody', async () => {
		const portal = await startRemotePortal(fixture());
		try {
			const buyer = createBuyer(portal);
			const phone = numberEnding(silent);
			const statuses = [];
			for (let count = 0; count < 2; count += 1)
				statuses.push((await buyer.post('/r/3', await buyer.fill(phone))).status);
			expect(statuses).toEqual([303, 409]);
			expect(await payments(phone)).toBe(1);
			const { api } = fixture();
			for (let count = 0; count < 2; count += 1) await api.pay(await api.createSession(), phone);
			expect(await payments(phone)).toBe(3);
		} finally {
			await portal.stop();
		}
	});

	it('a form does not post to the address of its page: a browser forgets what it has kept of one to which it posts', async () => {
		expect((await page('/r/3')).html).toContain('action="/r/3?order"');
	});
});
