import type { NewEntry } from '#lib/server/developer/request-log.ts';

/** A call as the request log keeps it. */
export const anEntry: NewEntry = {
	accountId: 1,
	keyId: 1,
	method: 'GET',
	pathname: '/v1/routers/1',
	status: 200,
	problem: null,
	durationMs: 1.4,
	requestId: 'req_1'
};
