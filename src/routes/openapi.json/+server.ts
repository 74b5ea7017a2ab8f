import { renderDocument } from '#lib/server/web/shared-pages.ts';
import type { RequestHandler } from './$types';

/** Kept by web/shared-pages.ts. */
export const GET: RequestHandler = ({ locals }) => renderDocument(locals.app);
