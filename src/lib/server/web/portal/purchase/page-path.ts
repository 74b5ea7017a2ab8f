import type { RequestEvent } from '@sveltejs/kit';
import { link } from '#lib/i18n/current.ts';

/** A page of a purchase or pass. A device that its gateway sent has a captive session, which names it to the page. */
export type PageEvent = RequestEvent<{ token: string; captiveSession?: string | undefined }>;

/** `s`: a purchase of the portal. `pass`: of the API. */
export const pagePath = (kind: 's' | 'pass', token: string, captiveSession?: string | null): string =>
	link(`/${kind}/${token}${captiveSession ? `/${captiveSession}` : ''}`);

/** @param token of the purchase that replaces it */
export const ownPath = ({ params }: PageEvent, token = params.token): string =>
	pagePath('s', token, params.captiveSession);

export const passPath = ({ params }: PageEvent): string =>
	pagePath('pass', params.token, params.captiveSession);

/** For other devices. */
export const pageAddress = (origin: string, token: string): string => origin + pagePath('s', token);
