import { quote } from '#lib/quote.ts';
import type { Purchase } from './view.ts';

/** What paying again costs, in major units: the agreed price while this order can be paid, else today's. */
export function priceAgain({ router, session }: Purchase): number | null {
	if (session.status === 'pending_payment') return session.amount;
	return quote(router, session.duration)?.amount ?? null;
}

/** Whether this purchase, or the same time anew, can be paid now; `amount` is null where no price is known. */
export const canPayAgain = ({ router, session }: Purchase, amount: number | null): amount is number =>
	amount !== null && (session.status === 'pending_payment' || router.status === 'online');
