import { error, fail, redirect, type RequestEvent } from '@sveltejs/kit';
import { requireDeveloper } from '#lib/server/web/developer/developer.ts';
import { type Visitor } from '#lib/server/web/sign-in/sign-in.ts';
import { pollUntil } from '#lib/developer/poll-until.ts';
import { idOf } from '#lib/server/web/page-links.ts';
import { endpointOf, outcomeText } from '#lib/server/web/developer/webhooks.ts';
import type { Actions, PageServerLoad } from './$types';

async function deliveryOf(event: RequestEvent<{ id: string; delivery: string }>, developer: Visitor) {
	const endpoint = await endpointOf(event, developer);
	const id = idOf(event.params.delivery);
	const delivery = await event.locals.app.webhooks.delivery(developer.account.id, id);
	if (delivery?.endpointId !== endpoint.id) error(404, 'This webhook has no such delivery.');
	return { endpoint, delivery };
}

export const load: PageServerLoad = async (event) => {
	const { endpoint, delivery } = await deliveryOf(event, await requireDeveloper(event));
	return {
		endpoint: { id: endpoint.id, url: endpoint.url, active: endpoint.status === 'active' },
		delivery: {
			...delivery,
			log: delivery.log.map((attempt) => ({ ...attempt, outcome: outcomeText(attempt) ?? 'no answer' }))
		},
		body: readable(delivery.request.body),
		replayed: event.url.searchParams.has('replayed')
	};
};

/** Indents JSON; returns any other text unchanged. */
function readable(text: string): string {
	try {
		return JSON.stringify(JSON.parse(text), null, 2);
	} catch {
		return text;
	}
}

export const actions: Actions = {
	default: async (event) => {
		const developer = await requireDeveloper(event);
		const { delivery } = await deliveryOf(event, developer);
		const { webhooks } = event.locals.app;
		if (!(await webhooks.replay(developer.account.id, delivery.id))) {
			return fail(409, { problem: 'Enable the webhook first.' });
		}
		await pollUntil(
			async () => (await webhooks.delivery(developer.account.id, delivery.id))?.attempts !== delivery.attempts
		);
		redirect(303, `${event.url.pathname}?replayed`);
	}
};
