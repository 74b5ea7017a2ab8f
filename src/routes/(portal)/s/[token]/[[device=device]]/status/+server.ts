import { answerState } from '#lib/server/web/portal/status.ts';
import { codeBySms } from '#lib/server/web/portal/purchase/code-by-sms.ts';
import { readingDevice, watchText } from '#lib/server/web/portal/purchase/go-online.ts';
import type { RequestHandler } from './$types';

export const GET: RequestHandler = (event) =>
	answerState(event, event.params.token, async (shown, { router }) => {
		const device = shown.pass && (await readingDevice(event, router.id));
		return watchText(shown.watch, device, (await codeBySms(event, event.params.token, shown))?.state);
	});
