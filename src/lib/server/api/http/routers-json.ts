import type { RouterBody, RouterListBody } from '#lib/server/contract/router.ts';

/** JSON by list of offers. The service reuses a list while it stays the same (routers/offers.ts). */
const offersJson = new WeakMap<RouterBody['offers'], string>();

/** Between two members of a router. No string value holds it, because JSON escapes quotes. */
const NO_OFFERS = '"offers":[]';

/** Writes `JSON.stringify(list)`. Offers are most of its text, and the same for many routers, so each list is written once. */
export function routersJson(list: RouterListBody): string {
	const [head = '', ...rests] = JSON.stringify({
		...list,
		data: list.data.map((router) => ({ ...router, offers: [] }))
	}).split(NO_OFFERS);
	return rests.reduce(
		(text, rest, index) => `${text}"offers":${offersText(list.data[index]?.offers ?? [])}${rest}`,
		head
	);
}

function offersText(offers: RouterBody['offers']): string {
	const known = offersJson.get(offers);
	if (known !== undefined) return known;
	const text = JSON.stringify(offers);
	offersJson.set(offers, text);
	return text;
}
