import { fail, redirect, type RequestEvent } from '@sveltejs/kit';
import { DAY_MS } from '#lib/domain/time.ts';
import { isLocalRequest } from '#lib/server/http/client-address.ts';
import { readFields } from '#lib/server/web/form.ts';
import {
	EVENT_CHOICES,
	filterEvents,
	formatOutcome,
	requireDeveloper,
	requireEndpoint
} from '#lib/server/web/developer.ts';
import { pollUntil } from '#lib/developer/poll-until.ts';
import { pageById } from '#lib/server/web/page-links.ts';
import type { Actions, PageServerLoad } from './$types';
import {
	registerWebhook,
	deleteWebhook,
	rotateWebhookSecret,
	setWebhookStatus,
	sendTestWebhook,
	listDeliveries,
	findDelivery,
	replayFailedDeliveries
} from '#lib/server/developer/webhooks.ts';
import { Refused } from '#lib/server/platform/errors.ts';

const STATUSES = ['pending', 'delivered', 'failed'] as const;
/** Days. Deliveries are kept for 30. */
const REPLAY_DAYS = [1, 7, 30];

/** /developer/webhooks/{id}?status=…&before=ID */
export const load: PageServerLoad = async (event) => {
	const developer = await requireDeveloper(event);
	const endpoint = await requireEndpoint(event, developer);
	const search = event.url.searchParams;
	const status = STATUSES.find((one) => one === search.get('status')) ?? null;
	const { rows, pages } = await pageById(event, 'before', { status }, (before, limit) =>
		listDeliveries(event.locals.app.webhooks, developer.account.id, endpoint.id, { before, limit, status })
	);
	return {
		endpoint,
		choices: EVENT_CHOICES,
		deliveries: rows.map((delivery) => ({
			...delivery,
			outcome: formatOutcome({ statusCode: delivery.lastStatusCode, failure: delivery.lastFailure })
		})),
		pages,
		status,
		done: formatDone(search)
	};
};

const DONE: Readonly<Record<string, string>> = {
	events: 'The events are saved.',
	enabled: 'The webhook is enabled.',
	disabled: 'The webhook is disabled. Nothing is sent until you enable it again.'
};

function formatDone(search: URLSearchParams): string | null {
	const replayed = search.get('replayed');
	if (replayed !== null && /^\d+$/.test(replayed)) {
		return replayed === '1' ? '1 delivery is sent again.' : `${replayed} deliveries are sent again.`;
	}
	return DONE[search.get('done') ?? ''] ?? null;
}

async function requireSender(event: RequestEvent<{ id: string }>) {
	const developer = await requireDeveloper(event);
	const endpoint = await requireEndpoint(event, developer);
	const { webhooks, clock } = event.locals.app;
	return {
		account: developer.account,
		endpoint,
		webhooks,
		clock,
		here: `/developer/webhooks/${endpoint.id}`
	};
}

const SUSPENDED = 'This account is suspended.';

export const actions: Actions = {
	events: async (event) => {
		const { account, endpoint, webhooks, here } = await requireSender(event);
		const events = filterEvents((await readFields(event.request)).all('event'));
		if (account.status === 'suspended') return fail(403, { problem: SUSPENDED });
		if (events.length === 0) return fail(400, { eventsProblem: 'Select at least one event.' });
		try {
			await registerWebhook(
				webhooks,
				{ accountId: account.id },
				{ url: endpoint.url, events },
				{
					host: event.url.host,
					isLocal: isLocalRequest(event.request.headers, event.locals.clientAddress())
				}
			);
		} catch (problem) {
			if (!(problem instanceof Refused)) throw problem;
			return fail(problem.status, { eventsProblem: problem.message });
		}
		redirect(303, `${here}?done=events#main`);
	},
	secret: async (event) => {
		const { account, endpoint, webhooks } = await requireSender(event);
		const { field } = await readFields(event.request);
		// A reload sends the form again, and must not replace the secret that was just shown.
		if (field('version') !== String(endpoint.updatedAt)) {
			return fail(409, { problem: 'This form was already sent. It created a secret, which was shown once.' });
		}
		return { secret: await rotateWebhookSecret(webhooks, account.id, endpoint.id) };
	},
	status: async (event) => {
		const { account, endpoint, webhooks, here } = await requireSender(event);
		const wanted = (await readFields(event.request)).field('status') === 'active' ? 'active' : 'disabled';
		if (wanted === 'active' && account.status === 'suspended') return fail(403, { problem: SUSPENDED });
		await setWebhookStatus(webhooks, account.id, endpoint.id, wanted);
		redirect(303, `${here}?done=${wanted === 'active' ? 'enabled' : 'disabled'}`);
	},
	remove: async (event) => {
		const { account, endpoint, webhooks } = await requireSender(event);
		await deleteWebhook(webhooks, account.id, endpoint.id);
		redirect(303, '/developer/webhooks?removed');
	},
	test: async (event) => {
		const { account, endpoint, webhooks, here } = await requireSender(event);
		const delivery = await sendTestWebhook(webhooks, account.id, endpoint.id);
		if (delivery === null) return fail(409, { problem: 'Enable the webhook first.' });
		await pollUntil(async () => (await findDelivery(webhooks, account.id, delivery))?.attempts !== 0);
		redirect(303, `${here}/${delivery}`);
	},
	replay: async (event) => {
		const { account, endpoint, webhooks, clock, here } = await requireSender(event);
		const days = Number((await readFields(event.request)).field('days'));
		if (!REPLAY_DAYS.includes(days)) return fail(400, { problem: 'Choose a period.' });
		if (endpoint.status !== 'active') return fail(409, { problem: 'Enable the webhook first.' });
		const count = await replayFailedDeliveries(
			webhooks,
			account.id,
			endpoint.id,
			clock.now() - days * DAY_MS
		);
		redirect(303, `${here}?replayed=${count}`);
	}
};
