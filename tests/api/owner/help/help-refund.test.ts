/** An owner refunds a payment that bought time: once, with a reason, and only at the owner's routers. */
import { beforeAll, describe, expect, it } from 'vitest';
import { addRouter, newOwner, type Owner } from '../../../support/pages/owners.ts';
import { BOTH_DATABASES, eventually, useFixture, runsAllOn } from '../../../support/server/fixture.ts';

const NOTE = { note: 'The Wi-Fi did not work at this table' };

describe.each(BOTH_DATABASES)('on %s', (database) => {
	const fixture = useFixture({ database });
	let owner: Owner;
	let router: number;

	beforeAll(async () => {
		owner = await newOwner(fixture());
		router = await addRouter(fixture(), owner.accountId);
	});

	const buy = async (more: { extends_session_id?: number } = {}) =>
		(await fixture().buy({ router_id: router, ...more })).session;
	const pathOf = (id: number) => `/owner/help/${id}/refund`;
	const refundsOf = (payment: number | null) =>
		fixture().sql.all('select amount_minor, reason from refunds where payment_id = ?', payment);

	it('many forms at once refund it once, end the time, and count as a refund', async () => {
		const session = await buy();
		const asked = await owner.get(pathOf(session.id));
		expect(asked.text).toMatch(/UGX [\d,]+ is refunded to \+256\*+\d{4}\. The time ends now/);
		expect((await owner.post(pathOf(session.id), { note: ' ' })).status).toBe(400);
		const pages = await Promise.all([1, 2, 3].map(() => owner.post(pathOf(session.id), NOTE)));
		for (const page of pages) {
			expect([page.status, page.path]).toEqual([200, `/owner/help/${session.id}?done=refund`]);
		}
		expect(await fixture().api.getSession(session.id)).toMatchObject({
			status: 'ended',
			status_reason: 'refunded',
			password: null
		});
		await eventually('the refund arrives', () =>
			fixture().sql.count(
				"select count(*) from payments where id = ? and status = 'refunded' and applied = 1",
				session.payment_id
			)
		);
		const [refund, ...others] = await refundsOf(session.payment_id);
		expect([refund?.['reason'], others]).toEqual(['admin', []]);
		const audited = await fixture().sql.all(
			"select actor, reason from audit_log where action = 'payment.refund' and payment_id = ?",
			session.payment_id
		);
		expect(audited).toEqual([{ actor: `account ${owner.accountId}`, reason: NOTE.note }]);
		const page = await owner.get(`/owner/help/${session.id}`);
		expect(page.text).toContain('The owner refunded the payment.');
		expect(page.text).toContain('The money was returned.');
		expect(page.html).not.toContain(`href="${pathOf(session.id)}"`);
	});

	it('time that was added later must be refunded first', async () => {
		const first = await buy();
		const added = await buy({ extends_session_id: first.id });
		const refused = await owner.post(pathOf(first.id), NOTE);
		expect([refused.status, refused.text.includes('Refund the added time first')]).toEqual([409, true]);
		expect(await refundsOf(first.payment_id)).toEqual([]);
		for (const action of ['refund', 'end']) {
			const asked = await owner.get(`/owner/help/${added.id}/${action}`);
			expect(asked.text).toContain('The time before it goes on.');
			expect(asked.text).not.toContain('the password stops working');
		}
		expect((await owner.post(pathOf(added.id), NOTE)).path).toContain('?done=refund');
		expect((await fixture().api.getSession(first.id)).status).toBe('active');
		expect((await fixture().api.getSession(added.id)).status).toBe('ended');
		expect((await owner.post(pathOf(first.id), NOTE)).path).toContain('?done=refund');
	});

	it('time that has ended is refunded too, and stays ended', async () => {
		const session = await buy();
		await owner.post(`/owner/help/${session.id}/end`, NOTE);
		expect((await owner.get(pathOf(session.id))).text).toContain('The time has already ended.');
		expect((await owner.post(pathOf(session.id), NOTE)).path).toContain('?done=refund');
		expect((await fixture().api.getSession(session.id)).status_reason).toBe('admin_ended');
		expect(await refundsOf(session.payment_id)).toHaveLength(1);
	});

	if (!runsAllOn(database)) return;

	it('no refund by hand is recorded for a payment that the operator can refund', async () => {
		const session = await buy();
		const path = `/owner/help/${session.id}/by-hand`;
		expect((await owner.get(path)).path).toBe(`/owner/help/${session.id}`);
		expect((await owner.post(path, NOTE)).status).toBe(409);
		expect((await fixture().api.getSession(session.id)).status).toBe('active');
	});

	it('unpaid orders have nothing to refund', async () => {
		const session = await fixture().api.createSession({ router_id: router });
		expect((await owner.get(pathOf(session.id))).path).toBe(`/owner/help/${session.id}`);
		expect((await owner.post(pathOf(session.id), NOTE)).status).toBe(409);
	});
});
