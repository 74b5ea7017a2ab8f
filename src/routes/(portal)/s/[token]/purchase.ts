import { error, type RequestEvent } from '@sveltejs/kit';
import * as m from '#lib/i18n/messages.js';
import { apiClient } from '#lib/server/portal/api-client.ts';
import { orUnavailable } from '../../api-errors.ts';
import type { Purchase } from './view.ts';

/**
 * A page that loads itself again without script is answered when there is news, or after this time: the browser shows
 * the old page meanwhile, the news is there at once, and the service is asked a few times a minute instead of twenty.
 */
const HOLD_SECONDS = 10;

/** The purchase of the address. @throws a calm page: 404 when there is none, 503 when it cannot be read now */
export async function findPurchase(event: RequestEvent<{ token: string }>): Promise<Purchase> {
	const { purchases } = event.locals.app;
	const holds = event.request.method === 'GET' && event.url.searchParams.has('held');
	const found = await orUnavailable(
		purchases.find(apiClient(event), event.params.token, holds ? HOLD_SECONDS : 0),
		m.purchase_unreachable()
	);
	if (!found) error(404, m.purchase_not_found());
	return found;
}
