import { addTime } from '#lib/server/web/portal/purchase/add-time.ts';
import { sendCode } from '#lib/server/web/portal/purchase/code-by-sms.ts';
import { endTime, moveSlots } from '#lib/server/web/portal/purchase/move-and-end.ts';
import { purchasePage } from '#lib/server/web/portal/purchase/purchase-page.ts';
import { payAgain } from '#lib/server/web/portal/purchase/retry.ts';
import type { Actions, PageServerLoad } from './$types';

export const load: PageServerLoad = purchasePage;

export const actions: Actions = {
	retry: payAgain,
	extend: addTime,
	sms: sendCode,
	move: moveSlots,
	end: endTime
};
