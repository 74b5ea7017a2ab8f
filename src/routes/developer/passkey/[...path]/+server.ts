import { answerPasskeyCall } from '#lib/server/web/sign-in/sign-in.ts';
import type { RequestHandler } from './$types';

const answer: RequestHandler = (event) => answerPasskeyCall(event, event.params.path);

export const GET = answer;
export const POST = answer;
