import { answerState } from '../../../status.ts';
import { codeBySms } from '../code-by-sms.ts';
import { deviceOf, watchText } from '../go-online.ts';
import type { RequestHandler } from './$types';

export const GET: RequestHandler = (event) =>
	answerState(event, event.params.token, async (shown, { router }) => {
		const device = shown.pass && (await deviceOf(event, router.id));
		return watchText(shown.watch, device, (await codeBySms(event, event.params.token, shown))?.state);
	});
