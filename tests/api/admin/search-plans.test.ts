/** The queries behind the administrator's searches and the page of a router: no page costs more as the tables grow. */
import { describe, expect, it } from 'vitest';
import { type AuditFilter, searchAudit, usedActions } from '#lib/server/audit.ts';
import { REFUND_JOB, findSentAs } from '#lib/server/billing/payments.ts';
import { findSameReviews } from '#lib/server/billing/reviews.ts';
import {
	findNotConnected as notConnected,
	newestPayments,
	findOpenRefunds,
	findOpenReviews
} from '#lib/server/monitoring.ts';
import { findRouters } from '#lib/server/routers/routers.ts';
import { PLANNERS, useQueryPlans } from '../../support/database/query-plans.ts';

/** A scan of a whole table, which is not the small part of one that waits. */
const SCANS =
	/Seq Scan on (?!jobs)|"SCAN (?!reviews USING INDEX reviews_open_by_id|router_words VIRTUAL TABLE INDEX)/;
const SORTS = /sort|TEMP B-TREE/i;

const ROWS = [
	`insert into accounts (id, email, role, plan, status, created_at)
		select i, 'p' || i || '@x.example', 'owner', 'default', 'active', 1`,
	`insert into routers (id, owner_account_id, name, ssid, security, lat, lon, price_minor, currency, status,
			payment_methods, min_duration, max_duration, created_at, updated_at)
		select i, i / 10, 'Place ' || i, 'Net', 'wpa', 0, 0, 1, 'UGX', 'online', '[]', '30m', '1M', 1, 1`,
	`insert into sessions (id, account_id, router_id, status, duration, duration_seconds, payment_method, phone,
			amount_minor, currency, ssid, payment_id, payment_due_at, created_at, updated_at)
		select i, 1, i / 100, case i % 1000 when 0 then 'activating' else 'expired' end, '1h', 3600, 'mobile_money',
			'+256700000000', 1, 'UGX', 'Net', i, 1, 1, 1`,
	`insert into payments (id, session_id, account_id, operator, payment_method, reference, amount_minor, currency,
			phone, status, submit_state, commission_basis_points, expires_at, created_at, updated_at)
		select i, i, 1, 'mtn', 'mobile_money', 'r' || i, 1, 'UGX', '+256700000000', 'success', 'accepted', 0, 1, 1, 1`,
	`insert into refunds (id, payment_id, reference, amount_minor, currency, reason, status, submit_state, created_at,
			updated_at)
		select i, i, 'f' || i, 1, 'UGX', 'admin', 'succeeded', 'accepted', 1, 1`,
	`insert into reviews (id, payment_id, subject, reason, opened_at, resolved_at, resolved_by, decision, note)
		select i, i, 's' || i, 'refund_failed', 1, case when i % 1000 > 0 then 2 end,
			case when i % 1000 > 0 then 'ann' end, case when i % 1000 > 0 then 'dismiss' end,
			case when i % 1000 > 0 then 'ok' end`,
	`insert into audit_log (at, actor, action, payment_id, router_id, reason, before, after)
		select i, case i % 20 when 0 then 'ann' else 'reconciler' end,
			case i % 30 when 0 then 'router.disabled' else 'payment.success' end, i / 3, case i % 30 when 0 then i % 50 end, '', '{}', '{}'`
];

describe.each(PLANNERS)('on %s', (kind) => {
	const plans = useQueryPlans(kind, ROWS);

	const audit = (filter: Partial<AuditFilter>) => () =>
		searchAudit(
			plans().db,
			{ actor: null, action: null, paymentId: null, routerId: null, from: 1, to: 9_000, ...filter },
			{ after: [5_000, 7], limit: 3 }
		);

	it.each([
		['without a filter', 'audit_log_at', audit({})],
		['of people', 'audit_log_people', audit({ who: 'people' })],
		['of an action', 'audit_log_action', audit({ action: 'router.disabled' })],
		// Entries of a person are people's as well.
		['of an actor', 'audit_log_(?:actor|people)', audit({ actor: 'ann' })],
		['of a router', 'audit_log_router', audit({ routerId: 10 })]
	])('audit entries %s are one range of the index %s, without a sort', async (_what, index, read) => {
		const plan = await plans().planOf(read);
		expect(plan).toMatch(
			kind === 'sqlite'
				? new RegExp(`INDEX ${index} \\([^"]*at>\\? AND [(]?at[<,]`)
				: new RegExp(`Index (Only )?Scan( Backward)? using ${index} .*Index Cond[^}]*ROW\\(at`)
		);
		expect(plan).not.toMatch(SORTS);
	});

	it('audit entries of a payment are found by the index of payments', async () => {
		expect(await plans().planOf(audit({ paymentId: 100 }))).toContain('audit_log_payment');
	});

	it('the used actions are read from their index, without a scan', async () => {
		expect(await usedActions(plans().db)).toEqual(['payment.success', 'router.disabled']);
		const plan = await plans().planOf(() => usedActions(plans().db));
		expect(plan).toContain('audit_log_action');
		expect(plan).not.toMatch(/Seq Scan on audit_log|SCAN audit_log"/);
	});

	it.each([
		['all', {}],
		['of an owner', { ownerAccountId: 30 }],
		['by words', { name: 'place 4711' }],
		['by id', { name: '', ids: [4711] }]
	])('routers %s are found without a scan', async (_what, search) => {
		const { database, db, planOf } = plans();
		const find = () => findRouters({ ...database, db }, search, 20, 50);
		expect((await find()).length).toBeGreaterThan(0);
		expect(await planOf(find)).not.toMatch(SCANS);
	});

	it('the newest payments of a router are one range of an index, without a sort', async () => {
		const plan = await plans().planOf(() => newestPayments(plans().db, 20, 5));
		expect(plan).toContain('sessions_of_router');
		expect(plan).not.toMatch(new RegExp(`${SCANS.source}|${SORTS.source}`, 'i'));
	});

	it('open reviews of a router are found among the open ones', async () => {
		const plan = await plans().planOf(() => findOpenReviews(plans().db, 20, 5));
		expect(plan).toMatch(/reviews_open/);
		expect(plan).not.toMatch(SCANS);
		expect(plan).not.toContain('router_id=?');
	});

	it('reviews about a subject, and the payment of a request, are one place of an index', async () => {
		const about = { subject: 's4711', reason: 'refund_failed' };
		expect(await plans().planOf(() => findSameReviews(plans().db, about))).toContain('reviews_subject');
		const payment = { id: 1, operator: 'mtn' };
		expect(await plans().planOf(() => findSentAs(plans().db, payment, 'x'))).toContain('payments_request');
	});

	it('open refunds and unconnected purchases of a router are found by their jobs and their status', async () => {
		const refunds = await plans().planOf(() => findOpenRefunds(plans().db, REFUND_JOB, 20, 5));
		expect(refunds).not.toMatch(SCANS);
		expect(refunds).not.toContain('sessions_of_router');
		expect(await plans().planOf(() => notConnected(plans().db, 20, 5))).toContain('sessions_router');
	});
});
