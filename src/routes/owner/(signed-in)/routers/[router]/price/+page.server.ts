import { pricePage, setPrice } from '#lib/server/web/owner/offers/price.ts';

export const load = pricePage;

export const actions = { default: setPrice };
