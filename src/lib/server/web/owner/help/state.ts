import * as m from '#lib/i18n/messages.js';
import type { FoundPurchase, PurchaseFacts } from '#lib/server/owner/help/help.ts';

/** The state of a purchase for the person who helps its buyer. */
type HelpState =
	'waiting' | 'unknown' | 'unpaid' | 'paid' | 'active' | 'ended' | 'refunding' | 'refunded' | 'refund_failed';

export function helpState({
	session,
	payment,
	extraUntil
}: FoundPurchase & Partial<Pick<PurchaseFacts, 'extraUntil'>>): HelpState {
	if (extraUntil != null) return 'active';
	switch (session.status) {
		case 'activating':
			return 'paid';
		case 'active':
			return 'active';
		case 'expired':
		case 'ended':
			return payment?.status.startsWith('refund') ? ofPayment(payment) : 'ended';
		case 'pending_payment':
		case 'cancelled':
			return ofPayment(payment);
	}
}

const PAYMENT_STATES: Readonly<Record<string, HelpState>> = {
	pending: 'waiting',
	expired: 'unknown',
	success: 'paid',
	refund_pending: 'refunding',
	refunded: 'refunded',
	refund_failed: 'refund_failed'
};

const ofPayment = (payment: FoundPurchase['payment']): HelpState =>
	PAYMENT_STATES[payment?.status ?? ''] ?? 'unpaid';

type Tone = 'good' | 'notice' | 'bad';

/** A few words, with their tone; null is neutral. */
export function stateMark(state: HelpState): { label: string; tone: Tone | null } {
	const marks: Record<HelpState, [label: string, tone: Tone | null]> = {
		waiting: [m.help_is_waiting(), 'notice'],
		unknown: [m.help_is_unknown(), 'notice'],
		unpaid: [m.help_is_unpaid(), null],
		paid: [m.help_is_paid(), 'notice'],
		active: [m.help_is_active(), 'good'],
		ended: [m.help_is_ended(), null],
		refunding: [m.help_is_refunding(), 'notice'],
		refunded: [m.help_is_refunded(), null],
		refund_failed: [m.help_is_refund_failed(), 'bad']
	};
	const [label, tone] = marks[state];
	return { label, tone };
}

export function adviceFor(
	state: HelpState,
	words: {
		isConnected: boolean;
		/** The sign-in page of the Wi-Fi accepts the code. */
		takesCode: boolean;
		/** When the router last responded, if it does not now. */
		silentSince: string | null;
		ssid: string;
		address: string;
		number: string;
		time: string;
	}
): string {
	const { silentSince, ssid, address, number, time } = words;
	const advice: Record<HelpState, () => string> = {
		waiting: m.help_do_waiting,
		unknown: m.help_do_unknown,
		unpaid: m.help_do_unpaid,
		paid: () => m.help_do_paid({ time }),
		active() {
			if (silentSince !== null) return m.usage_not_sold({ time: silentSince });
			if (words.isConnected) return m.help_do_connected({ address });
			return words.takesCode
				? m.help_do_enter_code({ ssid, choose: m.common_paid_already() })
				: m.help_do_not_connected({ ssid, address });
		},
		ended: m.help_do_ended,
		refunding: m.help_do_refunding,
		refunded: m.help_do_refunded,
		refund_failed: () => m.help_do_refund_failed({ number })
	};
	return advice[state]();
}
