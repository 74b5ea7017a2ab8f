import { durationProblem } from '#lib/domain/duration.ts';
import { toMinor } from '#lib/domain/money.ts';
import { limitsOf, type Limits } from '#lib/domain/offers/offer-limits.ts';
import type { OffersUpdateBody } from '../contract/offer.ts';
import type { ProblemItem } from '../contract/problems.ts';
import type { RegisteredGateway } from '../gateways/gateways.ts';
import type { RouterRow } from '../routers/routers.ts';
import { limitProblems } from './limits.ts';

type NewOffer = OffersUpdateBody['offers'][number];
type Field = keyof NewOffer;

interface Seller {
	router: RouterRow;
	/** Whether one of its payment methods can charge an amount. */
	isPayable: (amountMinor: number) => boolean;
	gateways: readonly RegisteredGateway[];
}

/** Lists everything that is wrong with a new list of offers, by the field of the request body. */
export function offerProblems(list: OffersUpdateBody, seller: Seller): ProblemItem[] {
	const problems = list.offers.flatMap((offer, index) => [
		...ownProblems(offer, seller).map(({ field, detail }) => problem(`/offers/${index}/${field}`, detail)),
		...duplicates(list.offers, index)
	]);
	const longest = list.max_duration === undefined ? null : durationProblem(seller.router, list.max_duration);
	if (longest !== null) problems.push(problem('/max_duration', longest));
	const sells = list.offers.some((offer) => offer.active);
	if (list.hourly || sells) return problems;
	return [
		...problems,
		problem('/hourly', 'Nothing would be sold: add an active offer, or sell by the hour.')
	];
}

const problem = (
	pointer: string,
	detail: string,
	code: ProblemItem['code'] = 'out_of_range'
): ProblemItem => ({
	...{ in: 'body', pointer, code, detail }
});

function ownProblems(
	offer: NewOffer,
	{ router, gateways, isPayable }: Seller
): { field: Field; detail: string }[] {
	const found: { field: Field; detail: string }[] = [];
	const check = (field: Field, detail: string | null) => {
		if (detail !== null) found.push({ field, detail });
	};
	check('duration', durationProblem(router, offer.duration));
	check('price', priceProblem(offer.price, router, isPayable));
	check('until', hoursProblem(offer));
	// An inactive offer can wait for a gateway that is yet to hold its limits.
	return offer.active ? [...found, ...limitProblems(offer, router, gateways)] : found;
}

function priceProblem(price: number, { currency }: RouterRow, isPayable: Seller['isPayable']): string | null {
	const minor = toMinor(price, currency);
	if (minor === null) return `Use an amount of ${currency} without superfluous decimals.`;
	return isPayable(minor) ? null : 'No payment method of the router can charge this amount.';
}

function hoursProblem({ from = null, until = null }: NewOffer): string | null {
	if ((from === null) !== (until === null)) return 'Give both "from" and "until", or neither.';
	return from !== null && from === until ? 'Use an end that differs from the start.' : null;
}

function duplicates(offers: readonly NewOffer[], index: number): ProblemItem[] {
	const offer = offers[index];
	if (!offer) return [];
	const earlier = offers.slice(0, index);
	const at = (field: Field) => `/offers/${index}/${field}`;
	const name = offer.name.trim().toLowerCase();
	if (earlier.some((one) => one.name.trim().toLowerCase() === name)) {
		return [problem(at('name'), `Another offer has the name "${offer.name}".`, 'duplicate')];
	}
	const same = earlier.find((one) => termsKey(one) === termsKey(offer));
	if (!same) return [];
	return [problem(at('price'), `"${same.name}" has the same duration, price and limits.`, 'duplicate')];
}

/** The terms for which an id stands. Equal keys mean equal terms. `price` may be in any one unit. */
export const termsKey = (offer: Limits & { duration: string; price: number }): string =>
	JSON.stringify([offer.duration, offer.price, ...Object.values(limitsOf(offer))]);
