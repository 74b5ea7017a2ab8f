import type { PaymentState, PurchaseWords, SessionState } from '#lib/purchase/state.ts';
import { failureCode, paymentStatus } from '#lib/server/contract/payment.ts';
import { sessionStatus } from '#lib/server/contract/session.ts';

/** Ten seconds after the payments below. */
export const NOW = new Date('2026-11-21T13:40:00Z');

export const WORDS: PurchaseWords = {
	amount: 'UGX 1,000',
	taken: 'UGX 1,000',
	number: '0772 ••• 456',
	method: 'MTN MoMo',
	operator: 'MTN MoMo',
	ssid: 'KISEMENTI-WIFI',
	until: '16:40',
	data: '20 GB',
	code: 'K7MQ-29XT'
};

export const payment = (status: string, other: Partial<PaymentState> = {}): PaymentState => ({
	status,
	applied: false,
	failure_code: null,
	refund_reason: null,
	created_at: '2026-11-21T13:39:50.000Z',
	...other
});

export const session = (status: string, status_reason: string | null = null): SessionState => ({
	status,
	status_reason,
	expires_at: status === 'active' ? '2026-11-21T13:40:00.000Z' : null
});

/** One of a later API, too. */
const STATUS_REASONS: Readonly<Record<string, string[]>> = {
	ended: ['client_ended', 'admin_ended', 'refunded', 'data_limit_reached', 'a_new_one'],
	cancelled: ['client_cancelled', 'payment_timeout', 'provisioning_failed', 'a_new_one']
};

export const REFUND_REASONS = [
	...['duplicate_payment', 'session_cancelled', 'late_payment', 'provisioning_failed'],
	...['amount_mismatch', 'admin', null]
];

/** Every session that a purchase can have. */
export const SESSIONS: SessionState[] = sessionStatus.options.flatMap((status) =>
	[...(STATUS_REASONS[status] ?? []), null].map((reason) => session(status, reason))
);

/** Every payment that a purchase can have, a missing one included. */
export const PAYMENTS: (PaymentState | null)[] = [
	null,
	payment('success', { applied: true }),
	...paymentStatus.options.flatMap((status) => [
		...[...failureCode.options, null].map((failure_code) => payment(status, { failure_code })),
		...[...REFUND_REASONS, 'a_new_one'].map((refund_reason) => payment(status, { refund_reason }))
	])
];
