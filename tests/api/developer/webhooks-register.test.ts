/** POST /v1/webhooks/register (wire format 1.11 and 5.5): what is registered, what is refused, and what is left as it was. */
import { request } from 'node:http';
import { beforeEach, describe, expect, it } from 'vitest';
import { type Api } from '../../support/api/api.ts';
import { INSTANT, WEBHOOK_SECRET } from '../../support/api/wire.ts';
import { startReceiver } from '../../support/api/receiver.ts';
import { DATABASES, eventually, recorded, useFixture, runsAllOn } from '../../support/server/fixture.ts';
import { REGISTER, register, verified } from '../../support/api/webhooks.ts';

const URL = 'https://app.example.com/hooks/wifi';
const EVENTS = ['payment.success', 'session.expired'];
const most = 16;

const valid = (url = URL, events: unknown = EVENTS) => ({ url, events });

describe.each(DATABASES)('on %s', (database) => {
	const fixture = useFixture({ database });
	/** An account of this test's own. */
	let api: Api;
	let accountId: number;
	beforeEach(async () => ({ api, accountId } = await fixture().newKey()));

	const count = () =>
		fixture().sql.count('select count(*) from webhook_endpoints where account_id = ?', accountId);

	it('201 with the secret, shown this once, and no Location', async () => {
		const { status, headers, body } = await api.send('POST', REGISTER, { body: valid() });
		expect(status).toBe(201);
		expect(headers.has('location')).toBe(false);
		expect(body).toEqual({
			id: expect.any(Number),
			url: URL,
			events: EVENTS,
			status: 'active',
			secret: expect.stringMatching(WEBHOOK_SECRET),
			created_at: expect.stringMatching(INSTANT),
			updated_at: expect.stringMatching(INSTANT)
		});
		expect(Object.keys(Object(body))).toEqual([
			...['id', 'url', 'events', 'status', 'secret', 'created_at', 'updated_at']
		]);
	});

	it('200 for the same URL of the same account: new events, enabled again, no secret', async () => {
		const { server, sql } = fixture();
		const first = await register(api, URL, EVENTS);
		await sql.run(
			`update webhook_endpoints set status = 'disabled', disabled_reason = 'gone', notice = 'disabled',
				failing_since = 1, failing_noticed = 1 where id = ?`,
			first.id
		);
		await server.advance(1_000);
		const again = await api.send('POST', REGISTER, { body: valid(URL, ['session.created']) });
		expect(again.status).toBe(200);
		expect(again.body).toEqual({
			...first,
			events: ['session.created'],
			secret: null,
			updated_at: expect.not.stringMatching(first.updated_at)
		});
		expect(
			await sql.all(
				`select status, disabled_reason, notice, failing_since, failing_noticed from webhook_endpoints
					where id = ?`,
				first.id
			)
		).toEqual([
			{ status: 'active', disabled_reason: null, notice: null, failing_since: null, failing_noticed: 0 }
		]);
	});

	it('treats two spellings of a URL as one endpoint, and two URLs or accounts as two', async () => {
		const first = await register(api, URL, EVENTS);
		const same = await register(api, 'HTTPS://APP.example.com:443/hooks/../hooks/wifi', EVENTS);
		expect(same).toMatchObject({ id: first.id, secret: null });
		const dotted = await register(api, 'https://app.example.com./hooks/wifi', EVENTS);
		expect(dotted).toMatchObject({ id: first.id, secret: null });
		const { api: other } = await fixture().newKey();
		const ids = [first, await register(api, `${URL}/`, EVENTS), await register(other, URL, EVENTS)];
		expect(new Set(ids.map(({ id }) => id)).size).toBe(3);
		expect(new Set(ids.map(({ secret }) => secret)).size).toBe(3);
	});

	it('ten registrations of one URL at once make one endpoint', async () => {
		const answers = await Promise.all(
			Array.from({ length: 10 }, () => api.send('POST', REGISTER, { body: valid() }))
		);
		expect(answers.map(({ status }) => status).sort()).toEqual([...Array(9).fill(200), 201]);
		expect(await count()).toBe(1);
	});

	it('400 webhook_limit_reached for the 17th, also of many at once; existing ones can still be changed', async () => {
		const answers = await Promise.all(
			Array.from({ length: most + 4 }, (_, index) =>
				api.send('POST', REGISTER, { body: valid(`${URL}/${index}`) })
			)
		);
		expect(answers.filter(({ status }) => status === 201)).toHaveLength(most);
		expect(await count()).toBe(most);
		await api.refused('400 webhook_limit_reached', 'POST', REGISTER, { body: valid(`${URL}/more`) });
		const known = answers.find(({ status }) => status === 201)?.body as { url: string };
		expect(await register(api, known.url, ['session.ended'])).toMatchObject({ events: ['session.ended'] });
	});

	it('GET /v1/webhooks lists the endpoints of the account only, newest first, page by page, without secrets', async () => {
		const { api: other } = await fixture().newKey();
		await register(other, `${URL}/other`, EVENTS);
		expect((await api.send('GET', '/v1/webhooks')).body).toEqual({
			...{ data: [], has_more: false, next_cursor: null }
		});
		const made = [];
		for (const name of ['a', 'b', 'c']) {
			made.unshift(await register(api, `${URL}/${name}`, EVENTS));
			await fixture().server.advance(1_000);
		}
		const [newest, ...older] = made.map((one) => ({ ...one, secret: null }));
		const first = await api.send('GET', '/v1/webhooks?limit=1');
		expect(first.body).toMatchObject({ data: [newest], has_more: true });
		const { next_cursor: cursor } = first.body as { next_cursor: string };
		expect(first.headers.get('link')).toContain(cursor);
		const rest = await api.send('GET', `/v1/webhooks?limit=2&cursor=${cursor}`);
		expect(rest.body).toEqual({ data: older, has_more: false, next_cursor: null });
		await other.refused('400 invalid_cursor', 'GET', `/v1/webhooks?cursor=${cursor}`);
		await fixture().sql.run(
			`update webhook_endpoints set status = 'disabled', disabled_reason = 'gone' where id = ?`,
			newest?.id ?? 0
		);
		const all = await api.send('GET', '/v1/webhooks');
		expect((all.body as { data: unknown[] }).data[0]).toEqual({ ...newest, status: 'disabled' });
	});

	it('DELETE /v1/webhooks/{id} deletes an endpoint of the account once, and makes room for another', async () => {
		const { api: other } = await fixture().newKey();
		const made = await register(api, URL, EVENTS);
		const path = `/v1/webhooks/${made.id}`;
		await other.refused('404 webhook_not_found', 'DELETE', path);
		expect(await count()).toBe(1);
		const deleted = await api.send('DELETE', path);
		expect([deleted.status, deleted.body]).toEqual([200, { ...made, secret: null }]);
		expect(await count()).toBe(0);
		await api.refused('404 webhook_not_found', 'DELETE', path);
		for (const id of [0, -1, 999_999_999]) {
			await api.refused('404 webhook_not_found', 'DELETE', `/v1/webhooks/${id}`);
		}
		await api.refused('400 validation_failed', 'DELETE', '/v1/webhooks/first');
		const again = await register(api, URL, EVENTS);
		expect(again.id).not.toBe(made.id);
		expect(again.secret).not.toBeNull();
	});

	if (!runsAllOn(database)) return;

	it('takes a program on this machine from a client on it, as the sandbox has demo data, and delivers there', async () => {
		const receiver = await startReceiver();
		const url = `${receiver.url}/here`;
		try {
			for (const headers of [
				{ 'x-forwarded-for': '127.0.0.1' },
				{ via: '1.1 proxy' },
				{ forwarded: 'for=::1' }
			]) {
				const request = { body: valid(url), headers };
				await api.refused('400 webhook_url_not_allowed', 'POST', REGISTER, request);
			}
			expect(await count()).toBe(0);
			const { secret } = await register(api, url, ['session.created']);
			await api.createSession();
			await eventually('the event arrives', async () => receiver.at('/here').length === 1);
			expect(verified(receiver.at('/here')[0], secret)).toMatchObject({ type: 'session.created' });
		} finally {
			await receiver.stop();
		}
	});

	it('refuses a system’s port, another address and this installation also from a client on this machine', async () => {
		const { port } = fixture().server;
		const own = ['127.0.0.1', 'localhost', '[::1]'].map((host) => `http://${host}:${port}/v1/sessions`);
		for (const url of ['http://127.0.0.1:1023/', 'http://10.0.0.1:8080/', ...own]) {
			await api.refused('400 webhook_url_not_allowed', 'POST', REGISTER, { body: valid(url) });
		}
	});

	it('takes every known event, in the order given', async () => {
		const names = [
			...['webhook.test', 'session.cancelled', 'session.ended', 'session.activated', 'session.created'],
			...['payment.refunded', 'payment.failed', 'session.expired', 'payment.success']
		];
		expect(await register(api, URL, names)).toMatchObject({ events: names });
	});

	it.each([
		['no url', { events: EVENTS }, [['/url', 'required']]],
		['a url that is no text', valid(5 as never), [['/url', 'invalid_type']]],
		['a relative url', valid('/hooks'), [['/url', 'invalid_format']]],
		['a url with a blank', valid(`${URL} `), [['/url', 'invalid_format']]],
		['a url without a host', valid('https:app.example.com'), [['/url', 'invalid_format']]],
		['a url with an empty host', valid('https:///app.example.com/'), [['/url', 'invalid_format']]],
		['a url with a backslash', valid('https:\\\\app.example.com'), [['/url', 'invalid_format']]],
		['events that are no list', valid(URL, 'payment.success'), [['/events', 'invalid_type']]],
		['an empty list of events', valid(URL, []), [['/events', 'out_of_range']]],
		['an unknown event', valid(URL, ['payment.succeeded']), [['/events/0', 'unknown_value']]],
		['an event twice', valid(URL, [...EVENTS, 'payment.success']), [['/events/2', 'duplicate']]],
		['a field too many', { ...valid(), secret: 'x' }, [['/secret', 'unknown_field']]],
		[
			'everything wrong',
			{ url: 'x', events: ['y'] },
			[
				['/url', 'invalid_format'],
				['/events/0', 'unknown_value']
			]
		]
	])('400 validation_failed for %s, and nothing is changed', async (_what, body, items) => {
		const before = await recorded(fixture());
		const problem = await api.refused('400 validation_failed', 'POST', REGISTER, { body });
		expect(problem.errors?.map(({ pointer, code }) => [pointer, code])).toEqual(items);
		expect(await recorded(fixture())).toEqual(before);
	});

	it('400 out_of_range for more than 20 events', async () => {
		const events = Array.from({ length: 21 }, () => 'payment.success');
		const problem = await api.refused('400 validation_failed', 'POST', REGISTER, {
			body: valid(URL, events)
		});
		expect(problem.errors?.[0]).toMatchObject({ pointer: '/events', code: 'out_of_range' });
	});

	it('400 webhook_url_not_allowed, and nothing is changed (the whole table is in the unit tests)', async () => {
		const before = await recorded(fixture());
		for (const url of [
			'http://app.example.com/hooks',
			'https://127.0.0.1/',
			'https://user:pass@app.example.com/',
			`https://app.example.com/${'x'.repeat(2048)}`
		]) {
			await api.refused('400 webhook_url_not_allowed', 'POST', REGISTER, { body: valid(url) });
		}
		expect(await recorded(fixture())).toEqual(before);
	});

	it('400 webhook_url_not_allowed for the host under which it is called', async () => {
		const { port } = fixture().server;
		const { key } = await fixture().newKey();
		const answer = await new Promise<string>((resolve, reject) => {
			const sent = request(
				{
					port,
					host: '127.0.0.1',
					method: 'POST',
					path: REGISTER,
					headers: {
						...{ host: 'airtill.example', authorization: `Bearer ${key}` },
						'content-type': 'application/json'
					}
				},
				(response) => {
					let text = '';
					response.setEncoding('utf8').on('data', (part: string) => (text += part));
					response.on('end', () => resolve(text));
				}
			);
			sent.on('error', reject).end(JSON.stringify(valid('https://airtill.example:8443/hooks')));
		});
		expect(JSON.parse(answer)).toMatchObject({ status: 400, code: 'webhook_url_not_allowed' });
	});

	it('does not call the URL', async () => {
		// A name that is nobody's (RFC 2606): a call would fail.
		await register(api, 'https://hooks.nobody.invalid/', EVENTS);
	});

	it('with an Idempotency-Key gives the same secret again; without one it is never shown again', async () => {
		const headers = { 'idempotency-key': 'register-1' };
		const first = await api.send('POST', REGISTER, { body: valid(), headers });
		const again = await api.send('POST', REGISTER, { body: valid(), headers });
		expect([again.status, again.text]).toEqual([201, first.text]);
		expect(again.headers.get('idempotent-replayed')).toBe('true');
		const repeated = { 'idempotency-key': 'register-2' };
		const second = await api.send('POST', REGISTER, { body: valid(), headers: repeated });
		expect([second.status, second.body]).toMatchObject([200, { secret: null }]);
		const replayed = await api.send('POST', REGISTER, { body: valid(), headers: repeated });
		expect([replayed.status, replayed.text]).toEqual([200, second.text]);
		expect(replayed.headers.get('idempotent-replayed')).toBe('true');
		expect(await count()).toBe(1);
	});

	it('stores no secret in the clear, and none is in the log', async () => {
		const { secret } = await register(api, URL, EVENTS);
		const headers = { 'idempotency-key': 'planted' };
		const { body } = await api.send('POST', REGISTER, { body: valid(`${URL}/2`), headers });
		const planted = [secret, (body as { secret: string }).secret].map((text) => String(text).slice(6));
		const { sql, server } = fixture();
		const stored = JSON.stringify([
			await sql.all('select * from webhook_endpoints'),
			await sql.all('select * from idempotent_answers')
		]);
		for (const text of planted) {
			expect(text).toHaveLength(44);
			expect(stored).not.toContain(text);
			expect(server.stdout() + server.stderr()).not.toContain(text);
		}
	});
});
