/** Operators call in: an address that we made wakes the reconciler, and no callback moves money by itself. */
import { describe, expect, it } from 'vitest';
import { numberEnding, type Payment } from '../../support/api/api.ts';
import { DATABASES, eventually, recorded, useFixture } from '../../support/server/fixture.ts';
import { untilQuiet } from '../../torture/time.ts';

const kib = 1024;

describe.each(DATABASES)('on %s', (database) => {
	// Callbacks come around the proxy that names addresses, and are taken all the same.
	const fixture = useFixture({ database, env: { ADDRESS_HEADER: 'x-client-address' } });

	/** A payment that is with the operator, and the address at which the operator may call. */
	async function start(digits: string): Promise<{ payment: Payment; address: string }> {
		const { api, sql } = fixture();
		const payment = await api.pay(await api.createSession({ phone: numberEnding(digits) }));
		const charge = await eventually('the operator has it', async () => {
			const [row] = await sql.all(
				`select c.callback_url from sandbox_charges c join payments p on p.reference = c.reference
					where p.id = ? and c.queued_at is not null and p.submit_state = 'accepted'`,
				payment.id
			);
			return row;
		});
		return { payment, address: String(charge['callback_url']) };
	}

	async function call(address: string, method: string, body: BodyInit = '{"status":"succeeded"}') {
		const response = await fetch(address, { method, body, headers: { 'content-type': 'application/json' } });
		return `${response.status} ${await response.text()}`;
	}

	const kept = (payment: Payment) =>
		fixture().sql.count(
			"select count(*) from operator_messages where kind = 'callback' and payment_id = ?",
			payment.id
		);

	it('the address holds 256 bits that nobody can guess, and they are not stored with the payment', async () => {
		const { payment, address } = await start('003');
		const [, reference, token] = /\/callbacks\/sandbox\/([0-9a-f-]{36})\/([0-9a-f]{64})$/.exec(address) ?? [];
		const [row] = await fixture().sql.all('select * from payments where id = ?', payment.id);
		expect(row).toMatchObject({ reference });
		expect(JSON.stringify(row)).not.toContain(token);
	});

	it.each(['POST', 'PUT'])('a valid address is taken by %s, noted, and decides nothing', async (method) => {
		const { payment, address } = await start('003');
		for (const status of ['succeeded', 'failed', 'anything']) {
			expect(await call(address, method, JSON.stringify({ status, amount: 500 }))).toBe(
				'200 {"received":true}'
			);
		}
		expect(await kept(payment)).toBe(3);
		await recorded(fixture());
		expect(await fixture().api.getPayment(payment.id)).toMatchObject({ status: 'pending' });
		expect(await fixture().api.getSession(payment.session_id)).toMatchObject({ status: 'pending_payment' });
	});

	it('it brings the next look at the operator forward', async () => {
		const { payment, address } = await start('007');
		await recorded(fixture());
		const look = "kind = 'payment.reconcile' and subject_id = ?";
		await fixture().sql.run(
			`update jobs set run_at = run_at + 3600000, wakes = wakes + 1 where ${look}`,
			payment.id
		);
		// The result is there after one second.
		await fixture().server.advance(1_000);
		await call(address, 'POST');
		const settled = await fixture().api.getPayment(payment.id, 20);
		expect(settled).toMatchObject({ status: 'success', applied: true });
	});

	it('one that tells nothing, or the same again, brings no look forward, and is logged once if unreadable', async () => {
		const { server, sql } = fixture();
		const { payment, address } = await start('003');
		// The next look is a minute away.
		await server.advance(100_000);
		await untilQuiet(server, sql);
		const next = async () => {
			const job = "select run_at from jobs where kind = 'payment.reconcile' and subject_id = ?";
			return Number((await sql.all(job, payment.id))[0]?.['run_at']);
		};
		let before = await next();
		for (const body of ['', '{}', '{"status":"pending"}', 'not JSON', '', '{"status":"pending"}']) {
			await call(address, 'POST', body);
			expect(await next()).toBe(before);
		}
		await call(address, 'POST');
		expect(await next()).not.toBe(before);
		await untilQuiet(server, sql);
		before = await next();
		await call(address, 'POST');
		expect(await next()).toBe(before);
		const isSaid = (line: string) =>
			line.includes('callback cannot be read') && line.includes(`"payment":${payment.id},`);
		await expect.poll(() => server.stderr().split('\n').filter(isSaid)).toHaveLength(1);
	});

	it('after the end it is taken again and changes nothing', async () => {
		const { payment, address } = await start('001');
		await fixture().decided(payment);
		const before = await recorded(fixture());
		expect(await call(address, 'POST', '{"status":"succeeded"}')).toBe('200 {"received":true}');
		expect(await recorded(fixture())).toEqual(before);
	});

	it('404 for every address that we did not make, and nothing is noted or changed', async () => {
		const { payment, address } = await start('003');
		const { address: another } = await start('003');
		const token = address.slice(-64);
		const forged = [
			address.slice(0, -43) + another.slice(-43),
			`${address.slice(0, -1)}${address.endsWith('A') ? 'B' : 'A'}`,
			`${address}A`,
			address.slice(0, -1),
			address.replace('/callbacks/sandbox/', '/callbacks/mtn-momo/'),
			address.replace(/\/[0-9a-f-]{36}\//, '/00000000-0000-4000-8000-000000000000/'),
			`${fixture().server.url}/callbacks/sandbox/${payment.id}/${token}`,
			`${fixture().server.url}/callbacks/sandbox/%00/${token}`
		];
		const before = await recorded(fixture());
		for (const url of forged) {
			for (const method of ['POST', 'PUT']) expect(await call(url, method), url).toMatch(/^404 /);
		}
		expect(await kept(payment)).toBe(0);
		expect(await recorded(fixture())).toEqual(before);
	});

	it('takes any body that an operator may come up with', async () => {
		const { payment, address } = await start('003');
		const bodies = [
			'',
			'not JSON',
			'<xml/>',
			'{"a":"\\u0000"}',
			'a\u0000b',
			Buffer.from([0xff, 0xfe, 0x00]),
			'x'.repeat(60 * kib)
		];
		for (const body of bodies) expect(await call(address, 'POST', body)).toBe('200 {"received":true}');
		expect(await kept(payment)).toBe(bodies.length);
		const [{ longest } = {}] = await fixture().sql.all(
			'select max(length(raw)) as longest from operator_messages'
		);
		expect(longest).toBeLessThanOrEqual(4 * kib);
	});

	it('keeps no whole number of a payer', async () => {
		const { payment, address } = await start('003');
		await call(address, 'POST', `{"msisdn":"${payment.phone.slice(1)}"}`);
		const rows = await fixture().sql.all(
			'select raw from operator_messages where payment_id = ?',
			payment.id
		);
		expect(JSON.stringify(rows)).not.toContain(payment.phone.slice(4));
	});

	it('refuses a body beyond 64 KiB and notes nothing', async () => {
		const { payment, address } = await start('003');
		for (const size of [65, 300]) {
			expect(await call(address, 'POST', 'x'.repeat(size * kib))).toBe('413 {"received":false}');
		}
		expect(await kept(payment)).toBe(0);
	});

	it('a flood of two hundred is answered, and leaves about fifty notes', async () => {
		const { payment, address } = await start('003');
		const answers = await Promise.all(Array.from({ length: 200 }, () => call(address, 'POST')));
		expect(new Set(answers)).toEqual(new Set(['200 {"received":true}']));
		// Each of the ten connections to PostgreSQL may store one at the same moment.
		expect(await kept(payment)).toBeLessThanOrEqual(60);
		expect(await fixture().api.getPayment(payment.id)).toMatchObject({ status: 'pending' });
	});

	it('needs no key and no origin of ours, whatever its content type', async () => {
		const { address, payment } = await start('003');
		for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/json']) {
			const headers = { 'content-type': type, origin: 'https://operator.example' };
			const { status } = await fetch(address, { method: 'POST', body: 'a=b', headers });
			expect(status).toBe(200);
		}
		// Bytes, because fetch gives a string a type.
		await fetch(address, { method: 'POST', body: Buffer.from('{"status":"anything"}') });
		const raw = "select raw from operator_messages where kind = 'callback' and payment_id = ? order by id";
		const rows = await fixture().sql.all(raw, payment.id);
		expect(rows.map((row) => row['raw'])).toEqual(['a=b', 'a=b', 'a=b', '{"status":"anything"}']);
	});
});

