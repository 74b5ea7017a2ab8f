import { type RequestEvent, error } from '@sveltejs/kit';
import { parseId } from '#lib/domain/text.ts';
import { formatDuration } from '#lib/domain/time.ts';
import { link } from '#lib/i18n/current.ts';
import { splitLanguage } from '#lib/i18n/path.ts';
import type { RouterBody } from '#lib/server/contract/router.ts';
import { NotFound, Refused, Unavailable } from '#lib/server/platform/errors.ts';
import { apiClient } from './api-client.ts';
import * as m from '#lib/i18n/messages.js';

/** A page of a purchase or pass. Its path names the device if a gateway sent it. */
export type PageEvent = RequestEvent<{ token: string; device?: string | undefined }>;

/** Stands in a path for the device: the page is on the screen of a kiosk, which belongs to nobody. */
const KIOSK = 'kiosk';

export const isOnKiosk = ({ params, url }: Pick<RequestEvent, 'params' | 'url'>): boolean =>
	params['device'] === KIOSK || splitLanguage(url.pathname).path.startsWith('/kiosk/');

/** Path of a purchase's page on the same screen. */
export const purchasePath = (event: Pick<RequestEvent, 'params' | 'url'>, token: string): string =>
	pagePath('s', token, isOnKiosk(event) ? KIOSK : null);

/** Path of the page that sells at a router. */
export const pathToBuy = (event: Pick<RequestEvent, 'params' | 'url'>, router: number): string =>
	link(`/${isOnKiosk(event) ? 'kiosk' : 'r'}/${router}`);

/** `s`: a purchase of the portal. `pass`: of the API. */
export const pagePath = (kind: 's' | 'pass', token: string, device?: string | null): string =>
	link(`/${kind}/${token}${device ? `/${device}` : ''}`);

/** @param token of the purchase that replaces it */
export const ownPath = ({ params }: Pick<PageEvent, 'params'>, token = params.token): string =>
	pagePath('s', token, params.device);

export const passPath = ({ params }: PageEvent): string => pagePath('pass', params.token, params.device);

/** For other devices. */
export const pageAddress = (origin: string, token: string): string => origin + pagePath('s', token);

/** Carries a captive session from the splash page to a purchase that the buyer finds by its code. */

/** In addresses of pages that are open during an update, so it does not change. */
const PARAMETER = 'visit';

export const withCaptiveSession = (path: string, id: string | null): string =>
	id === null ? path : `${path}?${PARAMETER}=${id}`;

/** Returns an id that may be of no captive session. */
export const captiveSessionIn = ({ searchParams }: URL): string | null => searchParams.get(PARAMETER);

/**
 * Waits for the service. If it is unavailable, the buyer gets an error page that retries.
 * @param message the effect on the buyer's money, and the next step
 * @throws HttpError 503
 */
export async function orUnavailable<T>(work: Promise<T>, message: string): Promise<T> {
	try {
		return await work;
	} catch (problem) {
		if (!(problem instanceof Unavailable)) throw problem;
		const { waitSeconds } = problem;
		error(503, waitSeconds === null ? message : { message, retryAfterSeconds: waitSeconds });
	}
}

/** Waits for the service. Returns `otherwise` if it is unavailable. */
export async function ifAvailable<T, O>(work: Promise<T>, otherwise: O): Promise<T | O> {
	try {
		return await work;
	} catch (problem) {
		if (problem instanceof Unavailable) return otherwise;
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

/** Longer than any valid entry, and than a pasted message of an operator. Cut text fails validation. */
const MAX_FIELD_LENGTH = 1_000;

/** Reads fields of a posted form; missing ones are empty. @throws HttpError 400 if the body is not a form */
export async function readTexts<Name extends string>(request: Request, names: readonly Name[]) {
	const form = await readForm(request);
	const fields = names.map((name) => {
		const value = form.get(name);
		return [name, typeof value === 'string' ? value.trim().slice(0, MAX_FIELD_LENGTH) : ''];
	});
	return Object.fromEntries(fields) as Record<Name, string>;
}

/** Waits for the service. Returns null for a 404. */
export async function orNull<T>(work: Promise<T>): Promise<T | null> {
	try {
		return await work;
	} catch (problem) {
		if (problem instanceof NotFound) return null;
		throw problem;
	}
}

/** Reads the router of the address. Returns null if it does not exist. */
export async function readRouter(event: RequestEvent<{ router: string }>): Promise<RouterBody | null> {
	const id = parseId(event.params.router);
	return id === null ? null : orNull(apiClient(event).getRouter(id));
}

export const answerJson = (body: object, status = 200, headers: Record<string, string> = {}) =>
	Response.json(body, { status, headers: { 'cache-control': 'no-store', ...headers } });

/** Answers while the service is unavailable; the page retries. @throws other errors */
export function answerUnavailable(problem: unknown): Response {
	if (problem instanceof Unavailable && problem.waitSeconds !== null) {
		return answerJson({ state: null }, 503, { 'retry-after': String(problem.waitSeconds) });
	}
	if (problem instanceof Unavailable || problem instanceof Refused) return answerJson({ state: null }, 503);
	throw problem;
}

export const formatLimited = (seconds: number): string =>
	m.resume_limited_minutes({ time: formatDuration(`${Math.ceil(seconds / 60)}m`) });
