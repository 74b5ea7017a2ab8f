/** GET /v1/owner/users: sessions on the routers of an owner (specification 1.9). */
import { beforeAll, describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { ownerUserList } from '../../../../src/lib/server/contract/owner.ts';
import { numberEnding, type Api } from '../../../support/api/api.ts';
import { INSTANT } from '../../../support/api/wire.ts';
import { addRouter } from '../../../support/pages/owners.ts';
import { random } from '../../../support/random.ts';
import { DATABASES, runsAllOn, useFixture, type NewKey } from '../../../support/server/fixture.ts';
import { addPass, addSession, together } from '../earnings/rows.ts';

const minute = 60_000;
const hour = 60 * minute;

type Users = z.output<typeof ownerUserList>;

async function usersOf(api: Api, query = ''): Promise<Users & { link: string | null }> {
	const { status, headers, body } = await api.send('GET', `/v1/owner/users${query}`);
	expect(status, JSON.stringify(body)).toBe(200);
	return { ...ownerUserList.parse(body), link: headers.get('link') };
}

describe.each(DATABASES)('users on %s', (database) => {
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

		// Some are over, and no job knows of them.
		it.each([undefined, 'active', 'expired'])(
			'are those that have begun, newest first, then by id; of the group %s',
			async (group) => {
				const list = await usersOf(owner.api, `?limit=100${group ? `&status=${group}` : ''}`);
				expect(seen(list)).toEqual(expected(group));
				expect(list).toMatchObject({ has_more: false, next_cursor: null, counts: counts() });
				for (const user of list.data) {
					if (user.status !== 'expired') continue;
					expect(user).toMatchObject({ ended_at: user.expires_at, remaining_seconds: 0 });
				}
			}
		);

		it.each([
			[1, undefined],
			[7, 'expired'],
			[3, 'active']
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

	if (!runsAllOn(database)) return;

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
