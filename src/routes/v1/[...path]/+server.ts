import { unknownRoute } from '#lib/server/http/endpoint.ts';

/** Every other path under /v1: 401 without a key, else 404, always JSON. */
export const fallback = unknownRoute;
export const trailingSlash = 'ignore';
