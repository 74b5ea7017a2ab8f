/** Test payments, settled by hand in the developer area: the whole way of a payment, by another word of its operator. */
import { expect, it } from 'vitest';
import { createApi, numberEnding, type Api, type Payment } from '../../support/api/api.ts';
import { browse, signInAs, signUp, triesForgotten, type Browsing } from '../../support/pages/browsing.ts';
import { demoKey, eventually, useFixture } from '../../support/server/fixture.ts';

const minuteMs = 60_000;

const fixture = useFixture({ database: 'sqlite' });
const server = () => fixture().server;
let signedIn: Browsing | null = null;
/** The demo account of role app, in the browser and with its key. */
async function person(): Promise<{ browser: Browsing; api: Api }> {
	await triesForgotten(fixture());
	signedIn ??= await signInAs(server(), 'app');
	return { browser: signedIn, api: createApi(server().url, demoKey(server(), 'app')) };
}

/** A payment that the sandbox has and never decides by itself. */
async function waiting(api: Api): Promise<Payment> {
	const session = await api.createSession({ phone: numberEnding('003') });
	const payment = await api.pay(session);
	await eventually('the operator has it', () =>
		fixture().sql.count(
			`select count(*) from sandbox_charges c join payments p on p.reference = c.reference where p.id = ?`,
			payment.id
		)
	);
	return payment;
}

const settle = (browser: Browsing, payment: Payment, outcome: string) =>
	browser.post('/developer/payments?/settle', { payment: String(payment.id), outcome });

it.each([
	['success', { status: 'success', applied: true }],
	['declined', { status: 'failed', failure_code: 'payer_rejected' }],
	['no_funds', { status: 'failed', failure_code: 'insufficient_funds' }],
	['no_answer', { status: 'failed', failure_code: 'payer_timeout' }]
])('a waiting payment is settled as %s, and the page shows it', async (outcome, expected) => {
	const { browser, api } = await person();
	const payment = await waiting(api);
	expect((await browser.get('/developer/payments')).text).toContain(`Payment ${payment.id}, session`);
	const page = await settle(browser, payment, outcome);
	expect(page.path).toBe(`/developer/payments?settled=${payment.id}`);
	expect(page.text).toContain(`Payment ${payment.id} is ${expected.status}`);
	expect(await api.getPayment(payment.id)).toMatchObject(expected);
	const callbacks = await fixture().sql.count(
		`select count(*) from operator_messages where payment_id = ? and kind = 'callback'`,
		payment.id
	);
	expect(callbacks).toBe(1);
});

it('another amount than asked goes back', async () => {
	const { browser, api } = await person();
	const payment = await waiting(api);
	await settle(browser, payment, 'wrong_amount');
	await server().advance(minuteMs);
	await eventually('it is refunded', async () => (await api.getPayment(payment.id)).status === 'refunded');
});

it('a late success comes after the payment has expired', async () => {
	const { browser, api } = await person();
	const payment = await waiting(api);
	const page = await settle(browser, payment, 'late_success');
	expect(page.text).toContain(`Payment ${payment.id} is pending; decided: Paid too late`);
	await server().advance(10 * minuteMs + 1000);
	await eventually('it is expired', async () => (await api.getPayment(payment.id)).status === 'expired');
	await server().advance(10 * minuteMs);
	await eventually('it is paid', async () => (await api.getPayment(payment.id)).status === 'success');
});

it('an expired payment that nobody answered can still be paid, and one that will succeed can be made to wait', async () => {
	const { browser, api } = await person();
	const payment = await waiting(api);
	await settle(browser, payment, 'late_success');
	await settle(browser, payment, 'never');
	await server().advance(21 * minuteMs);
	await eventually('it is expired', async () => (await api.getPayment(payment.id)).status === 'expired');
	expect((await settle(browser, payment, 'success')).text).toContain(`Payment ${payment.id} is success`);
});

it('a settled payment does not change', async () => {
	const { browser, api } = await person();
	const payment = await waiting(api);
	await settle(browser, payment, 'declined');
	const again = await settle(browser, payment, 'success');
	expect(again.status).toBe(409);
	expect(again.text).toContain('This payment is already settled');
	expect((await api.getPayment(payment.id)).status).toBe('failed');
});

it('of another account cannot be seen or settled, not even by an admin', async () => {
	const { api } = await person();
	const payment = await waiting(api);
	for (const role of ['admin', 'owner'] as const) {
		await triesForgotten(fixture());
		const other = await signInAs(server(), role);
		expect((await other.get('/developer/payments')).text).not.toContain(`Payment ${payment.id},`);
		expect((await settle(other, payment, 'success')).status).toBe(409);
	}
	expect((await api.getPayment(payment.id)).status).toBe('pending');
});

it('needs a known outcome, a payment, a form of our own and a sign-in', async () => {
	const { browser, api } = await person();
	const payment = await waiting(api);
	expect((await settle(browser, payment, 'steal')).status).toBe(400);
	expect((await settle(browser, { ...payment, id: 987_654_321 }, 'success')).status).toBe(409);
	expect(
		(await browser.post('/developer/payments?/settle', {}, { origin: 'https://evil.example' })).status
	).toBe(403);
	expect((await settle(browse(server().url), payment, 'success')).status).toBe(401);
	expect((await api.getPayment(payment.id)).status).toBe('pending');
});

it('one is started by a button and waits', async () => {
	await triesForgotten(fixture());
	const browser = await signUp(server(), `starter@people.example`);
	expect((await browser.get('/developer/payments')).text).toContain('None yet. Start one here');
	const page = await browser.post('/developer/payments?/start');
	expect(page.path).toBe('/developer/payments');
	const [, id] = /Payment (\d+), session/.exec(page.text) ?? [];
	const open = await eventually('it waits for a decision', async () => {
		const shown = await browser.get('/developer/payments');
		return shown.html.includes('name="outcome"') && shown;
	});
	expect(open.text).toContain('pending');
	expect(
		(await browser.post('/developer/payments?/settle', { payment: id ?? '', outcome: 'success' })).text
	).toContain(`Payment ${id} is success`);
});
