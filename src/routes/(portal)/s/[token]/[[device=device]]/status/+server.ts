import { answerState, readCodeSms } from '#lib/server/portal/purchase-page.ts';
import { findReadingDevice, formatWatch } from '#lib/server/portal/go-online.ts';
import { ownPath, type PageEvent } from '#lib/server/portal/pages.ts';
import type { RequestHandler } from './$types';

export const GET: RequestHandler = async (event) => {
	const answer = await answerState(event, event.params.token, async (purchase) => {
		const device = purchase.pass && (await findReadingDevice(event, purchase.router.id));
		const sms = await readCodeSms(event, event.params.token, purchase);
		return formatWatch(purchase.watch, device, sms?.state);
	});
	return (await readNews(event, answer)) ?? answer;
};

/**
 * Reads the page, if it has news for a browser that names the state it shows: a round trip less until the password. Never
 * for a device at a gateway: mini-browsers check for internet access only after a navigation.
 */
async function readNews(event: PageEvent, answer: Response): Promise<Response | null> {
	const shown = event.url.searchParams.get('shown');
	if (shown === null || event.params.device !== undefined || !answer.ok) return null;
	const { state } = (await answer.clone().json()) as { state: string };
	if (state === shown) return null;
	// Not followed: a purchase that was replaced has another address.
	const page = await event.fetch(ownPath(event), { redirect: 'manual' });
	if (page.status !== 200) return null;
	return new Response(await page.text(), {
		headers: { 'content-type': 'text/html', 'cache-control': 'no-store' }
	});
}
