import { error, type RequestEvent } from '@sveltejs/kit';
import * as m from '#lib/i18n/messages.js';
import { apiClient, ApiLimited, ApiProblem, ApiUnavailable } from '#lib/server/portal/api-client.ts';
import type { RouterBody } from '#lib/server/contract/router.ts';

/**
 * Waits for the service. If it is unavailable, the buyer gets an error page that retries.
 * @param message the effect on the buyer's money, and the next step
 * @throws HttpError 503
 */
export async function orUnavailable<T>(work: Promise<T>, message: string): Promise<T> {
	try {
		return await work;
	} catch (problem) {
		if (problem instanceof ApiLimited) {
			error(503, { message, retryAfterSeconds: problem.retryAfterSeconds });
		}
		if (problem instanceof ApiUnavailable) error(503, message);
		throw problem;
	}
}

/** Waits for the service. Returns `otherwise` if it is unavailable. */
export async function ifAvailable<T, O>(work: Promise<T>, otherwise: O): Promise<T | O> {
	try {
		return await work;
	} catch (problem) {
		if (problem instanceof ApiUnavailable) return otherwise;
		throw problem;
	}
}

/** Reads a posted form. @throws HttpError 400 if the body is not a form */
export async function readForm(request: Request): Promise<FormData> {
	try {
		return await request.formData();
	} catch {
		error(400, m.common_form_broken());
	}
}

/** Waits for the service. Returns null for a 404. */
export async function orNull<T>(work: Promise<T>): Promise<T | null> {
	try {
		return await work;
	} catch (problem) {
		if (problem instanceof ApiProblem && problem.status === 404) return null;
		throw problem;
	}
}

/** Reads the router of the address. Returns null if it does not exist. */
export async function routerOf(event: RequestEvent<{ router: string }>): Promise<RouterBody | null> {
	const { router: id } = event.params;
	return /^\d{1,15}$/.test(id) ? orNull(apiClient(event).getRouter(Number(id))) : null;
}
