/**
 * The portal of a remote service makes few calls, and fewer when it is limited. The service's request log counts them.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { numberEnding } from '../../support/api/api.ts';
import { registerGateway } from '../../support/gateways/gateways.ts';
import { startServer, type TestServer } from '../../support/server/server.ts';
import { demoKey, eventually, SECRET, startFixture, type Fixture } from '../../support/server/fixture.ts';

const minute = 60_000;
/** Calls of one ordinary purchase. */
const MOST_CALLS = 8;

/** A portal that buys through the fixture's service. */
async function startRemotePortal({ server }: Fixture): Promise<TestServer> {
	return startServer({
		env: {
			AIRTILL_SECRET: SECRET,
			AIRTILL_API_URL: `${server.url}/v1`,
			AIRTILL_API_KEY: demoKey(server, 'app')
		}
	});
}

/** A buyer by HTTP: what a browser sends, and nothing else. */
function createBuyer(portal: TestServer) {
	const page = async (path: string, init: RequestInit = {}) => {
		const response = await fetch(portal.url + path, {
			redirect: 'manual',
			...init,
			headers: { accept: 'text/html', origin: portal.url, ...init.headers }
		});
		return { status: response.status, headers: response.headers, text: await response.text() };
	};
	const hidden = (text: string, name: string) =>
		new RegExp(`name="${name}" value="([^"]*)"`).exec(text)?.[1] ?? '';
	return {
		page,
		/** The form of a router's page, filled in. */
		async fill(phone: string) {
			const { text } = await page('/r/3');
			const time = /name="time" value="(1h \d+)"/.exec(text)?.[1] ?? '';
			return {
				time,
				paymentMethod: 'mtn_momo',
				phone,
				purchase: hidden(text, 'purchase'),
				asked: '',
				quoted: ''
			};
		},
		post: (path: string, fields: Record<string, string>) =>
			page(path, { method: 'POST', body: new URLSearchParams(fields) }),
		status: async (path: string, wait: number) => {
			const response = await fetch(`${portal.url}${path}/status?wait=${wait}`);
			return {
				status: response.status,
				headers: response.headers,
				...((await response.json()) as { state: string })
			};
		},
		/** Where a page without script goes next, and after how many seconds. */
		refresh: (text: string) => {
			const [, seconds = '', url = ''] = /http-equiv="refresh" content="(\d+); url=([^"]*)"/.exec(text) ?? [];
			return { seconds: Number(seconds), url };
		}
	};
}

const isPaid = (text: string) => text.includes('Your Wi‑Fi is paid until');

