import { OrderedBefore } from '#lib/server/portal/earlier-orders.ts';
import { fail, redirect, type RequestEvent } from '@sveltejs/kit';
import * as m from '#lib/i18n/messages.js';
import {
	readPayEntry,
	wantedTime,
	type FormErrors,
	type PayEntry,
	type Quotation,
	type WantedTime
} from '#lib/checkout/pay-form.ts';
import { offeredMethods } from '#lib/domain/payment-methods/payment-methods.ts';
import { OWN_TIME } from '#lib/checkout/price.ts';
import { chargeText, type TimeChoice } from '#lib/checkout/quote.ts';
import { takeDeviceOrder } from '#lib/server/web/portal/splash/limits.ts';
import { apiClient } from '#lib/server/portal/api-client.ts';
import type { RouterBody } from '#lib/server/contract/router.ts';
import { type PurchaseForm, buyTime, findOrdered } from '#lib/server/portal/ordering.ts';
import { ifAvailable, readForm } from './api-errors.ts';
import { earlierNotice, ordererOf } from './earlier-notice.ts';
import { pagePath } from './purchase/page-path.ts';
import { manyUnpaid, orderRefusal, showAgain, type Refusal } from './order-refusal.ts';

/**
 * Processes a posted PayForm: redirects to the purchase, or returns the form with problems or an unseen
 * price.
 * @param findRouter the router that sells
 * @param captiveSession its device is limited, and the purchase is bound to it
 */
export function placeOrder(
	event: RequestEvent,
	findRouter: () => Promise<RouterBody>,
	captiveSession: { id: string; device: string; entry: { clientMac: string | null } } | null = null
) {
	const { captiveSessions, log, purchases } = event.locals.app;
	const pageOf = async (token: string): Promise<string> => {
		if (!captiveSession) return pagePath('s', token);
		try {
			const { device } = await captiveSessions.bindPurchase(captiveSession.id, token);
			return pagePath('s', token, device);
		} catch (problem) {
			// The purchase exists, so its page is shown.
			log.error({ err: problem }, 'a captive session could not be bound');
			return pagePath('s', token);
		}
	};
	const order: Order = async (token, form, another, { status }) => {
		if (status !== 'online') return { status: 409, errors: { form: m.router_gone_offline() } };
		const waitSeconds =
			captiveSession && (await takeDeviceOrder(event, captiveSession.device, captiveSession.entry.clientMac));
		if (waitSeconds !== null) return manyUnpaid(waitSeconds);
		const orderer = ordererOf(event, another, captiveSession?.id);
		return pageOf(await buyTime(purchases, apiClient(event), token, form, orderer));
	};
	return answerPayForm(event, findRouter, order, pageOf, captiveSession?.id);
}

/**
 * Starts the payment. Returns the path of the page to show.
 * @param token of the purchase, also if the form is repeated
 * @param another the earlier order beside which the buyer wants this one; else empty
 */
type Order = (
	token: string,
	form: PurchaseForm,
	another: string,
	router: RouterBody
) => Promise<string | Refusal>;

/**
 * Checks a posted form, then orders. An earlier order of the number is shown first.
 * @param pageOf path of the page that shows what a form with this token began
 */
export async function answerPayForm(
	event: RequestEvent,
	findRouter: () => Promise<RouterBody>,
	order: Order,
	pageOf: (token: string) => string | Promise<string>,
	captiveSession: string | null = null
) {
	const entry = readPayEntry(await readForm(event.request));
	/**
	 * Shows what this form has ordered already, also if it was changed since: nobody who may have paid reads "You have not
	 * been charged". If the service is away, the page of the purchase asks until it responds; the form would be lost.
	 */
	const showOrdered = async (form: PurchaseForm | null = null) => {
		const ordered = findOrdered(event.locals.app.purchases, apiClient(event), entry.purchase, form);
		const token = await ifAvailable(ordered, entry.purchase);
		if (token !== null) redirect(303, await pageOf(token));
	};
	const refused = async (refusal: Refusal, form?: PurchaseForm) => {
		await showOrdered(form);
		return showAgain(event, { entry }, refusal);
	};
	try {
		const router = await findRouter();
		const wanted = wantedTime(router, entry);
		const errors = orderProblems(router, entry, wanted);
		if ('error' in wanted || Object.keys(errors).length > 0) return refused({ status: 400, errors });
		if (!wanted.seen) {
			await showOrdered();
			return { entry: shown(entry, wanted), quoted: quotation(wanted, entry.pays !== '') };
		}
		const form = purchaseForm(router, entry, wanted.choice);
		const result = await order(entry.purchase, form, entry.another, router).catch((problem: unknown) => {
			if (problem instanceof OrderedBefore) return problem.earlier;
			throw problem;
		});
		if (typeof result === 'string') redirect(303, result);
		if (!('mark' in result)) return refused(result, form);
		const { money } = wanted.choice;
		const fields = { ...shown(entry, wanted) };
		return fail(409, { entry, earlier: earlierNotice(event, result, { fields, money, captiveSession }) });
	} catch (problem) {
		// Throws a redirect again.
		return refused(orderRefusal(event, problem));
	}
}

/** Finds by field what keeps a form from being an order. */
export function orderProblems(router: RouterBody, entry: PayEntry, wanted: WantedTime): FormErrors {
	const method = offeredMethods(router.payment_methods).includes(entry.paymentMethod)
		? 'choice' in wanted && chargeText(router, entry.paymentMethod, wanted.choice.amount)
		: m.router_choose_method();
	return {
		...('error' in wanted && { [wanted.gone ? 'form' : 'time']: wanted.error }),
		...(method && { paymentMethod: method }),
		...(entry.phone === '' && { phone: m.router_type_number() })
	};
}

export const purchaseForm = (router: RouterBody, entry: PayEntry, choice: TimeChoice): PurchaseForm => ({
	routerId: router.id,
	duration: choice.duration,
	offerId: choice.offer?.id ?? null,
	paymentMethod: entry.paymentMethod,
	phone: entry.phone,
	amount: choice.amount,
	currency: router.currency
});

/** Returns the entries for a form with a new price; a typed time becomes the chosen one. */
const shown = (entry: PayEntry, wanted: { own: boolean }): PayEntry =>
	wanted.own ? { ...entry, time: OWN_TIME } : entry;

/** @param changed the button's price is for another time than the chosen one */
function quotation({ choice, own }: Omit<Quotation, 'why'>, changed: boolean): Quotation {
	const price = { time: choice.words, money: choice.money };
	const why = own || changed ? m.router_price_of_time(price) : m.router_price_is_new(price);
	return { choice, own, why };
}
