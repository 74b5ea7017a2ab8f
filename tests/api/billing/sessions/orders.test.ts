/** POST /sessions: one case per status, with the exact body; what an order costs. */
import { describe, expect, it } from 'vitest';
import { numberEnding, orderOf } from '../../../support/api/api.ts';
import { INSTANT } from '../../../support/api/wire.ts';
import { DATABASES, recorded, useFixture } from '../../../support/server/fixture.ts';

/** [field, value, code of the item] */
const BAD_FIELDS = [
	['router_id', undefined, 'required'],
	['router_id', '3', 'invalid_type'],
	['router_id', 3.5, 'invalid_type'],
	['router_id', null, 'invalid_type'],
	['duration', undefined, 'required'],
	['duration', 3600, 'invalid_type'],
	...[
		...['', '2', 'h', '2H', '0h', '02h', '2 h', ' 2h', '2h\n', '2.5h', '-2h', 'PT2H', '1M', '1y'],
		...['2h30m', '100000m']
	].map((text) => ['duration', text, 'invalid_format'] as const),
	['payment_method', undefined, 'required'],
	['payment_method', 1, 'invalid_type'],
	['payment_method', '', 'invalid_format'],
	['phone', undefined, 'required'],
	['phone', 772123456, 'invalid_type'],
	['phone', '', 'invalid_format'],
	['phone', '7'.repeat(65), 'invalid_format'],
	['extends_session_id', '3', 'invalid_type'],
	['extends_session_id', null, 'invalid_type'],
	['amount', 1, 'unknown_field'],
	['a/b~c', 1, 'unknown_field']
] as const;

