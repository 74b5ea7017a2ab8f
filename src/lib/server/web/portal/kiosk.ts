import type { RequestEvent } from '@sveltejs/kit';
import { asksUserName } from '#lib/domain/wifi.ts';
import type { Availability, KioskRouter } from '#lib/kiosk/client.ts';
import { makePhoneHint } from '#lib/purchase/phone-hint.ts';
import { sellsNothing } from '#lib/purchase/quote.ts';
import type { RouterBody } from '#lib/server/contract/router.ts';
import { Unavailable } from '#lib/server/platform/errors.ts';
import { earlierOrderIn } from '#lib/server/portal/ordering.ts';
import { describeEarlier, explainRefusal, formatPayNote, readClosedText, type Refusal } from './order.ts';
import { answerJson, readRouter } from './pages.ts';

const describeRouter = (router: RouterBody): KioskRouter => ({
	...router,
	signsIn: asksUserName(router.access_kind),
	note: formatPayNote(router)
});

export async function readAvailability(event: RequestEvent<{ router: string }>): Promise<Availability> {
	try {
		const router = await readRouter(event);
		if (!router) return { state: 'unknown', router: null };
		const shown = {
			router: describeRouter(router),
			hint: makePhoneHint(event.locals.app.config.defaultRegion)
		};
		const closed = await readClosedText(event, router);
		if (closed !== null) return { state: 'closed', text: closed, ...shown };
		return { state: router.status === 'online' && !sellsNothing(router) ? 'open' : 'offline', ...shown };
	} catch (problem) {
		if (problem instanceof Unavailable) return { state: 'away', router: null };
		throw problem;
	}
}

/**
 * Answers an order with the `{ token }` of its purchase, or with `{ errors }` by field, and with `another` to order beside an
 * earlier order all the same. A kiosk belongs to nobody, so it never opens that one.
 */
export async function answerOrder(
	event: RequestEvent,
	place: () => Promise<string | Refusal>
): Promise<Response> {
	const result = await place().catch((problem: unknown) => {
		const earlier = earlierOrderIn(problem);
		if (earlier === null) return explainRefusal(event, problem);
		const unproven = { ...earlier, own: null };
		const { title, texts } = describeEarlier(event, unproven, { fields: {}, money: '' });
		return { status: 409, errors: { form: [title, ...texts].join(' ') }, another: earlier.mark };
	});
	if (typeof result === 'string') return answerJson({ token: result });
	const { status, headers, ...body } = { headers: {}, ...result };
	return answerJson(body, status, headers);
}
