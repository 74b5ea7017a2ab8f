/** A review that an administrator decides in the browser. */
import { beforeAll, describe, expect, it } from 'vitest';
import { numberEnding, type Payment } from '../../support/api/api.ts';
import { signInAs, type Browsing } from '../../support/pages/browsing.ts';
import { DATABASES, eventually, useFixture } from '../../support/server/fixture.ts';

const hour = 60 * 60_000;

describe.each(DATABASES)('on %s', (database) => {
	const fixture = useFixture({ database });
	let admin: Browsing;
	beforeAll(async () => {
		admin = await signInAs(fixture().server, 'admin');
	});

	const audited = async ({ id }: Payment) =>
		(await fixture().sql.all('select * from audit_log where payment_id = ? order by id', id)).map(
			({ actor, action }) => `${String(actor)} ${String(action)}`
		);

	/** A payment about which the operator says nothing for three days, and the address of its review. */
	async function unanswered(): Promise<{ payment: Payment; path: string }> {
		const { api, server, sql, asked } = fixture();
		const payment = await api.pay(await api.createSession({ phone: numberEnding('003') }));
		await asked(payment);
		await server.advance(11 * 60_000);
		await eventually('expired', async () => (await api.getPayment(payment.id)).status === 'expired');
		await server.advance(80 * hour);
		const { id } = await eventually('a review is open', async () =>
			(await sql.all('select id from reviews where payment_id = ?', payment.id)).at(0)
		);
		// 80 hours end a sign-in session.
		admin = await signInAs(server, 'admin');
		return { payment, path: `/admin/reviews/${String(id)}` };
	}

	it('a review is decided once, with a reason, and the page shows its evidence without the number', async () => {
		const { payment, path } = await unanswered();
		expect((await admin.get('/admin')).text).toContain('Decide the reviews');
		expect((await admin.get('/admin/reviews')).html).toContain(`${path}"`);
		const page = await admin.get(path);
		expect(page.text).toContain('The operator gives no final answer');
		expect(page.text).toContain(payment.phone.slice(-3));
		expect(page.html).not.toContain(payment.phone);
		expect(page.text).toMatch(/submit, accepted/);
		expect(page.html).not.toContain('value="retry-refund"');

		const without = await admin.post(path, { decision: 'paid', note: ' ', transaction: 'TX-1' });
		expect(without).toMatchObject({ status: 400, text: expect.stringContaining('Reason: say why') });
		expect(without.html).toContain('value="TX-1"');
		const unchosen = await admin.post(path, { note: 'seen' });
		expect(unchosen).toMatchObject({ status: 400, text: expect.stringContaining('Choose a decision') });
		for (const [field, length] of [
			['note', 501],
			['transaction', 101]
		] as const) {
			const long = { decision: 'paid', note: 'seen', [field]: 'x'.repeat(length) };
			const refused = await admin.post(path, long);
			expect(refused).toMatchObject({
				status: 400,
				text: expect.stringContaining(`${length - 1} characters`)
			});
			expect(refused.html).toContain(`value="${long[field]}"`);
		}
		expect((await admin.get(`${path}?decided`)).text).not.toContain('The review is resolved.');
		const impossible = await admin.post(path, { decision: 'retry-refund', note: 'seen' });
		expect(impossible).toMatchObject({ status: 409, text: expect.stringContaining('it is expired') });
		expect(await audited(payment)).toEqual(['reconciler payment.expired']);

		const decided = await admin.post(path, {
			decision: 'paid',
			note: 'seen in\0 the portal',
			transaction: 'TX-1'
		});
		expect(decided.text).toContain('Decided: Paid seen in the portal admin@airtill.example');
		expect(decided).toMatchObject({ status: 200, text: expect.stringContaining('The review is resolved.') });
		expect(decided.text).toContain('admin@airtill.example');
		expect(decided.html).not.toContain('name="decision"');
		await fixture().server.advance(5_000);
		await eventually(
			'the late money is refunded',
			async () => (await fixture().api.getPayment(payment.id)).status === 'refunded'
		);
		const again = await admin.post(path, { decision: 'dismiss', note: 'again' });
		expect(again).toMatchObject({ status: 409, text: expect.stringContaining('resolved already') });
		expect(await audited(payment)).toEqual([
			'reconciler payment.expired',
			expect.stringMatching(/^account \d+ payment\.success, not applied$/),
			expect.stringMatching(/^account \d+ review\.paid$/),
			'refunds refund.succeeded'
		]);
		expect((await admin.get('/admin/reviews?resolved')).html).toContain(`${path}"`);
	});

	it('of two decisions at once one is carried out, and the other changes nothing', async () => {
		const { payment, path } = await unanswered();
		const decisions = ['paid', 'unpaid', 'paid', 'unpaid', 'dismiss'];
		const pages = await Promise.all(
			decisions.map((decision) => admin.post(path, { decision, note: 'seen in the portal' }))
		);
		expect(pages.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409, 409]);
		for (const { text } of pages) expect(text).not.toContain('it is expired');
		const winner = decisions[pages.findIndex(({ status }) => status === 200)];
		const entries = await audited(payment);
		expect(entries.filter((entry) => entry.includes('review.'))).toEqual([
			expect.stringMatching(new RegExp(`^account \\d+ review\\.${winner}$`))
		]);
		expect(entries.some((entry) => entry.includes('payment.success'))).toBe(winner === 'paid');
	});
});
