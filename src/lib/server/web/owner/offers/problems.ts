import { boundsText } from '#lib/purchase/quote.ts';
import { readAmount } from '#lib/domain/money.ts';
import { LIMITS, type Limit } from '#lib/domain/offers/offer-limits.ts';
import { WEEKDAYS } from '#lib/domain/time/opening-hours.ts';
import type { OfferField } from '#lib/domain/offers/entry.ts';
import { apart, numberText } from '#lib/i18n/intl.ts';
import * as m from '#lib/i18n/messages.js';
import type { ProblemItem } from '#lib/server/contract/problems.ts';
import { type OfferCells, type OfferColumn, findUnheldLimits } from '#lib/server/offers.ts';
import { maxSpeedKbps, type RegisteredGateway } from '#lib/server/gateways/gateways.ts';
import type { OwnedRouter } from '#lib/server/routers/routers.ts';
import { amountProblem } from '../router/router-form.ts';
import { MAX_ROWS } from './draft.ts';

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

export interface OfferPlace {
	router: OwnedRouter;
	gateways: readonly RegisteredGateway[];
}

/** Describes a refused field to an owner. */
export function offerProblem(
	item: ProblemItem,
	offers: readonly OfferCells[],
	place: OfferPlace
): OfferProblem {
	const [, , index, name] = item.pointer.split('/');
	const column = name as OfferColumn | undefined;
	const cells = offers[Number(index)];
	if (column === undefined || !cells || !(column in FIELDS)) {
		const isUnsold = item.pointer === '/hourly';
		const text = isUnsold ? m.owner_offers_nothing() : m.owner_offers_too_many({ max: String(MAX_ROWS) });
		return { index: null, field: null, text };
	}
	return { index: Number(index), field: FIELDS[column], text: textOf(column, item, cells, place) };
}

function textOf(column: OfferColumn, { code }: ProblemItem, cells: OfferCells, place: OfferPlace) {
	const { router } = place;
	const isDuplicate = code === 'duplicate';
	switch (column) {
		case 'name':
			return isDuplicate ? m.owner_offers_same_name() : m.owner_offers_bad_name();
		case 'duration':
			return m.router_choose_from({ bounds: boundsText(router) });
		case 'price':
			return isDuplicate ? m.owner_offers_same() : priceText(cells.price, router.currency);
		case 'max_devices':
			return limitText(column, cells, place) ?? m.owner_offers_bad_devices();
		case 'speed_down_kbps':
		case 'speed_up_kbps':
		case 'data_limit_mb':
			return limitText(column, cells, place) ?? m.owner_offers_bad_number();
		case 'from':
		case 'until':
			return m.owner_offers_bad_hours();
		case 'days':
			return m.owner_csv_days({ example: apart(WEEKDAYS.slice(0, 2).join(' ')) });
		case 'active':
			return m.owner_csv_active({ yes: apart('yes'), no: apart('no') });
	}
}

/** Says why the router does not hold a limit; null if the limit itself is wrong. */
function limitText(limit: Limit, cells: OfferCells, { router, gateways }: OfferPlace): string | null {
	const limits = Object.fromEntries(
		LIMITS.flatMap((name) => (/^[1-9]\d{0,9}$/.test(cells[name]) ? [[name, Number(cells[name])]] : []))
	);
	const problem = findUnheldLimits(limits, router, gateways).find(({ field }) => field === limit);
	if (!problem) return null;
	const gateway = problem.gateway ? apart(`${problem.gateway.title} (${problem.gateway.name})`) : '';
	switch (problem.reason) {
		case 'shared_password':
			return limit === 'data_limit_mb' ? m.owner_offers_shared_data() : m.owner_offers_shared_devices();
		case 'no_gateway':
			return m.owner_offers_no_gateway();
		case 'no_limits_with_enterprise':
			return m.owner_offers_not_with({ gateway, access: m.owner_access_user_title() });
		case 'too_fast':
			return m.owner_offers_too_fast({ gateway, speed: numberText(mostMbit(problem.gateway)) });
		case 'needs_script':
			return m.owner_offers_needs_script({ gateway });
		case 'needs_address':
			return m.owner_offers_needs_address({ gateway });
		case 'one_device_only':
			return m.owner_offers_one_device({ gateway });
		case 'needs_enterprise':
		case 'unable':
			return m.owner_offers_unable({ gateway });
	}
}

function priceText(text: string, currency: string): string {
	const price = readAmount(text, currency);
	if (typeof price === 'string') return amountProblem(price, text, currency);
	return price <= 0 ? m.owner_price_not_number() : m.owner_offers_not_charged();
}

const mostMbit = (gateway: RegisteredGateway | null) => (gateway ? maxSpeedKbps(gateway) / 1000 : 0);
