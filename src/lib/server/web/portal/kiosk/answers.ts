import type { RequestEvent } from '@sveltejs/kit';
import { orderRefusal, type Refusal } from '../order-refusal.ts';
import { answer } from '../status.ts';

/** Answers an order with the `{ token }` of its purchase, or with `{ errors }` by field. */
export async function answerOrder(
	event: RequestEvent,
	place: () => Promise<string | Refusal>
): Promise<Response> {
	const result = await place().catch((problem: unknown) => orderRefusal(event, problem));
	if (typeof result === 'string') return answer({ token: result });
	return answer({ errors: result.errors }, result.status, result.headers);
}
