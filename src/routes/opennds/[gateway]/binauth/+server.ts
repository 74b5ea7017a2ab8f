import type { RequestHandler } from './$types';
import { answerBinauth } from '#lib/server/web/machines/binauth.ts';

/** POST /opennds/{key}/binauth: openNDS' script asks who may be online. */
export const POST: RequestHandler = (event) => answerBinauth(event);
