import { redirect } from '@sveltejs/kit';
import { link } from '#lib/i18n/current.ts';
import type { RequestHandler } from './$types';

/** The address in the QR code of a voucher: leads to the one field for codes. */
export const GET: RequestHandler = ({ url }) => redirect(303, link('/resume') + url.search);
