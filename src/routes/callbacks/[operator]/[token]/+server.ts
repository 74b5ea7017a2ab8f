import type { RequestHandler } from './$types';
import { receiveCallback } from '#lib/server/web/machines/callbacks.ts';

/** POST or PUT /callbacks/{operator}/{token}: the address in an operator's portal; the body names the payment. */
export const POST: RequestHandler = (event) => receiveCallback(event, { reference: null, ...event.params });
export const PUT = POST;