describe('a portal of a remote service', () => {
	let fixture: Fixture;
	let portal: TestServer;
	let buyer: ReturnType<typeof createBuyer>;

	beforeAll(async () => {
		fixture = await startFixture({ database: 'sqlite' });
		portal = await startRemotePortal(fixture);
		buyer = createBuyer(portal);
	});
	afterAll(async () => {
		await portal.stop();
		await fixture.stop();
	});

	/** Calls that the portal makes while something happens, as `POST /v1/sessions`, in their order. */
	async function callsDuring(work: () => Promise<void>): Promise<string[]> {
		const mark = await settled();
		await work();
		await settled();
		const rows = await fixture.sql.all(
			`select method, path from request_log
				where id > ? and account_id = (select id from accounts where email = 'app@airtill.example') order by id`,
			mark
		);
		return rows.map(({ method, path }) => `${String(method)} ${String(path).replace(/\/\d+/, '/{id}')}`);
	}

	/** Once everything that was asked so far is in the log. @returns id of its newest entry */
	async function settled(): Promise<number> {
		const { accountId, api } = await fixture.newKey();
		await api.getRouter(1);
		return eventually('the log is written', () =>
			fixture.sql.count('select max(id) from request_log where account_id = ?', accountId)
		);
	}

	const advance = async (ms: number) => {
		await fixture.server.advance(ms);
		await portal.advance(ms);
	};

	/** Everything that the portal remembers is too old now. */
	const forget = () => advance(2 * 60 * minute);

	it('spends at most eight calls on an ordinary purchase with script', async () => {
		await forget();
		const calls = await callsDuring(async () => {
			const form = await buyer.fill(numberEnding('123'));
			// Typing takes its time.
			await advance(40_000);
			const { headers } = await buyer.post('/r/3', form);
			const place = headers.get('location') ?? '';
			expect((await buyer.page(place)).text).toContain('Check your phone.');
			await eventually('paid', async () => (await buyer.status(place, 20)).state !== 'waiting');
			expect(isPaid((await buyer.page(place)).text)).toBe(true);
		});
		console.log(`with script: ${calls.length} calls: ${calls.join(', ')}`);
		expect(calls.length).toBeLessThanOrEqual(MOST_CALLS);
		expect(calls.filter((call) => call === 'POST /v1/sessions')).toHaveLength(1);
		expect(calls.filter((call) => call === 'POST /v1/payments/mobile-money')).toHaveLength(1);
	});

	it('spends at most eight calls on an ordinary purchase without script', async () => {
		await forget();
		const calls = await callsDuring(async () => {
			const form = await buyer.fill(numberEnding('123'));
			await advance(40_000);
			const { headers } = await buyer.post('/r/3', form);
			let shown = await buyer.page(headers.get('location') ?? '');
			let loads = 0;
			while (!isPaid(shown.text)) {
				const { seconds, url } = buyer.refresh(shown.text);
				expect(url).toMatch(/^\/s\/[\w-]{24}\?held$/);
				await advance(seconds * 1000);
				shown = await buyer.page(url);
				expect((loads += 1)).toBeLessThan(5);
			}
		});
		console.log(`without script: ${calls.length} calls: ${calls.join(', ')}`);
		expect(calls.length).toBeLessThanOrEqual(MOST_CALLS);
	});

	it('asks seldom while a buyer takes long: with script, and without', async () => {
		await forget();
		// The sandbox operator leaves this number without an answer.
		const { headers } = await buyer.post('/r/3', await buyer.fill(numberEnding('003')));
		const place = headers.get('location') ?? '';
		await buyer.page(place);
		// As the script asks, 20 s at a time, but held shorter: so two of them make 40 s.
		const asked = await callsDuring(async () => {
			for (let question = 0; question < 2; question += 1) {
				expect((await buyer.status(place, 1)).state).toBe('waiting');
				await advance(20_000);
			}
		});
		expect(asked.length).toBeLessThanOrEqual(4);
		const loaded = await callsDuring(async () => {
			const { text } = await buyer.page(`${place}?held`);
			const { seconds } = buyer.refresh(text);
			expect(seconds).toBeGreaterThanOrEqual(3);
		});
		// One of these pages is held for 10 s and shown for 3 s or more: at most five a minute.
		expect(loaded.length).toBeLessThanOrEqual(3);
	}, 90_000);

	it('shows a price that has changed, though it knew the router a moment ago', async () => {
		const form = await buyer.fill(numberEnding('123'));
		await fixture.owner.send('PUT', '/v1/owner/routers/3/price', { body: { price: 700 } });
		const refused = await buyer.post('/r/3', form);
		expect(refused.status).toBe(400);
		expect(refused.text).toContain('The price has just changed.');
		expect(refused.text).toContain('1h 700');
		await fixture.owner.send('PUT', '/v1/owner/routers/3/price', { body: { price: 500 } });
	});

	it('shows time that was ended as ended, at once', async () => {
		await forget();
		const { headers } = await buyer.post('/r/3', await buyer.fill(numberEnding('008')));
		const place = headers.get('location') ?? '';
		await eventually('paid', async () => (await buyer.status(place, 20)).state !== 'waiting');
		expect(isPaid((await buyer.page(place)).text)).toBe(true);
		await buyer.post(`${place}?/end`, {});
		expect(isPaid((await buyer.page(place)).text)).toBe(false);
	});

	it('refuses to start with gateways of its own: it has no passes that they could ask for', async () => {
		const more = ['--level', '4'];
		await registerGateway(fixture.server, 'opennds', { loginHost: '10.0.0.1', router: 3, more });
		const { databaseUrl } = fixture.server;
		const env = { AIRTILL_SECRET: SECRET, AIRTILL_API_URL: 'http://127.0.0.1:9/v1', AIRTILL_API_KEY: 'x' };
		await expect(startServer({ database: databaseUrl, env })).rejects.toThrow(
			/AIRTILL_API_URL: .* cannot serve gateways, and 1 of them .*gateways remove NAME/s
		);
	});
});

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
		expect(refused.text).toMatch(/Wait \d+ seconds, then press Pay again/);
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
		await leave(3);
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
