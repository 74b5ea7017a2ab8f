import type { Books } from '../books.ts';
import { accountOf } from './answers.ts';
import type { Body } from './fields.ts';
import { NETWORKS } from './market.ts';

/** A wallet for each country and currency: what deposits brought, less refunds. */
export function walletBalances(query: URLSearchParams, books: Books): Body {
	const wanted = query.get('country');
	const balances = new Map<string, number>();
	for (const { country, wallets } of NETWORKS) {
		if (wanted !== null && wanted !== country.code) continue;
		for (const { currency } of wallets) balances.set(`${country.code} ${currency}`, 0);
	}
	for (const payment of books.payments) {
		const back = books.refunds.filter(
			(refund) => refund.paymentNumber === payment.number && books.refundOutcome(refund) === 'success'
		);
		const kept = back.reduce((rest, { amount }) => rest - amount, books.takenOf(payment));
		const wallet = `${accountOf(payment.request).provider.slice(-3)} ${payment.currency}`;
		const balance = balances.get(wallet);
		if (balance !== undefined) balances.set(wallet, balance + kept);
	}
	return {
		balances: [...balances].map(([wallet, balance]) => {
			const [country, currency] = wallet.split(' ');
			return { country, balance: balance.toFixed(2), currency, provider: '' };
		})
	};
}
