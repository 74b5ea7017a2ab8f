import { apart } from '#lib/i18n/intl.ts';
import * as m from '#lib/i18n/messages.js';
import { phoneHint, type PhoneHint } from '#lib/checkout/phone-hint.ts';
import { boundsText } from '#lib/checkout/quote.ts';
import { ApiLimited, ApiProblem, ApiUnavailable } from '#lib/server/portal/api-client.ts';
import type { RouterBody } from '#lib/server/api/contract/schemas.ts';
import { PriceChanged } from '#lib/server/portal/purchases/purchases.ts';

export type RefusedFields = Partial<Record<'time' | 'network' | 'phone' | 'form', string>>;

const FIELD_OF_POINTER: Readonly<Record<string, keyof RefusedFields>> = {
	'/phone': 'phone',
	'/duration': 'time',
	'/payment_method': 'network'
};

/** What forms say in words of their own. */
export interface OrderWords {
	priceChanged: () => string;
	/** The service wants to be asked again only after so many seconds. */
	busy: (inputs: { seconds: number }) => string;
	away: () => string;
}

/** Of a form that orders something new. */
export const NEW_ORDER: OrderWords = {
	priceChanged: m.router_price_just_changed,
	busy: m.router_unsent_busy,
	away: m.router_unsent_away
};

/** Of a form that pays a purchase again, and of the kiosk. */
export const PAID_AGAIN: OrderWords = {
	priceChanged: m.purchase_price_changed,
	busy: m.purchase_busy_again,
	away: m.purchase_till_away_again
};

/**
 * What a form is told whose order was not taken: the answer's status, and why, by field. Nothing was charged, and the
 * same form may be sent again.
 * @throws what is no refusal
 */
export function orderRefusal(
	problem: unknown,
	words: OrderWords,
	{ router, region }: { router: RouterBody; region: string }
): { status: 400 | 503; errors: RefusedFields } {
	if (problem instanceof ApiUnavailable) return unsent(problem, words);
	if (problem instanceof PriceChanged) return { status: 400, errors: { form: words.priceChanged() } };
	if (!(problem instanceof ApiProblem)) throw problem;
	const errors = paymentRefusal(problem, { region: phoneHint(region), bounds: boundsText(router) });
	return { status: 400, errors };
}

/** The same where the service could not be asked. */
export function unsent(problem: ApiUnavailable, words: OrderWords): { status: 503; errors: RefusedFields } {
	const form =
		problem instanceof ApiLimited ? words.busy({ seconds: problem.retryAfterSeconds }) : words.away();
	return { status: 503, errors: { form } };
}

/** Why the service started no payment, beside the field that can change it. In all of these nothing was taken. */
function paymentRefusal(problem: ApiProblem, words: { region: PhoneHint; bounds: string }): RefusedFields {
	const { country, example } = words.region;
	const phone = m.router_number_wrong({ country, example: apart(example) });
	const time = m.router_choose_from({ bounds: words.bounds });
	const network = m.router_network_refused();
	switch (problem.code) {
		case 'invalid_phone':
			return { phone };
		case 'duration_not_allowed':
			return { time };
		case 'payment_method_not_supported':
			return { network };
		case 'payer_prompt_limit':
			return { phone: m.router_number_tired() };
		case 'router_unavailable':
			return { form: m.router_gone_offline() };
		case 'validation_failed': {
			const texts = { phone, time, network };
			const fields = problem.errors.map(({ pointer }) => FIELD_OF_POINTER[pointer]);
			const known = fields.filter((field) => field !== undefined && field !== 'form');
			if (known.length > 0) return Object.fromEntries(known.map((field) => [field, texts[field]]));
			break;
		}
		default:
	}
	return { form: m.router_not_started() };
}
