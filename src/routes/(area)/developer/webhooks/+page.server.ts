import { fail } from '@sveltejs/kit';
import { webhookRegistration } from '#lib/server/contract/webhooks.ts';
import { listWebhooks, registerWebhook } from '#lib/server/developer/webhooks.ts';
import { isLocalRequest } from '#lib/server/http/client-address.ts';
import { Refused } from '#lib/server/platform/errors.ts';
import { EVENT_CHOICES, filterEvents, requireDeveloper } from '#lib/server/web/developer.ts';
import { readFields } from '#lib/server/web/form.ts';
import type { Actions, PageServerLoad } from './$types';

export const load: PageServerLoad = async (event) => {
	const { account } = await requireDeveloper(event);
	return {
		endpoints: await listWebhooks(event.locals.app.webhooks, account.id),
		choices: EVENT_CHOICES,
		removed: event.url.searchParams.has('removed')
	};
};

export const actions: Actions = {
	default: async (event) => {
		const { account } = await requireDeveloper(event);
		const { field, all } = await readFields(event.request);
		const entry = { url: field('url').trim(), events: filterEvents(all('event')) };
		const refused = (status: number, at: 'url' | 'events' | 'form', problem: string) =>
			fail(status, { entry, at, problem });
		if (account.status === 'suspended') return refused(403, 'form', 'This account is suspended.');
		if (!webhookRegistration.shape.url.safeParse(entry.url).success) {
			return refused(400, 'url', 'Enter a complete address, for example https://app.example.com/hooks/wifi.');
		}
		if (entry.events.length === 0) return refused(400, 'events', 'Select at least one event.');
		try {
			const { created, body } = await registerWebhook(
				event.locals.app.webhooks,
				{ accountId: account.id },
				entry,
				{
					host: event.url.host,
					isLocal: isLocalRequest(event.request.headers, event.locals.clientAddress())
				}
			);
			return { made: { id: body.id, url: body.url, created, secret: body.secret } };
		} catch (problem) {
			if (!(problem instanceof Refused)) throw problem;
			return refused(problem.status, 'url', problem.message);
		}
	}
};
