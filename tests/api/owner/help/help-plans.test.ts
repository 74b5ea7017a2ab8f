/** The queries of the owner's help: each finds its rows by an index, however many purchases there are. */
import { describe, expect, it } from 'vitest';
import * as help from '../../../../src/lib/server/owner/help.ts';
import { PLANNERS, useQueryPlans } from '../../../support/database/query-plans.ts';

const ROWS = [
	`insert into routers (owner_account_id, name, ssid, security, lat, lon, price_minor, currency, status, payment_methods,
			min_duration, max_duration, created_at, updated_at)
		select i % 1000, 'Router', 'x', 'wpa', 0, 0, 500, 'UGX', 'online', '[]', '1m', '1d', 0, 0`,
	`insert into sessions (account_id, router_id, status, duration, duration_seconds, payment_method, phone,
			amount_minor, currency, ssid, payment_due_at, created_at, updated_at)
		select 1, i, 'ended', '1h', 3600, 'mtn_momo', '+25677000' || (1000 + i), 500, 'UGX', 'x', 0, i, i`,
	`insert into payments (session_id, account_id, operator, payment_method, reference, amount_minor, currency, phone,
			status, submit_state, provider_reference, commission_basis_points, expires_at, created_at, updated_at)
		select i, 1, 'sandbox', 'mtn_momo', 'reference-' || i, 500, 'UGX', '+25677000' || (1000 + i), 'success',
			'accepted', 'T' || i, 0, 0, i, i`,
	`insert into device_slots (pass_id, gateway_id, mac, bound_at, reported_at)
		select i, 1, '02:00:00:00:00:01', i, i`,
	`insert into admissions (pass_id, gateway_id, mac, created_at)
		select i, 1, '02:00:00:00:00:01', i`
];

const page = { accountId: 57, span: { from: 1, to: 9_000 }, limit: 3 };
const clues = {
	ending: '2057',
	paymentId: 57,
	sessionIds: [2057],
	transactions: ['T3057'],
	operators: ['sandbox', 'mtn']
};

describe.each(PLANNERS)('on %s', (kind) => {
	const plans = useQueryPlans(kind, ROWS);

	it.each([
		['the search', () => help.searchSessionRows(plans().db, clues, page)],
		[
			'the list of a day',
			() => help.findNewestSessions(plans().db, { ...page, span: { from: 100, to: 2_000 } })
		],
		['one purchase', () => help.findSessionOfOwner(plans().db, 57, 57)],
		['payments', () => help.findChildren(plans().db, 'payments', 'session_id', [57, 58])],
		['devices', () => help.findChildren(plans().db, 'device_slots', 'pass_id', [57])],
		['admissions', () => help.findChildren(plans().db, 'admissions', 'pass_id', [57])]
	])('%s scans no table that grows', async (_what, read) => {
		const plan = await plans().planOf(read);
		const growing = 'sessions|payments|refunds|reviews|device_slots|admissions';
		expect(plan).not.toMatch(
			kind === 'sqlite' ? new RegExp(`"SCAN (${growing})`) : new RegExp(`Seq Scan on (${growing})`)
		);
	});

	it('the search finds each kind of clue once, and only at the routers of the owner', async () => {
		const found = await help.searchSessionRows(plans().db, clues, { ...page, limit: 9 });
		expect(found.map(({ id }) => id)).toEqual([3057, 2057, 1057, 57]);
		expect(await help.searchSessionRows(plans().db, clues, { ...page, accountId: 58 })).toEqual([]);
	});

	it('the digits of a deleted number find nothing', async () => {
		const { db } = plans();
		await db.updateTable('payments').set({ phone: '+9990000000' }).where('id', '=', 57).execute();
		const digits = { ...clues, ending: '0000', paymentId: 0, sessionIds: [], transactions: ['none'] };
		expect(await help.searchSessionRows(db, digits, page)).toEqual([]);
	});
});
