import type { RequestHandler } from './$types';
import { answerCallback } from '#lib/server/web/operator-callbacks.ts';

/** POST or PUT /callbacks/{operator}/{token}: for an operator's portal; the body names the payment. */
export const POST: RequestHandler = (event) => answerCallback(event, { reference: null, ...event.params });
export const PUT = POST;
