import { answerState, readCodeSms } from '#lib/server/web/portal/purchase.ts';
import { findReadingDevice, formatWatch } from '#lib/server/web/portal/go-online.ts';
import type { RequestHandler } from './$types';

export const GET: RequestHandler = (event) =>
	answerState(event, event.params.token, async (purchase) => {
		const device = purchase.pass && (await findReadingDevice(event, purchase.router.id));
		const sms = await readCodeSms(event, event.params.token, purchase);
		return formatWatch(purchase.watch, device, sms?.state);
	});
