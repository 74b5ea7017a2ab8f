import * as m from '#lib/i18n/messages.js';
import type { FoundPurchase } from '#lib/server/owner/help/help.ts';

/** The state of a purchase for the person who helps its buyer. */
type HelpState =
	'waiting' | 'unknown' | 'unpaid' | 'paid' | 'active' | 'ended' | 'refunding' | 'refunded' | 'refund_failed';

export function helpState({ session, payment }: FoundPurchase): HelpState {
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

function ofPayment(payment: FoundPurchase['payment']): HelpState {
	switch (payment?.status) {
		case 'pending':
			return 'waiting';
		case 'expired':
			return 'unknown';
		case 'success':
			return 'paid';
		case 'refund_pending':
			return 'refunding';
		case 'refunded':
			return 'refunded';
		case 'refund_failed':
			return 'refund_failed';
		default:
			return 'unpaid';
	}
}

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

/** Says what the person at the counter should do. */
export function adviceFor(
	state: HelpState,
	words: { isConnected: boolean; ssid: string; address: string; number: string; time: string }
): string {
	const { ssid, address, number, time } = words;
	switch (state) {
		case 'active':
			return words.isConnected
				? m.help_do_connected({ address })
				: m.help_do_not_connected({ ssid, address });
		case 'paid':
			return m.help_do_paid({ time });
		case 'refund_failed':
			return m.help_do_refund_failed({ number });
		case 'waiting':
			return m.help_do_waiting();
		case 'unknown':
			return m.help_do_unknown();
		case 'unpaid':
			return m.help_do_unpaid();
		case 'ended':
			return m.help_do_ended();
		case 'refunding':
			return m.help_do_refunding();
		case 'refunded':
			return m.help_do_refunded();
	}
}
