/** Payment prompts to strangers: how many the pages send for one network, and that others go on buying. */
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { numberEnding, type Api } from '../../support/api/api.ts';
import { registerGateway, type Registered } from '../../support/gateways/gateways.ts';
import { ndsEntry, newDevice, type NdsDevice } from '../../support/gateways/opennds.ts';
import { browse, signInAs, type Page } from '../../support/pages/browsing.ts';
import { hourOn } from '../../support/pages/splash.ts';
import type { TestServer } from '../../support/server/server.ts';
import { DATABASES, eventually, useFixture, useNewFixtures } from '../../support/server/fixture.ts';

const LOGIN_HOST = '192.168.8.1';
const minute = 60_000;
const env = { UNPAID_PROMPTS: '', UNPAID_PROMPTS_TOTAL: '', ADDRESS_HEADER: 'x-client-address' };
/** The sandbox operator leaves this number without an answer. */
const silent = '003';
const paying = '008';

/** Buys an hour with the form of router 3, from a network, also beside earlier orders of the number. */
async function buy(url: string, address: string, phone: string, language = '') {
	const path = `${url}${language}/r/3`;
	// Under load the server could end an idle connection just as the form is sent.
	const headers = { accept: 'text/html', origin: url, 'x-client-address': address, connection: 'close' };
	const form = await (await fetch(path, { headers })).text();
	const body = new URLSearchParams({
		time: /name="time" value="(1h \d+)"/.exec(form)?.[1] ?? '',
		paymentMethod: 'mtn_momo',
		phone,
		purchase: /name="purchase" value="([^"]*)"/.exec(form)?.[1] ?? '',
		asked: '',
		quoted: ''
	});
	const send = async () => {
		const response = await fetch(path, { method: 'POST', headers, body, redirect: 'manual' });
		return { status: response.status, headers: response.headers, text: await response.text() };
	};
	const answer = await send();
	if (answer.status !== 409) return answer;
	body.set('another', /name="another" value="([^"]*)"/.exec(answer.text)?.[1] ?? '');
	return send();
}

type Statuses = Record<number, number>;

const counted = (answers: { status: number }[]): Statuses =>
	Object.fromEntries(
		[...Map.groupBy(answers, ({ status }) => status)].map(([status, those]) => [status, those.length])
	);

const buyMany = async (server: TestServer, count: number, address: string, digits: string) =>
	counted(
		await Promise.all(Array.from({ length: count }, () => buy(server.url, address, numberEnding(digits))))
	);

