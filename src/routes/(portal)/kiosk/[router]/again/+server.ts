import * as m from '#lib/language/messages.js';
import { readFields } from '#lib/pay-form.ts';
import { offeredMethods } from '#lib/payment-methods.ts';
import { phoneHint } from '#lib/phone-hint.ts';
import { boundsText } from '#lib/quote.ts';
import { apiClient, ApiProblem, ApiUnavailable } from '#lib/server/api-client.ts';
import { PriceChanged } from '#lib/server/purchases/purchases.ts';
import { readForm } from '../../../calm.ts';
import { paymentRefusal } from '../../../refusal.ts';
import { notSentAgain, priceAgain } from '../../../s/[token]/retry.ts';
import { refused, told } from '../told.ts';
import type { RequestHandler } from './$types';

/** Pays the purchase of the form's `token` again: `{ token }` of where it goes on, or `{ errors }` by field. */
export const POST: RequestHandler = async (event) => {
	const entry = readFields(await readForm(event.request), ['token', 'network', 'phone', 'quoted']);
	const { config, purchases } = event.locals.app;
	try {
		const purchase = await purchases.find(apiClient(event), entry.token);
		if (!purchase) return refused({ form: m.purchase_not_found() }, 404);
		const { router, session } = purchase;
		if (!offeredMethods(router.payment_methods).includes(entry.network)) {
			return refused({ network: m.purchase_choose_network() });
		}
		if (entry.phone === '') return refused({ phone: m.purchase_type_number() });
		// The amount that is charged is the amount that was shown.
		if (entry.quoted !== String(priceAgain(purchase)))
			return refused({ form: m.purchase_price_changed() }, 409);
		try {
			const token = await purchases.retry(apiClient(event), entry.token, {
				paymentMethod: entry.network,
				phone: entry.phone,
				amount: Number(entry.quoted),
				currency: session.currency
			});
			return told({ token });
		} catch (problem) {
			if (problem instanceof PriceChanged) return refused({ form: m.purchase_price_changed() }, 409);
			if (!(problem instanceof ApiProblem)) throw problem;
			const words = { region: phoneHint(config.defaultRegion), bounds: boundsText(router) };
			return refused(paymentRefusal(problem, words));
		}
	} catch (problem) {
		if (!(problem instanceof ApiUnavailable)) throw problem;
		return refused({ form: notSentAgain(problem) }, 503);
	}
};
