import type { ProblemItem } from '../problems.ts';
import { ID, type FieldText } from './describe-fields.ts';

/** What the operations of the API do, for the OpenAPI document: texts, parameters, what can be wrong. */

export interface OperationText {
	tag: 'Routers' | 'Sessions' | 'Payments' | 'Router owner' | 'Webhooks';
	/** CommonMark. */
	description: string;
	/** What the success says; and the second success, where there is one. */
	success: string;
	repeated?: string;
	/** By name; `example` is the one that the request of the document uses. */
	parameters: Readonly<Record<string, FieldText>>;
	/** A typical field that is wrong, for the example of `validation_failed`. */
	invalid: ProblemItem;
}

const pathId = (what: string, example: number) => ({
	description: `Id of the ${what}.`,
	type: 'integer',
	...ID,
	example
});
const LIMIT = { description: 'Most entries of a page.', example: 20 };
const CURSOR = {
	description: '`next_cursor` of the page before, with the same filters. It means nothing to clients.',
	example: 'eyJ2IjoxLCJrIjpbMTg0LDQyXSwiZiI6IjNmYTkifQ'
};
const BAD_ID: ProblemItem = {
	in: 'path',
	pointer: '/id',
	code: 'invalid_format',
	detail: 'Use an integer.'
};

export const OPERATION_TEXTS: Readonly<Record<string, OperationText>> = {
	listRouters: {
		tag: 'Routers',
		description:
			'Routers within `radius` metres of a place (great-circle distance), the nearest first. Offline routers are listed, disabled ones are not. A value out of range is refused, never clamped.',
		success: 'The routers of this page; an empty list when there are none.',
		parameters: {
			lat: { description: 'Latitude of the centre in decimal degrees.', example: 0.3354 },
			lon: { description: 'Longitude of the centre in decimal degrees.', example: 32.5884 },
			radius: {
				description: 'Radius of the search in metres, more than 0.',
				exclusiveMinimum: 0,
				maximum: 50_000,
				example: 1000
			},
			limit: LIMIT,
			cursor: CURSOR
		},
		invalid: { in: 'query', pointer: '/lat', code: 'required', detail: 'This field is required.' }
	},
	getRouter: {
		tag: 'Routers',
		description: 'One router. A disabled router is not found, except by the account that owns it.',
		success: 'The router; `distance` is null.',
		parameters: { id: pathId('router', 42) },
		invalid: BAD_ID
	},
	createSession: {
		tag: 'Sessions',
		description:
			'Orders time on a router at its price of now. **Charges nothing**: start a payment for the returned `amount` before `payment_due_at` (30 minutes by default). With `extends_session_id` the time is added to a running pass: never over what is left of it, and two such orders add up. Send an `Idempotency-Key` so that a request that is repeated after a lost answer orders once.',
		success: 'The session, waiting for its payment.',
		parameters: {},
		invalid: {
			in: 'body',
			pointer: '/duration',
			code: 'invalid_format',
			detail: 'Use a count and a unit, e.g. "2h".'
		}
	},
	getSession: {
		tag: 'Sessions',
		description:
			'The session as it is at this moment. While it is `active`, the account that created it reads the Wi-Fi password here. Sessions of other accounts are not found.',
		success: 'The session.',
		parameters: { id: pathId('session', 9001) },
		invalid: BAD_ID
	},
	endSession: {
		tag: 'Sessions',
		description:
			'An `active` session ends: its password stops working, nothing is refunded, and added time that follows it in its pass ends with it. A session in `pending_payment` is cancelled. In any other state the request is refused and names the state, so that a client that repeats it sees that the first one worked. A body is ignored.',
		success: 'The session, ended or cancelled.',
		parameters: {
			id: pathId('session', 9001),
			if_status: {
				description:
					'Only if the session is in this state; with `pending_payment` a time that was just paid is never ended by mistake. That one also gives up an order that was cancelled as `payment_timeout`: its reason becomes `client_cancelled`, and a payment that comes late goes back instead of buying it.',
				example: 'active'
			}
		},
		invalid: {
			in: 'query',
			pointer: '/if_status',
			code: 'unknown_value',
			detail: 'Use one of pending_payment, activating, active, expired, ended, cancelled.'
		}
	},
	startMobileMoneyPayment: {
		tag: 'Payments',
		description:
			'Asks the payer for the amount of a session; the prompt appears on the phone. The answer is always a `pending` payment: what the operator says shows in the status of the payment. One payment of a session is pending at a time. Send an `Idempotency-Key`.',
		success: 'The payment, pending.',
		parameters: {},
		invalid: { in: 'body', pointer: '/amount', code: 'out_of_range', detail: 'Use an amount above 0.' }
	},
	getPaymentStatus: {
		tag: 'Payments',
		description:
			'The payment as it is now. Ask at most every three seconds, or let `wait` hold the answer until the payment leaves `pending`.',
		success: 'The payment.',
		parameters: {
			id: pathId('payment', 7001),
			wait: {
				description: 'Seconds for which the answer may be held back until the payment leaves `pending`.',
				example: 20
			}
		},
		invalid: { in: 'query', pointer: '/wait', code: 'out_of_range', detail: 'Use at most 20.' }
	},
	getEarnings: {
		tag: 'Router owner',
		description:
			'What the routers of the caller earned by day, ISO week (from Monday) or month, in the time zone of the installation. Sales count when they were paid, refunds when they were given back. Without `from` and `to`: the last 30 days, 12 weeks or 12 months up to today. At most 366 buckets.',
		success: 'All buckets of the span, empty ones included.',
		parameters: {
			period: { description: 'Length of a bucket.', example: 'weekly' },
			from: {
				description: 'First day; the bucket that holds it is included whole.',
				format: 'date',
				example: '2026-11-09'
			},
			to: {
				description: 'Last day; the bucket that holds it is included whole.',
				format: 'date',
				example: '2026-11-22'
			}
		},
		invalid: {
			in: 'query',
			pointer: '/period',
			code: 'unknown_value',
			detail: 'Use one of daily, weekly, monthly.'
		}
	},
	listOwnerUsers: {
		tag: 'Router owner',
		description:
			'Sessions on the routers of the caller whose time runs or is over, the latest start first. Numbers are masked, passwords never shown.',
		success: 'The sessions of this page, and how many there are of each group.',
		parameters: {
			status: { description: 'Only this group.', example: 'active' },
			limit: LIMIT,
			cursor: CURSOR
		},
		invalid: {
			in: 'query',
			pointer: '/status',
			code: 'unknown_value',
			detail: 'Use one of active, expired.'
		}
	},
	setRouterPrice: {
		tag: 'Router owner',
		description:
			'Sets the price of one hour. It applies at once and only to new sessions; every change is kept with its time and author.',
		success: 'The router with its new price.',
		parameters: { id: pathId('router', 42) },
		invalid: { in: 'body', pointer: '/price', code: 'out_of_range', detail: 'Use a price above 0.' }
	},
	registerWebhook: {
		tag: 'Webhooks',
		description:
			'Registers an address to which events are delivered, signed after Standard Webhooks. The address is not contacted now. The secret of the endpoint is shown once, in the answer 201. Registering the same address again replaces its events, enables it again and answers 200 without the secret.',
		success: 'The new endpoint with its secret, shown this once.',
		repeated: 'The endpoint was there: its events are replaced and it is enabled; `secret` is null.',
		parameters: {},
		invalid: {
			in: 'body',
			pointer: '/events/0',
			code: 'unknown_value',
			detail: 'Use one of payment.success, session.expired.'
		}
	}
};

/** Groups of operations, in the order in which a reader meets them. */
export const TAGS: readonly { name: OperationText['tag']; description: string }[] = [
	{ name: 'Routers', description: 'Find routers near a place and read one.' },
	{ name: 'Sessions', description: 'Order access time, read its state and password, end it.' },
	{ name: 'Payments', description: 'Pay a session by mobile money.' },
	{ name: 'Router owner', description: 'For owners of routers: earnings, sessions, prices.' },
	{ name: 'Webhooks', description: 'Be told of events.' }
];
