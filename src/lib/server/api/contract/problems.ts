/**
 * Catalogue of the API's errors: one entry per stable code with its status and constant title (RFC 9457).
 * The code is the contract; `detail` is for people and may change. One place turns codes into statuses.
 */
export const PROBLEMS = {
	invalid_json: { status: 400, title: 'Request body is not valid JSON' },
	unsupported_media_type: { status: 400, title: 'Content type must be application/json' },
	body_too_large: { status: 400, title: 'Request body is too large' },
	validation_failed: { status: 400, title: 'Request validation failed' },
	invalid_cursor: { status: 400, title: 'Cursor is not valid for this list' },
	invalid_phone: { status: 400, title: 'Phone is not a mobile number' },
	router_unavailable: { status: 400, title: 'Router is offline' },
	duration_not_allowed: { status: 400, title: 'Duration is outside what the router sells' },
	payment_method_not_supported: { status: 400, title: 'Payment method is not accepted by the router' },
	session_not_active: { status: 400, title: 'Session cannot be ended in its state' },
	session_not_extendable: { status: 400, title: 'Session cannot be extended' },
	amount_mismatch: { status: 400, title: 'Amount differs from the price of the session' },
	payment_in_progress: { status: 400, title: 'A payment for the session is already in progress' },
	session_already_paid: { status: 400, title: 'Session is already paid' },
	session_not_payable: { status: 400, title: 'Session cannot be paid in its state' },
	payment_attempts_exceeded: { status: 400, title: 'Too many payment attempts for the session' },
	payer_prompt_limit: { status: 400, title: 'Too many payment prompts to the number' },
	webhook_url_not_allowed: { status: 400, title: 'Webhook URL is not allowed' },
	webhook_limit_reached: { status: 400, title: 'Account has too many webhooks' },
	idempotency_key_reused: { status: 400, title: 'Idempotency key was used with another request' },
	idempotency_key_in_use: { status: 400, title: 'Idempotency key is in use' },
	missing_api_key: { status: 401, title: 'API key is missing' },
	invalid_api_key: { status: 401, title: 'API key is not valid' },
	account_suspended: { status: 403, title: 'Account is suspended' },
	insufficient_scope: { status: 403, title: 'API key lacks a scope' },
	owner_role_required: { status: 403, title: 'Only router owners may do this' },
	not_router_owner: { status: 403, title: 'The router belongs to another account' },
	route_not_found: { status: 404, title: 'No such route' },
	router_not_found: { status: 404, title: 'Router not found' },
	session_not_found: { status: 404, title: 'Session not found' },
	payment_not_found: { status: 404, title: 'Payment not found' },
	rate_limit_exceeded: {
		status: 429,
		title: 'Rate limit exceeded',
		// Registered for this: https://www.iana.org/assignments/http-problem-types
		type: 'https://iana.org/assignments/http-problem-types#quota-exceeded'
	},
	internal_error: { status: 500, title: 'Internal server error' }
} as const satisfies Record<string, { status: number; title: string; type?: string }>;

export type ProblemCode = keyof typeof PROBLEMS;

export const ITEM_CODES = [
	'required',
	'invalid_type',
	'invalid_format',
	'out_of_range',
	'unknown_field',
	'unknown_value',
	'duplicate'
] as const;

/** One field that is wrong: where it stands, and why. `pointer` is an RFC 6901 pointer, or `/name`. */
export interface ProblemItem {
	in: 'body' | 'query' | 'path' | 'header';
	pointer: string;
	code: (typeof ITEM_CODES)[number];
	detail: string;
}
