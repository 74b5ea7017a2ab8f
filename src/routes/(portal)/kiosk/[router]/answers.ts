import { ApiLimited, ApiProblem, ApiUnavailable } from '#lib/server/portal/api-client.ts';
import type { FormErrors } from '#lib/checkout/pay-form.ts';

/** Answers the kiosk's script with JSON that no cache keeps. */
export const answer = (body: object, status = 200, headers: Record<string, string> = {}) =>
	Response.json(body, { status, headers: { 'cache-control': 'no-store', ...headers } });

/** Explains a refused order by field. The buyer was not charged. */
export const refused = (errors: FormErrors, status = 400) => answer({ errors }, status);

/** Answers while the service is not available; the kiosk repeats its request. @throws other errors */
export function unanswered(problem: unknown): Response {
	if (problem instanceof ApiLimited) {
		return answer({ state: null }, 503, { 'retry-after': String(problem.retryAfterSeconds) });
	}
	if (problem instanceof ApiUnavailable || problem instanceof ApiProblem) return answer({ state: null }, 503);
	throw problem;
}
