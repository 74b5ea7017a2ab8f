/** The queries behind the owner's figures read the entries of their span, not those of all time. */
import { describe, expect, it } from 'vitest';
import * as earnings from '#lib/server/billing/earnings.ts';
import { PLANNERS, useQueryPlans } from '../../../support/database/query-plans.ts';

const ROWS = [
	`insert into routers (owner_account_id, name, ssid, security, lat, lon, price_minor, currency, status,
			payment_methods, min_duration, max_duration, created_at, updated_at)
		select 1 + i % 3, 'x', 'x', 'wpa', 0, 0, 500, 'UGX', 'online', '[]', '15m', '30d', 0, 0`,
	`insert into sessions (account_id, router_id, status, duration, duration_seconds, payment_method, phone,
			amount_minor, currency, ssid, payment_due_at, created_at, updated_at)
		select 1, i, 'ended', '1h', 3600, 'mtn_momo', '+256', 500, 'UGX', 'x', 0, i, i`,
	`insert into book_entries (kind, source_id, at, debit, credit, amount_minor, fee_debit, fee_credit, fee_minor, currency, owner_account_id,
			router_id, payment_method)
		select case i % 20 when 0 then 'refund' else 'payment' end, i, i, 'operator:sandbox', 'owner', 500, 'owner', 'platform', 50, 'UGX',
			1 + i % 3, i, 'mtn_momo'`,
	`insert into payments (session_id, account_id, operator, payment_method, reference, amount_minor, currency, phone,
			status, submit_state, applied, commission_basis_points, expires_at, created_at, updated_at, paid_at, refunded_at)
		select i, 1, 'sandbox', 'mtn_momo', 'reference-' || i, 500, 'UGX', '+256', 'success', 'accepted', 1, 1000, 0,
			i, i, i, case i % 20 when 0 then i + 5 end`
];

const sold = { accountId: 1, currency: 'UGX', from: 5_000, until: 5_030 };

describe.each(PLANNERS)('on %s', (kind) => {
	const plans = useQueryPlans(kind, ROWS);

	it.each([
		['sums by time', () => earnings.findSumsByQuarterHour(plans().db, sold)],
		['sums by offer and payment method', () => earnings.findSumsByPart(plans().db, sold, [5_010, 5_030])],
		[
			'sums of some hours',
			() => {
				const some = { ...sold, hours: [{ from: 5_010, until: 5_020 }] };
				return earnings.findSumsByPart(plans().db, some, [5_030]);
			}
		],
		['sums by router', () => earnings.findSumsByRouter(plans().db, sold, 10)],
		['all sums by router', () => earnings.findSumsByRouter(plans().db, sold)],
		['the list', () => earnings.findLines(plans().db, sold, { after: [5_020, 9, 1], limit: 3 })]
	])('%s: the entries of the owner are a range of the index of their times', async (_what, read) => {
		const plan = await plans().planOf(read);
		expect(plan).toMatch(/book_entries_owner/);
		expect(plan).not.toMatch(/Seq Scan|SCAN (book_entries|payments|sessions|routers)/);
	});

	it('the takings of all owners are a range of the index of sales', async () => {
		const plan = await plans().planOf(() => earnings.findTakings(plans().db, 'UGX', sold));
		expect(plan).toMatch(/book_entries_sales/);
		expect(plan).not.toMatch(/Seq Scan|SCAN book_entries"/);
	});
});
