/** Earnings, sessions and prices of router owners (specification 1.8 to 1.10). */
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { earnings, ownerUserList } from '../../../src/lib/server/api/contract/schemas.ts';
import { numberEnding, type Api } from '../../support/api/api.ts';
import { addRouter } from '../../support/pages/owners.ts';
import { random } from '../../support/random.ts';
import type { Value } from '../../support/database/sql.ts';
import { INSTANT } from '../../support/api/wire.ts';
import { DATABASES, recorded, useFixture, type NewKey, type Fixture } from '../../support/server/fixture.ts';

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

type Period = 'daily' | 'weekly' | 'monthly';
type Earnings = z.output<typeof earnings>;
type Users = z.output<typeof ownerUserList>;

const isoDate = (instant: number) => new Date(instant).toISOString().slice(0, 10);

async function insert({ sql }: Fixture, table: string, row: Record<string, Value>): Promise<number> {
	const names = Object.keys(row);
	return sql.count(
		`insert into ${table} (${names.join(', ')}) values (${names.map(() => '?').join(', ')}) returning id`,
		...Object.values(row)
	);
}

/** Many rows in one transaction. */
async function together({ sql }: Fixture, work: () => Promise<void>): Promise<void> {
	await sql.run('begin');
	await work();
	await sql.run('commit');
}

/** A session as the database holds it, in whatever state; no job knows of it. */
async function addSession(
	fixture: Fixture,
	router: number,
	different: Record<string, Value>
): Promise<number> {
	return insert(fixture, 'sessions', {
		account_id: 1,
		router_id: router,
		status: 'expired',
		duration: '1h',
		duration_seconds: 3600,
		payment_method: 'mobile_money',
		phone: '+256772123456',
		amount_minor: 500,
		currency: 'UGX',
		ssid: 'Net',
		payment_due_at: 0,
		created_at: 0,
		updated_at: 0,
		...different
	});
}

let passes = 1_000_000;

/** A running pass without a password. */
const addPass = (fixture: Fixture, router: number, startsAt: number, endsAt: number): Promise<number> =>
	insert(fixture, 'passes', {
		id: (passes += 1),
		router_id: router,
		access_kind: 'wpa_personal_per_client',
		max_devices: 1,
		starts_at: startsAt,
		ends_at: endsAt,
		created_at: 0,
		updated_at: 0
	});

let references = 0;

async function addPayment(fixture: Fixture, router: number, different: Record<string, Value>): Promise<void> {
	references += 1;
	await insert(fixture, 'payments', {
		session_id: await addSession(fixture, router, {}),
		account_id: 1,
		operator: 'sandbox',
		payment_method: 'mobile_money',
		reference: `owner-test-${references}`,
		amount_minor: 500,
		currency: 'UGX',
		phone: '+256772123456',
		status: 'success',
		submit_state: 'accepted',
		applied: 1,
		commission_basis_points: 1000,
		expires_at: 0,
		created_at: 0,
		updated_at: 0,
		...different
	});
}

async function earningsOf(api: Api, query = ''): Promise<Earnings> {
	const { status, body } = await api.send('GET', `/v1/owner/earnings${query}`);
	expect(status, JSON.stringify(body)).toBe(200);
	return earnings.parse(body);
}

async function usersOf(api: Api, query = ''): Promise<Users & { link: string | null }> {
	const { status, headers, body } = await api.send('GET', `/v1/owner/users${query}`);
	expect(status, JSON.stringify(body)).toBe(200);
	return { ...ownerUserList.parse(body), link: headers.get('link') };
}

const EMPTY = { sessions: 0, gross: 0, refunds: 0, fees: 0, net: 0 };

/** [currency, its decimals, zone of reports, first and last day; the clocks change in between] */
const REPORTS = [
	['UGX', 0, 'Africa/Kampala', '2026-01-20', '2026-04-12'],
	['KES', 2, 'Europe/Berlin', '2026-03-16', '2026-04-12'],
	['KES', 2, 'America/New_York', '2026-10-20', '2026-11-10']
] as const;

