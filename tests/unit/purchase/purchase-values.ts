import type { PaymentState, PurchaseWords } from '#lib/purchase/state.ts';

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
