import { answerState } from '../../../status.ts';
import { deviceOf, watchText } from '../go-online.ts';
import type { RequestHandler } from './$types';

export const GET: RequestHandler = (event) =>
	answerState(event, event.params.token, async ({ pass, watch }, { router }) =>
		watchText(watch, pass && (await deviceOf(event, router.id)))
	);
