import { formatDistance, formatKilometres } from '#lib/domain/geo.ts';
import { apart } from '#lib/i18n/intl.ts';
import * as m from '#lib/i18n/messages.js';
import { formatMoney } from '#lib/domain/money.ts';
import { phoneHint } from '#lib/checkout/phone-hint.ts';
import { apiClient, ApiProblem, type ApiClient } from '#lib/server/portal/api-client.ts';
import type { RouterBody, RouterListBody } from '#lib/server/api/contract/schemas.ts';
import { orUnavailable } from './api-errors.ts';
import { findByName } from './find-by-name.ts';
import { PAGE_SIZE, RADII, readSearch, type Search } from './search.ts';
import type { PageServerLoad } from './$types';

/** The search stops at this many routers nearby; farther away one is enough. */
const ENOUGH_NEARBY = 4;

export const load: PageServerLoad = async (event) => {
	const { config } = event.locals.app;
	const api = apiClient(event);
	const unreachable = m.common_list_unreachable();
	const search = await orUnavailable(
		named(api, readSearch(event.url.searchParams, config.centre)),
		unreachable
	);
	const found = await orUnavailable(findNear(api, search), unreachable);
	const { position } = search;
	const continued = search.cursor !== null && !found.restarted;
	const first = continued ? search.first : 1;

	const query = (extra: Record<string, string | number>) => {
		const where = search.given ? { lat: position.lat, lon: position.lon } : {};
		return String(
			new URLSearchParams(Object.entries({ ...where, ...extra }).map(([k, v]) => [k, String(v)]))
		);
	};
	const wider = RADII.find((radius) => radius > found.radius);

	return {
		search: { position, given: search.given, text: search.text, problem: search.problem },
		radius: found.radius,
		summary: summary(found, search.given),
		first,
		continued,
		restarted: found.restarted,
		routers: found.data.map(cardOf),
		more:
			found.next_cursor === null
				? null
				: query({ radius: found.radius, cursor: found.next_cursor, first: first + found.data.length }),
		wider: wider === undefined ? null : { query: query({ radius: wider }), reach: formatKilometres(wider) },
		start: query({}),
		testExample: config.mode === 'sandbox' ? phoneHint(config.defaultRegion).testExample : ''
	};
};

async function named(api: ApiClient, search: Search): Promise<Search> {
	if (search.name === null) return search;
	const found = await findByName(api, search.position, search.name);
	return found
		? { ...search, position: { lat: found.lat, lon: found.lon }, given: true, problem: null }
		: search;
}

function summary({ data, radius }: RouterListBody, given: boolean): string {
	const distance = formatKilometres(radius);
	if (data.length === 0) return given ? m.list_none_chosen({ distance }) : m.list_none_centre({ distance });
	return given ? m.list_around_chosen({ distance }) : m.list_around_centre({ distance });
}

/** Searches wider circles until something is on sale; with a cursor, reads that page. */
async function findNear(api: ApiClient, search: Search): Promise<RouterListBody & { restarted: boolean }> {
	const { lat, lon } = search.position;
	if (search.cursor !== null && search.radius !== null) {
		try {
			const { radius, cursor } = search;
			return { ...(await api.listRouters({ lat, lon, radius, cursor, limit: PAGE_SIZE })), restarted: false };
		} catch (problem) {
			if (!(problem instanceof ApiProblem && problem.code === 'invalid_cursor')) throw problem;
			return { ...(await findNear(api, { ...search, cursor: null })), restarted: true };
		}
	}
	let found: RouterListBody | null = null;
	for (const [step, radius] of (search.radius === null ? RADII : [search.radius]).entries()) {
		const wider = await api.listRouters({ lat, lon, radius, limit: PAGE_SIZE });
		// If the wider circle has no more routers on sale, keep the nearer list.
		if (found === null || found.data.length === 0 || onSale(wider) > onSale(found)) found = wider;
		if (onSale(found) >= (step === 0 ? ENOUGH_NEARBY : 1)) break;
	}
	if (found === null) throw new Error('No radius to search');
	return { ...found, restarted: false };
}

const onSale = (list: RouterListBody) => list.data.filter(({ status }) => status === 'online').length;

/** Phones do not know their position better. */
const HERE_METRES = 10;

function cardOf({ id, name, address, ssid, lat, lon, distance, price, currency, status }: RouterBody) {
	return {
		id,
		name,
		address,
		ssid: m.list_network({ ssid: apart(ssid) }),
		lat,
		lon,
		distance: distance === null ? '' : distance < HERE_METRES ? m.list_here() : formatDistance(distance),
		price: formatMoney(price, currency),
		online: status === 'online'
	};
}
