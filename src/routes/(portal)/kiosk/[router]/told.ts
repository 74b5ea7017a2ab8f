import { ApiLimited, ApiProblem, ApiUnavailable } from '#lib/server/portal/api-client.ts';
import type { FormErrors } from '#lib/checkout/pay-form.ts';

/** What the kiosk's script is told, as JSON that no memory on the way keeps. */
export const told = (body: object, status = 200, headers: Record<string, string> = {}) =>
	Response.json(body, { status, headers: { 'cache-control': 'no-store', ...headers } });

/** An order that was not taken, by the field that can change it. Nothing was charged. */
export const refused = (errors: FormErrors, status = 400) => told({ errors }, status);

/** The service cannot be asked now: the kiosk asks again. @throws what is no trouble of the service */
export function unanswered(problem: unknown): Response {
	if (problem instanceof ApiLimited) {
		return told({ state: null }, 503, { 'retry-after': String(problem.retryAfterSeconds) });
	}
	if (problem instanceof ApiUnavailable || problem instanceof ApiProblem) return told({ state: null }, 503);
	throw problem;
}
