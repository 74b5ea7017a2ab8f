/** An owner gives a customer extra time: once per form, within a limit, as no income, and only at the owner's routers. */
import { randomBytes } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { MAX_EXTRA_MINUTES_PER_DAY } from '#lib/domain/extra-time.ts';
import { browse } from '../../support/pages/browsing.ts';
import { addRouter, newOwner, type Owner } from '../../support/pages/owners.ts';
import { BOTH_DATABASES, useFixture } from '../../support/server/fixture.ts';

const MINUTE_MS = 60_000;
const NOTE = 'The Wi-Fi was down for a while';

describe.each(BOTH_DATABASES)('on %s', (database) => {
	const fixture = useFixture({ database });
	let owner: Owner;
	let router: number;

	beforeAll(async () => {
		owner = await newOwner(fixture());
		router = await addRouter(fixture(), owner.accountId);
	});

	const buy = async () => (await fixture().buy({ router_id: router })).session;
	const pathOf = (id: number) => `/owner/help/${id}/extend`;
	const orderOf = (duration: string, form = randomBytes(18).toString('base64url')) => ({
		note: NOTE,
		duration,
		form
	});
	const endOf = async (id: number) => Date.parse((await fixture().api.getSession(id)).expires_at ?? '');
	const entries = (payment: number | null) =>
		fixture().sql.all(
			"select actor, reason from audit_log where action = 'session.extra_time' and payment_id = ?",
			payment
		);

	it('the same form many times at once adds it once, to the session and its pass, and sells nothing', async () => {
		const session = await buy();
		const before = await endOf(session.id);
		const sold = await owner.get('/owner/payments');
		expect((await owner.get(`/owner/help/${session.id}`)).html).toContain(`href="${pathOf(session.id)}"`);
		const html = (await owner.get(pathOf(session.id))).html;
		const form = /name="form" value="([\w-]{24})"/.exec(html)?.[1] ?? '';
		const pages = await Promise.all(
			[1, 2, 3].map(() => owner.post(pathOf(session.id), orderOf('30m', form)))
		);
		for (const page of pages) {
			expect([page.status, page.path]).toEqual([200, `/owner/help/${session.id}?done=extend`]);
			expect(page.text).toContain('Extra time was given: 30 minutes.');
		}
		expect(await endOf(session.id)).toBe(before + 30 * MINUTE_MS);
		expect(await fixture().sql.count('select ends_at from passes where id = ?', session.id)).toBe(
			before + 30 * MINUTE_MS
		);
		expect(await entries(session.payment_id)).toEqual([
			{ actor: `account ${owner.accountId}`, reason: NOTE }
		]);
		expect((await owner.get('/owner/payments')).text).toBe(sold.text);
	});

	it('paid time that is added later follows the extra time', async () => {
		const session = await buy();
		await owner.post(pathOf(session.id), orderOf('15m'));
		const end = await endOf(session.id);
		const added = await fixture().buy({ router_id: router, extends_session_id: session.id });
		expect(Date.parse(added.session.starts_at ?? '')).toBe(end);
		// The end of the pass moves, so the added session gets it.
		await owner.post(pathOf(session.id), orderOf('15m'));
		expect(await endOf(session.id)).toBe(end);
		expect(await endOf(added.session.id)).toBe(Date.parse(added.session.expires_at ?? '') + 15 * MINUTE_MS);
	});

	it('one person gives no more than the limit of a day, whatever arrives at once', async () => {
		const giver = await newOwner(fixture());
		const own = await addRouter(fixture(), giver.accountId);
		const { session } = await fixture().buy({ router_id: own });
		const before = await endOf(session.id);
		const most = MAX_EXTRA_MINUTES_PER_DAY / 120;
		const pages = await Promise.all(
			Array.from({ length: most + 1 }, () => giver.post(pathOf(session.id), orderOf('2h')))
		);
		expect(pages.filter(({ status }) => status === 409)).toHaveLength(1);
		expect(pages.find(({ status }) => status === 409)?.text).toContain('more than you can give in 24 hours');
		expect(await endOf(session.id)).toBe(before + MAX_EXTRA_MINUTES_PER_DAY * MINUTE_MS);
	});

	it.each([
		['no reason', { ...orderOf('15m'), note: ' ' }, 400],
		['another duration', orderOf('3h'), 409],
		['no form', orderOf('15m', ''), 409]
	])('%s is refused and changes nothing', async (_what, order, status) => {
		const session = await buy();
		const before = await endOf(session.id);
		expect((await owner.post(pathOf(session.id), order)).status).toBe(status);
		expect(await endOf(session.id)).toBe(before);
	});

	it('nothing is added without running time', async () => {
		const session = await fixture().api.createSession({ router_id: router });
		const page = await owner.post(pathOf(session.id), orderOf('15m'));
		expect([page.status, page.text.includes('No time is running')]).toEqual([409, true]);
	});

	it('nobody else gives it: another owner, a developer, a suspended owner, a visitor', async () => {
		const session = await buy();
		const before = await endOf(session.id);
		const give = async (person: Pick<Owner, 'raw'>) => {
			const body = new URLSearchParams(orderOf('15m'));
			const headers = { origin: fixture().server.url };
			return (await person.raw(pathOf(session.id), { method: 'POST', body, headers })).status;
		};
		expect(await give(await newOwner(fixture()))).toBe(404);
		expect(await give(await newOwner(fixture(), 'app'))).toBe(403);
		expect(await give(browse(fixture().server.url))).toBe(303);
		await fixture().sql.run("update accounts set status = 'suspended' where id = ?", owner.accountId);
		expect(await give(owner)).toBe(403);
		await fixture().sql.run("update accounts set status = 'active' where id = ?", owner.accountId);
		expect(await endOf(session.id)).toBe(before);
	});
});
