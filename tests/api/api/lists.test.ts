/** GET /v1/sessions, /v1/payments and /v1/events: an account lists its own objects, newest first, page by page. */
import { beforeAll, describe, expect, it } from 'vitest';
import { HOUR_MS } from '#lib/domain/time.ts';
import { numberEnding, type Api } from '../../support/api/api.ts';
import { BOTH_DATABASES, useFixture, type NewKey } from '../../support/server/fixture.ts';

interface Entry {
	id: number | string;
	created_at: string;
	timestamp: string;
	status: string;
	type: string;
	password: unknown;
	access: unknown;
	data: { id: number; password?: unknown };
}

interface List {
	data: Entry[];
	has_more: boolean;
	next_cursor: string | null;
}

const LISTS = ['/v1/sessions', '/v1/payments', '/v1/events'] as const;
type ListPath = (typeof LISTS)[number];

const ORDERS = 5;

async function listOf(api: Api, path: string): Promise<List> {
	const { status, body } = await api.send('GET', path);
	expect(status, JSON.stringify(body)).toBe(200);
	return body as List;
}

const idsOf = ({ data }: List) => data.map(({ id }) => id);

const timeOf = (entry: Entry) => entry.created_at ?? entry.timestamp;

/** Newest first, then by id. */
const sorted = (entries: readonly Entry[]) =>
	[...entries].sort((a, b) =>
		timeOf(a) === timeOf(b) ? (a.id < b.id ? 1 : -1) : timeOf(a) < timeOf(b) ? 1 : -1
	);

