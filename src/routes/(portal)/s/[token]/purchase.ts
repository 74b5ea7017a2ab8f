import { error, type RequestEvent } from '@sveltejs/kit';
import * as m from '#lib/i18n/messages.js';
import { apiClient } from '#lib/server/portal/api-client.ts';
import { orUnavailable } from '../../api-errors.ts';
import type { Purchase } from './view.ts';

/**
 * A page without script that reloads is answered when there is news, or after this time. The browser shows the old page
 * meanwhile, and the service gets a few requests per minute instead of twenty.
 */
const HOLD_SECONDS = 10;

/** Reads the purchase of the address. @throws an error page: 404 if there is none, 503 if the service is not available */
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
