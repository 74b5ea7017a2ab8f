import { apart } from '#lib/i18n/intl.ts';
import * as m from '#lib/i18n/messages.js';
import { phoneHint, type PhoneHint } from '#lib/checkout/phone-hint.ts';
import type { FormErrors } from '#lib/checkout/pay-form.ts';
import { boundsText } from '#lib/checkout/quote.ts';
import { ApiLimited, ApiProblem, ApiUnavailable } from '#lib/server/portal/api-client.ts';
import type { RouterBody } from '#lib/server/contract/schemas.ts';
import { PriceChanged } from '#lib/server/portal/purchases/purchases.ts';

interface OrderWords {
	priceChanged: () => string;
	/** The service refuses requests for this many seconds. */
	busy: (inputs: { seconds: number }) => string;
	away: () => string;
}

export const NEW_ORDER: OrderWords = {
	priceChanged: m.router_price_just_changed,
	busy: m.router_unsent_busy,
	away: m.router_unsent_away
};

export const PAID_AGAIN: OrderWords = {
	priceChanged: m.purchase_price_changed,
	busy: m.purchase_busy_again,
	away: m.purchase_service_unreachable
};

/** A device started too many payments. */
export class TooManyUnpaid extends Error {
	readonly retryAfterSeconds: number;

	constructor(retryAfterSeconds: number) {
		super('Too many unpaid payments');
		this.retryAfterSeconds = retryAfterSeconds;
	}
}

/** An older API sends no time: the longest wait. */
const minutesUntil = (retryAfter: unknown = 15 * 60) => Math.ceil(Number(retryAfter) / 60);

function later(seconds: number) {
	const form = m.router_many_unpaid({ minutes: minutesUntil(seconds) });
	return { status: 429 as const, errors: { form }, headers: { 'retry-after': String(seconds) } };
}

/**
 * Explains a refused order by field. The buyer was not charged and may retry. @throws errors that are not
 * refusals
 */
export function orderRefusal(
	problem: unknown,
	words: OrderWords,
	{ router, region }: { router: RouterBody; region: string }
): { status: 400 | 429 | 503; errors: FormErrors; headers?: Record<string, string> } {
	if (problem instanceof ApiUnavailable) return unsent(problem, words);
	if (problem instanceof PriceChanged) return { status: 400, errors: { form: words.priceChanged() } };
	if (problem instanceof TooManyUnpaid) return later(problem.retryAfterSeconds);
	if (!(problem instanceof ApiProblem)) throw problem;
	if (problem.code === 'unpaid_prompt_limit') return later(Number(problem.extensions.retry_after));
	const errors = paymentRefusal(problem, { region: phoneHint(region), bounds: boundsText(router) });
	return { status: 400, errors };
}

export function unsent(problem: ApiUnavailable, words: OrderWords): { status: 503; errors: FormErrors } {
	const form =
		problem instanceof ApiLimited ? words.busy({ seconds: problem.retryAfterSeconds }) : words.away();
	return { status: 503, errors: { form } };
}

function paymentRefusal(
	{ code, extensions }: ApiProblem,
	words: { region: PhoneHint; bounds: string }
): FormErrors {
	const { country, example } = words.region;
	switch (code) {
		case 'invalid_phone':
			return { phone: m.router_number_wrong({ country, example: apart(example) }) };
		case 'offer_not_available':
		case 'duration_not_offered':
			return { form: m.router_offer_gone() };
		case 'duration_not_allowed':
			return { time: m.router_choose_from({ bounds: words.bounds }) };
		case 'payment_method_not_supported':
			return { paymentMethod: m.router_method_refused() };
		case 'payer_prompt_limit':
			return { phone: m.router_number_prompt_limit({ minutes: minutesUntil(extensions.retry_after) }) };
		case 'router_unavailable':
			return { form: m.router_gone_offline() };
		default:
			return { form: m.router_not_started() };
	}
}
