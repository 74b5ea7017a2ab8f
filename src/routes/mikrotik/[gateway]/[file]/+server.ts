import { answerMikrotikFetch, answerMikrotikReport } from '#lib/server/web/gateway-requests.ts';
import type { RequestHandler } from './$types';

export const GET: RequestHandler = answerMikrotikFetch;
export const POST: RequestHandler = answerMikrotikReport;
