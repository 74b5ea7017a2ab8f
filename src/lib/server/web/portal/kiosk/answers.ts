import type { RequestEvent } from '@sveltejs/kit';
import type { FormErrors } from '#lib/checkout/pay-form.ts';
import type { RouterBody } from '#lib/server/contract/schemas.ts';
import { ApiUnavailable } from '#lib/server/portal/api-client.ts';
import { orderRefusal, PAID_AGAIN, unsent } from '../order-refusal.ts';
import { answer } from '../status.ts';

export const refused = (errors: FormErrors, status = 400, headers: Record<string, string> = {}) =>
	answer({ errors }, status, headers);

/** Refuses an order while the service is unavailable. @throws other errors */
export function unsentOrder(problem: unknown): Response {
	if (!(problem instanceof ApiUnavailable)) throw problem;
	return refused(unsent(problem, PAID_AGAIN).errors, 503);
}

export async function answerOrder(
	event: RequestEvent,
	router: RouterBody,
	order: Promise<string>
): Promise<Response> {
	try {
		return answer({ token: await order });
	} catch (problem) {
		const words = { router, region: event.locals.app.config.defaultRegion };
		const { status, errors, headers } = orderRefusal(problem, PAID_AGAIN, words);
		return refused(errors, status, headers);
	}
}
