import type { RequestEvent } from '@sveltejs/kit';
import { link } from '#lib/i18n/current.ts';

/** A page of a purchase or pass. Its path names the device if a gateway sent it. */
export type PageEvent = RequestEvent<{ token: string; device?: string | undefined }>;

/** `s`: a purchase of the portal. `pass`: of the API. */
export const pagePath = (kind: 's' | 'pass', token: string, device?: string | null): string =>
	link(`/${kind}/${token}${device ? `/${device}` : ''}`);

/** @param token of the purchase that replaces it */
export const ownPath = ({ params }: Pick<PageEvent, 'params'>, token = params.token): string =>
	pagePath('s', token, params.device);

export const passPath = ({ params }: PageEvent): string => pagePath('pass', params.token, params.device);

/** For other devices. */
export const pageAddress = (origin: string, token: string): string => origin + pagePath('s', token);
