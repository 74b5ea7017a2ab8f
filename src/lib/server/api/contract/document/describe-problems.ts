import type { ITEM_CODES, ProblemCode } from '../problems.ts';

/** What the error codes mean and what a client does about them: for the pages that their `type` leads to. */
export interface ProblemText {
	/** When it is answered. */
	meaning: string;
	/** What to do. */
	advice: string;
}

const EXPIRES = 'Nothing was created or charged.';

/** More codes than there are today may stand here: those of routes to come. */
export const PROBLEM_TEXTS: Record<ProblemCode, ProblemText> & Readonly<Record<string, ProblemText>> = {
	invalid_json: {
		meaning: 'The body is not JSON in UTF-8. (JSON that is not an object is `validation_failed`.)',
		advice:
			'Send one JSON object. Let a library write it; a stray comma or a text in another encoding is enough for this.'
	},
	unsupported_media_type: {
		meaning:
			'The request has a body, but not the header `Content-Type: application/json`; or its body is packed (`Content-Encoding`).',
		advice:
			'Send the header. With curl: `-H "Content-Type: application/json"`, because `-d` alone announces a form. Send the body unpacked.'
	},
	body_too_large: {
		meaning: 'The body has more than 16 KiB.',
		advice: 'Send only the fields that the endpoint knows; none of them needs that much.'
	},
	validation_failed: {
		meaning:
			'One or more values have the wrong type or form, are out of range, are missing, or are not known here. `errors` names each of them.',
		advice:
			'Read `errors`: `in` and `pointer` say where, `code` says why, `detail` says what would be right. Correct all of them, then send the request again.'
	},
	invalid_cursor: {
		meaning: 'The cursor was changed on the way, or belongs to a list with other filters.',
		advice:
			'Pass `next_cursor` on as it came, together with the same filters. Otherwise begin again without a cursor.'
	},
	invalid_phone: {
		meaning: 'The phone number is not a mobile number that exists in its country’s numbering plan.',
		advice:
			'Ask for the number again. Send it in E.164 (`+256772123456`), or as it is dialled in the country of the installation.'
	},
	router_unavailable: {
		meaning: `The router is offline. ${EXPIRES}`,
		advice: 'Offer another router near by, or try again when the router’s `status` is `online`.'
	},
	duration_not_allowed: {
		meaning: 'The time asked for is shorter or longer than this router sells.',
		advice: 'Choose a time from `min_duration` to `max_duration`; both stand in the answer and in the router.'
	},
	payment_method_not_supported: {
		meaning: 'The router does not take this payment method.',
		advice: 'Use one of `payment_methods`; `mobile_money` finds the network from the number.'
	},
	session_not_active: {
		meaning: 'The session is over already, or about to begin: there is nothing to end in its state.',
		advice:
			'Look at `session_status`. If it is `ended` or `cancelled`, an earlier request did its work and nothing is left to do.'
	},
	session_not_extendable: {
		meaning:
			'The session in `extends_session_id` is not `active`, or it is on another router. Nothing was created or charged.',
		advice:
			'Look at `session_status`. If the time is over, order anew without `extends_session_id`: that is a pass of its own with a password of its own.'
	},
	amount_mismatch: {
		meaning: 'The amount is not what the session costs. Nobody was asked to pay.',
		advice: 'Send the `amount` of the session as it came, here also as `expected_amount`. Do not compute it.'
	},
	payment_in_progress: {
		meaning: 'The session has a payment that waits for the payer. Nobody was asked a second time.',
		advice: 'Follow the payment in `payment_id` until it leaves `pending`; start a new one only after that.'
	},
	session_already_paid: {
		meaning: 'The session is paid. Nothing is owed.',
		advice: 'Read the session: it has the password.'
	},
	session_not_payable: {
		meaning: 'The session is cancelled, ended or expired, and cannot be paid any more.',
		advice: 'Create a new session and pay that one.'
	},
	payment_attempts_exceeded: {
		meaning: 'Too many payments were started for this session.',
		advice: 'Create a new session. Before that, let the payer check number and balance.'
	},
	payer_prompt_limit: {
		meaning: 'This number was asked to pay too often in the last 15 minutes, whoever asked.',
		advice: 'Wait a quarter of an hour, or let somebody pay from another number.'
	},
	idempotency_key_reused: {
		meaning: 'The `Idempotency-Key` belongs to an earlier request with another body. This one had no effect.',
		advice:
			'Make a new key for each new order or payment; send the old one only to repeat the very same request.'
	},
	idempotency_key_in_use: {
		meaning: 'The first request with this `Idempotency-Key` is still being worked on.',
		advice:
			'Send the same request again after `Retry-After` seconds: you then get the answer of the first one.'
	},
	missing_api_key: {
		meaning: 'The request carries no API key in the `Authorization` header.',
		advice:
			'Send `Authorization: Bearer <API_KEY>`. Keys in the address or in the body are never read. Paths that do not exist need a key too.'
	},
	invalid_api_key: {
		meaning:
			'The API key is mistyped, unknown, revoked or expired, or it is a test key on a live installation.',
		advice:
			'Compare the key with the one you were shown. If it is lost or old, make a new one in the developer settings.'
	},
	account_suspended: {
		meaning: 'The account of this API key is suspended; none of its keys works.',
		advice: 'Trying again does not help. Write to whoever runs this installation.'
	},
	insufficient_scope: {
		meaning: 'The API key was narrowed to scopes, and the one that this endpoint needs is not among them.',
		advice:
			'Use a key with the scope in `required_scope`, or one without scopes, which may do all of its role.'
	},
	owner_role_required: {
		meaning: 'The endpoint is for owners of routers, and the key or its account has only the role `app`.',
		advice: 'Use a key of role `owner` of an account that owns routers.'
	},
	not_router_owner: {
		meaning: 'The router belongs to another account, so its price is not yours to set.',
		advice: 'Check the id. Only the account that owns a router changes its price.'
	},
	route_not_found: {
		meaning: 'There is no such path under `/v1`, or the path does not know this method.',
		advice:
			'Compare path and method with the [list of endpoints](/docs/endpoints). When the header `Allow` is there, the path exists and takes those methods.'
	},
	router_not_found: {
		meaning: 'No router has this id, or it is no longer on sale.',
		advice: 'Take ids from the list of routers, and do not keep them for long.'
	},
	session_not_found: {
		meaning: 'No session has this id, or it belongs to another account.',
		advice:
			'Use a key of the account that created the session. Owners find sessions on their routers in `/v1/owner/users`.'
	},
	payment_not_found: {
		meaning: 'No payment has this id, or it belongs to another account.',
		advice: 'Use a key of the account that started the payment, and its `id`, not the id of the session.'
	},
	rate_limit_exceeded: {
		meaning: 'The key has used up its requests of the last 60 seconds. This request was not counted.',
		advice:
			'Wait `Retry-After` seconds. Let `wait` hold the answer while a payment is pending instead of asking often, or be told by a webhook.'
	},
	internal_error: {
		meaning: 'Something failed on our side. It is logged with its `request_id`.',
		advice:
			'Try again after a moment, with the same `Idempotency-Key` if you sent one. If it stays, name the `request_id` to whoever runs this installation.'
	},
	webhook_url_not_allowed: {
		meaning: 'Events are not sent to addresses like this one. `detail` says which rule it breaks.',
		advice:
			'Use `https`, a host name of the public internet, port 443 or 1024 and above, and neither a user name nor a fragment.'
	},
	webhook_limit_reached: {
		meaning: 'The account has as many webhook endpoints as it may have.',
		advice: 'Remove one in the developer settings, or register one address for more events.'
	}
};

/** What an entry of `errors` in `validation_failed` says about one value. */
export const ITEM_CODE_TEXTS: Record<(typeof ITEM_CODES)[number], ProblemText> = {
	required: { meaning: 'The value is missing.', advice: 'Send it.' },
	invalid_type: {
		meaning: 'The value has another JSON type than it should.',
		advice: 'Nothing is converted: send `1`, not `"1"`.'
	},
	invalid_format: {
		meaning: 'The type is right, the form is not.',
		advice: 'Compare with the pattern of the field, e.g. `2h` for two hours.'
	},
	out_of_range: {
		meaning: 'The value is too small, too large, or has too many decimals.',
		advice: 'Stay within the limits of the field; values are never cut to fit.'
	},
	unknown_field: {
		meaning: 'The body has a field that this endpoint does not know.',
		advice: 'Leave it out, or correct its spelling: a field that is ignored in silence can cost money.'
	},
	unknown_value: {
		meaning: 'The value is not one of those that the field knows.',
		advice: 'Use one of the values that `detail` lists.'
	},
	duplicate: {
		meaning: 'The same parameter, field or entry stands there twice.',
		advice: 'Send it once.'
	}
};
