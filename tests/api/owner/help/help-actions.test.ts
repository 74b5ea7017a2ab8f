/** An owner acts for a customer: once, with a reason that the audit log keeps, and only at the owner's routers. */
import { beforeAll, describe, expect, it } from 'vitest';
import type { Session } from '../../../support/api/api.ts';
import { addRouter, customerAt, newOwner, type Owner } from '../../../support/pages/owners.ts';
import { shownCode } from '../../../support/pages/purchase.ts';
import { BOTH_DATABASES, eventually, runsAllOn, useFixture } from '../../../support/server/fixture.ts';

const NOTE = { note: 'Asked for it at the counter' };

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
	const audited = (action: string, { payment_id: payment }: Session) =>
		fixture().sql.all(
			'select actor, reason from audit_log where action = ? and payment_id = ?',
			...[action, payment]
		);

	describe('ending the time', () => {
		it('many forms at once end it once, with one event and one entry of the audit log', async () => {
			const session = await buy();
			const path = `/owner/customers/${session.id}?/end`;
			expect((await owner.get(`/owner/customers/${session.id}`)).html).toContain('action="?/end"');
			expect((await owner.get(path)).text).toContain('Unused time is not refunded.');
			const pages = await Promise.all([1, 2, 3, 4].map(() => owner.post(path, NOTE)));
			for (const page of pages) {
				expect([page.status, page.path]).toEqual([200, `/owner/customers/${session.id}?done=end`]);
				expect(page.text).toContain('The time was ended early.');
			}
			expect(await fixture().api.getSession(session.id)).toMatchObject({
				status: 'ended',
				status_reason: 'admin_ended',
				password: null
			});
			expect(await audited('session.ended', session)).toEqual([
				{ actor: `account ${owner.accountId}`, reason: NOTE.note }
			]);
			const events = await fixture().events(session.id);
			expect(events.filter((type) => type === 'session.ended')).toHaveLength(1);
		});

		if (!runsAllOn(database)) return;

		it('a reason that is too long is refused, kept, and changes nothing', async () => {
			const session = await buy();
			const note = 'x'.repeat(501);
			const page = await owner.post(`/owner/customers/${session.id}?/end`, { note });
			expect([page.status, page.text.includes('Reason: enter 1 to 500 characters.')]).toEqual([400, true]);
			expect(page.html).toContain(`value="${note}"`);
			expect((await fixture().api.getSession(session.id)).status).toBe('active');
		});

		it('the page promises to disconnect nobody where all customers have one password', async () => {
			const session = await buy();
			const path = `/owner/customers/${session.id}?/end`;
			expect((await owner.get(path)).text).toContain('The device is disconnected');
			await fixture().sql.run("update sessions set access_kind = 'shared_password' where id = ?", session.id);
			const { text } = await owner.get(path);
			expect(text).toContain('No device is disconnected: all customers have the same Wi‑Fi password');
			expect(text).not.toContain('the password stops working');
		});
	});

	describe('a refund', () => {
		const pathOf = (id: number) => `/owner/customers/${id}?/refund`;
		const refundsOf = (payment: number | null) =>
			fixture().sql.all('select amount_minor, reason from refunds where payment_id = ?', payment);

		it('many forms at once refund it once, end the time, and count as a refund', async () => {
			const session = await buy();
			const asked = await owner.get(pathOf(session.id));
			expect(asked.text).toMatch(/UGX [\d,]+ is refunded to \+256\*+\d{4}\. The time ends now/);
			expect((await owner.post(pathOf(session.id), { note: ' ' })).status).toBe(400);
			const pages = await Promise.all([1, 2, 3].map(() => owner.post(pathOf(session.id), NOTE)));
			for (const page of pages) {
				expect([page.status, page.path]).toEqual([200, `/owner/customers/${session.id}?done=refund`]);
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
			expect(await audited('payment.refund', session)).toEqual([
				{ actor: `account ${owner.accountId}`, reason: NOTE.note }
			]);
			const page = await owner.get(`/owner/customers/${session.id}`);
			expect(page.text).toContain('The owner refunded the payment.');
			expect(page.text).toContain('The money was returned.');
			expect(page.html).not.toContain('action="?/refund"');
		});

		it('time that was added later must be refunded first', async () => {
			const first = await buy();
			const added = await buy({ extends_session_id: first.id });
			const refused = await owner.post(pathOf(first.id), NOTE);
			expect([refused.status, refused.text.includes('Refund the added time first')]).toEqual([409, true]);
			expect(await refundsOf(first.payment_id)).toEqual([]);
			const { text } = await owner.get(`/owner/customers/${added.id}`);
			expect(text.match(/The time before it goes on\./g)).toHaveLength(2);
			expect(text).not.toContain('the password stops working');
			expect((await owner.post(pathOf(added.id), NOTE)).path).toContain('?done=refund');
			expect((await fixture().api.getSession(first.id)).status).toBe('active');
			expect((await fixture().api.getSession(added.id)).status).toBe('ended');
			expect((await owner.post(pathOf(first.id), NOTE)).path).toContain('?done=refund');
		});

		it('time that has ended is refunded too, and stays ended', async () => {
			const session = await buy();
			await owner.post(`/owner/customers/${session.id}?/end`, NOTE);
			expect((await owner.get(pathOf(session.id))).text).toContain('The time has already ended.');
			expect((await owner.post(pathOf(session.id), NOTE)).path).toContain('?done=refund');
			expect((await fixture().api.getSession(session.id)).status_reason).toBe('admin_ended');
			expect(await refundsOf(session.payment_id)).toHaveLength(1);
		});

		if (!runsAllOn(database)) return;

		it('an unpaid order has nothing to refund and no time to end', async () => {
			const session = await fixture().api.createSession({ router_id: router });
			expect((await owner.get(pathOf(session.id))).html).not.toContain('action="?/refund"');
			expect((await owner.post(pathOf(session.id), NOTE)).status).toBe(409);
			const page = await owner.post(`/owner/customers/${session.id}?/end`, NOTE);
			expect([page.status, page.text.includes('No time is running')]).toEqual([409, true]);
			expect(page.html).not.toContain('action="?/end"');
			expect((await fixture().api.getSession(session.id)).status).toBe('pending_payment');
		});

		it('no refund by hand is recorded for a payment that the operator can refund', async () => {
			const session = await buy();
			const path = `/owner/customers/${session.id}?/by-hand`;
			expect((await owner.get(path)).html).not.toContain('action="?/by-hand"');
			expect((await owner.post(path, NOTE)).status).toBe(409);
			expect((await fixture().api.getSession(session.id)).status).toBe('active');
		});
	});

	if (!runsAllOn(database)) return;

	describe('the code', () => {
		let page: string;
		let session: number;

		beforeAll(async () => {
			({ page, session } = await customerAt(fixture(), router));
		});

		const path = () => `/owner/customers/${session}?/code`;
		const entries = () =>
			fixture().sql.all(
				"select actor, reason, router_id from audit_log where action = 'purchase.code_shown' order by id"
			);

		it('nothing is shown, and nothing logged, without a reason', async () => {
			const { html } = await owner.get(`/owner/customers/${session}`);
			expect([html.includes('action="?/code"'), html.includes(page)]).toEqual([true, false]);
			const refused = await owner.post(path(), { note: ' ' });
			expect([refused.status, refused.text.includes('Reason: enter 1 to 500 characters.')]).toEqual([
				400,
				true
			]);
			expect(refused.html).not.toContain(page);
			expect(await entries()).toEqual([]);
		});

		it('the code and the page are shown, which open the purchase, and each look is logged', async () => {
			const shown = await owner.raw(path(), {
				method: 'POST',
				body: new URLSearchParams(NOTE),
				headers: { origin: fixture().server.url }
			});
			expect([shown.status, shown.headers.get('cache-control')]).toEqual([200, 'no-store']);
			const html = await shown.text();
			expect(html).toContain(`href="${fixture().server.url}${page}"`);
			const found = await owner.get(`/owner/customers?q=${shownCode(html) ?? ''}`);
			expect(found.html).toContain(`href="/owner/customers/${session}"`);
			await owner.post(path(), NOTE);
			const entry = { actor: `account ${owner.accountId}`, reason: NOTE.note, router_id: router };
			expect(await entries()).toEqual([entry, entry]);
		});

		it('a purchase of the API has no page to show', async () => {
			const { session: other } = await fixture().buy({ router_id: router });
			const refused = await owner.post(`/owner/customers/${other.id}?/code`, NOTE);
			expect([refused.status, refused.text.includes('This purchase has no code')]).toEqual([409, true]);
			expect((await owner.get(`/owner/customers/${other.id}`)).html).not.toContain('?/code"');
		});
	});
});
