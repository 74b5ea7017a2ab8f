import type { PageServerLoad } from './$types';
import { formatDistance, formatKilometres } from '#lib/domain/geo.ts';
import { apart } from '#lib/i18n/intl.ts';
import * as m from '#lib/i18n/messages.js';
import { amountText, lowestOffer, priceText } from '#lib/purchase/quote.ts';
import { makePhoneHint } from '#lib/domain/phone.ts';
import { type ApiClient, apiClient } from '#lib/server/portal/api-client.ts';
import type { RouterBody, RouterListBody } from '#lib/server/contract/router.ts';
import { MAX_QUERY_LENGTH } from '#lib/map/position.ts';
import { orUnavailable } from '#lib/server/portal/pages.ts';
import { readOpeningTexts } from '#lib/server/portal/pay-page.ts';
import {
	MAX_SHOWN,
	PAGE_SIZE,
	RADII,
	type Search,
	filterQuery,
	passes,
	readSearch
} from '#lib/server/portal/search.ts';

/** The search stops at this many routers nearby; farther away one is enough. */
const ENOUGH_NEARBY = 4;
/** A filtered list looks at so many of the nearest routers, because the API does not know the filters. */
const FILTERED_LIMIT = 100;

/** The list of routers, nearest first. */
export const load: PageServerLoad = async (event) => {
	const { config } = event.locals.app;
	const api = apiClient(event);
	const unreachable = m.common_list_unreachable();
	const search = await orUnavailable(findNamed(api, readSearch(event.url.searchParams, config)), unreachable);
	const found = await orUnavailable(findNear(api, search), unreachable);
	const opening = await readOpeningTexts(event, found.data);
	const { position, filters, show } = search;

	const filtered = filterQuery(filters);
	const query = (extra: Record<string, number>) => {
		const where = search.given ? { lat: position.lat, lon: position.lon } : {};
		const pairs = Object.entries({ ...where, ...filtered, ...extra });
		return String(new URLSearchParams(pairs.map(([name, value]) => [name, String(value)])));
	};
	const wider = RADII.find((radius) => radius > found.radius);
	const cards = found.data.map((router) => describeCard(router, opening.get(router.id)));
	const hasMore = found.hasMore && show < MAX_SHOWN;

	return {
		picture: `${event.locals.origin}/icon.png`,
		search: { position, given: search.given, text: search.text, problem: search.problem },
		filters,
		/** A search for a position starts with it. */
		searchStart: `?${Object.entries(filtered)
			.map((pair) => `${pair.join('=')}&`)
			.join('')}`,
		currency: config.currency,
		summary: formatSummary(found, search),
		routers: cards,
		onMap: cards.map(({ id, name, address, lat, lon, price, closed, mark, online }) => ({
			...{ id, name, address, lat, lon, mark, online },
			price: online ? price : closed
		})),
		more: hasMore
			? `${query({ radius: found.radius, show: show + PAGE_SIZE })}#router-${found.data.at(-1)?.id}`
			: null,
		wider: wider === undefined ? null : { query: query({ radius: wider }), reach: formatKilometres(wider) },
		testExample: config.mode === 'sandbox' ? makePhoneHint(config.defaultRegion).testExample : ''
	};
};

/** Needs no geocoder: "Makerere" finds a router in Makerere Hill Road. */
async function findNamed(api: ApiClient, search: Search): Promise<Search> {
	if (search.name === null) return search;
	const name = search.name.slice(0, MAX_QUERY_LENGTH);
	const words = splitWords(name);
	if (words.length === 0) return search;
	const { data } = await api.listRouters({ ...search.position, radius: NAMED_METRES, limit: 1, name });
	// A remote API may ignore `name`.
	const found = data.find(({ name, address, ssid }) =>
		splitWords(`${name} ${address ?? ''} ${ssid}`).some((word) =>
			words.some((start) => word.startsWith(start))
		)
	);
	if (!found) return search;
	return { ...search, position: { lat: found.lat, lon: found.lon }, given: true, problem: null };
}

const NAMED_METRES = 50_000;

/** Returns the words of a text in lower case without accents. */
const splitWords = (text: string): string[] =>
	text
		.normalize('NFKD')
		.replace(/\p{M}/gu, '')
		.toLowerCase()
		.match(/[\p{L}\p{N}]+/gu) ?? [];

interface Found {
	data: RouterBody[];
	/** Metres. */
	radius: number;
	hasMore: boolean;
}

function formatSummary({ data, radius }: Found, { given, filters }: Search): string {
	const distance = formatKilometres(radius);
	if (data.length === 0 && isFiltered(filters)) return m.list_none_fits({ distance });
	if (data.length === 0) return given ? m.list_none_chosen({ distance }) : m.list_none_centre({ distance });
	return given ? m.list_around_chosen({ distance }) : m.list_around_centre({ distance });
}

/** Searches wider circles until something is on sale. */
async function findNear(api: ApiClient, search: Search): Promise<Found> {
	let found: Found | null = null;
	for (const [step, radius] of (search.radius === null ? RADII : [search.radius]).entries()) {
		const wider = await readCircle(api, search, radius);
		// If the wider circle has no more routers on sale, keep the nearer list.
		if (found === null || found.data.length === 0 || countOnSale(wider) > countOnSale(found)) found = wider;
		if (countOnSale(found) >= (step === 0 ? ENOUGH_NEARBY : 1)) break;
	}
	if (found === null) throw new Error('No radius to search');
	return found;
}

async function readCircle(
	api: ApiClient,
	{ position, filters, show }: Search,
	radius: number
): Promise<Found> {
	const limit = isFiltered(filters) ? FILTERED_LIMIT : show;
	const found: RouterListBody = await api.listRouters({ ...position, radius, limit });
	if (!isFiltered(filters)) return { data: found.data, radius, hasMore: found.next_cursor !== null };
	const data = found.data.filter((router) =>
		passes(filters, { price: lowestOffer(router) ?? router.price, isOnline: router.status === 'online' })
	);
	return { data: data.slice(0, show), radius, hasMore: data.length > show };
}

const isFiltered = ({ open, max }: Search['filters']) => open || max !== null;

const countOnSale = ({ data }: Found) => data.filter(({ status }) => status === 'online').length;

const formatClosed = (time?: string) =>
	time === undefined ? m.list_closed() : m.list_closed_until({ time });

/** Phones do not know their position better. */
const HERE_METRES = 10;

/** @param opens when it opens again, if that is known */
function describeCard(router: RouterBody, opens: string | undefined) {
	const { id, name, address, ssid, lat, lon, distance, status, status_reason } = router;
	return {
		id,
		name,
		address: address ?? '',
		ssid: m.list_network({ ssid: apart(ssid) }),
		lat,
		lon,
		distance: distance === null ? '' : distance < HERE_METRES ? m.list_here() : formatDistance(distance),
		price: priceText(router),
		mark: status === 'online' ? amountText({ price: router.price, lowest: lowestOffer(router) }) : '',
		online: status === 'online',
		closed: status_reason === 'closed' ? formatClosed(opens) : ''
	};
}
