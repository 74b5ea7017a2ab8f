/** An owner ends the time of a customer: once, with a reason, and only at the owner's routers. */
import { beforeAll, describe, expect, it } from 'vitest';
import { addRouter, newOwner, type Owner } from '../../../support/pages/owners.ts';
import { BOTH_DATABASES, useFixture, runsAllOn } from '../../../support/server/fixture.ts';

const NOTE = { note: 'Asked for it at the counter' };

describe.each(BOTH_DATABASES)('on %s', (database) => {
	const fixture = useFixture({ database });
	let owner: Owner;
	let router: number;

	beforeAll(async () => {
		owner = await newOwner(fixture());
		router = await addRouter(fixture(), owner.accountId);
	});

	const buy = async () => (await fixture().buy({ router_id: router })).session;
	const entries = (payment: number | null) =>
		fixture().sql.all(
			"select actor, reason from audit_log where action = 'session.ended' and payment_id = ?",
			payment
		);

	it('many forms at once end it once, with one event and one entry of the audit log', async () => {
		const session = await buy();
		const path = `/owner/help/${session.id}/end`;
		expect((await owner.get(`/owner/help/${session.id}`)).html).toContain(`href="${path}"`);
		expect((await owner.get(path)).text).toContain('Unused time is not refunded.');
		const pages = await Promise.all([1, 2, 3, 4].map(() => owner.post(path, NOTE)));
		for (const page of pages) {
			expect([page.status, page.path]).toEqual([200, `/owner/help/${session.id}?done=end`]);
			expect(page.text).toContain('The time was ended early.');
		}
		expect(await fixture().api.getSession(session.id)).toMatchObject({
			status: 'ended',
			status_reason: 'admin_ended',
			password: null
		});
		expect(await entries(session.payment_id)).toEqual([
			{ actor: `account ${owner.accountId}`, reason: NOTE.note }
		]);
		const events = await fixture().events(session.id);
		expect(events.filter((type) => type === 'session.ended')).toHaveLength(1);
	});

	it.each([
		['no reason', ' '],
		['a reason that is too long', 'x'.repeat(501)]
	])('%s is refused, kept, and changes nothing', async (_what, note) => {
		const session = await buy();
		const page = await owner.post(`/owner/help/${session.id}/end`, { note });
		expect([page.status, page.text.includes('Reason: enter 1 to 500 characters.')]).toEqual([400, true]);
		expect(page.html).toContain(`value="${note.trim()}"`);
		expect((await fixture().api.getSession(session.id)).status).toBe('active');
	});

	if (!runsAllOn(database)) return;

	it('the page promises to disconnect nobody where all customers have one password', async () => {
		const session = await buy();
		const path = `/owner/help/${session.id}/end`;
		expect((await owner.get(path)).text).toContain('The device is disconnected');
		await fixture().sql.run("update sessions set access_kind = 'shared_password' where id = ?", session.id);
		const { text } = await owner.get(path);
		expect(text).toContain('No device is disconnected: all customers have the same Wi‑Fi password');
		expect(text).not.toContain('the password stops working');
	});

	it('nothing ends without running time', async () => {
		const session = await fixture().api.createSession({ router_id: router });
		const page = await owner.post(`/owner/help/${session.id}/end`, NOTE);
		expect([page.status, page.text.includes('No time is running')]).toEqual([409, true]);
		expect((await owner.get(`/owner/help/${session.id}/end`)).path).toBe(`/owner/help/${session.id}`);
		expect((await fixture().api.getSession(session.id)).status).toBe('pending_payment');
	});
});
