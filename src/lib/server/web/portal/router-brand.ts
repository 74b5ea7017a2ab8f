import type { RequestEvent } from '@sveltejs/kit';
import type { ShownBrand } from '#lib/branding/brand.ts';
import { ApiUnavailable } from '#lib/server/portal/api-client.ts';
import type { RouterBody } from '#lib/server/api/contract/schemas.ts';
import { showBrand } from '#lib/server/web/brand.ts';

/** Shows the branding of a router's owner, with the contact. Returns null if the service is unavailable. */
export async function brandOf(
	event: RequestEvent,
	router: Promise<RouterBody | null>
): Promise<ShownBrand | null> {
	try {
		return showBrand(event, await router);
	} catch (problem) {
		if (problem instanceof ApiUnavailable) return null;
		throw problem;
	}
}
