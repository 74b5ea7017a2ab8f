/** The queries of an owner's customers and of the help for them: none reads all purchases, however long the history is. */
import { describe, expect, it } from 'vitest';
import * as sessions from '../../../../src/lib/server/billing/owner-sessions.ts';
import * as help from '../../../../src/lib/server/owner/help.ts';
import { PLANNERS, useQueryPlans } from '../../../support/database/query-plans.ts';

const ROWS = [
	`insert into routers (owner_account_id, name, ssid, security, lat, lon, price_minor, currency, status, payment_methods,
			min_duration, max_duration, created_at, updated_at)
		select i % 1000, 'Router', 'x', 'wpa', 0, 0, 500, 'UGX', 'online', '[]', '1m', '1d', 0, 0`,
	`insert into sessions (account_id, router_id, status, duration, duration_seconds, payment_method, phone,
			amount_minor, currency, ssid, payment_due_at, created_at, updated_at, starts_at, payment_id, pass_id,
			expires_at)
		select 1, i, case when i < 2000 then 'active' else 'ended' end, '1h', 3600, 'mtn_momo', '+25677000' || (1000 + i),
			500, 'UGX', 'x', 0, i, i, i, i, i, case when i < 1000 then 9000 else i + 1 end`,
	`insert into payments (session_id, account_id, operator, payment_method, reference, amount_minor, currency, phone,
			status, submit_state, provider_reference, commission_basis_points, expires_at, created_at, updated_at)
		select i, 1, 'sandbox', 'mtn_momo', 'reference-' || i, 500, 'UGX', '+25677000' || (1000 + i), 'success',
			'accepted', 'T' || i, 0, 0, i, i`,
	`insert into device_slots (pass_id, gateway_id, mac, bound_at, reported_at)
		select i, 1, '02:00:00:00:00:01', i, i`,
	`insert into admissions (pass_id, gateway_id, mac, created_at)
		select i, 1, '02:00:00:00:00:01', i`
];

/** Not the index of starts, which has the whole history. */
const BY_STATE = /sessions_(of_)?router\b/;
const BY_START = /sessions_router_started/;

const owner = { accountId: 57, now: 7_000 };
const span = { from: 5_000, until: 5_100, after: [5_050, 9] as const, limit: 9 };
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
		['running', BY_STATE, () => sessions.findRunningOfOwner(plans().db, owner, { after: null, limit: 9 })],
		['numbers of running', BY_STATE, () => sessions.countRunning(plans().db, owner)],
		['numbers of ended', BY_STATE, () => sessions.countEnded(plans().db, owner)],
		['ended', BY_START, () => sessions.findBegunOfOwner(plans().db, owner, { ...span, isOver: true })],
		['all begun', BY_START, () => sessions.findBegunOfOwner(plans().db, owner, { ...span, isOver: false })],
		['latest', BY_START, () => sessions.findLatestStart(plans().db, 57, 5_000)]
	])('the %s sessions are a range of an index', async (_what, index, read) => {
		const plan = await plans().planOf(read);
		expect(plan).toMatch(index);
		expect(plan).not.toMatch(/Seq Scan on sessions|SCAN sessions/);
	});

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

	it('the digits of a deleted number find nothing', async () => {
		const { db } = plans();
		await db.updateTable('payments').set({ phone: '+9990000000' }).where('id', '=', 57).execute();
		const digits = { ...clues, ending: '0000', paymentId: 0, sessionIds: [], transactions: ['none'] };
		expect(await help.searchSessionRows(db, digits, page)).toEqual([]);
	});
});