describe.each(DATABASES)('on %s', (database) => {
	const fixture = useFixture({ database, env });
	const allPaid = () =>
		eventually('all are paid', async () => {
			const open = await fixture().sql.count(
				'select count(*) from payments where paid_at is null and phone like ?',
				`%${paying}`
			);
			return open === 0;
		});

	it('a network leaves ten unpaid in 15 minutes, and the text says when it may go on', async () => {
		const { server } = fixture();
		expect(await buyMany(server, 15, '192.0.2.1:51234', silent)).toEqual({ 303: 10, 429: 5 });
		await server.advance(5 * minute);
		const refused = await buy(server.url, '192.0.2.1', numberEnding(silent));
		expect(refused.status).toBe(429);
		const wait = Number(refused.headers.get('retry-after'));
		expect(wait).toBeGreaterThan(8 * 60);
		expect(wait).toBeLessThanOrEqual(10 * 60);
		expect(refused.text).toContain('Too many payment requests here were not paid. Try again in 10 minutes.');
		expect((await buy(server.url, '192.0.2.2', numberEnding(paying))).status).toBe(303);
		await allPaid();
		await server.advance(wait * 1000);
		expect((await buy(server.url, '192.0.2.1', numberEnding(silent))).status).toBe(303);
		// On a busy machine the ten were not sent in one second.
		await server.advance(minute);
		expect(await buyMany(server, 12, '192.0.2.1', silent)).toEqual({ 303: 9, 429: 3 });
	}, 180_000);

	it('and three more for each payment of the last day', async () => {
		const { server } = fixture();
		expect(await buyMany(server, 4, '192.0.2.3', paying)).toEqual({ 303: 4 });
		await allPaid();
		await server.advance(60 * minute);
		expect(await buyMany(server, 24, '192.0.2.3', silent)).toEqual({ 303: 22, 429: 2 });
		await server.advance(24 * 60 * minute);
		expect(await buyMany(server, 12, '192.0.2.3', silent)).toEqual({ 303: 10, 429: 2 });
	}, 180_000);

	it('an account of the API too, with all its keys, and no other account or buyer for it', async () => {
		const { newKey, server, sql } = fixture();
		const { accountId, api } = await newKey({ plan: 'default' });
		const keys = [api, ...(await Promise.all([1, 2].map(async () => (await newKey({ accountId })).api)))];
		const order = async (from: Api, phone: string) => {
			const { id, amount } = await from.createSession();
			const body = { amount, phone, session_id: id };
			return from.send('POST', '/v1/payments/mobile-money', { body });
		};
		const answers = await Promise.all(
			Array.from({ length: 15 }, (_, at) => order(keys[at % 3] ?? api, numberEnding(silent)))
		);
		expect(counted(answers)).toEqual({ 201: 10, 400: 5 });
		const refused = answers.find(({ status }) => status === 400);
		expect(refused?.body).toMatchObject({
			code: 'unpaid_prompt_limit',
			'violated-policies': ['account'],
			detail: 'Too many payment requests of this account are unpaid. Try again in 15 min.'
		});
		const phone = numberEnding(paying);
		expect((await order((await newKey()).api, phone)).status).toBe(201);
		await allPaid();
		// A number that has paid, wherever that was.
		expect((await order(api, phone)).status).toBe(201);
		await allPaid();
		await sql.run(
			`update payments set paid_at = created_at where account_id = ?
			and id in (select id from payments where account_id = ? order by id limit 2)`,
			accountId,
			accountId
		);
		const more = await Promise.all(Array.from({ length: 12 }, () => order(api, numberEnding(silent))));
		expect(counted(more)).toEqual({ 201: 11, 400: 1 });
		expect((await buy(server.url, '192.0.2.4', numberEnding(silent))).status).toBe(303);
	}, 180_000);
});

const fixture = useFixture({ database: 'sqlite', env });

describe('one line of IPv6', () => {
	const line = async (prefix: string, count = 12) => {
		const answers = [];
		for (let at = 0; at < count; at += 1) {
			const address = `[2001:DB8:${prefix}${at.toString(16)}::7]:51234`;
			answers.push(await buy(fixture().server.url, address, numberEnding(silent)));
		}
		return counted(answers);
	};

	it('is counted by its /64, its /56 and its /48', async () => {
		const { server } = fixture();
		expect(await buyMany(server, 12, '2001:db8:9::1', silent)).toEqual({ 303: 10, 429: 2 });
		// Twelve links of one /60, then further ones of its /56.
		expect(await line('a:b0')).toEqual({ 303: 12 });
		expect(await line('a:b1')).toEqual({ 303: 8, 429: 4 });
		expect(await line('a:c0', 15)).toEqual({ 303: 15 });
		expect(await line('a:d0')).toEqual({ 303: 5, 429: 7 });
		expect(await line('b:d0')).toEqual({ 303: 12 });
	}, 120_000);
});

