import { formatOfferTerms } from '#lib/purchase/quote.ts';
import type { OfferEntry, OffersDraft } from '#lib/domain/offers/entry.ts';
import { formatDuration } from '#lib/domain/duration.ts';
import { numberText } from '#lib/i18n/intl.ts';
import { toMajor, toMinor } from '#lib/domain/money.ts';
import { money } from '#lib/format/text.ts';
import * as m from '#lib/i18n/messages.js';
import type { OffersUpdateBody } from '#lib/server/contract/offer.ts';
import type { App } from '#lib/server/app.ts';
import { checkOffers, readCells, replaceOffers } from '#lib/server/offers.ts';
import { AppError, attempt } from '#lib/server/platform/errors.ts';
import type { OwnedRouter } from '#lib/server/routers/routers.ts';
import type { OwnerVisitor } from '../owner.ts';
import { cellsOfDraft, emptyRow } from './draft.ts';

interface SetOffer {
	count: number;
	unit: string;
	/** The price, as so many hours at the hourly price. */
	hours: number;
	/** GB */
	data?: number;
}

/** Longer times cost less per hour, as in usual price lists. */
const HOURS: readonly SetOffer[] = [
	{ count: 30, unit: 'm', hours: 0.6 },
	{ count: 1, unit: 'h', hours: 1 },
	{ count: 3, unit: 'h', hours: 2.5 }
];
const DAYS: readonly SetOffer[] = [
	{ count: 1, unit: 'd', hours: 5 },
	{ count: 1, unit: 'w', hours: 20 },
	{ count: 30, unit: 'd', hours: 60 }
];

const SETS: Record<string, { title: () => string; offers: readonly SetOffer[] }> = {
	hours: { title: m.owner_set_hours, offers: HOURS },
	days: { title: m.owner_set_days, offers: DAYS },
	data: {
		title: m.owner_set_data,
		offers: [
			{ count: 1, unit: 'd', hours: 2, data: 1 },
			{ count: 1, unit: 'w', hours: 8, data: 5 },
			{ count: 30, unit: 'd', hours: 25, data: 20 }
		]
	}
};

/** Rounds to two digits, so that prices are easy to pay: 2,500 and not 2,475. */
function roundPrice(minor: number): number {
	const step = 10 ** Math.max(0, Math.floor(Math.log10(minor)) - 1);
	return Math.max(1, Math.round(minor / step) * step);
}

/** Returns a draft with the offers of a set, or the same draft if there is no such set. */
export function draftWithSet(
	draft: OffersDraft,
	name: string | null,
	{ price, currency }: OwnedRouter
): OffersDraft {
	const set = name !== null && Object.hasOwn(SETS, name) ? SETS[name] : undefined;
	if (!set) return draft;
	return { ...draft, rows: rowsOf(set.offers, toMinor(price, currency) ?? 1, currency) };
}

const rowsOf = (offers: readonly SetOffer[], hourMinor: number, currency: string): OfferEntry[] =>
	offers.map(({ count, unit, hours, data }) => ({
		...{ ...emptyRow(-1), count: String(count), unit, data: String(data ?? '') },
		price: String(toMajor(roundPrice(hourMinor * hours), currency))
	}));

/** The offers of a new router, unless its owner unticks them. */
const NEW_ROUTER = [...HOURS, ...DAYS];
const nameOf = ({ count, unit }: SetOffer): string => `${count}${unit}`;

export const newRouterOffers = () =>
	NEW_ROUTER.map((offer) => ({
		value: nameOf(offer),
		title: formatDuration(nameOf(offer)),
		text: m.owner_new_offer_price({ factor: numberText(offer.hours) })
	}));

/**
 * Gives a new router the chosen offers that one of its payment methods can charge. A list that its owner has changed
 * meanwhile stays as it is.
 * @param chosen `value` of `newRouterOffers`
 */
export async function setNewRouterOffers(
	{ offers }: App,
	{ actor }: OwnerVisitor,
	{ id, price_minor, currency }: { id: number; price_minor: number; currency: string },
	chosen: readonly string[]
): Promise<void> {
	const wanted = NEW_ROUTER.filter((offer) => chosen.includes(nameOf(offer)));
	const rows = rowsOf(wanted, price_minor, currency);
	const list = readCells(cellsOfDraft({ rows }).cells, { hourly: true, version: 0 }, currency);
	const payable: typeof list.offers = [];
	for (const offer of list.offers) {
		const checked = await attempt(AppError, () =>
			checkOffers(offers, actor, id, { ...list, offers: [offer] })
		);
		if (!(checked instanceof AppError)) payable.push(offer);
	}
	await attempt(AppError, () => replaceOffers(offers, actor, id, { ...list, offers: payable }));
}

/** Describes offers as buyers see them. */
export const linesOf = ({ offers }: OffersUpdateBody, { currency }: OwnedRouter) =>
	offers.map((offer) => ({
		...{ name: offer.name, terms: formatOfferTerms(offer), active: offer.active },
		money: money(offer.price, currency)
	}));

/** Lists the sets that a router without offers can sell. */
export async function setsOf(
	{ offers }: App,
	{ actor }: OwnerVisitor,
	draft: OffersDraft,
	router: OwnedRouter
) {
	const sets = await Promise.all(
		Object.entries(SETS).map(async ([name, { title }]) => {
			const { rows } = draftWithSet(draft, name, router);
			const { cells } = cellsOfDraft({ ...draft, rows });
			const list = readCells(cells, { hourly: draft.hourly }, router.currency);
			const lines = linesOf(list, router).map((line) =>
				m.map_router({ name: line.terms || line.name, price: line.money })
			);
			const checked = await attempt(AppError, () => checkOffers(offers, actor, router.id, list));
			return checked instanceof AppError ? null : { name, title: title(), lines };
		})
	);
	return sets.filter((set) => set !== null);
}
