import {
	active,
	cancelled,
	earnings,
	ended,
	endpoint,
	expiredSession,
	failed,
	order,
	ordered,
	ownerUser,
	paid,
	pending,
	refunded,
	router
} from './example-story.ts';
import type * as schemas from '../schemas.ts';

/** Bodies of requests and successes, for the OpenAPI document. */

export interface Example {
	summary: string;
	value: unknown;
}

/** Request bodies by operation. */
export const REQUEST_EXAMPLES: Readonly<Record<string, Readonly<Record<string, Example>>>> = {
	createSession: { two_hours: { summary: 'Two hours, paid with MTN MoMo', value: order } },
	startMobileMoneyPayment: {
		the_amount: {
			summary: 'The amount of the session',
			value: { amount: 1000, phone: '+256772123456', session_id: 9001 } satisfies schemas.PaymentStartBody
		}
	},
	setRouterPrice: { new_price: { summary: '600 an hour', value: { price: 600 } } },
	registerWebhook: {
		two_events: {
			summary: 'Both events of the specification',
			value: { url: endpoint.url, events: endpoint.events }
		}
	}
};

type Responses = Readonly<Partial<Record<200 | 201, Readonly<Record<string, Example>>>>>;

/** Bodies of successes by operation and status. */
export const RESPONSE_EXAMPLES: Readonly<Record<string, Responses>> = {
	listRouters: {
		200: {
			last_page: {
				summary: 'One router, and no further page',
				value: {
					data: [{ ...router, distance: 184 }],
					has_more: false,
					next_cursor: null,
					radius: 1000,
					radius_unit: 'm'
				} satisfies schemas.RouterListBody
			},
			first_page: {
				summary: 'A page with `limit=1`, and another behind it',
				value: {
					data: [{ ...router, distance: 184 }],
					has_more: true,
					next_cursor: 'eyJ2IjoxLCJrIjpbMTg0LDQyXSwiZiI6IjNmYTkifQ',
					radius: 1000,
					radius_unit: 'm'
				} satisfies schemas.RouterListBody
			},
			nothing: {
				summary: 'No router within the radius',
				value: {
					data: [],
					has_more: false,
					next_cursor: null,
					radius: 1000,
					radius_unit: 'm'
				} satisfies schemas.RouterListBody
			}
		}
	},
	getRouter: { 200: { router: { summary: 'A router that sells time', value: router } } },
	createSession: { 201: { ordered: { summary: 'Ordered, to be paid', value: ordered } } },
	getSession: {
		200: {
			active: { summary: 'The time runs', value: active },
			pending_payment: { summary: 'Not paid yet', value: ordered },
			expired: { summary: 'The time ran out', value: expiredSession }
		}
	},
	endSession: {
		200: {
			ended: { summary: 'An active session was ended', value: ended },
			cancelled: { summary: 'An unpaid session was cancelled', value: cancelled }
		}
	},
	startMobileMoneyPayment: { 201: { pending: { summary: 'The payer is asked', value: pending } } },
	getPaymentStatus: {
		200: {
			success: { summary: 'Paid; the session is active', value: paid },
			pending: { summary: 'The payer has not answered', value: pending },
			failed: { summary: 'The payer lacks the money', value: failed },
			refunded: { summary: 'Paid too late and given back', value: refunded }
		}
	},
	getEarnings: { 200: { weekly: { summary: 'Two weeks', value: earnings } } },
	listOwnerUsers: {
		200: {
			active: {
				summary: 'One active session',
				value: {
					data: [ownerUser],
					has_more: false,
					next_cursor: null,
					counts: { active: 1, expired: 0 }
				}
			}
		}
	},
	setRouterPrice: {
		200: {
			changed: {
				summary: 'The new price',
				value: { ...router, price: 600, updated_at: '2026-11-21T12:00:00.000Z' }
			}
		}
	},
	registerWebhook: {
		201: { registered: { summary: 'A new endpoint', value: endpoint } },
		200: {
			again: {
				summary: 'The same address again',
				value: { ...endpoint, secret: null, updated_at: '2026-11-21T12:00:00.000Z' }
			}
		}
	}
};