describe('a device that a gateway redirected', () => {
	let gateway: Registered;
	beforeAll(async () => {
		gateway = await registerGateway(fixture().server, 'opennds', { loginHost: LOGIN_HOST });
	});
	const headers = (venue: string) => ({ 'x-client-address': venue });
	const arrive = async (venue: string, device: NdsDevice) => {
		const page = await fetch(fixture().server.url + ndsEntry(gateway, device, LOGIN_HOST), {
			headers: headers(venue)
		});
		return { html: await page.text() } as Page;
	};
	let forms = 0;
	/** Orders on the splash page, once or several times. */
	async function order(venue: string, device: NdsDevice, times = 1): Promise<number[]> {
		const { action, fields } = hourOn(await arrive(venue, device));
		const statuses = [];
		for (let at = 0; at < times; at += 1) {
			forms += 1;
			const phone = numberEnding(silent);
			const purchase = `device-${String(forms).padStart(17, '0')}`;
			const body = new URLSearchParams({ ...(fields as Record<string, string>), phone, purchase });
			const init = { method: 'POST', body, redirect: 'manual' } as const;
			const url = fixture().server.url + action;
			statuses.push(
				(await fetch(url, { ...init, headers: { ...headers(venue), origin: fixture().server.url } })).status
			);
		}
		return statuses;
	}

	it('does not stop the others of its venue, however many prompts it leaves unpaid', async () => {
		const guest = newDevice();
		const statuses = await order('203.0.113.1', guest, 14);
		expect(statuses.slice(0, 10)).toEqual(Array(10).fill(303));
		expect(statuses.slice(10)).toEqual(Array(4).fill(429));
		// Each redirect of the same device, or of somebody who names it, counts as one more guest.
		for (let at = 0; at < 10; at += 1) await order('203.0.113.1', guest, 2);
		expect(await order('203.0.113.1', guest)).toEqual([429]);
		for (let at = 0; at < 3; at += 1) expect(await order('203.0.113.1', newDevice(), 2)).toEqual([303, 303]);
	}, 120_000);

	it('does not stop a neighbour whose address it takes, nor with addresses that it invents', async () => {
		const neighbour = newDevice();
		expect(await order('203.0.113.2', neighbour, 10)).toEqual(Array(10).fill(303));
		expect(await order('203.0.113.2', neighbour)).toEqual([303]);
		const invented = [];
		for (let at = 0; at < 20; at += 1) invented.push(...(await order('203.0.113.2', newDevice())));
		expect(invented.filter((status) => status === 303)).toHaveLength(19);
		// A known number buys on, and so do devices elsewhere.
		expect(await order('203.0.113.3', newDevice())).toEqual([303]);
	}, 120_000);
});

describe('a number', () => {
	it('that one network has asked too often still buys from another network and by the API', async () => {
		const { api, server, sql } = fixture();
		const phone = numberEnding(silent);
		const statuses = [];
		for (let time = 0; time < 6; time += 1) statuses.push((await buy(server.url, '192.0.2.1', phone)).status);
		expect(statuses).toEqual([303, 303, 303, 303, 303, 400]);
		await server.advance(10 * minute);
		const asked = await buy(server.url, '192.0.2.1', phone);
		expect(asked.text).toContain('Wait 5 minutes, or use another number.');
		expect((await buy(server.url, '192.0.2.2', phone)).status).toBe(303);
		await api.pay(await api.createSession(), phone);
		expect(await sql.count('select count(*) from payments where phone = ?', phone)).toBe(7);
	});

	it('gets at most twenty prompts from all sources, but for a source where it has paid', async () => {
		const { api, server, sql } = fixture();
		const phone = numberEnding(silent);
		await buy(server.url, '192.0.2.9', phone);
		await sql.run('update payments set paid_at = created_at where phone = ?', phone);
		for (let at = 0; at < 19; at += 1) await buy(server.url, `192.0.2.${20 + Math.floor(at / 5)}`, phone);
		expect(await sql.count('select count(*) from payments where phone = ?', phone)).toBe(20);
		expect((await buy(server.url, '192.0.2.50', phone)).status).toBe(400);
		const session = await api.createSession();
		const problem = await api.refused('400 payer_prompt_limit', 'POST', '/v1/payments/mobile-money', {
			body: { amount: session.amount, phone, session_id: session.id }
		});
		expect(problem).toMatchObject({ retry_after: expect.closeTo(15 * 60, -2) as number });
		expect(problem.detail).toMatch(/ 20 payment requests in the last 15 minutes\. Try again in 15 min\.$/);
		expect((await buy(server.url, '192.0.2.9', phone)).status).toBe(303);
	});
});

