import { error, fail, redirect, type RequestEvent } from '@sveltejs/kit';
import * as m from '#lib/i18n/messages.js';
import { purchaseToken } from '#lib/server/platform/secrets.ts';
import { showBrand } from '#lib/server/portal/brand.ts';
import { orUnavailable, pathToBuy, purchasePath, readRouter, readTexts } from '#lib/server/portal/pages.ts';
import { readVoucherCode, redeemTyped } from '#lib/server/portal/redeem.ts';
import type { Actions, PageServerLoad } from './$types';

async function findRouter(event: RequestEvent<{ router: string }>) {
	const router = await orUnavailable(readRouter(event), m.purchase_unreachable());
	return router ?? error(404, m.router_unknown());
}

/** Redeems a voucher at a kiosk. */
export const load: PageServerLoad = async (event) => {
	const router = await findRouter(event);
	const start = pathToBuy(event, router.id);
	return {
		brand: showBrand(event, router),
		token: purchaseToken(),
		kiosk: { kind: 'reading' as const, start }
	};
};

export const actions: Actions = {
	async default(event) {
		const { code: typed, purchase } = await readTexts(event.request, ['code', 'purchase']);
		const code = readVoucherCode(typed);
		const { id: routerId } = await findRouter(event);
		const answer =
			code && (await redeemTyped(event, code, purchase, { captiveSession: null, routerId, isKiosk: true }));
		if (!answer) return fail(404, { code: typed.slice(0, 32), why: m.redeem_unknown() });
		if ('token' in answer) redirect(303, purchasePath(event, answer.token));
		return fail(answer.status, { code: typed.slice(0, 32), why: answer.why });
	}
};
