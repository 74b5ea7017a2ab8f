/** Payouts that an operator sends: once, whatever becomes of its answers. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OPERATORS } from '../../simulators/protocols.ts';
import type { Script } from '../../simulators/script.ts';
import { type OperatedFixture, startOperated } from '../../support/billing/operators.ts';
import { administratorOf } from '../../support/pages/administrator.ts';
import { addRouter, newOwner } from '../../support/pages/owners.ts';
import { payOut, payoutsOf, setDestination } from '../../support/pages/payouts.ts';
import { eventually } from '../../support/server/fixture.ts';

const SENDING = OPERATORS.filter(({ name }) => name === 'mtn' || name === 'pawapay');
const DAY_MS = 24 * 60 * 60 * 1000;

describe.each(SENDING)('payouts by $name', (facts) => {
	let operated: OperatedFixture;
	beforeAll(async () => {
		operated = await startOperated(facts, 'sqlite', { OPERATOR_TIMEOUT_SECONDS: '1' });
	});
	afterAll(() => operated.stop());

	/** Pays an owner who has sold for 500, with the operator's script. @returns the payout when it is final */
	async function pay(script: Partial<Script>, most = 60) {
		const { fixture, simulator, advance, newPhone } = operated;
		const { sql, api } = fixture;
		const owner = await newOwner(fixture);
		const router = await addRouter(fixture, owner.accountId);
		const order = { router_id: router, payment_method: facts.method, phone: newPhone() };
		const payment = await api.pay(await api.createSession(order));
		await eventually('the buyer has paid', async () => {
			await advance(3_000);
			return (await api.getPayment(payment.id)).status === 'success';
		});
		const phone = newPhone();
		await setDestination(sql, owner.accountId, phone, facts.method);
		simulator.script({ phone: phone.slice(1) }, script);
		await payOut(fixture.server);
		const find = async () => (await payoutsOf(sql, owner.accountId))[0];
		for (let step = 0; step < most && (await find())?.['status'] === 'open'; step += 1) await advance(20_000);
		const sent = simulator.books.payouts.filter((one) => phone.endsWith(one.phone));
		return { owner, payout: await find(), find, sent, phone };
	}

	const LOST = [
		'accept',
		'drop_before',
		'drop_after',
		'error_before',
		'error_after',
		'not_json',
		'slow'
	] as const;
	it.each(LOST)('a request that ends with "%s" pays once', async (submit) => {
		const { payout, sent, find } = await pay({ submit, slowMs: 1_400 });
		// What was not queued is asked for again with the same reference; the script breaks that request too.
		if (submit === 'drop_before' || submit === 'error_before') {
			expect(sent).toEqual([]);
			operated.simulator.script({}, {});
			for (let step = 0; step < 40 && (await find())?.['status'] === 'open'; step += 1) {
				await operated.advance(60_000);
			}
		}
		const final = await find();
		expect(final).toMatchObject({ status: 'paid', amount_minor: 450, reference: payout?.['reference'] });
		const same = operated.simulator.books.payouts.filter(
			({ reference }) => reference === final?.['reference']
		);
		expect(same.map(({ amount }) => amount)).toEqual([450]);
		expect(String(final?.['provider_reference'])).toMatch(/^\d+$/);
	});

	it('one that is refused, or fails, is in the balance again', async () => {
		const code = facts.codes.noMoney;
		const refusal = { submit: 'refuse', submitCode: facts.name === 'mtn' ? 'NOT_ALLOWED' : code } as const;
		for (const script of [refusal, { outcome: code }]) {
			const { payout, owner } = await pay(script);
			expect(payout).toMatchObject({ status: 'failed' });
			const { text } = await owner.get('/owner/money/payouts');
			expect(text.replaceAll('\u00a0', ' ')).toContain('Not paid out yet UGX 450');
		}
	});

	it('a person decides about another amount, a contradiction, and one without an end', async () => {
		const { sql, server } = operated.fixture;
		const reviews = (id: unknown) =>
			sql.all('select reason from reviews where subject = ?', `payout ${String(id)}`);
		const other = await pay({ amountFactor: 2 });
		expect(await reviews(other.payout?.['id'])).toEqual([{ reason: 'amount_mismatch' }]);

		const failed = await pay({ outcome: facts.codes.noMoney });
		const [entry] = failed.sent;
		if (!entry) throw new Error('The operator has nothing');
		// A callback and a restart wake it early: it is read again a day later all the same.
		await sql.run(`update jobs set run_at = 0 where kind = 'payout.send'`);
		await operated.advance(60_000);
		entry.script = { ...entry.script, outcome: 'success' };
		await operated.advance(DAY_MS + 60_000);
		await eventually('a review', async () => (await reviews(failed.payout?.['id'])).length > 0);
		expect(await failed.find()).toMatchObject({ status: 'failed' });

		const unknown = await pay({});
		const { payouts } = operated.simulator.books;
		payouts.splice(0, payouts.length, ...payouts.filter((one) => !unknown.sent.includes(one)));
		await operated.advance(DAY_MS + 60_000);
		await eventually('a review', async () => (await reviews(unknown.payout?.['id'])).length > 0);
		expect(await unknown.find()).toMatchObject({ status: 'paid' });

		const endless = await pay({ outcome: 'pending' }, 3);
		const id = String(endless.payout?.['id']);
		const admin = await administratorOf(server);
		const record = (outcome = 'paid', transaction = `T-${facts.name}`) =>
			admin.post('/admin/payouts?/record', { id, outcome, transaction, note: 'portal' });
		expect((await record()).text).toContain(`Payout ${id} is open`);
		for (let step = 0; step < 20; step += 1) await operated.advance(6 * 60 * 60 * 1000);
		expect(await reviews(id)).toEqual([{ reason: 'no_final_answer' }]);
		await sql.run(
			`update payouts set submit_state = 'submitting', submitted_at = ? where id = ?`,
			9e15,
			Number(id)
		);
		expect((await record('failed')).status).toBe(409);
		await sql.run(`update payouts set submit_state = 'accepted', submitted_at = 0 where id = ?`, Number(id));
		expect((await record()).status).toBe(200);
		expect(await endless.find()).toMatchObject({ status: 'paid', provider_reference: `T-${facts.name}` });
		expect(
			await sql.count(
				`select count(*) from reviews where subject = ? and resolved_at is null`,
				`payout ${id}`
			)
		).toBe(0);
		expect((await record('paid', 'T-other')).status).toBe(409);
		const { paid_at: paidAt } = (await endless.find()) ?? {};
		await sql.run('update payouts set provider_reference = null where id = ?', Number(id));
		await operated.advance(60_000);
		expect((await record('paid', `T-late-${facts.name}`)).status).toBe(200);
		expect(await endless.find()).toMatchObject({
			paid_at: paidAt,
			provider_reference: `T-late-${facts.name}`
		});
	});

	it('a refusal is no end while an earlier request may still arrive', async () => {
		const { simulator, advance } = operated;
		const { find, phone } = await pay({ submit: 'rate_limited' }, 12);
		expect(await find()).toMatchObject({ status: 'open' });
		const script = { phone: phone.slice(1) };
		const refusal = {
			submit: 'refuse',
			submitCode: facts.name === 'mtn' ? 'NOT_ALLOWED' : facts.codes.noMoney
		} as const;
		simulator.script(script, refusal);
		simulator.script({ ...script, times: 1 }, { submit: 'drop_before' });
		for (let step = 0; step < 400 && (await find())?.['status'] === 'open'; step += 1) await advance(15_000);
		const { status, submitted_at: lostAt, failed_at: failedAt } = (await find()) ?? {};
		expect(status).toBe('failed');
		expect(Number(failedAt) - Number(lostAt)).toBeGreaterThanOrEqual(2 * 60 * 1000);
	});
});

