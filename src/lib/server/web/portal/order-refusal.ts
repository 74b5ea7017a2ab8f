import { fail, type RequestEvent } from '@sveltejs/kit';
import { apart } from '#lib/i18n/intl.ts';
import * as m from '#lib/i18n/messages.js';
import { phoneHint } from '#lib/checkout/phone-hint.ts';
import type { FormErrors } from '#lib/checkout/pay-form.ts';
import { ApiLimited, ApiProblem, ApiUnavailable } from '#lib/server/portal/api-client.ts';
import { PriceChanged } from '#lib/server/portal/ordering.ts';

/** The buyer was not charged and may retry. */
export interface Refusal {
	status: 400 | 404 | 409 | 429 | 503;
	errors: FormErrors;
	headers?: Record<string, string>;
}

/** A device or a router has too many unpaid payments. */
export function manyUnpaid(seconds: number): Refusal {
	const form = m.router_many_unpaid({ minutes: Math.ceil(seconds / 60) });
	return { status: 429, errors: { form }, headers: { 'retry-after': String(seconds) } };
}

/** An older API sends no time. */
const LONGEST_WAIT_SECONDS = 15 * 60;

/** Explains a refused order by field. @throws errors that are not refusals */
export function orderRefusal({ locals }: RequestEvent, problem: unknown): Refusal {
	if (problem instanceof ApiLimited) {
		return { status: 503, errors: { form: m.purchase_busy_again({ seconds: problem.retryAfterSeconds }) } };
	}
	if (problem instanceof ApiUnavailable) {
		return { status: 503, errors: { form: m.purchase_service_unreachable() } };
	}
	if (problem instanceof PriceChanged) return { status: 400, errors: { form: m.purchase_price_changed() } };
	if (!(problem instanceof ApiProblem)) throw problem;
	const waitSeconds = Number(problem.extensions.retry_after ?? LONGEST_WAIT_SECONDS);
	if (problem.code === 'unpaid_prompt_limit') return manyUnpaid(waitSeconds);
	return { status: 400, errors: errorsOf(problem.code, waitSeconds, locals.app.config.defaultRegion) };
}

function errorsOf(code: string, waitSeconds: number, region: string): FormErrors {
	switch (code) {
		case 'invalid_phone': {
			const { country, example } = phoneHint(region);
			return { phone: m.router_number_wrong({ country, example: apart(example) }) };
		}
		case 'offer_not_available':
		case 'duration_not_offered':
		case 'duration_not_allowed':
			return { form: m.router_offer_gone() };
		case 'payment_method_not_supported':
			return { paymentMethod: m.router_method_refused() };
		case 'payer_prompt_limit':
			return { phone: m.router_number_prompt_limit({ minutes: Math.ceil(waitSeconds / 60) }) };
		case 'router_unavailable':
			return { form: m.router_gone_offline() };
		default:
			return { form: m.router_not_started() };
	}
}

/** Shows a refused form again, with what was typed. */
export function showAgain<Typed extends object>(
	event: RequestEvent,
	typed: Typed,
	{ status, errors, headers = {} }: Refusal
) {
	event.setHeaders(headers);
	return fail(status, { ...typed, errors });
}
