import type { RequestEvent } from '@sveltejs/kit';
import { OrderedBefore } from '#lib/server/portal/earlier-orders.ts';
import { earlierNotice } from '../earlier-notice.ts';
import { orderRefusal, type Refusal } from '../order-refusal.ts';
import { answer } from '../status.ts';

/**
 * Answers an order with the `{ token }` of its purchase, or with `{ errors }` by field, and with `another` to order beside an
 * earlier order all the same. A kiosk belongs to nobody, so it never opens that one.
 */
export async function answerOrder(
	event: RequestEvent,
	place: () => Promise<string | Refusal>
): Promise<Response> {
	const result = await place().catch((problem: unknown) => {
		if (!(problem instanceof OrderedBefore)) return orderRefusal(event, problem);
		const unproven = { ...problem.earlier, own: null };
		const { title, texts } = earlierNotice(event, unproven, { fields: {}, money: '' });
		return { status: 409, errors: { form: [title, ...texts].join(' ') }, another: problem.earlier.mark };
	});
	if (typeof result === 'string') return answer({ token: result });
	const { status, headers, ...body } = { headers: {}, ...result };
	return answer(body, status, headers);
}
