import { readTexts } from '#lib/purchase/pay-form.ts';
import { readForm } from '#lib/server/web/portal/pages.ts';
import { answerState } from '#lib/server/web/portal/purchase.ts';
import type { RequestHandler } from './$types';

/** The form has the purchase's `token`: browsers and logs would keep one in the URL. */
export const POST: RequestHandler = async (event) => {
	const { token } = readTexts(await readForm(event.request), ['token']);
	return answerState(event, token, ({ watch }) => watch);
};
