import { boundsText } from '#lib/checkout/quote.ts';
import { parseAmount, toMinor } from '#lib/domain/money.ts';
import type { OfferField } from '#lib/domain/offers/entry.ts';
import * as m from '#lib/i18n/messages.js';
import type { ProblemItem } from '#lib/server/api/contract/schemas.ts';
import type { OfferCells, OfferColumn } from '#lib/server/offers/cells.ts';
import type { OwnedRouter } from '#lib/server/routers/routers.ts';

const FIELDS: Record<OfferColumn, OfferField> = {
	...{ name: 'name', duration: 'count', price: 'price', max_devices: 'devices', speed_down_kbps: 'down' },
	...{ speed_up_kbps: 'up', data_limit_mb: 'data', days: 'days', from: 'from', until: 'until' },
	active: 'active'
};

interface OfferProblem {
	/** Index of the offer; null for the whole list. */
	index: number | null;
	field: OfferField | null;
	text: string;
}

/** Describes a refused field to an owner. Reasons without a translation stay as the API gives them. */
export function offerProblem(
	item: ProblemItem,
	offers: readonly OfferCells[],
	router: OwnedRouter
): OfferProblem {
	const [, , index, name] = item.pointer.split('/');
	const column = name as OfferColumn | undefined;
	const cells = offers[Number(index)];
	if (column === undefined || !cells || !(column in FIELDS)) {
		const text = item.pointer === '/hourly' ? m.owner_offers_nothing() : item.detail;
		return { index: null, field: null, text };
	}
	return { index: Number(index), field: FIELDS[column], text: textOf(column, item, cells, router) };
}

function textOf(column: OfferColumn, { code, detail }: ProblemItem, cells: OfferCells, router: OwnedRouter) {
	const isDuplicate = code === 'duplicate';
	switch (column) {
		case 'name':
			return isDuplicate ? m.owner_offers_same_name() : m.owner_offers_bad_name();
		case 'duration':
			return m.router_choose_from({ bounds: boundsText(router) });
		case 'price':
			return isDuplicate ? m.owner_offers_same() : priceText(detail, cells.price, router.currency);
		case 'max_devices':
			return router.access_kind === 'shared_password'
				? m.owner_offers_shared_devices()
				: m.owner_offers_bad_devices();
		case 'speed_down_kbps':
		case 'speed_up_kbps':
			return isNumber(cells[column]) ? `${m.owner_offers_no_speed()} ${detail}` : m.owner_offers_bad_number();
		case 'data_limit_mb':
			return isNumber(cells[column]) ? `${m.owner_offers_no_data()} ${detail}` : m.owner_offers_bad_number();
		case 'from':
		case 'until':
			return m.owner_offers_bad_hours();
		default:
			return detail;
	}
}

const isNumber = (text: string) => /^[1-9]\d{0,9}$/.test(text);

function priceText(detail: string, text: string, currency: string): string {
	const price = parseAmount(text);
	if (price === null || price <= 0) return m.owner_price_not_number();
	return toMinor(price, currency) === null ? m.owner_price_too_fine({ currency }) : detail;
}
