import * as m from '#lib/i18n/messages.js';
import type { FoundPurchase, PurchaseFacts } from '#lib/server/owner/help.ts';

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

/** The facts that the advice names. */
interface Words {
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

/** A few words with their tone, which is neutral if it is null, and the advice. */
const STATES: Record<
	HelpState,
	readonly [() => string, 'good' | 'notice' | 'bad' | null, (words: Words) => string]
> = {
	waiting: [m.help_is_waiting, 'notice', m.help_do_waiting],
	unknown: [m.help_is_unknown, 'notice', m.help_do_unknown],
	unpaid: [m.help_is_unpaid, null, m.help_do_unpaid],
	paid: [m.help_is_paid, 'notice', m.help_do_paid],
	active: [m.help_is_active, 'good', activeAdvice],
	ended: [m.help_is_ended, null, m.help_do_ended],
	refunding: [m.help_is_refunding, 'notice', m.help_do_refunding],
	refunded: [m.help_is_refunded, null, m.help_do_refunded],
	refund_failed: [m.help_is_refund_failed, 'bad', m.help_do_refund_failed]
};

export function stateMark(state: HelpState) {
	const [label, tone] = STATES[state];
	return { label: label(), tone };
}

export const adviceFor = (state: HelpState, words: Words): string => STATES[state][2](words);

function activeAdvice({ silentSince, isConnected, takesCode, ssid, address }: Words): string {
	if (silentSince !== null) return m.usage_not_sold({ time: silentSince });
	if (isConnected) return m.help_do_connected({ address });
	return takesCode
		? m.help_do_enter_code({ ssid, choose: m.common_paid_already() })
		: m.help_do_not_connected({ ssid, address });
}
