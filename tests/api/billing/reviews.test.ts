/** A question about money is asked once, shown with its evidence, and decided on the page. */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { numberEnding, type Payment } from '../../support/api/api.ts';
import { decideReview } from '../../support/pages/administrator.ts';
import { signInAs } from '../../support/pages/browsing.ts';
import { cli } from '../../support/server/cli.ts';
import { DATABASES, eventually, useFixture } from '../../support/server/fixture.ts';

const hour = 60 * 60_000;

describe.each(DATABASES)('on %s', (database) => {
	const fixture = useFixture({ database });

	const run = (...args: string[]) => cli(args, fixture().server);
	const decide = (review: string, decision: string, transaction?: string) =>
		decideReview(fixture().server, review, decision, transaction);
	const open = (payment: Payment) =>
		fixture().sql.all(
			'select id, reason, detail from reviews where payment_id = ? and resolved_at is null',
			payment.id
		);
	const asked = (payment: Payment, reason: string) =>
		eventually(`${reason} is asked`, async () =>
			(await open(payment)).find((row) => row['reason'] === reason)
		);
	const audited = async (payment: Payment) =>
		(await fixture().sql.all('select * from audit_log where payment_id = ? order by id', payment.id)).map(
			({ actor, action }) => `${String(actor)} ${String(action)}`
		);

	async function start(digits: string): Promise<Payment> {
		const payment = await fixture().api.pay(
			await fixture().api.createSession({ phone: numberEnding(digits) })
		);
		await fixture().asked(payment);
		return payment;
	}

	/** A payment about which the operator says nothing for three days, and its review. */
	async function unanswered() {
		const payment = await start('003');
		const settled = (status: string) =>
			eventually(status, async () => (await fixture().api.getPayment(payment.id)).status === status);
		await fixture().server.advance(11 * 60_000);
		await settled('expired');
		await fixture().server.advance(80 * hour);
		const { id } = await asked(payment, 'no_final_answer');
		// 80 hours end a sign-in session.
		const admin = await signInAs(fixture().server, 'admin');
		return { payment, admin, review: String(id), path: `/admin/reviews/${String(id)}` };
	}

	it('another amount than requested opens a review, and the audit log has each step', async () => {
		const payment = await start('009');
		await fixture().decided(payment);
		await fixture().server.advance(5_000);
		await eventually(
			'the money went back',
			async () => (await fixture().api.getPayment(payment.id)).status === 'refunded'
		);
		expect(await asked(payment, 'amount_mismatch')).toMatchObject({
			detail: expect.stringContaining('requested UGX')
		});
		expect(await audited(payment)).toEqual([
			'reconciler payment.success, not applied',
			'refunds refund.succeeded'
		]);
		const [first] = await fixture().sql.all(
			'select * from audit_log where payment_id = ? order by id',
			payment.id
		);
		expect(JSON.parse(String(first?.['before']))).toMatchObject({ status: 'pending' });
		expect(JSON.parse(String(first?.['after']))).toMatchObject({
			status: 'refund_pending',
			refund_reason: 'amount_mismatch'
		});
	});

	it('the decision "not paid" leaves it expired and resolves the review', async () => {
		const { payment, review } = await unanswered();
		expect(await decide(review, 'unpaid')).toMatchObject({ status: 200 });
		expect(await fixture().api.getPayment(payment.id)).toMatchObject({
			status: 'expired',
			failure_code: 'provider_error'
		});
		const again = await decide(review, 'paid');
		expect(again).toMatchObject({ status: 409, text: expect.stringContaining('resolved already') });
	});

	it('a review is decided once, with a reason, and the page shows its evidence without the number', async () => {
		const { payment, admin, path } = await unanswered();
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
		const refunded = await eventually('the late money is refunded', async () => {
			const found = await fixture().api.getPayment(payment.id);
			return found.status === 'refunded' && found;
		});
		const reason = { refund_reason: 'late_payment', provider_reference: 'TX-1' };
		expect(refunded).toMatchObject({ applied: false, ...reason });
		expect(await open(payment)).toEqual([]);
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
		const { payment, admin, path } = await unanswered();
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

	it('compares a list of settled payments both ways, and settles nothing', async () => {
		const { sql, api, server } = fixture();
		const bought = await Promise.all([fixture().buy(), fixture().buy(), fixture().buy()]);
		const [same, other, missing] = bought.map(({ payment }) => payment);
		const pending = await start('003');
		const { reference } = (await sql.all('select reference from payments where id = ?', pending.id))[0] ?? {};
		const today = await sql.all('select max(paid_at) as at from payments');
		const day = new Date(Number(today[0]?.['at']) + 3 * hour).toISOString().slice(0, 10);
		const file = path.join(server.dataDir, 'statement.csv');
		writeFileSync(
			file,
			[
				'Reference,Transaction,Amount',
				`,${same?.provider_reference ?? ''},${same?.amount ?? ''}`,
				`,${other?.provider_reference ?? ''},"${(other?.amount ?? 0) + 1}"`,
				`${String(reference)},TX-9,500`,
				',TX-NOBODY,700'
			].join('\n')
		);
		// The last hour of the list's time may be in the next list.
		const check = (to: string) =>
			run('statement', 'check', file, '--operator', 'sandbox', '--from', '2000-01-01', '--to', to);
		const later = new Date(Date.parse(day) + 48 * hour).toISOString().slice(0, 10);
		const result = await check(later);
		expect(result).toMatchObject({ code: 1 });
		const counted = JSON.parse(result.stdout.trim().split('\n').at(-1) ?? '') as Record<string, number>;
		expect(counted).toMatchObject({ rows: 4, matched: 1, amount: 1, notPaid: 1, unknown: 1 });
		expect((await open(missing as Payment)).map(({ reason }) => reason)).toEqual(['statement_missing']);
		expect((await open(other as Payment)).map(({ reason }) => reason)).toEqual(['statement_amount']);
		expect((await open(pending)).map(({ reason }) => reason)).toEqual(['statement_paid']);
		expect(await open(same as Payment)).toEqual([]);
		expect(await api.getPayment(pending.id)).toMatchObject({ status: 'pending' });
		// The same payments in the next list, on other lines.
		const [header, ...lines] = readFileSync(file, 'utf8').split('\n');
		writeFileSync(file, [header, ...lines.reverse()].join('\n'));
		const all = () => sql.all('select subject, reason, detail, resolved_at from reviews order by id');
		const before = await all();
		await check(later);
		expect(await all()).toEqual(before);
		const [unknown] = await sql.all("select id from reviews where reason = 'statement_unknown'");
		expect(await decide(String(unknown?.['id']), 'dismiss')).toMatchObject({ status: 200 });
		const count = () => sql.count('select count(*) from reviews');
		await check(later);
		expect(await count()).toBe(before.length);

		// The same amount in another way of writing (tests/unit/domain/money.test.ts has all), and money that went out.
		const amount = same?.amount ?? 0;
		const rows = [
			`;${same?.provider_reference ?? ''};USh ${amount},00`,
			';OUT;-700,00',
			';OUT;(1 700)',
			';OUT;'
		];
		writeFileSync(file, ['sep=;', 'Reference;Transaction;Amount', ...rows].join('\n'));
		const { stdout } = await check(later);
		expect(JSON.parse(stdout.trim().split('\n').at(-1) ?? '')).toMatchObject({
			rows: 1,
			matched: 1,
			amount: 0
		});
		expect(await count()).toBe(before.length);

		for (const [wrong, reason] of [
			['500.000', 'Line 2, Amount: "500.000" can mean 500000 or 500; write one of these.'],
			['USD 5', 'Line 2, Amount: "USD 5" is not in UGX.'],
			['500.5', 'Line 2, Amount: "500.5" has more decimals than UGX, which has none.'],
			['5E+02', 'Line 2, Amount: "5E+02" is not an amount; write it like 1,500.']
		]) {
			writeFileSync(file, `Reference,Transaction,Amount\n,TX-1,${wrong}\n`);
			expect(await check(later)).toMatchObject({ code: 1, stderr: expect.stringContaining(reason ?? '') });
		}

		writeFileSync(file, 'Reference,Transaction\n,TX-1\n');
		expect(await check(later)).toMatchObject({
			code: 1,
			stderr: expect.stringContaining('no column "Amount"')
		});
		writeFileSync(file, 'Period,November\n');
		expect(await check(later)).toMatchObject({
			code: 1,
			stderr: expect.stringContaining('no column "Transaction"; it has Period, November')
		});
		expect(await count()).toBe(before.length);
	});
});
