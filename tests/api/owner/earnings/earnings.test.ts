/** Earnings by the API: sums, spans and time zones. */
import { describe, expect, it, beforeAll } from 'vitest';
import { DAY_MS, HOUR_MS } from '#lib/domain/time.ts';
import type { Api } from '../../../support/api/api.ts';
import { addRouter, newOwner, type Owner } from '../../../support/pages/owners.ts';
import { DATABASES, useFixture, runsAllOn } from '../../../support/server/fixture.ts';
import {
	addPayment,
	addVoucher,
	amountAfter,
	earningsOf,
	EMPTY,
	rowsOf,
	sum,
	together,
	type Earnings
} from './rows.ts';
import { judgeBooks } from '../../../torture/books.ts';
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
		expect((await earningsOf(api)).total).toMatchObject(once);
		await fixture().buy({ router_id: router, duration: '2h' });
		expect((await earningsOf(api)).total).toMatchObject({
			sessions: 2,
			gross: 3015,
			refunds: 0,
			fees: 101 + 402,
			net: 3015 - 503
		});
	});

	it('of a sale and its refund come to 0, also when the refund is in a later period, at another rate', async () => {
		const { newKey, server } = fixture();
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
		expect(total).toMatchObject({ sessions: 2, gross: 2000, refunds: 1005, fees: 100, net: 895 });
		const march = await earningsOf(api, '?period=weekly&from=2026-02-23&to=2026-03-08');
		expect(march.data).toEqual([
			expect.objectContaining({ sessions: 2, gross: 2000, fees: 133 }),
			expect.objectContaining({ sessions: 0, refunds: 1005, fees: -33 })
		]);
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
		const takeBack = `update payments set applied = 0, status = 'refund_pending',
			refund_reason = 'provisioning_failed' where session_id = ?`;
		await fixture().sql.run(takeBack, session.id);
		expect((await earningsOf(api)).total).toEqual(EMPTY);
	});

	if (!runsAllOn(database)) return;

	it('without a span are the last 30 days, 12 weeks or 12 months, empty ones included', async () => {
		const { api } = await fixture().newKey({ role: 'owner' });
		for (const [query, period, count] of [
			['', 'daily', 30],
			['?period=weekly', 'weekly', 12],
			['?period=monthly', 'monthly', 12]
		] as const) {
			// In Kampala.
			const today = new Date(fixture().server.now() + 3 * HOUR_MS).toISOString().slice(0, 10);
			const { data, ...body } = await earningsOf(api, query);
			expect((data.at(-1)?.end ?? '') >= today).toBe(true);
			for (const [index, { start }] of data.slice(1).entries())
				expect(Date.parse(start) - Date.parse(data[index]?.end ?? '')).toBe(DAY_MS);
			expect(body).toMatchObject({ period, from: data[0]?.start, to: data.at(-1)?.end, total: EMPTY });
			expect(data.map(({ start, end, ...figures }) => start <= end && figures)).toEqual(
				Array(count).fill(EMPTY)
			);
		}
	});

	it.each([
		['period=weekly&from=2026-11-18&to=2026-11-24', '2026-11-16', '2026-11-29', 2],
		['to=2024-03-01', '2024-02-01', '2024-03-01', 30]
	])('?%s are those from %s to %s', async (query, from, to, count) => {
		const body = await earningsOf(fixture().owner, `?${query}`);
		expect(body).toMatchObject({ from, to });
		expect(body.data).toHaveLength(count);
		expect([body.data[0]?.start, body.data.at(-1)?.end]).toEqual([from, to]);
	});

	it.each([
		['period=yearly', 'period', 'unknown_value'],
		['from=2026-02-30', 'from', 'invalid_format'],
		['from=2026-11-21T00:00:00Z', 'from', 'invalid_format'],
		['from=1969-12-31&to=1970-01-02', 'from', 'out_of_range'],
		['to=9999-12-31', 'to', 'out_of_range'],
		['from=2026-11-02&to=2026-11-01', 'from', 'out_of_range'],
		['from=2024-01-01&to=2025-01-01', 'from', 'out_of_range'],
		['period=daily&period=weekly', 'period', 'duplicate']
	])('400 validation_failed for ?%s: %s %s', async (query, name, code) => {
		const path = `/v1/owner/earnings?${query}`;
		const { errors } = await fixture().owner.refused('400 validation_failed', 'GET', path);
		expect(errors).toEqual([expect.objectContaining({ in: 'query', pointer: `/${name}`, code })]);
	});
});

/**
 * Trade of a year, and of weeks in which clocks change, in several currencies and time zones (specification 1.8): the API,
 * the pages, the files and the books against a sum of payment by payment and voucher by voucher.
 */