describe.each(DATABASES)('on %s', (database) => {
	const fixture = useFixture({ database });

	describe('POST /sessions', () => {
		it('201 with exactly the documented object; nothing is charged', async () => {
			const phone = numberEnding('123');
			const { sql, api } = fixture();
			const earlier = await sql.count('select count(*) from payments');
			const session = await api.createSession({ duration: '2h', payment_method: 'mtn_momo', phone });
			expect(session).toEqual({
				id: session.id,
				router_id: 3,
				status: 'pending_payment',
				status_reason: null,
				duration: '2h',
				duration_seconds: 7200,
				payment_method: 'mtn_momo',
				phone,
				amount: 1000,
				currency: 'UGX',
				offer: null,
				payment_id: null,
				ssid: 'KISEMENTI-WIFI',
				password: null,
				access: {
					kind: 'wpa_personal_per_client',
					username: null,
					network_password: null,
					qr: null,
					qr_joins: null,
					end_enforced: true,
					max_devices: 1
				},
				payment_due_at: expect.stringMatching(INSTANT),
				starts_at: null,
				expires_at: null,
				extra_seconds: 0,
				ended_at: null,
				remaining_seconds: null,
				data_used_mb: null,
				data_left_mb: null,
				extends_session_id: null,
				pass_id: session.id,
				created_at: expect.stringMatching(INSTANT),
				updated_at: session.created_at
			});
			expect(Date.parse(session.payment_due_at) - Date.parse(session.created_at)).toBe(30 * 60_000);
			expect(await fixture().events(session.id)).toEqual(['session.created']);
			expect(await sql.count('select count(*) from payments')).toBe(earlier);
		});

		it.each([
			['15m', 900],
			['1d', 86_400],
			['1w', 604_800],
			['720h', 2_592_000]
		])('counts %s as %i seconds, and echoes it as it was sent', async (duration, seconds) => {
			const session = await fixture().api.createSession({ duration });
			expect(session).toMatchObject({ duration, duration_seconds: seconds, amount: (500 * seconds) / 3600 });
		});

		it.each([
			['+256 772-123 456', '+256772123456'],
			['0772123456', '+256772123456'],
			['256772123456', '+256772123456'],
			['+254712345678', '+254712345678']
		])('takes %s for %s', async (phone, e164) => {
			expect(await fixture().api.createSession({ phone })).toMatchObject({ phone: e164 });
		});

		it('takes a number of one network with the payment method of another: numbers move', async () => {
			const { api } = fixture();
			for (const phone of ['+256772123456', '+256752123456', '+256702123456']) {
				for (const payment_method of ['mtn_momo', 'airtel_money', 'mobile_money']) {
					expect(await api.createSession({ phone, payment_method })).toMatchObject({ phone, payment_method });
				}
			}
		});

		it('rounds the price half up, to at least one minor unit', async () => {
			const { api, sql } = fixture();
			for (const [priceMinor, duration, amount] of [
				[1, '15m', 1],
				[1, '30m', 1],
				[3, '30m', 2],
				[5, '15m', 1],
				[6, '15m', 2],
				[250, '90m', 375]
			] as const) {
				await sql.run('update routers set price_minor = ? where id = 2', priceMinor);
				expect(await api.createSession({ router_id: 2, duration })).toMatchObject({ amount });
			}
		});

		it.each(BAD_FIELDS)('400 validation_failed for %s: %j', async (field, value, code) => {
			const { api } = fixture();
			const before = await recorded(fixture());
			const body = { ...orderOf(), [field]: value };
			const problem = await api.refused('400 validation_failed', 'POST', '/v1/sessions', { body });
			const pointer = `/${field.replaceAll('~', '~0').replaceAll('/', '~1')}`;
			expect(problem.errors).toEqual([{ in: 'body', pointer, code, detail: expect.any(String) }]);
			expect(await recorded(fixture())).toEqual(before);
		});

		const refused = async (expected: `${number} ${string}`, order: object) => {
			const { api } = fixture();
			const before = await recorded(fixture());
			const body = { ...orderOf(), ...order };
			const problem = await api.refused(expected, 'POST', '/v1/sessions', { body });
			expect(await recorded(fixture())).toEqual(before);
			return problem;
		};

		it('names the units and bounds for a duration that it cannot read', async () => {
			const problem = await refused('400 validation_failed', { duration: '2 hours' });
			const [{ detail } = { detail: '' }] = problem.errors ?? [];
			for (const part of ['"30m"', '"2h"', '"1d"', '"1w"', '15m', '30d']) expect(detail).toContain(part);
		});

		it('400 validation_failed names every wrong field at once', async () => {
			const body = { router_id: 'x', duration: 1, extra: true };
			const { errors } = await fixture().api.refused('400 validation_failed', 'POST', '/v1/sessions', {
				body
			});
			expect(errors?.map(({ pointer, code }) => `${pointer} ${code}`).sort()).toEqual([
				'/duration invalid_type',
				'/extra unknown_field',
				'/payment_method required',
				'/phone required',
				'/router_id invalid_type'
			]);
		});

		it.each([0, -1, 999_999, 2 ** 53, 1e300])('404 router_not_found for router %d', async (id) => {
			await refused('404 router_not_found', { router_id: id });
		});

		it('404 router_not_found for a disabled router; 400 router_unavailable for its owner', async () => {
			await fixture().sql.run('update routers set disabled_at = 1 where id = 5');
			await refused('404 router_not_found', { router_id: 5 });
			const body = orderOf({ router_id: 5 });
			await fixture().owner.refused('400 router_unavailable', 'POST', '/v1/sessions', { body });
		});

		it('400 router_unavailable for an offline router', async () => {
			await refused('400 router_unavailable', { router_id: 15 });
		});

		it.each(["status = 'offline'", "access_kind = 'shared_password', network_password_sealed = null"])(
			'400 router_unavailable for a payment at a router that has closed since the order: %s',
			async (closed) => {
				const { api, sql } = fixture();
				const session = await api.createSession({ router_id: 7 });
				const [before] = await sql.all('select status, access_kind from routers where id = 7');
				await sql.run(`update routers set ${closed} where id = 7`);
				const body = { session_id: session.id, amount: session.amount, phone: session.phone };
				await api.refused('400 router_unavailable', 'POST', '/v1/payments/mobile-money', { body });
				expect(await sql.count('select count(*) from payments where session_id = ?', session.id)).toBe(0);
				const { status, access_kind: kind } = before ?? {};
				await sql.run(
					`update routers set status = '${String(status)}', access_kind = '${String(kind)}' where id = 7`
				);
			}
		);

		it.each(['14m', '31d', '43201m', '5w'])('400 duration_not_allowed for %s', async (duration) => {
			const problem = await refused('400 duration_not_allowed', { duration });
			expect(problem).toMatchObject({ min_duration: '15m', max_duration: '30d' });
			for (const part of ['"15m"', '"30d"', 'm, h, d', 'w (7 days)']) expect(problem.detail).toContain(part);
		});

		it("400 duration_not_allowed outside the router's own bounds", async () => {
			await fixture().sql.run("update routers set min_duration = '1h', max_duration = '1d' where id = 6");
			for (const duration of ['59m', '25h']) {
				const problem = await refused('400 duration_not_allowed', { router_id: 6, duration });
				expect(problem).toMatchObject({ min_duration: '1h', max_duration: '1d' });
			}
			await fixture().api.createSession({ router_id: 6, duration: '60m' });
			await fixture().api.createSession({ router_id: 6, duration: '24h' });
		});

		it.each([
			['MTN', 'mtn_momo'],
			[' Mtn-Mobile-Money\u00a0', 'mtn_momo'],
			['AIRTEL_MONEY', 'airtel_money'],
			['Mobile Money', 'mobile_money']
		])('takes the payment method "%s", which is %s', async (payment_method, slug) => {
			expect(await fixture().api.createSession({ payment_method })).toMatchObject({ payment_method: slug });
		});

		it('400 payment_method_not_supported, with those that are', async () => {
			await fixture().sql.run(`update routers set payment_methods = '["mtn_momo"]' where id = 18`);
			for (const payment_method of ['airtel_money', 'Orange', 'bitcoin', 'M-Pesa', '--', 'Visa/Mastercard']) {
				const problem = await refused('400 payment_method_not_supported', { router_id: 18, payment_method });
				expect(problem.payment_methods).toEqual(['mobile_money', 'mtn_momo', 'sandbox']);
				expect(problem.detail).toContain('mobile_money, mtn_momo, sandbox');
			}
		});

		it.each(['0414123456', '+442079460958', '+25677212345', '0772123456 ext 5', 'my number', '\u0000'])(
			'400 invalid_phone for %j, which is no mobile number',
			async (phone) => {
				await refused('400 invalid_phone', { phone });
			}
		);
	});
});
