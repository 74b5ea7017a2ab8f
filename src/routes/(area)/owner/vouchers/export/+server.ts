import { vouchersFile } from '#lib/server/web/owner/vouchers.ts';
import { ownerPage } from '#lib/server/web/owner/owner.ts';
import type { RequestHandler } from './$types';

/** GET /owner/vouchers/export: all vouchers with their states, times and people as CSV. */
export const GET: RequestHandler = ownerPage(vouchersFile);
