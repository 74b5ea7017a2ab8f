import type { RequestHandler } from './$types';
import { answerCallback } from '#lib/server/web/operator-callbacks.ts';

/** POST or PUT /callbacks/{operator}/{reference}/{token}: about one payment or refund. */
export const POST: RequestHandler = (event) => answerCallback(event, event.params);
export const PUT = POST;
