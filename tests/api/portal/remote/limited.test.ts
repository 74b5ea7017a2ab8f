/** A portal whose service limits it says so, keeps what was typed, and charges once. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { numberEnding } from '../../../support/api/api.ts';
import { createBuyer, isPaid, startRemotePortal } from '../../../support/pages/remote-portal.ts';
import { demoKey, eventually, startFixture, type Fixture } from '../../../support/server/fixture.ts';
import type { TestServer } from '../../../support/server/server.ts';

const minute = 60_000;

describe('a portal that is limited by its service', () => {
	let fixture: Fixture;
	let portal: TestServer;
	let buyer: ReturnType<typeof createBuyer>;
	/** Calls that the service lets through in a minute. */
	const LIMIT = 12;

	beforeAll(async () => {
		fixture = await startFixture({ database: 'sqlite', env: { RATE_LIMIT_DEFAULT: String(LIMIT) } });
		portal = await startRemotePortal(fixture);
		buyer = createBuyer(portal);
	});
	afterAll(async () => {
		await portal.stop();
		await fixture.stop();
	});

	/** The limit's minute is over. */
	async function windowPasses(): Promise<void> {
		await fixture.server.advance(minute + 1000);
		await portal.advance(minute + 1000);
	}

	/** Uses the key up, but for so many calls. */
	async function leave(calls: number): Promise<void> {
		await windowPasses();
		const headers = { authorization: `Bearer ${demoKey(fixture.server, 'app')}` };
		for (let call = 0; call < LIMIT - calls; call += 1) {
			await fetch(`${fixture.server.url}/v1/routers/1`, { headers });
		}
	}

	const paymentsOf = (phone: string) =>
		fixture.sql.count('select count(*) from payments where phone = ?', phone);

	it('shows an error page with the wait, retries automatically, and names no fault', async () => {
		await leave(0);
		const { status, text } = await buyer.page('/r/4');
		expect(status).toBe(503);
		expect(text).toContain('Many people are buying right now.');
		expect(text).toMatch(/tries again automatically in \d+ seconds/);
		const { seconds, url } = buyer.refresh(text);
		expect(url).toBe('/r/4');
		expect(seconds).toBeGreaterThan(0);
		expect(seconds).toBeLessThanOrEqual(60);
		await windowPasses();
		expect((await buyer.page('/r/4')).status).toBe(200);
	});

	it('keeps what was typed when the order cannot be sent, and the same form buys once later', async () => {
		const phone = numberEnding('008');
		await leave(1);
		const form = await buyer.fill(phone);
		const refused = await buyer.post('/r/3', form);
		expect(refused.status).toBe(503);
		expect(refused.text).toContain('Many people are buying right now.');
		expect(refused.text).toMatch(/Wait \d+ seconds, then press the button again/);
		expect(refused.text).toContain(`value="${phone}"`);
		expect(refused.text).toContain(`value="${form.purchase}"`);
		expect(await paymentsOf(phone)).toBe(0);
		await windowPasses();
		const sent = await buyer.post('/r/3', form);
		expect(sent.status).toBe(303);
		expect(await paymentsOf(phone)).toBe(1);
	});

	it('keeps it even where it knows nothing of the router any more', async () => {
		const phone = numberEnding('008');
		await leave(1);
		const form = await buyer.fill(phone);
		await portal.restart();
		const refused = await buyer.post('/r/3', form);
		expect(refused.status).toBe(503);
		expect(refused.text).toContain('Your order has not been sent.');
		for (const [name, value] of Object.entries(form)) {
			expect(refused.text).toContain(`name="${name}" value="${value}"`);
		}
		await windowPasses();
		expect((await buyer.post('/r/3', form)).status).toBe(303);
		expect(await paymentsOf(phone)).toBe(1);
	});

	it('goes on with a purchase that was cut off between its order and its payment, and charges once', async () => {
		const phone = numberEnding('008');
		// Router and session, but no payment.
		await leave(2);
		const sent = await buyer.post('/r/3', await buyer.fill(phone));
		expect(sent.status).toBe(303);
		const place = sent.headers.get('location') ?? '';
		const waiting = await buyer.page(place);
		expect(waiting.status).toBe(503);
		expect(waiting.text).toContain('Many people are buying right now.');
		expect(waiting.text).toContain('It is recorded, and your payment is safe.');
		expect(buyer.refresh(waiting.text).url).toBe(place);
		expect(await paymentsOf(phone)).toBe(0);
		await windowPasses();
		await buyer.page(place);
		await eventually('paid', async () => isPaid((await buyer.page(place)).text));
		expect(await paymentsOf(phone)).toBe(1);
		expect(await fixture.sql.count('select count(*) from sessions where phone = ?', phone)).toBe(1);
	});

	it('tells a waiting page when to ask again, and shows the password when it may', async () => {
		const phone = numberEnding('006');
		// Router, session, payment, and both once more for the page.
		await leave(5);
		const sent = await buyer.post('/r/3', await buyer.fill(phone));
		const place = sent.headers.get('location') ?? '';
		expect((await buyer.page(place)).text).toContain('Check your phone.');
		const answer = await buyer.status(place, 20);
		expect(answer.status).toBe(503);
		expect(answer.state).toBeNull();
		expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
		await windowPasses();
		await eventually('paid', async () => (await buyer.status(place, 20)).state !== 'waiting');
		expect(isPaid((await buyer.page(place)).text)).toBe(true);
		expect(await paymentsOf(phone)).toBe(1);
	});
});
