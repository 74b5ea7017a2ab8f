import { readPayEntry, timeValue } from '#lib/checkout/pay-form.ts';
import { sellingTo } from '#lib/checkout/price.ts';
import { formatMobile } from '#lib/domain/phone.ts';
import { offerOf, usualChoice } from '#lib/checkout/quote.ts';
import { apiClient } from '#lib/server/portal/api-client.ts';
import type { PurchasePart } from '#lib/server/portal/purchases.ts';
import { ordererOf } from '../earlier-notice.ts';
import { answerPayForm } from '../order.ts';
import { requirePurchase } from './find-purchase.ts';
import { ownPath, type PageEvent } from './page-path.ts';
import type { Purchase } from './purchase-shown.ts';
import { extendPurchase } from '#lib/server/portal/ordering.ts';

/** The router with what it can add to the pass of a purchase. */
export const routerToAdd = ({ router, session }: Purchase) => sellingTo(router, session.offer ?? {});

export function addForm(bought: Purchase, { session, payment }: PurchasePart, purchase: string) {
	const offer = offerOf(routerToAdd(bought));
	const usual = usualChoice(offer.choices);
	const entry = {
		...readPayEntry(),
		time: usual ? timeValue(usual) : '',
		paymentMethod: session.payment_method,
		phone: formatMobile(payment?.phone ?? session.phone),
		purchase
	};
	return { router: offer, entry };
}

/** Adds time to the pass of a purchase. A repeated form adds it once. */
export const addTime = (event: PageEvent) =>
	answerPayForm(
		event,
		async () => routerToAdd(await requirePurchase(event)),
		async (formToken, form, another) => {
			const { token } = event.params;
			const { purchases } = event.locals.app;
			const orderer = ordererOf(event, another);
			await extendPurchase(purchases, apiClient(event), token, { ...form, token: formToken }, orderer);
			return ownPath(event);
		},
		() => ownPath(event)
	);