it('less than the operator sends waits for the next sales, or goes by file', async () => {
	const facts = SENDING.find(({ name }) => name === 'pawapay');
	if (!facts) throw new Error('pawaPay sends payouts');
	const { fixture, advance, newPhone, stop } = await startOperated(facts, 'sqlite', {
		COMMISSION_BASIS_POINTS: '9000'
	});
	try {
		const owner = await newOwner(fixture);
		const router = await addRouter(fixture, owner.accountId);
		const order = { router_id: router, payment_method: facts.method, phone: newPhone() };
		const payment = await fixture.api.pay(await fixture.api.createSession(order));
		await eventually('the buyer has paid', async () => {
			await advance(3_000);
			return (await fixture.api.getPayment(payment.id)).status === 'success';
		});
		await setDestination(fixture.sql, owner.accountId, newPhone(), facts.method);
		// pawaPay's least is 100, and 50 are left.
		await eventually('the limits are known', async () => {
			const admin = await administratorOf(fixture.server);
			return (await admin.get('/admin/payouts?preview=1')).text.includes('has less than the operator sends');
		});
		await payOut(fixture.server);
		expect(await payoutsOf(fixture.sql, owner.accountId)).toEqual([]);
		await payOut(fixture.server, { by: 'file' });
		expect(await payoutsOf(fixture.sql, owner.accountId)).toMatchObject([{ amount_minor: 50 }]);
	} finally {
		await stop();
	}
});
