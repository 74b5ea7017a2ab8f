import type { RequestEvent } from '@sveltejs/kit';
import { asksUserName } from '#lib/domain/wifi.ts';
import type { Availability, KioskRouter } from '#lib/kiosk/client.ts';
import { makePhoneHint } from '#lib/purchase/phone-hint.ts';
import { sellsNothing } from '#lib/purchase/quote.ts';
import { ApiUnavailable } from '#lib/server/portal/api-client.ts';
import type { RouterBody } from '#lib/server/contract/router.ts';
import { readRouter, answerJson } from './pages.ts';
import { type Refusal, describeEarlier, explainRefusal, formatPayNote, readClosedText } from './order.ts';
import { OrderedBefore } from '#lib/server/portal/ordering.ts';

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
		if (problem instanceof ApiUnavailable) return { state: 'away', router: null };
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
		if (!(problem instanceof OrderedBefore)) return explainRefusal(event, problem);
		const unproven = { ...problem.earlier, own: null };
		const { title, texts } = describeEarlier(event, unproven, { fields: {}, money: '' });
		return { status: 409, errors: { form: [title, ...texts].join(' ') }, another: problem.earlier.mark };
	});
	if (typeof result === 'string') return answerJson({ token: result });
	const { status, headers, ...body } = { headers: {}, ...result };
	return answerJson(body, status, headers);
}
