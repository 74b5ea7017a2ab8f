import { openApiResponse } from '#lib/server/api/http/openapi.ts';
import type { RequestHandler } from './$types';

/** GET /openapi.json: the description of the API for programs; needs no key. */
export const GET: RequestHandler = ({ request, locals }) => openApiResponse(request, locals.origin);
