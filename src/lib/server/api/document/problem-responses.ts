import { router } from '#lib/server/contract/examples.ts';
import {
	PROBLEMS,
	PROBLEM_CODES,
	type ProblemCode,
	type ProblemItem,
	problem
} from '#lib/server/contract/problems.ts';
import { SCOPES } from '#lib/server/contract/scopes.ts';

/** Replaced by the installation's address when the document is served. */
export const EXAMPLE_ORIGIN = 'https://airtill.example';
const EXAMPLE_REQUEST_ID = 'req_01KAJ5Z8Q4T1V9X2M6N7P8R3SD';

const INVALID: ProblemItem = {
	...{ in: 'body', pointer: '/router_id', code: 'required', detail: 'This field is required.' }
};

/** The members of a code beyond those that every problem has. */
const MEMBERS: Partial<Record<ProblemCode, Readonly<Record<string, unknown>>>> = {
	validation_failed: { errors: [INVALID] },
	insufficient_scope: { required_scope: SCOPES[0] },
	duration_not_allowed: { min_duration: '15m', max_duration: '30d' },
	duration_not_offered: { offers: router.offers },
	payment_method_not_supported: { payment_methods: ['mobile_money', 'mtn_momo', 'airtel_money'] },
	session_not_active: { session_status: 'expired' },
	session_not_extendable: { session_status: 'expired' },
	session_not_payable: { session_status: 'expired' },
	amount_mismatch: { expected_amount: 1000, currency: 'UGX' },
	payer_prompt_limit: { retry_after: 420 },
	unpaid_prompt_limit: { retry_after: 420, 'violated-policies': ['account'] },
	payment_in_progress: { payment_id: 7001 },
	rate_limit_exceeded: { retry_after: 23, 'violated-policies': ['default'] }
};

export function problemExample(code: ProblemCode) {
	const { status, title, type, detail } = PROBLEMS[code];
	return {
		type: type ?? `${EXAMPLE_ORIGIN}/problems/${code}`,
		...{ title, status, detail, code, request_id: EXAMPLE_REQUEST_ID },
		...MEMBERS[code]
	};
}

/** One example for each code, to which the responses refer. */
export const PROBLEM_EXAMPLES = Object.fromEntries(
	PROBLEM_CODES.map((code) => [code, { summary: PROBLEMS[code].title, value: problemExample(code) }])
);

const DESCRIPTIONS: Readonly<Record<number, string>> = {
	400: 'The request is invalid, or a rule forbids it.',
	401: 'The API key is missing or not valid.',
	403: 'The API key may not do this.',
	404: 'The object does not exist, or the caller may not see it.',
	429: 'Too many requests; try again after `Retry-After` seconds.',
	500: 'The server failed to process the request; try again later.'
};

/** A response for each status of the codes. It names them, because all problems have one schema. */
export const problemResponses = (codes: readonly ProblemCode[]) =>
	Object.fromEntries(
		[...Map.groupBy(codes, (code) => PROBLEMS[code].status)].map(([status, those]) => [
			status,
			{
				description: `${DESCRIPTIONS[status]} Codes: ${those.map((code) => `\`${code}\``).join(', ')}.`,
				content: {
					'application/problem+json': {
						schema: problem,
						examples: Object.fromEntries(
							those.map((code) => [code, { $ref: `#/components/examples/${code}` }])
						)
					}
				}
			}
		])
	);
