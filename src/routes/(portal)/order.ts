import { fail, redirect, type RequestEvent } from '@sveltejs/kit';
import { endsByItself } from '#lib/domain/access-kind.ts';
import { link } from '#lib/i18n/current.ts';
import * as m from '#lib/i18n/messages.js';
import { readPayEntry, wantedTime, type PayEntry } from '#lib/checkout/pay-form.ts';
import { offeredMethods } from '#lib/domain/payment-methods.ts';
import { offerOf, type TimeChoice } from '#lib/checkout/quote.ts';
import { apiClient, ApiUnavailable } from '#lib/server/portal/api-client.ts';
import type { RouterBody } from '#lib/server/api/contract/schemas.ts';
import type { PurchaseForm } from '#lib/server/portal/purchases/purchases.ts';
import { readForm } from './api-errors.ts';
import { NEW_ORDER, orderRefusal, unsent } from './refusal.ts';

/** What the pages with a PayForm show of a router, and no more. */
export const shownOf = (router: RouterBody) => ({
	...offerOf(router),
	id: router.id,
	name: router.name,
	address: router.address,
	ssid: router.ssid,
	lat: router.lat,
	lon: router.lon,
	/** What has to be known before paying. */
	note: endsByItself(router.access_kind) ? null : m.router_shared()
});

/**
 * Takes a sent PayForm: it comes back with what is wrong, or with a price that was not seen yet; else the time is
 * bought, and the browser goes to the page of the purchase.
 * @param findRouter the router that sells
 * @param bought is told the token of the purchase before the browser goes there
 */
export const placeOrder = (
	event: RequestEvent,
	findRouter: () => Promise<RouterBody>,
	bought: (token: string) => Promise<unknown> = () => Promise.resolve()
) =>
	takeOrder(event, findRouter, async (formToken, form, { status }) => {
		const [api, { purchases }] = [apiClient(event), event.locals.app];
		// A form that was sent before leads to what it bought.
		if (status !== 'online' && !(await purchases.find(api, formToken))) throw new NotSold();
		const token = await purchases.buy(api, formToken, form);
		await bought(token);
		return token;
	});

/**
 * The same for an order of any kind.
 * @param carryOut orders and starts the payment; answers the token of the page to go to
 */
export async function takeOrder(
	event: RequestEvent,
	findRouter: () => Promise<RouterBody>,
	carryOut: (formToken: string, form: PurchaseForm, router: RouterBody) => Promise<string>
) {
	const entry = readPayEntry(await readForm(event.request));
	let router: RouterBody;
	try {
		router = await findRouter();
	} catch (problem) {
		if (!(problem instanceof ApiUnavailable)) throw problem;
		const { status, errors } = unsent(problem, NEW_ORDER);
		return fail(status, { entry, errors });
	}

	const wanted = wantedTime(router, entry);
	const errors = {
		...('error' in wanted ? { time: wanted.error } : {}),
		...(offeredMethods(router.payment_methods).includes(entry.network)
			? {}
			: { network: m.router_choose_network() }),
		...(entry.phone === '' ? { phone: m.router_type_number() } : {})
	};
	if ('error' in wanted || Object.keys(errors).length > 0) return fail(400, { entry, errors });
	if (!wanted.seen) return { entry: shown(entry, wanted), quoted: quotation(wanted, entry.pays !== '') };

	let token: string;
	try {
		const form: PurchaseForm = {
			routerId: router.id,
			duration: wanted.choice.duration,
			paymentMethod: entry.network,
			phone: entry.phone,
			amount: wanted.choice.amount,
			currency: router.currency
		};
		token = await carryOut(entry.purchase, form, router);
	} catch (problem) {
		if (problem instanceof NotSold) return fail(409, { entry, errors: { form: m.router_gone_offline() } });
		const region = event.locals.app.config.defaultRegion;
		const { status, errors } = orderRefusal(problem, NEW_ORDER, { router, region });
		return fail(status, { entry, errors });
	}
	redirect(303, link(`/s/${token}`));
}

/** Nobody is let in at the moment where the buyer is. */
class NotSold extends Error {}

/** The form as it comes back with a price: a time that was typed is the chosen one. */
const shown = (entry: PayEntry, wanted: { own: boolean }): PayEntry =>
	wanted.own ? { ...entry, time: 'own' } : entry;

/** @param chosenAnew another time was chosen than the one whose price the button names */
function quotation({ choice, own }: { choice: TimeChoice; own: boolean }, chosenAnew: boolean) {
	const price = { time: choice.words, money: choice.money };
	const why = own || chosenAnew ? m.router_price_of_time(price) : m.router_price_is_new(price);
	return { choice, own, why };
}
