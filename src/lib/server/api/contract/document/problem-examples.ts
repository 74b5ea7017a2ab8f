import { OPERATION_TEXTS } from './describe-operations.ts';
import type { Example } from './examples.ts';
import { PROBLEMS, type ProblemCode } from '../problems.ts';
import type { Route } from '../routes.ts';

/** What an answer with each error code looks like, for the OpenAPI document. */

/** Stands for the address of the installation; the served document has the real one in its place. */
export const EXAMPLE_ORIGIN = 'https://airtill.example';

export const EXAMPLE_REQUEST_ID = 'req_01KAJ5Z8Q4T1V9X2M6N7P8R3SD';

/** `detail`, and the members that only this code has. */
interface Sample {
	detail: string;
	members?: Readonly<Record<string, unknown>>;
}

/** More codes than there are today may stand here: those of routes to come. */
const SAMPLES: Record<ProblemCode, Sample> & Readonly<Record<string, Sample>> = {
	invalid_json: { detail: 'The body is not valid JSON in UTF-8.' },
	unsupported_media_type: { detail: 'Send JSON with the header "Content-Type: application/json".' },
	body_too_large: { detail: 'Send at most 16384 bytes.' },
	validation_failed: { detail: '1 field is invalid.' },
	invalid_cursor: { detail: 'Use next_cursor of the previous page, with the same filters.' },
	invalid_phone: { detail: 'Use a mobile number with its country code, e.g. "+256772123456".' },
	router_unavailable: { detail: 'The router is offline and cannot be sold now.' },
	duration_not_allowed: {
		detail: 'This router sells from 15 minutes to 30 days.',
		members: { min_duration: '15m', max_duration: '30d' }
	},
	payment_method_not_supported: {
		detail: 'The router accepts mobile_money, mtn_momo, airtel_money.',
		members: { payment_methods: ['mobile_money', 'mtn_momo', 'airtel_money'] }
	},
	session_not_active: {
		detail: 'The session is expired; there is nothing to end.',
		members: { session_status: 'expired' }
	},
	session_not_extendable: {
		detail: 'The session is expired; order time without extends_session_id.',
		members: { session_status: 'expired' }
	},
	amount_mismatch: {
		detail: 'The session costs UGX 1000.',
		members: { expected_amount: 1000, currency: 'UGX' }
	},
	payment_in_progress: {
		detail: 'A payment for this session is pending. Wait until it ends.',
		members: { payment_id: 7001 }
	},
	session_already_paid: { detail: 'The session is already paid.' },
	session_not_payable: {
		detail: 'The session is expired. Create a new one.',
		members: { session_status: 'expired' }
	},
	payment_attempts_exceeded: { detail: 'Create a new session to try again.' },
	payer_prompt_limit: {
		detail: 'This number got 5 payment requests in the last 15 minutes. Try again later.'
	},
	idempotency_key_reused: { detail: 'This key was used with a different body. Use a new key.' },
	idempotency_key_in_use: { detail: 'The first request with this key is still being processed.' },
	missing_api_key: { detail: 'Send the header "Authorization: Bearer <API_KEY>".' },
	invalid_api_key: { detail: 'The API key is not known, or no longer valid.' },
	account_suspended: { detail: 'The account of this API key is suspended.' },
	insufficient_scope: { detail: 'The API key lacks the scope.' },
	owner_role_required: { detail: 'Use an API key with the role owner.' },
	not_router_owner: { detail: 'The router belongs to another account.' },
	route_not_found: { detail: 'There is no PATCH /v1/routers.' },
	router_not_found: { detail: 'There is no router with this id.' },
	session_not_found: { detail: 'There is no session with this id.' },
	payment_not_found: { detail: 'There is no payment with this id.' },
	rate_limit_exceeded: {
		detail: '100 requests per minute are allowed for this API key. Retry in 23 s.',
		members: { retry_after: 23, 'violated-policies': ['default'] }
	},
	internal_error: { detail: 'The server failed to process the request. Try again later.' },
	webhook_url_not_allowed: { detail: 'Use an https address with a DNS name.' },
	webhook_limit_reached: { detail: 'An account has at most 16 webhook endpoints.' }
};

/** What the sample says on one route: the field that is wrong there, the scope that is needed there. */
function sampleOn(code: ProblemCode, route: Route | null): Sample {
	if (code === 'validation_failed') {
		const invalid = route && OPERATION_TEXTS[route.operationId]?.invalid;
		return { ...SAMPLES[code], members: { errors: invalid ? [invalid] : [] } };
	}
	if (code === 'insufficient_scope' && route) {
		return {
			detail: `The API key lacks the scope ${route.scope}.`,
			members: { required_scope: route.scope }
		};
	}
	return SAMPLES[code];
}

/** An answer with this code, as it comes from this route. */
export function problemExample(code: ProblemCode, route: Route | null): Example {
	const { status, title, type }: { status: number; title: string; type?: string } = PROBLEMS[code];
	const { detail, members } = sampleOn(code, route);
	return {
		summary: title,
		value: {
			type: type ?? `${EXAMPLE_ORIGIN}/problems/${code}`,
			title,
			status,
			detail,
			code,
			request_id: EXAMPLE_REQUEST_ID,
			...members
		}
	};
}
