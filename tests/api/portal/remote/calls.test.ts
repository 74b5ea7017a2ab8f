/**
 * The portal of a remote service makes few calls, and fewer when it is limited. The service's request log counts them.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { numberEnding } from '../../../support/api/api.ts';
import { registerGateway } from '../../../support/gateways/gateways.ts';
import { createBuyer, isPaid, startRemotePortal } from '../../../support/pages/remote-portal.ts';
import { startServer, type TestServer } from '../../../support/server/server.ts';
import {
	eventually,
	SECRET,
	startFixture,
	type Fixture,
	itWithAll
} from '../../../support/server/fixture.ts';

const minute = 60_000;
/** Calls of one ordinary purchase. */
const MOST_CALLS = 11;

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

	/** The routers that the portal knows are too old now. */
	const forget = () => advance(2 * 60 * minute);

	it('spends at most eleven calls on an ordinary purchase with script', async () => {
		await forget();
		const calls = await callsDuring(async () => {
			const form = await buyer.fill(numberEnding('123'));
			// Typing takes its time.
			await advance(40_000);
			const { headers } = await buyer.post('/r/3', form);
			const place = headers.get('location') ?? '';
			await buyer.page(place);
			await eventually('paid', async () => (await buyer.status(place, 20)).state !== 'waiting');
			expect(isPaid((await buyer.page(place)).text)).toBe(true);
		});
		console.log(`with script: ${calls.length} calls: ${calls.join(', ')}`);
		expect(calls.length).toBeLessThanOrEqual(MOST_CALLS);
		expect(calls.filter((call) => call === 'POST /v1/sessions')).toHaveLength(1);
		expect(calls.filter((call) => call === 'POST /v1/payments/mobile-money')).toHaveLength(1);
	});

	it('spends at most eleven calls on an ordinary purchase without script', async () => {
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

	it('leaves the calls to those who pay when somebody reloads the page of a router', async () => {
		await forget();
		const calls = await callsDuring(async () => {
			for (let load = 0; load < 20; load += 1) expect((await buyer.page('/r/3')).status).toBe(200);
		});
		expect(calls).toEqual(['GET /v1/routers/{id}']);
	});

	itWithAll(
		'asks seldom while a buyer takes long: with script, and without',
		async () => {
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
			expect(asked.length).toBeLessThanOrEqual(6);
			const loaded = await callsDuring(async () => {
				const { text } = await buyer.page(`${place}?held`);
				const { seconds } = buyer.refresh(text);
				expect(seconds).toBeGreaterThanOrEqual(3);
			});
			// One of these pages is held for 10 s and shown for 3 s or more: at most five a minute.
			expect(loaded.length).toBeLessThanOrEqual(4);
		},
		90_000
	);

	it('shows a price that has changed, though it knew the router a moment ago', async () => {
		const form = await buyer.fill(numberEnding('123'));
		await fixture.owner.send('PUT', '/v1/owner/routers/3/price', { body: { price: 700 } });
		const refused = await buyer.post('/r/3', form);
		expect(refused.status).toBe(400);
		expect(refused.text).toContain('The price has changed.');
		expect(refused.text).toContain('1h 700');
		await fixture.owner.send('PUT', '/v1/owner/routers/3/price', { body: { price: 500 } });
	});

	it('shows time that was ended as ended, at once, with the time that was added', async () => {
		await forget();
		const form = await buyer.fill(numberEnding('008'));
		const { headers } = await buyer.post('/r/3', form);
		const place = headers.get('location') ?? '';
		await eventually('paid', async () => (await buyer.status(place, 20)).state !== 'waiting');
		const { purchase } = await buyer.fill('');
		await buyer.post(`${place}?/extend`, { ...form, purchase });
		await eventually('added', async () => (await buyer.page(place)).text.includes('Total paid'));
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
