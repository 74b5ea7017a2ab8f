import { error, fail, redirect, type RequestEvent } from '@sveltejs/kit';
import { formatOutcome, requireDeveloper, requireEndpoint } from '#lib/server/web/developer.ts';
import { type Visitor } from '#lib/server/web/sign-in/sign-in.ts';
import { pollUntil } from '#lib/developer/poll-until.ts';
import { idOf } from '#lib/server/web/page-links.ts';
import type { Actions, PageServerLoad } from './$types';
import { findDelivery, replayDelivery } from '#lib/server/developer/webhooks.ts';

async function requireDelivery(event: RequestEvent<{ id: string; delivery: string }>, developer: Visitor) {
	const endpoint = await requireEndpoint(event, developer);
	const id = idOf(event.params.delivery);
	const delivery = await findDelivery(event.locals.app.webhooks, developer.account.id, id);
	if (delivery?.endpointId !== endpoint.id) error(404, 'This webhook has no such delivery.');
	return { endpoint, delivery };
}

export const load: PageServerLoad = async (event) => {
	const { endpoint, delivery } = await requireDelivery(event, await requireDeveloper(event));
	return {
		endpoint: { id: endpoint.id, url: endpoint.url, active: endpoint.status === 'active' },
		delivery: {
			...delivery,
			log: delivery.log.map((attempt) => ({ ...attempt, outcome: formatOutcome(attempt) ?? 'no answer' }))
		},
		body: indentJson(delivery.request.body),
		replayed: event.url.searchParams.has('replayed')
	};
};

/** Indents JSON; returns any other text unchanged. */
function indentJson(text: string): string {
	try {
		return JSON.stringify(JSON.parse(text), null, 2);
	} catch {
		return text;
	}
}

export const actions: Actions = {
	default: async (event) => {
		const developer = await requireDeveloper(event);
		const { delivery } = await requireDelivery(event, developer);
		const { webhooks } = event.locals.app;
		if (!(await replayDelivery(webhooks, developer.account.id, delivery.id))) {
			return fail(409, { problem: 'Enable the webhook first.' });
		}
		await pollUntil(
			async () =>
				(await findDelivery(webhooks, developer.account.id, delivery.id))?.attempts !== delivery.attempts
		);
		redirect(303, `${event.url.pathname}?replayed`);
	}
};
