/** The portal buys through a service of other authors, which sends the fields of the wire format and no others. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { numberEnding } from '../../../support/api/api.ts';
import { buyAt } from '../../../support/pages/purchase.ts';
import { createBuyer } from '../../../support/pages/remote-portal.ts';
import { demoKey, eventually, SECRET, startFixture, type Fixture } from '../../../support/server/fixture.ts';
import { startServer, type TestServer } from '../../../support/server/server.ts';

/** Fields of the sections 1.1, 1.3 and 1.6 of the wire format. */
const FIELDS = new Set(
	[
		'data has_more next_cursor radius radius_unit type title status detail code request_id errors',
		'id name address ssid lat lon distance price currency payment_methods min_duration max_duration',
		'router_id status_reason duration duration_seconds payment_method phone amount payment_id password',
		'payment_due_at starts_at expires_at ended_at remaining_seconds created_at updated_at',
		'session_id applied failure_code failure_message provider_reference paid_at refunded_at'
	].flatMap((line) => line.split(' '))
);

/** Answers for a service, without the fields that the wire format lacks. It refuses such fields of a request. */
async function startBareService(url: string): Promise<Server> {
	async function answer(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
		const { method = 'GET', url: path = '/', headers } = incoming;
		const body = await text(incoming);
		const asked = body === '' ? [] : Object.keys(JSON.parse(body) as object);
		const response = path.startsWith('/v1/payments?')
			? Response.json({ code: 'not_found', detail: 'no list' }, { status: 404 })
			: asked.every((name) => FIELDS.has(name))
				? await fetch(url + path, {
						method,
						headers: {
							authorization: headers.authorization ?? '',
							...(body === '' ? {} : { 'content-type': 'application/json' })
						},
						...(body === '' ? {} : { body })
					})
				: Response.json({ code: 'validation_failed', detail: 'unknown field' }, { status: 400 });
		const bare = JSON.stringify(await response.json(), (name, value: unknown) =>
			name === '' || /^\d+$/.test(name) || FIELDS.has(name) ? value : undefined
		);
		outgoing.writeHead(response.status, { 'content-type': 'application/json' }).end(bare);
	}
	const server = createServer((incoming, outgoing) => void answer(incoming, outgoing));
	await once(server.listen(0, '127.0.0.1'), 'listening');
	return server;
}

describe('a portal of a service with only the fields of the wire format', () => {
	let fixture: Fixture;
	let service: Server;
	let portal: TestServer;
	let buyer: ReturnType<typeof createBuyer>;

	beforeAll(async () => {
		fixture = await startFixture({ database: 'sqlite' });
		service = await startBareService(fixture.server.url);
		const { port } = service.address() as AddressInfo;
		portal = await startServer({
			env: {
				AIRTILL_SECRET: SECRET,
				AIRTILL_API_URL: `http://127.0.0.1:${port}/v1`,
				AIRTILL_API_KEY: demoKey(fixture.server, 'app')
			}
		});
		buyer = createBuyer(portal);
	});
	afterAll(async () => {
		await portal.stop();
		service.close();
		await fixture.stop();
	});

	const buy = (phone: string) => buyAt(portal.url, '/r/3', phone);

	it('sells time, shows the password with its QR code, and ends the time', async () => {
		// The sandbox operator leaves this number without an answer.
		expect((await buyer.page(await buy(numberEnding('003')))).text).toContain('Check your phone.');
		const place = await buy(numberEnding('123'));
		const paid = await eventually('paid', async () => {
			const shown = await buyer.page(place);
			return shown.text.includes('Your Wi‑Fi is paid until') && shown;
		});
		expect(paid.text).toContain('Password for');
		expect(paid.text).toContain('QR code to connect to');
		// Such a service adds no time to a pass.
		expect(paid.text).not.toContain('#add-time');
		expect((await buyer.page(`${place}/receipt`)).status).toBe(200);
		await buyer.post(`${place}?/end`, {});
		expect((await buyer.page(place)).text).toContain('You ended your time.');
	});

	it('finds no purchase by its payment, because such a service lists none', async () => {
		const found = await buyer.post('/resume', { code: 'SBX123', phone: numberEnding('123') });
		expect([found.status, found.text.includes('We can’t find a payment')]).toEqual([404, true]);
	});

	it('says why a payment was refused, and what is refunded', async () => {
		for (const [ending, words] of [
			['002', 'Not enough money on this number.'],
			['009', 'You have been refunded.']
		] as const) {
			const place = await buy(numberEnding(ending));
			await eventually(words, async () => {
				await fixture.server.advance(1000);
				await portal.advance(3000);
				return (await buyer.page(place)).text.includes(words);
			});
		}
	});
});
