import * as m from '#lib/i18n/messages.js';
import { setPrice } from '#lib/server/web/owner/offer-form.ts';
import { routerForm, routerPage } from '#lib/server/web/owner/owner.ts';
import {
	accessWords,
	changeSales,
	changesOfAdministrators,
	describeOutages,
	describeSales,
	routerState,
	routerSteps
} from '#lib/server/web/owner/router.ts';
import { routerUse } from '#lib/server/web/owner/figures.ts';
import { currencyName } from '#lib/domain/money.ts';
import { money } from '#lib/format/text.ts';
import { findRouterUses } from '#lib/server/owner/usage.ts';

function doneText(done: string | null, price: string, sells: boolean): string | null {
	const texts: Record<string, () => string> = {
		price: () => m.owner_price_done({ money: price }),
		access: m.owner_access_done,
		edit: m.owner_router_done,
		sales: sells ? m.owner_router_sells : m.owner_router_done,
		new: m.owner_new_done,
		gateway: m.owner_gateway_removed
	};
	return texts[done ?? '']?.() ?? null;
}

export const load = routerPage(async (event, router, owner) => {
	const {
		url,
		locals: { app, origin }
	} = event;
	const { id, name, address, ssid, currency, hourly } = router;
	const timeZone = app.config.reportTimezone;
	const use = (await findRouterUses(app, [id])).get(id);
	const price = money(router.price, currency);
	const state = routerState(router, { now: app.clock.now(), timeZone });
	return {
		router: { id, name, address, ssid },
		hourly,
		price: { now: price, typed: String(router.price), currency: currencyName(currency) },
		sales: describeSales(event, router),
		outages: await describeOutages(event, router),
		offers: router.offers.map((offer) => [offer.name, money(offer.price, currency)] as const),
		access: accessWords(router),
		use: routerUse(use, timeZone),
		state,
		steps: routerSteps(router),
		changes: await changesOfAdministrators(event, router, owner),
		/** Without a language prefix, so that each phone uses its own language. */
		buyerAddress: `${origin}/r/${id}`,
		kioskAddress: `${origin}/kiosk/${id}`,
		done: doneText(url.searchParams.get('done'), price, state.text === null)
	};
});

export const actions = { price: routerForm(setPrice), sales: routerForm(changeSales) };