describe('with a list of the operator’s addresses', () => {
	const env = {
		CALLBACK_ADDRESSES: 'sandbox=203.0.113.7,2001:DB8::/32,::ffff:198.51.100.0/120',
		ADDRESS_HEADER: 'X-Forwarded-For'
	};
	const listed = useFixture({ env });

	it.each([
		['203.0.113.7:51234', true],
		['203.0.113.9, [2001:DB8::1]:443', true],
		['::ffff:203.0.113.7', true],
		['198.51.100.9:80', true],
		['203.0.113.7, 203.0.113.8:51234', false],
		['_hidden', false],
		['', false]
	])(
		'one from "%s" is listed: %s, and another is kept, answered, named in the log, and changes nothing',
		async (source, isListed) => {
			const { api, sql, asked, server } = listed();
			const payment = await api.pay(await api.createSession({ phone: numberEnding('007') }));
			await asked(payment);
			const [charge] = await sql.all(
				'select callback_url from sandbox_charges c join payments p on p.reference = c.reference where p.id = ?',
				payment.id
			);
			await server.advance(1_500);
			const loggedBefore = server.stderr().length;
			const headers = { 'x-forwarded-for': source };
			const response = await fetch(String(charge?.['callback_url']), { method: 'POST', body: '{}', headers });
			expect(response.status).toBe(200);
			const outcomes = await sql.all(
				"select outcome from operator_messages where payment_id = ? and kind = 'callback'",
				payment.id
			);
			expect(outcomes).toEqual([{ outcome: isListed ? 'unknown' : 'not authentic' }]);
			const logged = server.stderr().slice(loggedBefore);
			expect(logged.includes('CALLBACK_ADDRESSES lacks its address')).toBe(!isListed);
			if (!isListed) expect(await api.getPayment(payment.id)).toMatchObject({ status: 'pending' });
		}
	);
});
