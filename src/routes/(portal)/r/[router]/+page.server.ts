import { error, fail, redirect, type RequestEvent } from '@sveltejs/kit';
import { readPayEntry, wantedTime, type PayEntry } from '#lib/pay-form.ts';
import { phoneHint } from '#lib/phone-hint.ts';
import { boundsText, type TimeChoice } from '#lib/quote.ts';
import { apiClient, ApiProblem, ApiUnavailable } from '#lib/server/api-client.ts';
import { PriceChanged } from '#lib/server/purchases/purchases.ts';
import { showBrand } from '#lib/server/http/brand.ts';
import type { RouterBody } from '#lib/server/contract/schemas.ts';
import { offeredMethods } from '#lib/payment-methods.ts';
import { notSent, orCalmly, orNull, readForm } from '../../calm.ts';
import { paymentRefusal } from '../../refusal.ts';
import type { Actions, PageServerLoad } from './$types';

const UNREACHABLE = 'Prices cannot be read at the moment. Nothing was taken.';

const PRESS_PAY = 'press Pay again: it stays one purchase, paid once.';

async function findRouter(event: RequestEvent<{ router: string }>): Promise<RouterBody> {
	const { router: id } = event.params;
	const router = /^\d{1,15}$/.test(id) ? await orNull(apiClient(event).recent.getRouter(Number(id))) : null;
	if (!router)
		error(404, 'This address belongs to no Wi-Fi that is sold here. Look at the list for one near you.');
	return router;
}

/** @returns null when the service cannot be asked and a form was sent: that is shown instead */
async function routerToShow(event: RequestEvent<{ router: string }>): Promise<RouterBody | null> {
	if (event.request.method !== 'POST') return orCalmly(findRouter(event), UNREACHABLE);
	try {
		return await findRouter(event);
	} catch (problem) {
		if (problem instanceof ApiUnavailable) return null;
		throw problem;
	}
}

export const load: PageServerLoad = async (event) => {
	const router = await routerToShow(event);
	const { config, purchases } = event.locals.app;
	return {
		router: router && shownOf(router),
		brand: showBrand(event, router),
		online: router?.status === 'online',
		hint: phoneHint(config.defaultRegion),
		purchase: purchases.newToken()
	};
};

/** What the page shows of a router, and no more. */
const shownOf = ({
	id,
	name,
	address,
	ssid,
	lat,
	lon,
	price,
	currency,
	min_duration,
	max_duration,
	payment_methods
}: RouterBody) => ({
	id,
	name,
	address,
	ssid,
	lat,
	lon,
	price,
	currency,
	min_duration,
	max_duration,
	payment_methods
});

export const actions: Actions = {
	default: async (event) => {
		const entry = readPayEntry(await readForm(event.request));
		const unsent = (problem: ApiUnavailable) =>
			fail(503, { entry, errors: { form: notSent(problem, PRESS_PAY) } });
		let router: RouterBody;
		try {
			router = await findRouter(event);
		} catch (problem) {
			if (problem instanceof ApiUnavailable) return unsent(problem);
			throw problem;
		}

		const wanted = wantedTime(router, entry);
		const errors = {
			...('error' in wanted ? { time: wanted.error } : {}),
			...(offeredMethods(router.payment_methods).includes(entry.network)
				? {}
				: { network: 'Choose a network.' }),
			...(entry.phone === '' ? { phone: 'Type the number that pays.' } : {})
		};
		if ('error' in wanted || Object.keys(errors).length > 0) return fail(400, { entry, errors });
		if (!wanted.seen) return { entry: shown(entry, wanted), quoted: quotation(wanted, entry.pays !== '') };

		let token: string;
		try {
			token = await event.locals.app.purchases.buy(apiClient(event), entry.purchase, {
				routerId: router.id,
				duration: wanted.choice.duration,
				paymentMethod: entry.network,
				phone: entry.phone,
				amount: wanted.choice.amount,
				currency: router.currency
			});
		} catch (problem) {
			if (problem instanceof ApiUnavailable) return unsent(problem);
			if (problem instanceof PriceChanged) {
				const form = 'The price has just changed. Look at it, then press Pay again.';
				return fail(400, { entry, errors: { form } });
			}
			if (!(problem instanceof ApiProblem)) throw problem;
			return fail(400, {
				entry,
				errors: paymentRefusal(problem, {
					region: phoneHint(event.locals.app.config.defaultRegion),
					bounds: boundsText(router)
				})
			});
		}
		redirect(303, `/s/${token}`);
	}
};

/** The form as it comes back with a price: a time that was typed is the chosen one. */
const shown = (entry: PayEntry, wanted: { own: boolean }): PayEntry =>
	wanted.own ? { ...entry, time: 'own' } : entry;

/** @param chosenAnew another time was chosen than the one whose price the button names */
function quotation({ choice, own }: { choice: TimeChoice; own: boolean }, chosenAnew: boolean) {
	const why =
		own || chosenAnew
			? `${choice.words} cost ${choice.money}. Press Pay to go on.`
			: `The price has changed: ${choice.words} now cost ${choice.money}. Nothing was taken.`;
	return { choice, own, why };
}
