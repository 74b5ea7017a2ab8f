/**
 * A client may end its side of the connection when it has asked (`nc -N`, `socket.end()`): what it asked was carried
 * out, so it is answered.
 */
import { once } from 'node:events';
import { connect } from 'node:net';
import { beforeAll, describe, expect, it } from 'vitest';
import { numberEnding, orderOf } from '../support/api.ts';
import { buyAt } from '../support/purchase.ts';
import { DATABASES, recorded, useFixture, type NewKey } from '../support/fixture.ts';

/** Of an answer that is held back: below the 20 seconds, and a page's 10, and far above one look at the database. */
const heldLimitMs = 8_000;

describe.each(DATABASES)('on %s', (database) => {
	const fixture = useFixture({ database });
	let buyer: NewKey;
	beforeAll(async () => {
		buyer = await fixture().newKey();
	});

	const request = (first: string, body?: object) => {
		const text = body ? JSON.stringify(body) : '';
		const framing = body ? ['Content-Type: application/json', `Content-Length: ${text.length}`] : [];
		const head = [`${first} HTTP/1.1`, 'Host: airtill.test', `Authorization: Bearer ${buyer.key}`];
		return [...head, ...framing, '', text].join('\r\n');
	};

	/** Sends bytes and the end of our side together; answers all that comes back. */
	async function sendAndEnd(bytes: string): Promise<string> {
		const socket = connect({ port: fixture().server.port, host: '127.0.0.1', allowHalfOpen: true });
		let text = '';
		socket.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
		socket.end(bytes);
		await once(socket, 'end');
		return text;
	}

	/** The one body of an answer, which ends the connection. */
	function answered(text: string, status: number): { id: number; amount: number; status: string } {
		expect(text).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
		return JSON.parse(text.slice(text.indexOf('\r\n\r\n'))) as { id: number; amount: number; status: string };
	}

	it('an order and its payment are answered, and made once', async () => {
		for (let round = 0; round < 3; round += 1) {
			const phone = numberEnding('003');
			const { id, amount } = answered(
				await sendAndEnd(request('POST /v1/sessions', orderOf({ phone }))),
				201
			);
			const body = { session_id: id, amount, phone };
			const payment = answered(await sendAndEnd(request('POST /v1/payments/mobile-money', body)), 201);
			expect(payment.status).toBe('pending');
			await buyer.api.refused('400 payment_in_progress', 'POST', '/v1/payments/mobile-money', { body });
		}
	});

	it('reads, pages and every request of several on one connection are answered', async () => {
		const read = request('GET /v1/routers/1') + request('GET /v1/routers?lat=0.3476&lon=32.5825');
		expect((await sendAndEnd(read)).match(/HTTP\/1\.1 200 /g)).toHaveLength(2);
		const page = await sendAndEnd('GET /docs HTTP/1.1\r\nHost: airtill.test\r\n\r\n');
		expect(page).toMatch(/^HTTP\/1\.1 200 [^]*<\/html>/);
	});

	it('an answer that is held back for a payment comes at once: nobody can tell whether anyone still waits', async () => {
		const payment = await buyer.api.pay(await buyer.api.createSession({ phone: numberEnding('003') }));
		const started = performance.now();
		const text = await sendAndEnd(request(`GET /v1/payments/${payment.id}/status?wait=20`));
		expect(answered(text, 200)).toMatchObject({ id: payment.id, status: 'pending' });
		expect(performance.now() - started).toBeLessThan(heldLimitMs);
	});

	it.each(['?held', '/status?wait=20'])('so does a page of it (%s)', async (asked) => {
		const path = await buyAt(fixture().server.url, '/r/3', numberEnding('003'));
		const started = performance.now();
		const text = await sendAndEnd(`GET ${path}${asked} HTTP/1.1\r\nHost: airtill.test\r\n\r\n`);
		expect(text).toMatch(/^HTTP\/1\.1 200 /);
		expect(performance.now() - started).toBeLessThan(heldLimitMs);
	});

	it('a request that is cut off by the end is refused, and changes nothing', async () => {
		const before = await recorded(fixture());
		answered(await sendAndEnd(request('POST /v1/sessions', orderOf()).slice(0, -3)), 400);
		expect(await recorded(fixture())).toEqual(before);
	});
});
