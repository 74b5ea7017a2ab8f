import { addTime } from '#lib/server/web/portal/purchase/add-time.ts';
import { sendCode } from '#lib/server/web/portal/purchase/code-by-sms.ts';
import { requirePurchase } from '#lib/server/web/portal/purchase/find-purchase.ts';
import { moveSlots } from '#lib/server/web/portal/purchase/go-online.ts';
import { endTime } from '#lib/server/web/portal/purchase/end.ts';
import { ownPath } from '#lib/server/web/portal/purchase/page-path.ts';
import { purchasePage } from '#lib/server/web/portal/purchase/purchase-page.ts';
import { payAgain } from '#lib/server/web/portal/purchase/retry.ts';
import type { Actions, PageServerLoad } from './$types';

export const load: PageServerLoad = purchasePage;

export const actions: Actions = {
	retry: payAgain,
	extend: addTime,
	sms: sendCode,
	move: async (event) => moveSlots(event, (await requirePurchase(event)).router.id, ownPath(event)),
	end: endTime
};