describe('the report', () => {
	const hour = 60 * 60_000;
	const day = 24 * hour;

	type Period = 'daily' | 'weekly' | 'monthly';

	const isoDate = (instant: number) => new Date(instant).toISOString().slice(0, 10);

	/** [currency, its decimals, zone of reports, first and last day; the clocks change in between] */
	const REPORTS = [
		['UGX', 0, 'Africa/Kampala', '2025-01-01', '2025-12-31'],
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

			type Figure = Exclude<keyof Earnings['total'], 'net'>;
			/** What a payment, a refund or a voucher adds to the figures of its day. */
			type Change = { at: number } & Partial<Record<Figure, bigint>>;
			let owner: Owner;
			let api: Api;
			let booked: Change[];

			beforeAll(async () => {
				owner = await newOwner(fixture());
				({ api } = await fixture().newKey({ accountId: owner.accountId, role: 'owner' }));
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
					for (let count = 0; count < 600; count += 1) {
						const amount_minor = 1 + next(next(4) === 0 ? 10 ** 9 : 3000);
						const commission_basis_points = [0, 1, 333, 1000, 1250, 10_000][next(6)] ?? 0;
						const any = from + next((until - from) / 1000) * 1000 + next(1000);
						// Every third is beside a full hour, so that some are the first or the last of a day.
						const paid_at = count % 3 === 0 ? any - (any % hour) - next(2) : any;
						const later = paid_at + next(20) * day + next(day);
						const refunded_at = next(5) === 0 ? later : null;
						const paid = { amount_minor, commission_basis_points, paid_at, refunded_at, currency };
						const router = own[next(2)] ?? 0;
						const amount = BigInt(amount_minor);
						const fee = (amount * BigInt(commission_basis_points) + 5000n) / 10_000n;
						const kind = next(10);
						if (kind === 0) {
							await addPayment(fixture(), foreign, paid);
						} else if (kind === 1) {
							// Paid, but it bought nothing: the money goes back and is nobody's earning.
							const status = refunded_at === null ? 'refund_pending' : 'refunded';
							await addPayment(fixture(), router, { ...paid, status, applied: 0 });
						} else if (kind === 2) {
							const status = ['pending', 'failed', 'expired'][next(3)] ?? '';
							await addPayment(fixture(), router, {
								...{ ...paid, status, paid_at: null, refunded_at: null, applied: 0 }
							});
						} else if (kind < 5) {
							const status = ['sold', 'redeemed', 'void'][next(3)] ?? '';
							await addVoucher(fixture(), router, {
								...{ owner: owner.accountId, status, amount_minor, commission_basis_points, currency },
								...{ soldAt: paid_at, changedAt: later }
							});
							booked.push({ at: paid_at, cash: amount, commission: fee });
							if (status === 'void') booked.push({ at: later, cash: -amount, commission: -fee });
							if (status === 'redeemed') booked.push({ at: later, sessions: 1n, gross: amount });
						} else {
							const kept = ['success', 'refund_pending', 'refund_failed'][next(3)] ?? '';
							const status = refunded_at === null ? kept : 'refunded';
							await addPayment(fixture(), router, { ...paid, status });
							booked.push({ at: paid_at, sessions: 1n, gross: amount, fees: fee, owed: amount - fee });
							if (refunded_at !== null)
								booked.push({ at: refunded_at, refunds: amount, fees: -fee, owed: fee - amount });
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

			function computeFigures(changes: readonly Change[]): Earnings['total'] {
				const sumOf = (name: Figure) => changes.reduce((total, change) => total + (change[name] ?? 0n), 0n);
				const [gross, refunds, fees] = [sumOf('gross'), sumOf('refunds'), sumOf('fees')];
				return {
					...{ sessions: Number(sumOf('sessions')), gross: major(gross), refunds: major(refunds) },
					...{ fees: major(fees), net: major(gross - refunds - fees), owed: major(sumOf('owed')) },
					...{ cash: major(sumOf('cash')), commission: major(sumOf('commission')) }
				};
			}

			/** The report, made by adding up one change after the other. */
			function bruteForce(period: Period, from: string, to: string): Pick<Earnings, 'total' | 'data'> {
				const ends = new Map<string, string>();
				for (let date = startOf(period, from); ; date = isoDate(Date.parse(date) + day)) {
					const start = startOf(period, date);
					if (start > to) break;
					ends.set(start, date);
				}
				const changes = Map.groupBy(booked, ({ at }) => startOf(period, dateAt(at)));
				const buckets = [...ends].map(([start, end]) => ({ start, end, of: changes.get(start) ?? [] }));
				return {
					total: computeFigures(buckets.flatMap(({ of }) => of)),
					data: buckets.map(({ of, ...bucket }) => ({ ...bucket, ...computeFigures(of) }))
				};
			}

			it.each(['daily', 'weekly', 'monthly'] as const)(
				'%s: equal the sum of the payments, to the minor unit',
				async (period) => {
					const expected = bruteForce(period, first, last);
					const body = await earningsOf(api, `?period=${period}&from=${first}&to=${last}`);
					expect(body).toEqual({
						...{ period, currency, timezone, ...expected },
						...{ from: expected.data[0]?.start, to: expected.data.at(-1)?.end }
					});
					expect(body.total.sessions).toBeGreaterThan(50);
					expect(body.total.refunds).toBeGreaterThan(0);
					expect(body.data.every(({ start }) => start.startsWith('20'))).toBe(true);
					expect(await judgeBooks(fixture().server.databaseUrl)).toEqual([]);
				}
			);

			// The pages of the others are the same but for their decimals.
			if (currency === 'UGX')
				it('each month: the page and the file equal them', async () => {
					for (const { start, net, cash, gross, refunds } of bruteForce('monthly', first, last).data) {
						const query = `period=monthly&day=${start}`;
						const { text } = await owner.get(`/owner/money?${query}`);
						const shown = ['Your earnings', 'Cash in your till'].map((label) => amountAfter(text, label));
						expect([start, ...shown]).toEqual([start, net, cash]);
						const rows = rowsOf(await (await owner.raw(`/owner/money/export?${query}`)).text());
						expect([sum(rows, 'Amount'), sum(rows, 'Net')]).toEqual([gross - refunds, net]);
					}
				});
		});
	});
});
