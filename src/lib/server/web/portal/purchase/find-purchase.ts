import { error, type RequestEvent } from '@sveltejs/kit';
import * as m from '#lib/i18n/messages.js';
import { apiClient } from '#lib/server/portal/api-client.ts';
import { orUnavailable } from '../api-errors.ts';
import type { Purchase } from './purchase-shown.ts';
import { findPurchase } from '#lib/server/portal/ordering.ts';

/**
 * Holds a reload without script until there is a change, or for this time. The service gets a few requests
 * per minute instead of twenty.
 */
const HOLD_SECONDS = 10;

/**
 * Reads the purchase of the address. @throws HttpError 404 if there is none, 503 if the service is
 * unavailable
 */
export async function requirePurchase(event: RequestEvent<{ token: string }>): Promise<Purchase> {
	const { purchases } = event.locals.app;
	const holds = event.request.method === 'GET' && event.url.searchParams.has('held');
	const found = await orUnavailable(
		findPurchase(purchases, apiClient(event), event.params.token, holds ? HOLD_SECONDS : 0),
		m.purchase_unreachable()
	);
	if (!found) error(404, m.purchase_not_found());
	return found;
}
