import { endOrCancelSession } from '../billing/sessions.ts';
import { listOwnSessions, orderSession, readSession } from '../billing/session-orders.ts';
import * as example from '#lib/server/contract/examples.ts';
import { idParams } from '#lib/server/contract/fields.ts';
import {
	session,
	sessionCreation,
	sessionEndQuery,
	sessionList,
	sessionListQuery
} from '#lib/server/contract/session.ts';
import { endpoint, listPage } from './call.ts';
import { defineRoute, describeJson, describeJsonBody } from './route.ts';

export const createSession = defineRoute({
	method: 'post',
	path: '/sessions',
	operationId: 'createSession',
	tags: ['Sessions'],
	summary: 'Order access time on a router; charges nothing',
	description:
		'Orders time on a router: an offer of the router, or any time at its current hourly price. **Charges nothing**: start a payment for the returned `amount` before `payment_due_at` (30 minutes by default). With `extends_session_id` the time is added to an active pass. Nothing of its remaining time is lost, and two such orders add up. Send an `Idempotency-Key`, so that a repeated request creates one session.',
	scope: 'sessions:write',
	errors: [
		'router_not_found',
		'session_not_found',
		'router_unavailable',
		'session_not_extendable',
		'duration_not_allowed',
		'duration_not_offered',
		'offer_not_available',
		'payment_method_not_supported',
		'invalid_phone'
	],
	idempotent: true,
	location: '/v1/sessions/{id}',
	request: {
		body: describeJsonBody(sessionCreation, 'Two hours, paid with MTN MoMo', example.order)
	},
	responses: {
		201: describeJson(session, 'The session, waiting for its payment.', {
			ordered: ['Ordered, not paid', example.ordered]
		})
	}
});

const listSessions = defineRoute({
	method: 'get',
	path: '/sessions',
	operationId: 'listSessions',
	tags: ['Sessions'],
	summary: 'List the sessions of the account',
	description:
		'Lists the sessions that the account of the key created, newest first. Passwords are not listed: `password` and the secrets in `access` are null. Read one session for its password.',
	scope: 'sessions:read',
	request: { query: sessionListQuery },
	responses: {
		200: describeJson(sessionList, 'The sessions of this page; an empty list if there are none.', {
			last_page: ['One session, and no further page', example.lastPage(example.expiredSession)]
		})
	}
});

const getSession = defineRoute({
	method: 'get',
	path: '/sessions/{id}',
	operationId: 'getSession',
	tags: ['Sessions'],
	summary: 'Read a session and, while it is active, its Wi-Fi password',
	description:
		'Reads the current session. While it is `active`, the account that created it gets the Wi-Fi password here. Sessions of other accounts are not found.',
	scope: 'sessions:read',
	errors: ['session_not_found'],
	request: { params: idParams('Id of the session.', 9001) },
	responses: {
		200: describeJson(session, 'The session.', {
			active: ['The time is running', example.active],
			pending_payment: ['Not paid yet', example.ordered],
			expired: ['The time ran out', example.expiredSession]
		})
	}
});

const endSession = defineRoute({
	method: 'delete',
	path: '/sessions/{id}',
	operationId: 'endSession',
	tags: ['Sessions'],
	summary: 'End an active session, or cancel one that is not paid',
	description:
		'Ends an `active` session and time that was added after it: nothing is refunded, and the password stops working unless time before it still runs. Cancels a session in `pending_payment`. In any other state the request is refused and names the state, so that a client that repeats the request sees that the first one succeeded. A body is ignored.',
	scope: 'sessions:write',
	errors: ['session_not_found', 'session_not_active'],
	request: { params: idParams('Id of the session.', 9001), query: sessionEndQuery },
	responses: {
		200: describeJson(session, 'The session, ended or cancelled.', {
			ended: ['An active session was ended', example.ended],
			cancelled: ['An unpaid session was cancelled', example.cancelled]
		})
	}
});

export const sessions = [
	endpoint(createSession, async ({ app, caller, body, remember }) => ({
		body: await orderSession(app, caller, body, remember)
	})),
	endpoint(listSessions, async (call) => {
		const { app, caller, query } = call;
		const { status, created_after: createdAfter, created_before: createdBefore, limit } = query;
		const filters = ['sessions', caller.accountId, status, createdAfter, createdBefore];
		return listPage(call, filters, (after) =>
			listOwnSessions(app, caller, { status, createdAfter, createdBefore, after, limit })
		);
	}),
	endpoint(getSession, async ({ app, caller, params }) => ({
		body: await readSession(app, caller, params.id)
	})),
	endpoint(endSession, async ({ app, caller, params, query }) => ({
		body: await endOrCancelSession(app, caller, params.id, query.if_status)
	}))
];
