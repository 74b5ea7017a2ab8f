import { answerPasskeyCall } from '#lib/server/web/sign-in.ts';
import type { RequestHandler } from './$types';

/** What the passkey script of the sign-in and account pages calls. */
const answer: RequestHandler = (event) => answerPasskeyCall(event, event.params.path);

export const GET = answer;
export const POST = answer;
