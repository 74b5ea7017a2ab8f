/** Earnings by the API: sums, spans and time zones. */
import { describe, expect, it, beforeAll } from 'vitest';
import { addRouter } from '../../../support/pages/owners.ts';
import { DATABASES, useFixture, runsAllOn, type NewKey } from '../../../support/server/fixture.ts';
import { addPayment, earningsOf, EMPTY, together, type Earnings } from './rows.ts';
import { random } from '../../../support/random.ts';

describe.each(DATABASES)('earnings on %s', (database) => {
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

	it('of a sale and its refund come to 0, also when the refund is in a later period, at another rate', async () => {
		const { newKey, server, sql } = fixture();
		const { accountId, api } = await newKey({ role: 'owner' });
		const router = await addRouter(fixture(), accountId);
		const [kept, returned] = [{ amount_minor: 995 }, { amount_minor: 1005, commission_basis_points: 333 }];
		const at = (date: string) => Date.parse(`${date}T09:00:00Z`);
		await addPayment(fixture(), router, { ...kept, paid_at: at('2026-02-27') });
		const refunded = { status: 'refunded', refunded_at: at('2026-03-02') };
		await addPayment(fixture(), router, { ...returned, ...refunded, paid_at: at('2026-02-27') });
		server.env['COMMISSION_BASIS_POINTS'] = '5000';
		await server.restart();
		const { total, data } = await earningsOf(api, '?period=monthly&from=2026-02-01&to=2026-03-31');
		expect(data).toEqual([
			expect.objectContaining({ sessions: 2, gross: 2000, refunds: 0, fees: 100 + 33, net: 2000 - 133 }),
			expect.objectContaining({ sessions: 0, gross: 0, refunds: 1005, fees: -33, net: -1005 + 33 })
		]);
		expect(total).toEqual({ sessions: 2, gross: 2000, refunds: 1005, fees: 100, net: 895 });
		await sql.run('update payments set paid_at = ? where refunded_at is not null', at('2026-03-01'));
		const march = await earningsOf(api, '?period=weekly&from=2026-02-23&to=2026-03-08');
		expect(march.data).toEqual([
			expect.objectContaining({ sessions: 2, gross: 2000, fees: 133 }),
			expect.objectContaining({ sessions: 0, refunds: 1005, fees: -33 })
		]);
		await sql.run('delete from payments where refunded_at is null and amount_minor = 995');
		const all = await earningsOf(api, '?from=2026-02-23&to=2026-03-08');
		expect(all.total).toEqual({ sessions: 1, gross: 1005, refunds: 1005, fees: 0, net: 0 });
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

	if (!runsAllOn(database)) return;

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

/** GET /v1/owner/earnings against a sum of payment by payment, in several currencies and time zones (specification 1.8). */
describe('the report', () => {
	const minute = 60_000;
	const hour = 60 * minute;
	const day = 24 * hour;

	type Period = 'daily' | 'weekly' | 'monthly';

	const isoDate = (instant: number) => new Date(instant).toISOString().slice(0, 10);

	/** [currency, its decimals, zone of reports, first and last day; the clocks change in between] */
	const REPORTS = [
		['UGX', 0, 'Africa/Kampala', '2026-01-20', '2026-04-12'],
		['KES', 2, 'Europe/Berlin', '2026-03-16', '2026-04-12'],
		['KES', 2, 'America/New_York', '2026-10-20', '2026-11-10']
	] as const;

	describe.each(DATABASES)('on %s', (database) => {
		const reports = runsAllOn(database) ? REPORTS : REPORTS.slice(0, 1);
		describe.each(reports)('earnings in %s with %i decimals by the clocks of %s', (...report) => {
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
					if (!back) continue;
					back.refunds += amount;
					back.fees -= (amount * BigInt(payment.commission_basis_points) + 5000n) / 10_000n;
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
	});
});