describe('a network with too many unpaid prompts', () => {
	let venues = 100;
	let venue: string;
	const buyHere = async (phone: string) => (await buy(fixture().server.url, venue, phone)).status;
	beforeEach(async () => {
		venue = `203.0.113.${(venues += 1)}`;
		for (let at = 0; at < 10; at += 1) expect(await buyHere(numberEnding(silent))).toBe(303);
		expect(await buyHere(numberEnding(silent))).toBe(429);
	});

	it('sells on to a number that has paid before, wherever that was', async () => {
		const { server, sql } = fixture();
		const phone = numberEnding(paying);
		expect((await buy(server.url, '192.0.2.2', phone)).status).toBe(303);
		const paid = 'select count(*) from payments where paid_at is not null and phone = ?';
		await eventually('paid', () => sql.count(paid, phone));
		expect(await buyHere(phone)).toBe(303);
	});

	it('is not blamed for outages of the operator', async () => {
		await fixture().sql.run("update payments set status = 'failed', failure_code = 'provider_unavailable'");
		expect(await buyHere(numberEnding(silent))).toBe(303);
	});
});

describe('an installation with too many unpaid prompts', () => {
	const fixture = useNewFixtures({ database: 'sqlite', env: { ...env, UNPAID_PROMPTS_TOTAL: '10' } });

	it('sells on to everybody while a quarter is paid', async () => {
		const { server, sql } = fixture();
		for (let at = 0; at < 4; at += 1) await buy(server.url, '192.0.2.1', numberEnding(paying));
		await eventually('all are paid', async () => {
			return (await sql.count('select count(*) from payments where applied = 1')) === 4;
		});
		const statuses = [];
		for (let at = 0; at < 13; at += 1) {
			statuses.push((await buy(server.url, `192.0.2.${10 + at}`, numberEnding(silent))).status);
		}
		expect(statuses).toEqual([...Array<number>(12).fill(303), 429]);
	});

	it('is shown in the overview of administrators, and in the log', async () => {
		const { api, server } = fixture();
		const overview = await signInAs(server, 'admin');
		const warning = 'accounts of the API that have not paid in 24 hours';
		for (let at = 0; at < 9; at += 1) await api.pay(await api.createSession(), numberEnding(silent));
		expect((await overview.get('/admin')).text).not.toContain(warning);
		await api.pay(await api.createSession(), numberEnding(silent));
		expect((await overview.get('/admin')).text).toContain(warning);
		await server.advance(minute);
		await eventually('the log warns', () =>
			Promise.resolve(server.stderr().includes('too many payment prompts are unpaid'))
		);
	});

	it('sells on to networks that have paid, and tells others in their language when to try again', async () => {
		const { api, server, sql } = fixture();
		const gateway = await registerGateway(server, 'opennds', { loginHost: LOGIN_HOST });
		expect((await buy(server.url, '192.0.2.1', numberEnding(paying))).status).toBe(303);
		await eventually('paid', () => sql.count('select count(*) from payments where paid_at is not null'));
		for (let at = 0; at < 10; at += 1) await buy(server.url, `192.0.2.${10 + at}`, numberEnding(silent));
		const refused = await buy(server.url, '192.0.2.99', numberEnding(paying), '/sw');
		expect(refused.status).toBe(429);
		expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(14 * 60);
		expect(refused.text).toContain('Jaribu tena baada ya dakika 15.');
		// Devices that a gateway redirected, and accounts of the API, have a total of their own.
		const { action, fields } = hourOn(
			await browse(server.url).get(ndsEntry(gateway, newDevice(), LOGIN_HOST))
		);
		const body = new URLSearchParams(fields as Record<string, string>);
		const headers = { origin: server.url, 'x-client-address': '192.0.2.98' };
		const redirected = await fetch(server.url + action, {
			method: 'POST',
			body,
			headers,
			redirect: 'manual'
		});
		expect(redirected.status).toBe(303);
		await api.pay(await api.createSession());
		expect((await buy(server.url, '192.0.2.1', numberEnding(paying))).status).toBe(303);
		await server.advance(15 * minute);
		expect((await buy(server.url, '192.0.2.99', numberEnding(paying))).status).toBe(303);
	});
});