describe.each(BOTH_DATABASES)('on %s', (database) => {
	const fixture = useFixture({ database });
	let buyer: NewKey;
	const all = {} as Record<ListPath, Entry[]>;

	beforeAll(async () => {
		buyer = await fixture().newKey();
		for (let count = 0; count < ORDERS; count += 1) {
			const session = await buyer.api.createSession({ phone: numberEnding('008') });
			await buyer.api.getPayment((await buyer.api.pay(session)).id, 20);
			await fixture().server.advance(1_000);
		}
		await buyer.api.createSession();
		// Objects of one moment have an order, too.
		for (const table of ['sessions', 'payments', 'events']) {
			await fixture().sql.run(
				`update ${table} set created_at = (select min(created_at) + 1 from ${table} where account_id = ?)
					where account_id = ? and id <> (select max(id) from ${table} where account_id = ?)`,
				...[buyer.accountId, buyer.accountId, buyer.accountId]
			);
		}
		for (const path of LISTS) all[path] = (await listOf(buyer.api, `${path}?limit=100`)).data;
	});

	it('have every object of the account once, as it is read one by one', async () => {
		const { api, accountId } = buyer;
		const { sql } = fixture();
		for (const [path, table] of [
			['/v1/sessions', 'sessions'],
			['/v1/payments', 'payments'],
			['/v1/events', 'events']
		] as const) {
			const rows = await sql.all(`select id from ${table} where account_id = ?`, accountId);
			expect(new Set(all[path].map(({ id }) => id))).toEqual(new Set(rows.map(({ id }) => id)));
			expect(all[path]).toHaveLength(rows.length);
			expect(all[path]).toEqual(sorted(all[path]));
		}
		for (const payment of all['/v1/payments']) {
			expect(payment).toEqual(await api.getPayment(Number(payment.id)));
		}
		const [first] = all['/v1/events'].filter(({ type }) => type === 'payment.success');
		expect(all['/v1/payments'].map(({ id }) => id)).toContain(first?.data.id);
	});

	it('show no password of an active session, which its own address shows', async () => {
		const active = all['/v1/sessions'].filter(({ status }) => status === 'active');
		expect(active).toHaveLength(ORDERS);
		for (const listed of active) {
			const read = await buyer.api.getSession(Number(listed.id));
			expect(read.password).not.toBeNull();
			expect(listed).toMatchObject({
				...read,
				password: null,
				access: { ...read.access, qr: null, qr_joins: null },
				remaining_seconds: expect.any(Number) as number
			});
		}
		const { text } = await buyer.api.send('GET', '/v1/events?limit=100');
		for (const { id } of active) {
			expect(text).not.toContain((await buyer.api.getSession(Number(id))).password);
		}
	});

	it.each(LISTS)('%s: pages of any length joined are the whole list', async (path) => {
		for (const limit of [1, 2, 3, 100]) {
			const found: unknown[] = [];
			let query = `?limit=${limit}`;
			for (;;) {
				const answer = await buyer.api.send('GET', path + query);
				const page = answer.body as List;
				found.push(...idsOf(page));
				if (page.next_cursor === null) break;
				expect(page.data).toHaveLength(limit);
				query = /^<(\?[^>]+)>; rel="next"$/.exec(answer.headers.get('link') ?? '')?.[1] ?? '';
				expect(query).toContain(page.next_cursor);
			}
			expect(found).toEqual(all[path].map(({ id }) => id));
		}
	});

	it.each(LISTS)('%s: a span of time has its first moment and not its last', async (path) => {
		const moments = [...new Set(all[path].map(timeOf))];
		expect(moments.length).toBeGreaterThan(1);
		const [newest = '', older = ''] = moments;
		const within = async (query: string) => idsOf(await listOf(buyer.api, `${path}?limit=100&${query}`));
		const expected = (test: (time: string) => boolean) =>
			all[path].filter((entry) => test(timeOf(entry))).map(({ id }) => id);
		expect(await within(`created_after=${newest}`)).toEqual(expected((time) => time >= newest));
		expect(await within(`created_before=${newest}`)).toEqual(expected((time) => time < newest));
		const elsewhere = new Date(Date.parse(newest) + 3 * HOUR_MS).toISOString().replace('Z', '%2B03:00');
		expect(await within(`created_before=${elsewhere}`)).toEqual(expected((time) => time < newest));
		const both = `created_after=${older}&created_before=${newest}`;
		expect(await within(both)).toEqual(expected((time) => time === older));
		expect(await within(`created_after=${newest}&created_before=${older}`)).toEqual([]);
	});

	it('of one state have the objects in that state', async () => {
		const idsIn = (path: ListPath, wanted: string) =>
			all[path].filter(({ status }) => status === wanted).map(({ id }) => id);
		for (const [path, status] of [
			['/v1/sessions', 'active'],
			['/v1/sessions', 'pending_payment'],
			['/v1/sessions', 'ended'],
			['/v1/payments', 'success'],
			['/v1/payments', 'failed']
		] as const) {
			const list = await listOf(buyer.api, `${path}?status=${status}&limit=100`);
			expect(idsOf(list), `${path} ${status}`).toEqual(idsIn(path, status));
		}
	});

	it('of one transaction have the payment that the operator numbered so', async () => {
		const [paid] = all['/v1/payments'].filter(({ status }) => status === 'success');
		const { provider_reference: id } = await buyer.api.getPayment(Number(paid?.id));
		const found = (api: Api, query: string) => listOf(api, `/v1/payments?provider_reference=${query}`);
		expect(idsOf(await found(buyer.api, `${id}&status=success`))).toEqual([paid?.id]);
		expect(idsOf(await found(buyer.api, `${id}&status=failed`))).toEqual([]);
		expect(idsOf(await found(buyer.api, 'NONE'))).toEqual([]);
		expect(idsOf(await found(fixture().other, String(id)))).toEqual([]);
	});

	it.each(LISTS)(
		'%s: nobody else sees an entry: no other account, owner of the router or admin',
		async (path) => {
			const own = new Set(all[path].map(({ id }) => id));
			for (const stranger of [fixture().other, fixture().owner, fixture().admin]) {
				const seen = idsOf(await listOf(stranger, `${path}?limit=100`));
				expect(seen.filter((id) => own.has(id))).toEqual([]);
			}
			const second = await fixture().newKey({ accountId: buyer.accountId });
			expect(idsOf(await listOf(second.api, `${path}?limit=100`))).toEqual([...own]);
		}
	);

	it('show a session as expired from its end on, in that state and no longer as active', async () => {
		const { api } = await fixture().newKey();
		const session = await api.createSession({ phone: numberEnding('008') });
		await api.getPayment((await api.pay(session)).id, 20);
		const end = fixture().server.now();
		// No job knows of this end.
		await fixture().sql.run('update sessions set expires_at = ? where id = ?', end - 1, session.id);
		expect(await listOf(api, '/v1/sessions?status=active')).toMatchObject({ data: [] });
		expect(await listOf(api, '/v1/sessions')).toMatchObject({
			data: [{ status: 'expired', ended_at: new Date(end - 1).toISOString(), remaining_seconds: 0 }]
		});
		// A list changes nothing: that is the job's.
		const { sql } = fixture();
		expect(
			await sql.count("select count(*) from sessions where id = ? and status = 'active'", session.id)
		).toBe(1);
	});

	it('have no events whose data was deleted', async () => {
		const { accountId, api } = await fixture().newKey();
		await api.createSession();
		expect((await listOf(api, '/v1/events')).data).toHaveLength(1);
		await fixture().sql.run("update events set data = '{}' where account_id = ?", accountId);
		expect(await listOf(api, '/v1/events')).toEqual({ data: [], has_more: false, next_cursor: null });
	});

	it('400 invalid_cursor for another list, filter or account', async () => {
		const { next_cursor: cursor } = await listOf(buyer.api, '/v1/payments?limit=1');
		for (const [api, path] of [
			[buyer.api, '/v1/sessions?'],
			[buyer.api, '/v1/events?'],
			[buyer.api, '/v1/payments?status=success&'],
			[buyer.api, '/v1/payments?created_after=2026-01-01T00:00:00Z&'],
			[fixture().other, '/v1/payments?']
		] as const) {
			await api.refused('400 invalid_cursor', 'GET', `${path}limit=1&cursor=${cursor}`);
		}
	});

	it('400 invalid_cursor for any other text, also one that base64 reads alike', async () => {
		const { next_cursor: cursor } = await listOf(buyer.api, '/v1/payments?limit=1');
		const text = String(cursor);
		const bytes = Buffer.from(text, 'base64url');
		const alike = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_']
			.flatMap((last) => [text.slice(0, -1) + last, text + last])
			.filter((other) => other !== text && Buffer.from(other, 'base64url').equals(bytes));
		expect(alike.length).toBeGreaterThan(0);
		for (const changed of [...alike, `${text}=`, text.slice(0, -1)]) {
			await buyer.api.refused('400 invalid_cursor', 'GET', `/v1/payments?limit=1&cursor=${changed}`);
		}
	});

	it.each([
		['/v1/sessions?status=paid', 'status', 'unknown_value'],
		['/v1/payments?status=active', 'status', 'unknown_value'],
		['/v1/events?created_after=2026-11-21', 'created_after', 'invalid_format'],
		['/v1/sessions?created_before=2026-02-30T00:00:00Z', 'created_before', 'invalid_format'],
		['/v1/payments?created_after=2026-11-21T00:00:00%2B24:00', 'created_after', 'invalid_format'],
		['/v1/payments?provider_reference=', 'provider_reference', 'invalid_format'],
		['/v1/payments?limit=101', 'limit', 'out_of_range']
	])('400 validation_failed for %s: %s %s', async (path, name, code) => {
		const { errors } = await buyer.api.refused('400 validation_failed', 'GET', path);
		expect(errors).toEqual([expect.objectContaining({ in: 'query', pointer: `/${name}`, code })]);
	});
});