describe.each(DATABASES)('on %s', (database) => {
	describe.each(REPORTS)('earnings in %s with %i decimals by the clocks of %s', (...report) => {
		const [currency, decimals, timezone, first, last] = report;
		const fixture = useFixture({ database, env: { CURRENCY: currency, REPORT_TIMEZONE: timezone } });
		const dates = new Intl.DateTimeFormat('sv-SE', { timeZone: timezone, dateStyle: 'short' });
		const dateAt = (instant: number) => dates.format(instant);
		const major = (minor: bigint) => Number(minor) / 10 ** decimals;

		interface Paid {
			amount_minor: number;
			commission_basis_points: number;
			paid_at: number;
			refunded_at: number | null;
		}
		let owner: NewKey;
		let booked: Paid[];

		/** First moment of a day, found by looking at the clocks of the zone minute by minute. */
		function midnight(date: string): number {
			let instant = Date.parse(`${date}T00:00:00Z`) - 15 * hour;
			while (dateAt(instant) < date) instant += 15 * minute;
			expect([dateAt(instant - 1), dateAt(instant)]).toEqual([isoDate(Date.parse(date) - day), date]);
			return instant;
		}

		beforeAll(async () => {
			owner = await fixture().newKey({ role: 'owner' });
			const stranger = await fixture().newKey({ role: 'owner' });
			const own = [
				await addRouter(fixture(), owner.accountId),
				await addRouter(fixture(), owner.accountId, { disabled_at: 1 })
			];
			const foreign = await addRouter(fixture(), stranger.accountId);
			const next = random(20_261_121);
			const [from, until] = [Date.parse(first) - 3 * day, Date.parse(last) + 4 * day];
			booked = [];
			await together(fixture(), async () => {
				for (let count = 0; count < 400; count += 1) {
					const paid: Paid = {
						amount_minor: 1 + next(next(4) === 0 ? 10 ** 9 : 3000),
						commission_basis_points: [0, 1, 333, 1000, 1250, 10_000][next(6)] ?? 0,
						paid_at: from + next((until - from) / 1000) * 1000 + next(1000),
						refunded_at: null
					};
					if (next(5) === 0) paid.refunded_at = paid.paid_at + next(20) * day + next(day);
					const router = own[next(2)] ?? 0;
					const kind = next(8);
					if (kind === 0) {
						await addPayment(fixture(), foreign, { ...paid, currency });
					} else if (kind === 1) {
						// Paid, but it bought nothing: the money goes back and is nobody's earning.
						const status = paid.refunded_at === null ? 'refund_pending' : 'refunded';
						await addPayment(fixture(), router, { ...paid, currency, status, applied: 0 });
					} else if (kind === 2) {
						const unpaid = { status: ['pending', 'failed', 'expired'][next(3)] ?? '', paid_at: null };
						await addPayment(fixture(), router, {
							...paid,
							currency,
							...unpaid,
							refunded_at: null,
							applied: 0
						});
					} else {
						const status =
							paid.refunded_at !== null
								? 'refunded'
								: (['success', 'refund_pending', 'refund_failed'][next(3)] ?? '');
						await addPayment(fixture(), router, { ...paid, currency, status });
						booked.push(paid);
					}
				}
				// What was paid before the installation changed its currency cannot be added up.
				await addPayment(fixture(), own[0] ?? 0, { currency: 'ZMW', paid_at: Date.parse(first) + day });
			});
		});

		/** First day of the bucket that a date lies in. */
		function startOf(period: Period, date: string): string {
			if (period === 'daily') return date;
			if (period === 'monthly') return `${date.slice(0, 7)}-01`;
			const weekday = (new Date(date).getUTCDay() + 6) % 7;
			return isoDate(Date.parse(date) - weekday * day);
		}

		/** The report, made by adding up one payment after the other. */
		function bruteForce(period: Period, from: string, to: string): Pick<Earnings, 'total' | 'data'> {
			interface Sums {
				end: string;
				sessions: number;
				gross: bigint;
				refunds: bigint;
				fees: bigint;
			}
			const none = () => ({ end: '', sessions: 0, gross: 0n, refunds: 0n, fees: 0n });
			const buckets = new Map<string, Sums>();
			for (let date = startOf(period, from); ; date = isoDate(Date.parse(date) + day)) {
				const start = startOf(period, date);
				if (start > to) break;
				const sums = buckets.get(start) ?? none();
				buckets.set(start, { ...sums, end: date });
			}
			for (const payment of booked) {
				const amount = BigInt(payment.amount_minor);
				const bucket = buckets.get(startOf(period, dateAt(payment.paid_at)));
				if (bucket) {
					bucket.sessions += 1;
					bucket.gross += amount;
					bucket.fees += (amount * BigInt(payment.commission_basis_points) + 5000n) / 10_000n;
				}
				if (payment.refunded_at === null) continue;
				const back = buckets.get(startOf(period, dateAt(payment.refunded_at)));
				if (back) back.refunds += amount;
			}
			const figures = ({ sessions, gross, refunds, fees }: Sums) => ({
				sessions,
				gross: major(gross),
				refunds: major(refunds),
				fees: major(fees),
				net: major(gross - refunds - fees)
			});
			const total = none();
			for (const bucket of buckets.values()) {
				total.sessions += bucket.sessions;
				total.gross += bucket.gross;
				total.refunds += bucket.refunds;
				total.fees += bucket.fees;
			}
			return {
				total: figures(total),
				data: [...buckets].map(([start, sums]) => ({ start, end: sums.end, ...figures(sums) }))
			};
		}

		it.each(['daily', 'weekly', 'monthly'] as const)(
			'%s: equal the sum of the payments, to the minor unit',
			async (period) => {
				const expected = bruteForce(period, first, last);
				const body = await earningsOf(owner.api, `?period=${period}&from=${first}&to=${last}`);
				expect(body).toEqual({
					period,
					currency,
					timezone,
					from: expected.data[0]?.start,
					to: expected.data.at(-1)?.end,
					...expected
				});
				expect(body.total.sessions).toBeGreaterThan(50);
				expect(body.total.refunds).toBeGreaterThan(0);
				expect(body.data.every(({ start }) => start.startsWith('20'))).toBe(true);
			}
		);

		it.each([first, '2026-03-29', '2026-03-30', '2026-11-01', '2026-11-02'])(
			'%s begins with its first moment, and the day before ends there',
			async (date) => {
				const { accountId, api } = await fixture().newKey({ role: 'owner' });
				const router = await addRouter(fixture(), accountId);
				const start = midnight(date);
				const before = isoDate(Date.parse(date) - day);
				const paid = { currency, commission_basis_points: 0 };
				await addPayment(fixture(), router, { ...paid, paid_at: start - 1, amount_minor: 100 });
				await addPayment(fixture(), router, { ...paid, paid_at: start, amount_minor: 300 });
				const refund = { ...paid, paid_at: 0, status: 'refunded' };
				await addPayment(fixture(), router, { ...refund, refunded_at: start - 1, amount_minor: 10 });
				await addPayment(fixture(), router, { ...refund, refunded_at: start, amount_minor: 30 });
				const { data } = await earningsOf(api, `?from=${before}&to=${date}`);
				const figures = (gross: bigint, refunds: bigint) => ({
					sessions: 1,
					gross: major(gross),
					refunds: major(refunds),
					fees: 0,
					net: major(gross - refunds)
				});
				expect(data).toEqual([
					{ start: before, end: before, ...figures(100n, 10n) },
					{ start: date, end: date, ...figures(300n, 30n) }
				]);
			}
		);

		it('without a span are the last 30 days, 12 weeks or 12 months, empty ones included', async () => {
			const { api } = await fixture().newKey({ role: 'owner' });
			const today = dateAt(fixture().server.now());
			for (const [period, count] of [
				['daily', 30],
				['weekly', 12],
				['monthly', 12]
			] as const) {
				const body = await earningsOf(api, `?period=${period}`);
				expect(body).toMatchObject({ period, from: body.data[0]?.start, to: body.data.at(-1)?.end });
				expect(body.data).toHaveLength(count);
				expect(body.data.at(-1)?.start).toBe(startOf(period, today));
				expect(body.total).toEqual(EMPTY);
				for (const [index, { start, end, ...figures }] of body.data.entries()) {
					expect(figures).toEqual(EMPTY);
					expect(startOf(period, end)).toBe(start);
					const following = body.data[index + 1];
					if (following) expect(Date.parse(following.start) - Date.parse(end)).toBe(day);
				}
			}
			expect(await earningsOf(api)).toEqual(await earningsOf(api, '?period=daily'));
		});
	});

	describe('earnings', () => {
		const fixture = useFixture({ database });

		it('follow a purchase at once, with the commission of the day it was paid', async () => {
			const { newKey, server } = fixture();
			const { accountId, api } = await newKey({ role: 'owner' });
			const router = await addRouter(fixture(), accountId, { price_minor: 1005 });
			await fixture().buy({ router_id: router, duration: '1h' });
			const once = { sessions: 1, gross: 1005, refunds: 0, fees: 101, net: 904 };
			expect((await earningsOf(api)).data.at(-1)).toMatchObject(once);
			server.env['COMMISSION_BASIS_POINTS'] = '2000';
			await server.restart();
			expect((await earningsOf(api)).total).toEqual(once);
			await fixture().buy({ router_id: router, duration: '2h' });
			expect((await earningsOf(api)).total).toEqual({
				sessions: 2,
				gross: 3015,
				refunds: 0,
				fees: 101 + 402,
				net: 3015 - 503
			});
		});

		it('do not change when the buyer ends the session, or the price changes', async () => {
			const { accountId, api } = await fixture().newKey({ role: 'owner' });
			const router = await addRouter(fixture(), accountId);
			const { session } = await fixture().buy({ router_id: router });
			const before = await earningsOf(api);
			await fixture().api.endSession(session.id);
			await api.send('PUT', `/v1/owner/routers/${router}/price`, { body: { price: 9000 } });
			expect(await earningsOf(api)).toEqual(before);
			expect(before.total).toMatchObject({ sessions: 1, gross: 500 });
		});

		it('are the applied payments also while a gateway has yet to let the buyer in', async () => {
			const { accountId, api } = await fixture().newKey({ role: 'owner' });
			const router = await addRouter(fixture(), accountId);
			const { session } = await fixture().buy({ router_id: router });
			const sold = await earningsOf(api);
			expect(sold.total).toMatchObject({ sessions: 1, gross: 500 });
			const wait = 'update sessions set status = ?, starts_at = null, expires_at = null where id = ?';
			await fixture().sql.run(wait, 'activating', session.id);
			expect(await earningsOf(api)).toEqual(sold);
			await fixture().sql.run('update payments set applied = 0 where session_id = ?', session.id);
			expect((await earningsOf(api)).total).toEqual(EMPTY);
		});

		it.each([
			['period=weekly&from=2026-11-18&to=2026-11-24', '2026-11-16', '2026-11-29', 2],
			['period=weekly&from=2026-11-16&to=2026-11-22', '2026-11-16', '2026-11-22', 1],
			['period=monthly&from=2026-01-31&to=2026-02-01', '2026-01-01', '2026-02-28', 2],
			['period=daily&from=2024-02-29&to=2024-02-29', '2024-02-29', '2024-02-29', 1],
			['from=2024-01-01&to=2024-12-31', '2024-01-01', '2024-12-31', 366],
			['to=2024-03-01', '2024-02-01', '2024-03-01', 30],
			['period=weekly&to=1970-01-01', '1969-10-13', '1970-01-04', 12],
			['from=9998-12-31&to=9998-12-31', '9998-12-31', '9998-12-31', 1]
		])('?%s are those from %s to %s', async (query, from, to, count) => {
			const body = await earningsOf(fixture().owner, `?${query}`);
			expect(body).toMatchObject({ from, to });
			expect(body.data).toHaveLength(count);
			expect([body.data[0]?.start, body.data.at(-1)?.end]).toEqual([from, to]);
		});

		it.each([
			['period=yearly', 'period', 'unknown_value'],
			['period=', 'period', 'unknown_value'],
			['from=2026-02-30', 'from', 'invalid_format'],
			['from=2026-11-21T00:00:00Z', 'from', 'invalid_format'],
			['to=0000-00-00', 'to', 'invalid_format'],
			['from=1969-12-31&to=1970-01-02', 'from', 'out_of_range'],
			['to=0001-01-01', 'to', 'out_of_range'],
			['to=9999-12-31', 'to', 'out_of_range'],
			['from=2026-11-02&to=2026-11-01', 'from', 'out_of_range'],
			['from=2024-01-01&to=2025-01-01', 'from', 'out_of_range'],
			['from=1970-01-01', 'from', 'out_of_range'],
			['period=daily&period=weekly', 'period', 'duplicate']
		])('400 validation_failed for ?%s: %s %s', async (query, name, code) => {
			const path = `/v1/owner/earnings?${query}`;
			const { errors } = await fixture().owner.refused('400 validation_failed', 'GET', path);
			expect(errors).toEqual([expect.objectContaining({ in: 'query', pointer: `/${name}`, code })]);
		});
	});

	describe('users', () => {
		const fixture = useFixture({ database });

		describe('of an owner with many sessions', () => {
			let owner: NewKey;
			let sessions: { session_id: number; starts_at: number; status: string; group: string }[];

			beforeAll(async () => {
				owner = await fixture().newKey({ role: 'owner' });
				const stranger = await fixture().newKey({ role: 'owner' });
				const routers = [
					await addRouter(fixture(), owner.accountId, { name: 'One' }),
					await addRouter(fixture(), owner.accountId, { name: 'Two', disabled_at: 1 })
				];
				const foreign = await addRouter(fixture(), stranger.accountId);
				const next = random(5);
				const now = fixture().server.now();
				sessions = [];
				await together(fixture(), async () => {
					for (let count = 0; count < 90; count += 1) {
						// Few moments, so that many sessions share theirs.
						const starts_at = now - next(20) * hour;
						const status = ['active', 'expired', 'ended', 'pending_payment', 'cancelled', 'activating'][
							next(6)
						];
						const begun = status === 'active' || status === 'expired' || status === 'ended';
						// Half of the active ones are over by now, and no job has noticed.
						const expires_at = starts_at + (next(2) === 0 ? 40 : 1) * hour;
						const router = next(10) === 0 ? foreign : (routers[next(2)] ?? 0);
						const pass = status === 'active' ? await addPass(fixture(), router, starts_at, expires_at) : null;
						const session_id = await addSession(fixture(), router, {
							status: status ?? '',
							phone: numberEnding('123'),
							...(begun ? { starts_at, expires_at } : {}),
							...(status === 'active' ? { payment_id: 1, pass_id: pass } : {}),
							...(status === 'ended' ? { ended_at: starts_at + minute } : {}),
							...(status === 'expired' ? { ended_at: expires_at } : {})
						});
						if (!begun || router === foreign) continue;
						const runs = status === 'active' && expires_at > now;
						sessions.push({
							session_id,
							starts_at,
							status: status === 'active' && !runs ? 'expired' : status,
							group: runs ? 'active' : 'expired'
						});
					}
				});
				sessions.sort((a, b) => b.starts_at - a.starts_at || b.session_id - a.session_id);
				expect(new Set(sessions.map(({ group, status }) => `${group} ${status}`)).size).toBe(3);
				expect(sessions.length).toBeGreaterThan(25);
			});

			const expected = (group?: string) =>
				sessions
					.filter((session) => group === undefined || session.group === group)
					.map((session) => ({ ...session, starts_at: new Date(session.starts_at).toISOString() }));

			const seen = ({ data }: Users) =>
				data.map(({ session_id, starts_at, status, group }) => ({ session_id, starts_at, status, group }));

			const counts = () => ({
				active: sessions.filter(({ group }) => group === 'active').length,
				expired: sessions.filter(({ group }) => group === 'expired').length
			});

			it.each([undefined, 'active', 'expired'])(
				'are those that have begun, newest first, then by id; of the group %s',
				async (group) => {
					const list = await usersOf(owner.api, `?limit=100${group ? `&status=${group}` : ''}`);
					expect(seen(list)).toEqual(expected(group));
					expect(list).toMatchObject({ has_more: false, next_cursor: null, counts: counts() });
				}
			);

			it('are right at the moment of reading, though no job knows of them', async () => {
				const { data } = await usersOf(owner.api, '?limit=100');
				for (const user of data) {
					if (user.status !== 'expired') continue;
					expect(user).toMatchObject({ ended_at: user.expires_at, remaining_seconds: 0 });
				}
				const stale = await fixture().sql.count(
					`select count(*) from sessions where status = 'active' and expires_at <= ?`,
					fixture().server.now()
				);
				expect(stale).toBeGreaterThan(0);
			});

			it.each([
				[1, undefined],
				[7, undefined],
				[7, 'expired'],
				[3, 'active'],
				[20, undefined]
			])('pages of %i joined are the whole list, of the group %s too', async (limit, group) => {
				const filter = group ? `&status=${group}` : '';
				const found: unknown[] = [];
				let query = `?limit=${limit}${filter}`;
				for (;;) {
					const page = await usersOf(owner.api, query);
					expect(page.counts).toEqual(counts());
					found.push(...seen(page));
					expect(page.has_more).toBe(page.next_cursor !== null);
					if (page.next_cursor === null) break;
					expect(page.data).toHaveLength(limit);
					const [, next = ''] = /^<(\?[^>]+)>; rel="next"$/.exec(page.link ?? '') ?? [];
					expect(next).toContain(page.next_cursor);
					query = next;
				}
				expect(found).toEqual(expected(group));
			});

			it('are twenty without a limit', async () => {
				expect((await usersOf(owner.api)).data).toHaveLength(20);
			});

			it('a page does not shift when a session begins meanwhile', async () => {
				const one = await usersOf(owner.api, '?limit=5');
				const router = one.data[0]?.router_id ?? 0;
				const starts_at = fixture().server.now() + minute;
				const id = await addSession(fixture(), router, { starts_at, expires_at: starts_at + hour });
				try {
					const two = await usersOf(owner.api, `?limit=5&cursor=${one.next_cursor}`);
					expect([...seen(one), ...seen(two)]).toEqual(expected().slice(0, 10));
				} finally {
					await fixture().sql.run('delete from sessions where id = ?', id);
				}
			});

			it('400 invalid_cursor for another filter, another account, or what is no cursor', async () => {
				const { next_cursor: cursor } = await usersOf(owner.api, '?limit=5');
				const { api: other } = await fixture().newKey({ role: 'owner' });
				for (const [api, query] of [
					[owner.api, `status=active&cursor=${cursor}`],
					[owner.api, `status=expired&cursor=${cursor}`],
					[other, `cursor=${cursor}`],
					[owner.api, `cursor=${cursor?.slice(0, -2)}`],
					[owner.api, 'cursor='],
					[owner.api, 'cursor=x']
				] as const) {
					await api.refused('400 invalid_cursor', 'GET', `/v1/owner/users?${query}`);
				}
				expect((await usersOf(owner.api, `?limit=2&cursor=${cursor}`)).data).toHaveLength(2);
			});
		});

		it('show a purchase with exactly the documented object: the number masked, no password', async () => {
			const { newKey, server } = fixture();
			const { accountId, api } = await newKey({ role: 'owner' });
			const router = await addRouter(fixture(), accountId, { name: 'Kisementi Cafe' });
			const { session } = await fixture().buy({ router_id: router, duration: '2h' });
			const answer = await api.send('GET', '/v1/owner/users');
			const list = ownerUserList.parse(answer.body);
			const [user] = list.data;
			expect(list).toEqual({
				data: [
					{
						session_id: session.id,
						router_id: router,
						router_name: 'Kisementi Cafe',
						status: 'active',
						group: 'active',
						phone_masked: `+256*****${session.phone.slice(-4)}`,
						duration: '2h',
						amount: 1000,
						currency: 'UGX',
						starts_at: session.starts_at,
						expires_at: session.expires_at,
						ended_at: null,
						remaining_seconds: user?.remaining_seconds
					}
				],
				has_more: false,
				next_cursor: null,
				counts: { active: 1, expired: 0 }
			});
			expect(user?.starts_at).toMatch(INSTANT);
			expect(user?.remaining_seconds).toBeGreaterThan(7100);
			expect(user?.remaining_seconds).toBeLessThanOrEqual(7200);
			for (const secret of [session.phone, session.phone.slice(-6), session.password ?? 'none', 'password']) {
				expect(answer.text).not.toContain(secret);
			}
			await server.advance(2 * hour);
			expect(await usersOf(api)).toMatchObject({
				data: [{ status: 'expired', group: 'expired', ended_at: session.expires_at, remaining_seconds: 0 }],
				counts: { active: 0, expired: 1 }
			});
			expect((await usersOf(api, '?status=active')).data).toEqual([]);
		});

		it('show what was ended early in the group expired, with its own status', async () => {
			const { newKey, api: buyer } = fixture();
			const { accountId, api } = await newKey({ role: 'owner' });
			const { session } = await fixture().buy({ router_id: await addRouter(fixture(), accountId) });
			const ended = await buyer.endSession(session.id);
			expect(await usersOf(api, '?status=expired')).toMatchObject({
				data: [{ status: 'ended', group: 'expired', ended_at: ended.ended_at, remaining_seconds: 0 }],
				counts: { active: 0, expired: 1 }
			});
		});

		it.each([
			['status=ended', 'status', 'unknown_value'],
			['limit=0', 'limit', 'out_of_range'],
			['limit=101', 'limit', 'out_of_range'],
			['limit=x', 'limit', 'invalid_format'],
			['status=active&status=active', 'status', 'duplicate']
		])('400 validation_failed for ?%s: %s %s', async (query, name, code) => {
			const path = `/v1/owner/users?${query}`;
			const { errors } = await fixture().owner.refused('400 validation_failed', 'GET', path);
			expect(errors).toEqual([expect.objectContaining({ in: 'query', pointer: `/${name}`, code })]);
		});
	});

	describe('the price', () => {
		const fixture = useFixture({ database });
		let owner: NewKey;
		let router: number;

		beforeEach(async () => {
			owner = await fixture().newKey({ role: 'owner' });
			router = await addRouter(fixture(), owner.accountId);
		});

		const pathOf = (id: number | string) => `/v1/owner/routers/${id}/price`;
		const set = (api: Api, price: unknown, id: number | string = router) =>
			api.send('PUT', pathOf(id), { body: { price } });
		const history = (id = router) =>
			fixture().sql.all(
				`select old_price_minor, new_price_minor, currency, account_id, api_key_id, changed_at
					from price_changes where router_id = ? order by id`,
				id
			);
		const keyIdOf = ({ accountId }: NewKey) =>
			fixture().sql.count('select id from api_keys where account_id = ?', accountId);

		it('is set at once, and kept with who changed it and when', async () => {
			const before = await fixture().api.getRouter(router);
			const started = fixture().server.now();
			const { status, body } = await set(owner.api, 750);
			const ended = fixture().server.now();
			const after = await fixture().api.getRouter(router);
			expect([status, body]).toEqual([200, after]);
			expect(after).toEqual({ ...before, price: 750, updated_at: after.updated_at });
			const [change, ...others] = await history();
			expect(others).toEqual([]);
			expect(change).toEqual({
				old_price_minor: 500,
				new_price_minor: 750,
				currency: 'UGX',
				account_id: owner.accountId,
				api_key_id: await keyIdOf(owner),
				changed_at: Date.parse(after.updated_at)
			});
			expect(change?.['changed_at']).toBeGreaterThanOrEqual(started);
			expect(change?.['changed_at']).toBeLessThanOrEqual(ended);
		});

		it('needs no Idempotency-Key: sent twice it is one change, and a bad key is nobody’s business', async () => {
			for (const key of ['a', 'a', 'not a key']) {
				const request = { body: { price: 650 }, headers: { 'idempotency-key': key } };
				const { status, headers } = await owner.api.send('PUT', pathOf(router), request);
				expect([status, headers.has('idempotent-replayed')]).toEqual([200, false]);
			}
			expect(await history()).toHaveLength(1);
		});

		it('that it already has is no change', async () => {
			const before = await fixture().api.getRouter(router);
			expect(await set(owner.api, 500)).toMatchObject({ status: 200, body: before });
			expect(await history()).toEqual([]);
		});

		it('is what a new order costs; open orders and running sessions keep theirs', async () => {
			const { api } = fixture();
			const { session: running } = await fixture().buy({ router_id: router });
			const open = await api.createSession({ router_id: router, phone: numberEnding('008') });
			await set(owner.api, 2000);
			expect(await api.getSession(running.id)).toMatchObject({ status: 'active', amount: 500 });
			expect(await api.getSession(open.id)).toMatchObject({ amount: 500 });
			expect(await api.getPayment((await api.pay(open)).id, 20)).toMatchObject({
				applied: true,
				amount: 500
			});
			expect(await api.createSession({ router_id: router, duration: '30m' })).toMatchObject({ amount: 1000 });
			const { data } = await api.listRouters('lat=0.3377&lon=32.5878&radius=1&limit=100');
			expect(data.find(({ id }) => id === router)?.price).toBe(2000);
		});

		it.each([1, 999_999, 1_000_000])('may be %d', async (price) => {
			expect(await set(owner.api, price)).toMatchObject({ status: 200, body: { price } });
		});

		it.each([
			[0, 'out_of_range'],
			[-0.001, 'out_of_range'],
			[1_000_001, 'out_of_range'],
			[500.5, 'invalid_format'],
			['500', 'invalid_type'],
			[null, 'invalid_type'],
			[undefined, 'required']
		])('may not be %j: %s', async (price, code) => {
			const before = await recorded(fixture());
			const request = { body: { price } };
			const path = pathOf(router);
			const { errors } = await owner.api.refused('400 validation_failed', 'PUT', path, request);
			expect(errors).toEqual([expect.objectContaining({ in: 'body', pointer: '/price', code })]);
			expect(await recorded(fixture())).toEqual(before);
		});

		it('may not be a number that JSON cannot hold, nor come with other fields', async () => {
			const path = pathOf(router);
			const infinite = { body: '{"price":1e999}' };
			expect((await owner.api.send('PUT', path, infinite)).status).toBe(400);
			const request = { body: { price: 700, currency: 'KES' } };
			const { errors } = await owner.api.refused('400 validation_failed', 'PUT', path, request);
			expect(errors).toMatchObject([{ pointer: '/currency', code: 'unknown_field' }]);
			expect(await history()).toEqual([]);
		});

		it('is changed by any owner key of that account, which is the one noted', async () => {
			const second = await fixture().newKey({ accountId: owner.accountId, role: 'owner' });
			expect((await set(second.api, 600)).status).toBe(200);
			const [change] = await history();
			const newest = await fixture().sql.count(
				'select max(id) from api_keys where account_id = ?',
				owner.accountId
			);
			expect(change).toMatchObject({ account_id: owner.accountId, api_key_id: newest });
		});

		it('is changed by an admin at any router, and the log names the admin', async () => {
			const admin = await fixture().newKey({ role: 'admin' });
			const disabled = await addRouter(fixture(), owner.accountId, { disabled_at: 1 });
			for (const id of [router, disabled]) {
				expect(await set(admin.api, 900, id)).toMatchObject({ status: 200, body: { id, price: 900 } });
				expect(await history(id)).toMatchObject([
					{ account_id: admin.accountId, api_key_id: await keyIdOf(admin) }
				]);
			}
		});

		it('of a disabled router is set by its owner; for others it is not there', async () => {
			const disabled = await addRouter(fixture(), owner.accountId, { disabled_at: 1 });
			expect((await set(owner.api, 900, disabled)).status).toBe(200);
			const { api: other } = await fixture().newKey({ role: 'owner' });
			const request = { body: { price: 1 } };
			await other.refused('404 router_not_found', 'PUT', pathOf(disabled), request);
		});

		it.each(['0', '-1', '9007199254740993'])('404 router_not_found for the router %s', async (id) => {
			for (const api of [owner.api, fixture().admin]) {
				await api.refused('404 router_not_found', 'PUT', pathOf(id), { body: { price: 1 } });
			}
		});

		it('errors in path and body are reported before the router’s owner is checked', async () => {
			const bad = { body: { price: 0 } };
			for (const id of [3, 999_999]) {
				await owner.api.refused('400 validation_failed', 'PUT', pathOf(id), bad);
				await owner.api.refused('400 validation_failed', 'PUT', pathOf(id), { body: { price: 0.5 } });
			}
			const problem = await owner.api.refused('400 validation_failed', 'PUT', pathOf('abc'), {
				body: { price: 5 }
			});
			expect(problem.errors).toMatchObject([{ in: 'path', pointer: '/id', code: 'invalid_format' }]);
		});

		it('of ten changes at once keeps a history without a gap', async () => {
			const prices = Array.from({ length: 10 }, (_, index) => 1000 + index);
			const answers = await Promise.all(prices.map((price) => set(owner.api, price)));
			for (const { status } of answers) expect(status).toBe(200);
			const changes = await history();
			expect(changes.map((change) => change['new_price_minor']).sort()).toEqual(prices);
			let old: unknown = 500;
			for (const change of changes) {
				expect(change['old_price_minor']).toBe(old);
				old = change['new_price_minor'];
			}
			expect((await fixture().api.getRouter(router)).price).toBe(old);
		});
	});

	describe('the price in a currency with cents', () => {
		const fixture = useFixture({ database, env: { CURRENCY: 'KES', MAX_PRICE: '50' } });

		it('has as many decimals as the currency, and the installation’s highest price', async () => {
			const { owner } = fixture();
			const path = '/v1/owner/routers/3/price';
			for (const price of [12.5, 0.01, 19.99, 50]) {
				const { status, body } = await owner.send('PUT', path, { body: { price } });
				expect([status, (body as { price: number }).price]).toEqual([200, price]);
			}
			const minor = await fixture().sql.all('select new_price_minor from price_changes order by id');
			expect(minor.map((row) => row['new_price_minor'])).toEqual([1250, 1, 1999, 5000]);
			for (const [price, code] of [
				[12.345, 'invalid_format'],
				[0.001, 'invalid_format'],
				[50.01, 'out_of_range']
			] as const) {
				const { errors } = await owner.refused('400 validation_failed', 'PUT', path, { body: { price } });
				expect(errors).toMatchObject([{ pointer: '/price', code }]);
			}
			expect(await fixture().api.createSession({ duration: '15m' })).toMatchObject({ amount: 12.5 });
		});
	});
});
