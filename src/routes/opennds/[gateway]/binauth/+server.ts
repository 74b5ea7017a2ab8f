import type { RequestHandler } from './$types';
import { answerBinauth } from '#lib/server/web/device-endpoints/binauth.ts';

/** POST /opennds/{key}/binauth: for openNDS' BinAuth script. */
export const POST: RequestHandler = (event) => answerBinauth(event);
