/** Payment prompts to strangers: how many the pages send for one network, and that others go on buying. */
import { beforeEach, describe, expect, it } from 'vitest';
import { numberEnding } from '../../support/api/api.ts';
import {
	DATABASES,
	eventually,
	useFixture,
	useNewFixtures,
	runsAllOn
} from '../../support/server/fixture.ts';

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

describe.each(DATABASES)('on %s', (database) => {
	// Orders of one network wait for each other.
	const most = 20;
	const fixture = useFixture({ database, env: { ...env, UNPAID_PROMPTS: String(most) } });

	const buyMany = (count: number, address: string, digits: string) =>
		Promise.all(
			Array.from({ length: count }, () => buy(fixture().server.url, address, numberEnding(digits)))
		);
	const allPaid = () =>
		eventually('all are paid', async () => {
			const open = await fixture().sql.count(
				'select count(*) from payments where paid_at is null and phone like ?',
				`%${paying}`
			);
			return open === 0;
		});

	it('as many numbers of one network are asked as the limit allows, and then a tenth in 15 minutes', async () => {
		const { server } = fixture();
		expect(counted(await buyMany(1.5 * most, '192.0.2.1', silent))).toEqual({ 303: most, 429: most / 2 });
		await server.advance(5 * minute);
		const refused = await buy(server.url, '192.0.2.1', numberEnding(silent));
		expect(refused.status).toBe(429);
		const wait = Number(refused.headers.get('retry-after'));
		expect(wait).toBeGreaterThan(8 * 60);
		expect(wait).toBeLessThanOrEqual(10 * 60);
		expect(refused.text).toContain('Too many payment requests here were not paid. Try again in 10 min.');
		expect((await buy(server.url, '192.0.2.2', numberEnding(paying))).status).toBe(303);
		await server.advance(wait * 1000);
		expect(counted(await buyMany(most / 5, '192.0.2.1', silent))).toEqual({
			303: most / 10,
			429: most / 10
		});
	}, 180_000);

	if (!runsAllOn(database)) return;

	it('guests of one network who mostly pay are never refused, all at once or hour by hour', async () => {
		const { server } = fixture();
		for (let hour = 0; hour < 2; hour += 1) {
			const answers = [buyMany(0.8 * most, '192.0.2.3', paying), buyMany(0.2 * most, '192.0.2.3', silent)];
			expect(counted((await Promise.all(answers)).flat())).toEqual({ 303: most });
			await allPaid();
			await server.advance(60 * minute);
		}
	}, 180_000);
});

describe('a number', () => {
	const fixture = useFixture({ env });

	it('that one network has asked too often still buys from another network and by the API', async () => {
		const { api, server, sql } = fixture();
		const phone = numberEnding(silent);
		const statuses = [];
		for (let time = 0; time < 6; time += 1) statuses.push((await buy(server.url, '192.0.2.1', phone)).status);
		expect(statuses).toEqual([303, 303, 303, 303, 303, 400]);
		await server.advance(10 * minute);
		const asked = await buy(server.url, '192.0.2.1', phone);
		expect(asked.text).toContain('Wait 5 min, or use another number.');
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
	const fixture = useFixture({ database: 'sqlite', env: { ...env, UNPAID_PROMPTS: '10' } });
	let venues = 0;
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
		await eventually('paid', () => sql.count('select count(*) from payments where paid_at is not null'));
		expect(await buyHere(phone)).toBe(303);
		expect(await buyHere(numberEnding(paying))).toBe(429);
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

	it('sells on to networks that have paid, and tells others in their language when to try again', async () => {
		const { server, sql } = fixture();
		expect((await buy(server.url, '192.0.2.1', numberEnding(paying))).status).toBe(303);
		await eventually('paid', () => sql.count('select count(*) from payments where paid_at is not null'));
		for (let at = 0; at < 10; at += 1) await buy(server.url, `192.0.2.${10 + at}`, numberEnding(silent));
		const refused = await buy(server.url, '192.0.2.99', numberEnding(paying), '/sw');
		expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '120']);
		expect(refused.text).toContain('Jaribu tena baada ya dakika 2.');
		expect((await buy(server.url, '192.0.2.1', numberEnding(paying))).status).toBe(303);
		await server.advance(15 * minute);
		expect((await buy(server.url, '192.0.2.99', numberEnding(paying))).status).toBe(303);
	});
});
