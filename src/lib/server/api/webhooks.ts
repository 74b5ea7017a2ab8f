import {
	eventList,
	eventListQuery,
	webhookEndpoint,
	webhookList,
	webhookListQuery,
	webhookRegistration
} from '#lib/server/contract/webhooks.ts';
import { endpoint as example, eventExample, lastPage } from '#lib/server/contract/examples.ts';
import { idParams } from '#lib/server/contract/fields.ts';
import { endpoint, listPage } from './call.ts';
import { defineRoute, describeJson, describeJsonBody } from './route.ts';
import { isLocalCall } from './env.ts';
import type { SortValues } from '#lib/server/platform/cursor.ts';
import { registerWebhook, listWebhookPage, deleteWebhook } from '../developer/webhooks.ts';
import { NotFound } from '#lib/server/platform/errors.ts';

const registerWebhookRoute = defineRoute({
	method: 'post',
	path: '/webhooks/register',
	operationId: 'registerWebhook',
	tags: ['Webhooks'],
	summary: 'Register a webhook URL for the listed events',
	description:
		'Registers an address that receives events, signed after Standard Webhooks. The address is not contacted now. The 201 response shows the secret of the endpoint once. Registering the same address again replaces its events, enables it again, and responds with 200 and without the secret.',
	scope: 'webhooks:write',
	errors: ['webhook_url_not_allowed', 'webhook_limit_reached'],
	idempotent: true,
	request: {
		body: describeJsonBody(webhookRegistration, 'Both events of the specification', {
			url: example.url,
			events: example.events
		})
	},
	responses: {
		200: describeJson(webhookEndpoint, 'The address was registered before; `secret` is null.', {
			again: ['The same address again', { ...example, secret: null, updated_at: '2026-11-21T12:00:00.000Z' }]
		}),
		201: describeJson(webhookEndpoint, 'The new endpoint with its secret, shown this once.', {
			registered: ['A new endpoint', example]
		})
	}
});

const listWebhooksRoute = defineRoute({
	method: 'get',
	path: '/webhooks',
	operationId: 'listWebhooks',
	tags: ['Webhooks'],
	summary: 'List the webhook endpoints of the account',
	description:
		'Lists the addresses that the account has registered, newest first, also those that are disabled. Secrets are shown once, at registration, and never here.',
	scope: 'webhooks:read',
	request: { query: webhookListQuery },
	responses: {
		200: describeJson(webhookList, 'The endpoints of this page; an empty list if there are none.', {
			last_page: ['One endpoint, and no further page', lastPage({ ...example, secret: null })]
		})
	}
});

const deleteWebhookRoute = defineRoute({
	method: 'delete',
	path: '/webhooks/{id}',
	operationId: 'deleteWebhook',
	tags: ['Webhooks'],
	summary: 'Delete a webhook endpoint',
	description:
		'Deletes an endpoint with its secret and its log; deliveries that wait are not sent. The response shows what was deleted. A repeated request is `webhook_not_found`. A body is ignored.',
	scope: 'webhooks:write',
	errors: ['webhook_not_found'],
	request: { params: idParams('Id of the webhook endpoint.', 301) },
	responses: {
		200: describeJson(webhookEndpoint, 'The endpoint as it was.', {
			deleted: ['The deleted endpoint', { ...example, secret: null }]
		})
	}
});

const listEvents = defineRoute({
	method: 'get',
	path: '/events',
	operationId: 'listEvents',
	tags: ['Events'],
	summary: 'List the events of the account',
	description:
		'Lists the events of the sessions and payments that the account of the key created, newest first, for example to find those that a webhook missed. Events are kept for 30 days. `id` equals the `webhook-id` of the delivery.',
	scope: 'events:read',
	request: { query: eventListQuery },
	responses: {
		200: describeJson(eventList, 'The events of this page; an empty list if there are none.', {
			last_page: ['One event, and no further page', lastPage(eventExample('payment.success'))]
		})
	}
});

export const webhooks = [
	endpoint(listEvents, async (call) => {
		const { app, caller, query } = call;
		const { created_after: createdAfter, created_before: createdBefore, limit } = query;
		const filters = ['events', caller.accountId, createdAfter, createdBefore];
		return listPage(call, filters, (after: SortValues<string> | null) =>
			app.events.list(caller, { createdAfter, createdBefore, after, limit })
		);
	}),
	endpoint(listWebhooksRoute, async (call) => {
		const { app, caller, query } = call;
		return listPage(call, ['webhooks', caller.accountId], (after) =>
			listWebhookPage(app.webhooks, caller, { after, limit: query.limit })
		);
	}),
	endpoint(deleteWebhookRoute, async ({ app, caller, params }) => {
		const body = await deleteWebhook(app.webhooks, caller.accountId, params.id);
		if (body === null) throw new NotFound('webhook_not_found');
		return { body };
	}),
	endpoint(registerWebhookRoute, async ({ app, caller, body, context, remember }) => {
		const { host } = new URL(context.req.url);
		const registered = await registerWebhook(
			app.webhooks,
			caller,
			body,
			{ host, isLocal: isLocalCall(context) },
			remember
		);
		return { body: registered.body, status: registered.created ? 201 : 200 };
	})
];
