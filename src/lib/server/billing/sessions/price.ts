import { durationProblem, durationSeconds } from '#lib/domain/duration.ts';
import { priceForSeconds } from '#lib/domain/money.ts';
import { cheapestUnlimited, fitsPass, limitsOf, type Limit } from '#lib/domain/offers/offer-limits.ts';
import type { PassRow } from '../../passes/passes.ts';
import type { SessionCreationBody } from '#lib/server/contract/schemas.ts';
import { AppError, validationFailed } from '#lib/server/platform/errors.ts';
import type { Offer, RouterRow, Routers } from '#lib/server/routers/routers.ts';
import type { SessionRow } from './store.ts';

/** The price and the limits that a session keeps, whatever its router sells later. */
type Terms = Pick<SessionRow, 'amount_minor' | 'offer_id' | 'offer_name' | Limit>;

/**
 * Finds what an order buys: the offer in `offer_id`; without one, the cheapest available offer of exactly this duration
 * that adds no limit; otherwise the time at the hourly price.
 * @param pass the pass that gets the time; null for a new one
 * @throws AppError `duration_not_allowed | duration_not_offered | offer_not_available | validation_failed`
 */
export function agreedTerms(
	routers: Pick<Routers, 'listedOffers'>,
	router: RouterRow,
	order: Pick<SessionCreationBody, 'duration' | 'offer_id'>,
	pass: PassRow | null
): Terms {
	const seconds = durationSeconds(order.duration);
	const outside = durationProblem(router, order.duration);
	if (outside !== null) {
		const { min_duration, max_duration } = router;
		throw new AppError('duration_not_allowed', outside, { extensions: { min_duration, max_duration } });
	}
	const listed = routers.listedOffers(router);
	const onSale = listed.filter(({ available }) => available).map(({ offer }) => offer);
	const offer =
		order.offer_id === undefined
			? cheapestUnlimited(
					onSale.filter((one) => pass === null || fitsPass(one, pass)),
					{ seconds, maxDevices: router.max_devices },
					({ price_minor: price }) => price
				)
			: chosenOffer(onSale, order.offer_id, seconds);
	if (offer === null && router.hourly === 0) {
		const durations = onSale.map(({ duration }) => duration).join(', ') || 'none is on sale now';
		throw new AppError('duration_not_offered', `This router sells only its offers: ${durations}.`, {
			extensions: { offers: listed.map(({ body }) => body) }
		});
	}
	const terms = termsOf(offer, router, seconds);
	if (pass && !fitsPass(terms, pass)) {
		const detail = 'Time can only be added with the same speed, and with or without a data limit as before.';
		throw new AppError('offer_not_available', detail);
	}
	return terms;
}

function chosenOffer(onSale: readonly Offer[], id: number, seconds: number): Offer {
	const offer = onSale.find((one) => one.id === id);
	if (!offer) throw new AppError('offer_not_available', 'The router has no offer with this id on sale now.');
	if (durationSeconds(offer.duration) === seconds) return offer;
	const detail = `The offer has the duration "${offer.duration}".`;
	throw validationFailed([{ in: 'body', pointer: '/duration', code: 'out_of_range', detail }]);
}

const termsOf = (offer: Offer | null, router: RouterRow, seconds: number): Terms => ({
	amount_minor: offer?.price_minor ?? priceForSeconds(router.price_minor, seconds),
	offer_id: offer?.id ?? null,
	offer_name: offer?.name ?? null,
	...limitsOf(offer ?? {}),
	max_devices: offer?.max_devices ?? router.max_devices
});
