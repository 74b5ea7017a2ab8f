/** GET and DELETE of a session: one case per status, with exact bodies. Permissions: authorisation.test.ts. */
import { describe, expect, it } from 'vitest';
import { INSTANT, PASSWORD } from '../../../support/api/wire.ts';
import { DATABASES, recorded, useFixture } from '../../../support/server/fixture.ts';

describe.each(DATABASES)('on %s', (database) => {
	const fixture = useFixture({ database });

	describe('GET /sessions/{id}', () => {
		it('200 with the session; with password and time left while it is active', async () => {
			const { session, payment } = await fixture().buy({ duration: '2h' });
			expect(session).toMatchObject({
				status: 'active',
				status_reason: null,
				payment_id: payment.id,
				password: expect.stringMatching(PASSWORD),
				ended_at: null
			});
			const seconds = (Date.parse(session.expires_at ?? '') - Date.parse(session.starts_at ?? '')) / 1000;
			expect(seconds).toBe(7200);
			expect(session.remaining_seconds).toBeGreaterThan(7190);
			expect(session.remaining_seconds).toBeLessThanOrEqual(7200);
		});

		it('404 session_not_found for an unknown id', async () => {
			for (const id of ['0', '-1', '999999', '9007199254740993', '1'.repeat(30)]) {
				await fixture().api.refused('404 session_not_found', 'GET', `/v1/sessions/${id}`);
			}
		});

		it('400 validation_failed for an id that is not an integer', async () => {
			for (const id of ['abc', '1.5', '1e3', '%20']) {
				const problem = await fixture().api.refused('400 validation_failed', 'GET', `/v1/sessions/${id}`);
				expect(problem.errors).toMatchObject([{ in: 'path', pointer: '/id', code: 'invalid_format' }]);
			}
		});
	});

	describe('DELETE /sessions/{id}', () => {
		it('200: an unpaid session is cancelled', async () => {
			const { api, events } = fixture();
			const session = await api.createSession();
			const deleted = await api.endSession(session.id);
			expect(deleted).toEqual({
				...session,
				status: 'cancelled',
				status_reason: 'client_cancelled',
				ended_at: expect.stringMatching(INSTANT),
				updated_at: deleted.ended_at
			});
			expect(await api.getSession(session.id)).toEqual(deleted);
			expect(await events(session.id)).toEqual(['session.cancelled', 'session.created']);
		});

		it('200: an active session ends at once, without its password and without a refund', async () => {
			const { api, buy, events, sql } = fixture();
			const { session, payment } = await buy();
			const ended = await api.endSession(session.id);
			expect(ended).toEqual({
				...session,
				status: 'ended',
				status_reason: 'client_ended',
				password: null,
				access: { ...session.access, qr: null, qr_joins: null },
				ended_at: expect.stringMatching(INSTANT),
				remaining_seconds: 0,
				updated_at: ended.ended_at
			});
			expect(await api.getSession(session.id)).toEqual(ended);
			expect(await events(session.id)).toContain('session.ended');
			expect(await api.getPayment(payment.id)).toMatchObject({ status: 'success', applied: true });
			expect(await sql.count('select count(*) from refunds where payment_id = ?', payment.id)).toBe(0);
		});

		it('400 session_not_active, with the status, for a session that is over', async () => {
			const { api } = fixture();
			const cancelled = await api.createSession();
			await api.endSession(cancelled.id);
			const { session: ended } = await fixture().buy();
			await api.endSession(ended.id);
			const before = await recorded(fixture());
			for (const [id, status] of [
				[cancelled.id, 'cancelled'],
				[ended.id, 'ended']
			] as const) {
				const problem = await api.refused('400 session_not_active', 'DELETE', `/v1/sessions/${id}`);
				expect(problem.session_status).toBe(status);
			}
			expect(await recorded(fixture())).toEqual(before);
		});

		it('404 session_not_found and 400 validation_failed, as for GET', async () => {
			await fixture().api.refused('404 session_not_found', 'DELETE', '/v1/sessions/999999');
			await fixture().api.refused('400 validation_failed', 'DELETE', '/v1/sessions/abc');
		});
	});
});
