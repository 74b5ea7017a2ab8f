/** Sessions: reading and ending them, and what the clock does to them. */
import { describe, expect, it } from 'vitest';
import { INSTANT, PASSWORD } from '../../../support/api/wire.ts';
import {
	DATABASES,
	recorded,
	useFixture,
	eventually,
	type Fixture
} from '../../../support/server/fixture.ts';
import { numberEnding } from '../../../support/api/api.ts';

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
			const { api, buy, events, server, sql } = fixture();
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
			await server.advance(2 * 60 * 60_000);
			expect(await api.getSession(session.id)).toEqual(ended);
			expect(await events(session.id)).not.toContain('session.expired');
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

	/** Expiry of paid time and cancellation of unpaid orders, correct at the moment of reading. */
	describe('the clock', () => {
		const minute = 60_000;
		const hour = 60 * minute;

		/** Delays the job of a session, as if no process had run it yet. */
		async function holdJob({ sql }: Fixture, sessionId: number): Promise<void> {
			await sql.run(
				`update jobs set lease_owner = 'the test', lease_until = 9000000000000
			where kind = 'session.settle' and subject_id = ?`,
				sessionId
			);
		}

		const rowOf = async (id: number) => {
			const [row] = await fixture().sql.all('select * from sessions where id = ?', id);
			return row ?? {};
		};
		/** The sealed password of the pass that a session began. */
		const sealedOf = async (id: number) => {
			const [row] = await fixture().sql.all('select password_sealed from passes where id = ?', id);
			return row?.['password_sealed'];
		};

		describe('paid time', () => {
			it('is expired when it is read, before its job has run, with one session.expired event', async () => {
				const { api, events, server } = fixture();
				const { session } = await fixture().buy();
				await holdJob(fixture(), session.id);
				await server.advance(hour - 5_000);
				const last = await api.getSession(session.id);
				expect(last.status).toBe('active');
				expect(last.remaining_seconds).toBeGreaterThan(0);
				expect(last.remaining_seconds).toBeLessThanOrEqual(5);
				await server.advance(5_000);
				const reads = await Promise.all(Array.from({ length: 8 }, () => api.getSession(session.id)));
				for (const read of reads) {
					expect(read).toMatchObject({
						status: 'expired',
						status_reason: null,
						password: null,
						remaining_seconds: 0,
						ended_at: session.expires_at
					});
				}
				expect((await events(session.id)).filter((type) => type === 'session.expired')).toHaveLength(1);
			});

			it('expires without being read', async () => {
				const { events, server } = fixture();
				const { session } = await fixture().buy();
				await server.advance(hour);
				const row = await eventually('the session expires', async () => {
					const found = await rowOf(session.id);
					return found['status'] === 'expired' && found;
				});
				expect(row['ended_at']).toBe(Date.parse(session.expires_at ?? ''));
				expect(await sealedOf(session.id)).toBeNull();
				expect((await events(session.id)).filter((type) => type === 'session.expired')).toHaveLength(1);
			});

			it('does not start again, end again or become payable when it is over', async () => {
				const { api, server } = fixture();
				const { session } = await fixture().buy();
				await server.advance(hour);
				const problem = await api.refused('400 session_not_active', 'DELETE', `/v1/sessions/${session.id}`);
				expect(problem.session_status).toBe('expired');
				const body = { amount: session.amount, phone: session.phone, session_id: session.id };
				const refusal = await api.refused('400 session_not_payable', 'POST', '/v1/payments/mobile-money', {
					body
				});
				expect(refusal.session_status).toBe('expired');
				expect(await api.getSession(session.id)).toMatchObject({ status: 'expired' });
			});
		});

		describe('an unpaid order', () => {
			it('is cancelled after 30 minutes, when it is read, and not before', async () => {
				const { api, events, server } = fixture();
				const session = await api.createSession();
				await holdJob(fixture(), session.id);
				await server.advance(30 * minute - 10_000);
				expect(await api.getSession(session.id)).toEqual(session);
				await server.advance(10_000);
				const reads = await Promise.all(Array.from({ length: 8 }, () => api.getSession(session.id)));
				for (const read of reads) {
					expect(read).toMatchObject({ status: 'cancelled', status_reason: 'payment_timeout' });
				}
				expect(await events(session.id)).toEqual(['session.cancelled', 'session.created']);
			});

			it('is cancelled without being read', async () => {
				const session = await fixture().api.createSession();
				await fixture().server.advance(30 * minute);
				await eventually('the session is cancelled', async () => {
					const row = await rowOf(session.id);
					return row['status'] === 'cancelled' && row['status_reason'] === 'payment_timeout';
				});
			});

			it('is cancelled only when its open payment has expired', async () => {
				const { api, server } = fixture();
				const session = await api.createSession({ phone: numberEnding('003') });
				await server.advance(25 * minute);
				const payment = await api.pay(session);
				await fixture().asked(payment);
				await server.advance(6 * minute);
				expect(await api.getSession(session.id)).toMatchObject({ status: 'pending_payment' });
				expect(await api.getPayment(payment.id)).toMatchObject({ status: 'pending' });
				await server.advance(4 * minute);
				expect(await api.getPayment(payment.id, 20)).toMatchObject({ status: 'expired' });
				expect(await api.getSession(session.id)).toMatchObject({
					status: 'cancelled',
					status_reason: 'payment_timeout'
				});
			});
		});

		describe('the password', () => {
			it('exists only while the session is active, and is erased afterwards', async () => {
				const { api, server } = fixture();
				for (const end of ['client', 'clock']) {
					const { session } = await fixture().buy();
					expect(session.password).toMatch(PASSWORD);
					expect(await sealedOf(session.id)).toEqual(expect.any(String));
					if (end === 'client') await api.endSession(session.id);
					else await server.advance(hour);
					expect(await api.getSession(session.id)).toMatchObject({ password: null });
					expect(await sealedOf(session.id)).toBeNull();
				}
			});

			it('is sealed in the database, in no event, and cannot be moved to another pass', async () => {
				const { api, sql } = fixture();
				const [{ session: mine }, { session: theirs }] = [await fixture().buy(), await fixture().buy()];
				expect(mine.password).not.toBe(theirs.password);
				const everything: string[] = [];
				for (const table of ['passes', 'events', 'jobs', 'payments', 'operator_messages']) {
					everything.push(JSON.stringify(await sql.all(`select * from ${table}`)));
				}
				expect(everything.join()).not.toContain(mine.password);
				expect(everything.join()).not.toContain(mine.password?.replaceAll('-', ''));
				expect(everything[1]).not.toContain('"password');

				const sealed = String(await sealedOf(theirs.id));
				await sql.run('update passes set password_sealed = ? where id = ?', sealed, mine.id);
				await api.refused('500 internal_error', 'GET', `/v1/sessions/${mine.id}`);
			});
		});
	});
});
