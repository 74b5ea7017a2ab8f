import { error } from '@sveltejs/kit';
import * as m from '#lib/i18n/messages.js';
import { ApiLimited, ApiProblem, ApiUnavailable } from '#lib/server/portal/api-client.ts';

/**
 * Waits for the service; when it cannot be asked, the buyer gets a calm page instead of a fault.
 * @param words what that means for the buyer's money, and what to do
 */
export async function orCalmly<T>(work: Promise<T>, words: string): Promise<T> {
	try {
		return await work;
	} catch (problem) {
		if (problem instanceof ApiLimited) {
			error(503, { message: words, retryAfterSeconds: problem.retryAfterSeconds });
		}
		if (problem instanceof ApiUnavailable) error(503, words);
		throw problem;
	}
}

/** The fields of a form that was sent; a body that is none is the sender's mistake. */
export async function readForm(request: Request): Promise<FormData> {
	try {
		return await request.formData();
	} catch {
		error(400, m.common_form_broken());
	}
}

/** @returns null where the service knows no such thing */
export async function orNull<T>(work: Promise<T>): Promise<T | null> {
	try {
		return await work;
	} catch (problem) {
		if (problem instanceof ApiProblem && problem.status === 404) return null;
		throw problem;
	}
}
