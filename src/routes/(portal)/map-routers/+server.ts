import * as m from '#lib/i18n/messages.js';
import { isArea } from '#lib/map/area.ts';
import { amountText, lowestOffer, shortPrice } from '#lib/purchase/quote.ts';
import { Refused, Unavailable } from '#lib/server/platform/errors.ts';
import { apiClient } from '#lib/server/portal/api-client.ts';
import { compressed } from '#lib/server/web/compress.ts';
import { readOpeningTexts } from '#lib/server/portal/pay-page.ts';
import { passes, readFilters } from '#lib/server/portal/search.ts';
import type { RequestHandler } from './$types';

const MAX_CURSOR_LENGTH = 512;
const DECIMAL = /^-?\d{1,5}(\.\d{1,5})?$/;

/**
 * GET /map-routers?lat&lon&radius[&cursor&open&max]: routers of an area (lib/map/area.ts), nearest first.
 * Returns `{ routers: [id, name, lat, lon, price, online, mark, address][], next }`, at most 100; see MapRouter. Errors:
 * 400 for another area or an old cursor, 503 with Retry-After over the limit.
 */
export const GET: RequestHandler = async (event) => {
	const { config, mapRouters } = event.locals.app;
	const query = event.url.searchParams;
	const number = (name: string) =>
		DECIMAL.test(query.get(name) ?? '') ? Number(query.get(name)) : Number.NaN;
	const area = { lat: number('lat'), lon: number('lon'), radius: number('radius') };
	const cursor = query.get('cursor');
	if (!isArea(area) || (cursor ?? '').length > MAX_CURSOR_LENGTH) return new Response(null, { status: 400 });
	try {
		// Visitors share one read of the same page, so a visitor who leaves must not cancel it.
		const request = new Request(event.request.url);
		const page = await mapRouters.page(
			apiClient({ fetch: event.fetch, locals: event.locals, request }),
			area,
			cursor,
			lowestOffer
		);
		const filters = readFilters(query, config.currency);
		const wanted = page.routers.filter(({ status, lowest, price }) =>
			passes(filters, { price: lowest ?? price, isOnline: status === 'online' })
		);
		const opening = await readOpeningTexts(event, wanted);
		const words = (router: (typeof wanted)[number]) => {
			const time = opening.get(router.id);
			if (router.status === 'online') return shortPrice(router);
			return time === undefined ? '' : m.list_closed_until({ time });
		};
		const body = {
			routers: wanted.map((router) => [
				...[router.id, router.name, router.lat, router.lon],
				words(router),
				router.status === 'online' ? 1 : 0,
				router.status === 'online' ? amountText(router) : '',
				router.address ?? ''
			]),
			next: page.next
		};
		return await compressed(event.request, Response.json(body, { headers: { 'cache-control': 'no-store' } }));
	} catch (problem) {
		if (problem instanceof Unavailable) {
			const { waitSeconds: seconds } = problem;
			const headers: HeadersInit = seconds === null ? {} : { 'retry-after': String(seconds) };
			return new Response(null, { status: 503, headers });
		}
		if (problem instanceof Refused) return new Response(null, { status: 400 });
		throw problem;
	}
};
