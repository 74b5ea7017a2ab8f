import { answerState, readCodeSms } from '#lib/server/web/portal/purchase.ts';
import { findReadingDevice, formatWatch } from '#lib/server/web/portal/go-online.ts';
import type { RequestHandler } from './$types';

export const GET: RequestHandler = (event) =>
	answerState(event, event.params.token, async (shown, { router }) => {
		const device = shown.pass && (await findReadingDevice(event, router.id));
		return formatWatch(shown.watch, device, (await readCodeSms(event, event.params.token, shown))?.state);
	});
