import { describe, expect, test } from 'vitest';
import {
	type PaymentState,
	type SessionState,
	describeRefusal,
	describeState,
	listWords
} from '#lib/purchase/state.ts';
import { failureCode } from '#lib/server/contract/payment.ts';
import { NOW, payment, PAYMENTS, session, SESSIONS, WORDS } from './purchase-values.ts';

const stateOf = (aSession: SessionState, aPayment: PaymentState | null, now = NOW) =>
	describeState(aSession, aPayment, WORDS, now);

const ALL = SESSIONS.flatMap((aSession) => PAYMENTS.map((aPayment) => ({ aSession, aPayment })));

test('a status that a later API may add still gets a sentence', () => {
	expect(stateOf(session('paused'), null).title).toBe('We are processing your purchase.');
	expect(stateOf(session('pending_payment'), payment('reversed')).kind).toBe('unknown');
	expect(stateOf(session('cancelled', 'payment_timeout'), payment('reversed')).kind).toBe('unknown-late');
});

test('nothing is called failed, and no money called safe at home, while nobody knows', () => {
	const unknown = ALL.filter(
		({ aSession, aPayment }) =>
			['pending_payment', 'cancelled'].includes(aSession.status) &&
			aSession.status_reason !== 'provisioning_failed' &&
			(aPayment?.status === 'pending' ||
				(aPayment?.status === 'expired' &&
					(aPayment.failure_code === null || aPayment.failure_code === 'payer_timeout')))
	);
	expect(unknown.length).toBeGreaterThan(5);
	for (const { aSession, aPayment } of unknown) {
		const { title, text, next, polls } = stateOf(aSession, aPayment);
		expect(`${title} ${text} ${next}`).not.toMatch(
			/fail|nothing was taken|no money left|did not go through/i
		);
		expect(polls).toBe(true);
	}
});

test('a failed payment says that nothing was charged, and is tried again', () => {
	const states = [null, ...failureCode.options].map((failure_code) =>
		stateOf(session('pending_payment'), payment('failed', { failure_code }))
	);
	for (const { text, action } of states) {
		expect(text).toContain('You have not been charged.');
		expect(action).toBe('retry');
	}
});

test('a late payment is stateOf as it is: what comes back, and to which number', () => {
	const { text } = stateOf(
		session('cancelled', 'payment_timeout'),
		payment('refund_pending', { refund_reason: 'late_payment' })
	);
	expect(text).toBe('Your payment arrived too late. We are refunding UGX 1,000 to 0772 ••• 456.');
});

test.each([
	['+256772123456', 'mobile_money', 'MTN MoMo declined the payment.'],
	['+256702123456', 'mobile_money', 'Airtel Money declined the payment.'],
	['+256312123456', 'mobile_money', 'Your operator declined the payment.'],
	['+256772123456', 'airtel_money', 'Airtel Money declined the payment.']
])('the operator of %s with %s is named where it is known', (phone, payment_method, title) => {
	const order = { amount: 500, currency: 'UGX', phone, payment_method };
	const words = listWords({ session: { ...order, ssid: 'KISEMENTI-WIFI' }, payment: order });
	expect(describeRefusal('provider_error', words).title).toBe(title);
});

test('money that a person returned may have come in another way than to the number', () => {
	const { text } = stateOf(session('cancelled'), payment('refunded', { refund_reason: 'admin' }));
	expect(text).toContain('0772 ••• 456, unless the venue paid you in another way, for example in cash.');
});

test('money on its way back is never left unsaid, whatever became of the time', () => {
	for (const aSession of SESSIONS) {
		for (const status of ['refund_pending', 'refunded', 'refund_failed']) {
			const { title, text, note } = stateOf(
				aSession,
				payment(status, { refund_reason: 'duplicate_payment' })
			);
			expect(`${title} ${text} ${note}`, aSession.status).toContain('0772 ••• 456');
		}
	}
});

test('a payment that is applied while its session is read as unpaid is good news, not a refund', () => {
	for (const aSession of [session('pending_payment'), session('cancelled', 'payment_timeout')]) {
		expect(stateOf(aSession, payment('success', { applied: true })).kind).toBe('getting-ready');
	}
});

test('an expired payment that learned the operator’s no is stateOf as that no', () => {
	expect(
		stateOf(session('pending_payment'), payment('expired', { failure_code: 'insufficient_funds' })).title
	).toBe('Not enough money on this number.');
	expect(
		stateOf(session('pending_payment'), payment('expired', { failure_code: 'payer_timeout' })).kind
	).toBe('unknown');
});

test('while one may still pay twice, buying anew is offered only with a warning', () => {
	const state = stateOf(
		session('cancelled', 'payment_timeout'),
		payment('expired', { failure_code: 'payer_timeout' })
	);
	expect(state.action).toBe('buy');
	expect(state.next).toContain('only if you did not approve');
});

describe('asking again', () => {
	const refresh = (seconds: number) =>
		stateOf(
			session('pending_payment'),
			payment('pending'),
			new Date(Date.parse('2026-11-21T13:39:50Z') + 1000 * seconds)
		).refreshSeconds;

	test('a page without script asks every three seconds at first, and slower as the payment ages', () => {
		expect([0, 59, 61, 179, 181, 900].map(refresh)).toEqual([3, 3, 5, 5, 10, 10]);
	});

	test('a clock that runs behind does not stop it', () => {
		expect(refresh(-100)).toBe(3);
	});

	test('it stops where nothing can change', () => {
		const final = [
			stateOf(session('expired'), payment('success', { applied: true })),
			stateOf(session('ended', 'client_ended'), payment('success', { applied: true })),
			stateOf(session('cancelled', 'client_cancelled'), null),
			stateOf(session('cancelled', 'payment_timeout'), payment('failed', { failure_code: 'payer_rejected' })),
			stateOf(session('cancelled', 'payment_timeout'), payment('refunded', { refund_reason: 'late_payment' }))
		];
		for (const { polls, refreshSeconds } of final) expect([polls, refreshSeconds]).toEqual([false, null]);
	});

	test('a page that reloads itself never holds a form that the buyer may be filling', () => {
		for (const { aSession, aPayment } of ALL) {
			const { action, refreshSeconds } = stateOf(aSession, aPayment);
			if (action === 'retry' || action === 'renew') expect(refreshSeconds).toBeNull();
		}
	});

	test('what the page shows changes its kind with every change that the buyer should see', () => {
		const stages = [
			stateOf(session('pending_payment'), null),
			stateOf(session('pending_payment'), payment('pending')),
			stateOf(session('pending_payment'), payment('expired', { failure_code: 'payer_timeout' })),
			stateOf(session('pending_payment'), payment('refund_pending')),
			stateOf(session('pending_payment'), payment('refunded')),
			stateOf(session('activating'), payment('success', { applied: true })),
			stateOf(session('active'), payment('success', { applied: true })),
			stateOf(session('expired'), payment('success', { applied: true })),
			stateOf(session('ended', 'refunded'), payment('refund_pending')),
			stateOf(session('ended', 'refunded'), payment('refunded')),
			stateOf(session('cancelled', 'payment_timeout'), payment('expired', { failure_code: 'payer_timeout' })),
			stateOf(session('cancelled', 'payment_timeout'), payment('refund_pending')),
			stateOf(session('cancelled', 'payment_timeout'), payment('refunded'))
		];
		expect(new Set(stages.map(({ kind }) => kind)).size).toBe(stages.length);
	});
});
