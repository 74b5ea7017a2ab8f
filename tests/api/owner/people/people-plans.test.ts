/** The queries of an owner's people: none reads all sessions, however long the history is. */
import { describe, expect, it } from 'vitest';
import * as sessions from '../../../../src/lib/server/billing/owner-sessions.ts';
import { PLANNERS, useQueryPlans } from '../../../support/database/query-plans.ts';

const ROWS = [
	`insert into routers (owner_account_id, name, ssid, security, lat, lon, price_minor, currency, status, payment_methods,
			min_duration, max_duration, created_at, updated_at)
		select i % 1000, 'Router', 'x', 'wpa', 0, 0, 500, 'UGX', 'online', '[]', '1m', '1d', 0, 0`,
	`insert into sessions (account_id, router_id, status, duration, duration_seconds, payment_method, phone,
			amount_minor, currency, ssid, payment_due_at, created_at, updated_at, starts_at, payment_id, pass_id,
			expires_at)
		select 1, i, case when i < 2000 then 'active' else 'ended' end, '1h', 3600, 'mtn_momo', '+256', 500, 'UGX',
			'x', 0, i, i, i, i, i, case when i < 1000 then 9000 else i + 1 end`
];

/** Not the index of starts, which has the whole history. */
const BY_STATE = /sessions_(of_)?router\b/;

const owner = { accountId: 57, now: 7_000 };
const page = { from: 5_000, until: 5_100, after: [5_050, 9] as const, limit: 9 };

describe.each(PLANNERS)('on %s', (kind) => {
	const plans = useQueryPlans(kind, ROWS);

	it.each([
		[
			'running sessions',
			BY_STATE,
			() => sessions.findRunningOfOwner(plans().db, owner, { after: null, limit: 9 })
		],
		['their number', BY_STATE, () => sessions.countRunning(plans().db, owner)],
		['the number of those that are over', BY_STATE, () => sessions.countEnded(plans().db, owner)],
		[
			'sessions that are over',
			/sessions_router_started/,
			() => sessions.findBegunOfOwner(plans().db, owner, { ...page, isOver: true })
		],
		[
			'these and those that run',
			/sessions_router_started/,
			() => sessions.findBegunOfOwner(plans().db, owner, { ...page, isOver: false })
		],
		['the latest one', /sessions_router_started/, () => sessions.findLatestStart(plans().db, 57, 5_000)]
	])('%s are a range of an index', async (_what, index, read) => {
		const plan = await plans().planOf(read);
		expect(plan).toMatch(index);
		expect(plan).not.toMatch(/Seq Scan on sessions|SCAN sessions/);
	});

	it('each session is in one of both groups', async () => {
		const count = await sessions.countRunning(plans().db, owner);
		const begun = (isOver: boolean) =>
			sessions.findBegunOfOwner(plans().db, owner, {
				...{ from: 0, until: 9_000, isOver, after: null, limit: 9_000 }
			});
		const over = await begun(true);
		expect([count, over.length, await sessions.countEnded(plans().db, owner)]).toEqual([1, 5, 5]);
		expect(await begun(false)).toHaveLength(6);
		expect(over.slice(0, 2).map(({ id }) => id)).toEqual([5_057, 4_057]);
		expect(await sessions.findLatestStart(plans().db, 57, 5_000)).toBe(4_057);
		expect(await sessions.findLatestStart(plans().db, 58, 58)).toBeNull();
	});
});
