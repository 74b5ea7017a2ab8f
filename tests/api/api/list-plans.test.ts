/** The queries behind the lists of an account: one range of an index, so that each page costs the same. */
import { describe, expect, it } from 'vitest';
import * as payments from '#lib/server/billing/payments.ts';
import * as sessions from '#lib/server/billing/session-orders.ts';
import { createEvents } from '#lib/server/events.ts';
import { PLANNERS, useQueryPlans } from '../../support/database/query-plans.ts';

const page = { createdAfter: 1, createdBefore: 9_000, limit: 3 };
const after = [5_000, 7] as const;

/** Rows of three accounts, of which few are in the state that is asked for. */
const ROWS = [
	`insert into sessions (account_id, router_id, status, duration, duration_seconds, payment_method, phone,
			amount_minor, currency, ssid, payment_due_at, created_at, updated_at)
		select 1 + i % 3, 1, case i % 20 when 0 then 'cancelled' else 'ended' end, '1h', 3600, 'mtn_momo', '+256',
			500, 'UGX', 'x', 0, i, i`,
	`insert into payments (session_id, account_id, operator, payment_method, reference, provider_reference, amount_minor, currency, phone,
			status, submit_state, commission_basis_points, expires_at, created_at, updated_at)
		select i, 1 + i % 3, 'sandbox', 'mtn_momo', 'reference-' || i, 'TX' || i, 500, 'UGX', '+256',
			case i % 20 when 0 then 'failed' else 'success' end, 'accepted', 0, 0, i, i`,
	`insert into events (id, type, account_id, router_id, session_id, data, created_at)
		select 'evt_' || i, 'session.created', 1 + i % 3, 1, 1, '{"id":1}', i`
];

describe.each(PLANNERS)('on %s', (kind) => {
	const plans = useQueryPlans(kind, ROWS);

	it.each([
		[
			'sessions',
			'sessions_account_created',
			() => sessions.findSessionsOfAccount(plans().db, 1, { ...page, after })
		],
		[
			'sessions in a state',
			'sessions_account_status',
			() => sessions.findSessionsOfAccount(plans().db, 1, { ...page, after, status: 'cancelled' })
		],
		[
			'payments',
			'payments_account_created',
			() => payments.findPaymentsOfAccount(plans().db, 1, { ...page, after })
		],
		[
			'payments in a state',
			'payments_account_status',
			() => payments.findPaymentsOfAccount(plans().db, 1, { ...page, after, status: 'failed' })
		],
		[
			'events',
			'events_account',
			() => {
				const clock = { now: () => 0 };
				const events = createEvents(
					{ database: { ...plans().database, db: plans().db }, clock } as never,
					async () => {}
				);
				return events.list({ accountId: 1 }, { ...page, after: [5_000, 'evt_7'] });
			}
		]
	])('%s are one range of the index %s, without a sort', async (_what, index, read) => {
		const plan = await plans().planOf(read);
		expect(plan).toMatch(
			kind === 'sqlite'
				? new RegExp(`INDEX ${index} \\([^"]*created_at>\\? AND [(]?created_at[<,]`)
				: new RegExp(`Index (Only )?Scan( Backward)? using ${index} .*Index Cond[^}]*ROW\\(created_at`)
		);
		expect(plan).not.toMatch(/sort|TEMP B-TREE/i);
	});

	it.each([undefined, 'success'] as const)(
		'the payment of a transaction (state: %s) is found by its index',
		async (status) => {
			const find = () =>
				payments.findPaymentsOfAccount(plans().db, 1, { ...page, after, status, transaction: 'TX7' });
			expect(await plans().planOf(find)).toMatch(
				kind === 'sqlite'
					? /INDEX payments_receipt \(provider_reference=\?\)/
					: /Scan (using|on) payments_receipt .*Index Cond[^}]*provider_reference =/
			);
		}
	);
});
