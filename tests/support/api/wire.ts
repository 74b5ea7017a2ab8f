/**
 * The rules of the wire format for every response, written a second time: the contract in src is under
 * test as well. Field sets are exact; what was added to the page's examples is marked.
 */
const SUMS = ['sessions', 'gross', 'refunds', 'fees', 'net', 'owed', 'cash', 'commission'] as const;
const VOUCHER_BATCH = [
	...['id', 'router_id', 'offer', 'duration', 'amount', 'currency', 'size', 'seller'],
	...['commission_percent', 'states', 'created_at']
] as const;

export const FIELDS = {
	/** Of a list. */
	page: ['data', 'has_more', 'next_cursor'],
	listRouters: ['data', 'has_more', 'next_cursor', 'radius', 'radius_unit'],
	router: [
		...['id', 'name', 'address', 'ssid', 'lat', 'lon', 'distance', 'price', 'currency', 'status'],
		...['payment_methods', 'min_duration', 'max_duration', 'created_at', 'updated_at'],
		// additive: what a QR code says about the network
		'hidden',
		// additive: why it sells nothing now
		'status_reason',
		// additive: what a QR code says about the network
		'security',
		// additive: what the bought password is there
		'access_kind',
		// additive: whether buyers must ask for the Wi-Fi's own password
		'network_password_provided',
		// additive: how the owner looks to buyers
		'brand',
		// additive: what its payment methods cannot charge
		'payment_limits',
		// additive: packages that are sold besides the hourly price
		...['hourly', 'max_devices', 'offers']
	],
	offer: [
		...['id', 'name', 'duration', 'duration_seconds', 'price', 'max_devices', 'speed_down_kbps'],
		...['speed_up_kbps', 'data_limit_mb', 'available']
	],
	ownerOffers: [
		...['router_id', 'hourly', 'max_duration', 'version', 'currency', 'timezone', 'data'],
		...['changed_at', 'changed_by']
	],
	ownerOffer: [
		...['id', 'name', 'duration', 'price', 'max_devices', 'speed_down_kbps', 'speed_up_kbps'],
		...['data_limit_mb', 'days', 'from', 'until', 'active']
	],
	brand: ['name', 'contact', 'accent', 'logo'],
	session: [
		...['id', 'router_id', 'status', 'status_reason', 'duration', 'duration_seconds', 'payment_method'],
		...['phone', 'amount', 'currency', 'payment_id', 'ssid', 'password', 'payment_due_at', 'starts_at'],
		...['expires_at', 'ended_at', 'remaining_seconds', 'created_at', 'updated_at'],
		// additive: time that is added to a pass
		...['extends_session_id', 'pass_id'],
		// additive: how the password works
		'access',
		// additive: the offer that was bought
		'offer',
		// additive: the data of the pass
		...['data_used_mb', 'data_left_mb'],
		// additive: free time
		'extra_seconds'
	],
	access: ['kind', 'username', 'network_password', 'qr', 'qr_joins', 'end_enforced', 'max_devices'],
	payment: [
		...['id', 'session_id', 'status', 'amount', 'currency', 'phone', 'payment_method', 'applied'],
		...['failure_code', 'failure_message', 'provider_reference', 'expires_at', 'paid_at', 'refunded_at'],
		...['created_at', 'updated_at'],
		// additive: whether the operator asks the payer; why the money went back, and how much
		...['operator_request', 'refund_reason', 'refund_amount', 'refund_currency']
	],
	event: ['id', 'type', 'timestamp', 'api_version', 'data'],
	earnings: ['period', 'currency', 'timezone', 'from', 'to', 'total', 'data'],
	earningsTotal: SUMS,
	earningsBucket: ['start', 'end', ...SUMS],
	listOwnerUsers: ['data', 'has_more', 'next_cursor', 'counts'],
	ownerUser: [
		...['session_id', 'router_id', 'router_name', 'status', 'group', 'phone_masked', 'duration', 'amount'],
		...['currency', 'starts_at', 'expires_at', 'ended_at', 'remaining_seconds']
	],
	// additive: vouchers, which are paid in cash
	voucherBatch: VOUCHER_BATCH,
	newVoucherBatch: [...VOUCHER_BATCH, 'codes'],
	voucherCounts: ['unsold', 'sold', 'redeemed', 'void'],
	voucherCode: ['id', 'number', 'code'],
	voucher: [
		...['id', 'number', 'batch_id', 'router_id', 'status', 'amount', 'currency', 'seller', 'session_id'],
		...['created_at', 'sold_at', 'redeemed_at', 'void_at']
	],
	ownerCounts: ['active', 'expired'],
	webhook: ['id', 'url', 'events', 'status', 'secret', 'created_at', 'updated_at'],
	problem: ['type', 'title', 'status', 'detail', 'code', 'request_id'],
	problemItem: ['in', 'pointer', 'code', 'detail']
} as const;

/** The field set of each operation's answer. */
export const BODY_OF: Readonly<Record<string, keyof typeof FIELDS>> = {
	listRouters: 'listRouters',
	getRouter: 'router',
	createSession: 'session',
	listSessions: 'page',
	listPayments: 'page',
	listEvents: 'page',
	getSession: 'session',
	endSession: 'session',
	startMobileMoneyPayment: 'payment',
	getPaymentStatus: 'payment',
	getEarnings: 'earnings',
	listOwnerUsers: 'listOwnerUsers',
	setRouterPrice: 'router',
	getRouterOffers: 'ownerOffers',
	setRouterOffers: 'ownerOffers',
	redeemVoucher: 'session',
	createVoucherBatch: 'newVoucherBatch',
	listVoucherBatches: 'page',
	listVouchers: 'page',
	registerWebhook: 'webhook',
	listWebhooks: 'page',
	deleteWebhook: 'webhook'
};

/** Field sets of the objects inside of those, by operation or field set. */
export const INSIDE: Readonly<Record<string, Readonly<Record<string, keyof typeof FIELDS>>>> = {
	listRouters: { data: 'router' },
	listSessions: { data: 'session' },
	listPayments: { data: 'payment' },
	listEvents: { data: 'event' },
	listWebhooks: { data: 'webhook' },
	router: { offers: 'offer' },
	ownerOffers: { data: 'ownerOffer' },
	earnings: { total: 'earningsTotal', data: 'earningsBucket' },
	listOwnerUsers: { data: 'ownerUser', counts: 'ownerCounts' },
	voucherBatch: { states: 'voucherCounts' },
	newVoucherBatch: { states: 'voucherCounts', codes: 'voucherCode' },
	listVoucherBatches: { data: 'voucherBatch' },
	listVouchers: { data: 'voucher' }
};

/** Operations that take an Idempotency-Key. */
export const IDEMPOTENT = [
	'createSession',
	'startMobileMoneyPayment',
	'registerWebhook',
	'createVoucherBatch'
];

/** Operations that answer 200 beside their 201, when what was asked for was there already. */
export const REPEATED = ['registerWebhook', 'redeemVoucher'];

/** `Location` of what an operation has created; those that are not here have none. */
export const LOCATIONS: Readonly<Record<string, (id: number) => string>> = {
	createSession: (id) => `/v1/sessions/${id}`,
	redeemVoucher: (id) => `/v1/sessions/${id}`,
	startMobileMoneyPayment: (id) => `/v1/payments/${id}/status`
};

/** `whsec_` and 32 bytes in base64. */
export const WEBHOOK_SECRET = /^whsec_[A-Za-z0-9+/]{43}=$/;

/** Extension members of a problem; codes that are not here have none. */
export const EXTENSIONS: Readonly<Record<string, readonly string[]>> = {
	validation_failed: ['errors'],
	insufficient_scope: ['required_scope'],
	duration_not_allowed: ['min_duration', 'max_duration'],
	duration_not_offered: ['offers'],
	payment_method_not_supported: ['payment_methods'],
	voucher_redeemed: ['redeemed_at'],
	voucher_void: ['void_at'],
	voucher_of_other_router: ['router_id', 'router_name'],
	session_not_active: ['session_status'],
	session_not_extendable: ['session_status'],
	session_not_payable: ['session_status'],
	amount_mismatch: ['expected_amount', 'currency'],
	payment_in_progress: ['payment_id'],
	payer_prompt_limit: ['retry_after'],
	unpaid_prompt_limit: ['retry_after', 'violated-policies'],
	rate_limit_exceeded: ['retry_after', 'violated-policies']
};

/** `type` of a problem whose type is not a page of ours. */
export const TYPES: Readonly<Record<string, string>> = {
	rate_limit_exceeded: 'https://iana.org/assignments/http-problem-types#quota-exceeded'
};

/** The only statuses that anything under /v1 may have. */
export const STATUSES = [200, 201, 400, 401, 403, 404, 429, 500];

export const REQUEST_ID = /^req_[0-7][0-9A-HJKMNP-TV-Z]{25}$/;

/** Exactly what `Date.toISOString()` writes. */
export const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** Three times four characters without look-alikes. */
export const PASSWORD = /^[a-hjkmnp-z2-9]{4}-[a-hjkmnp-z2-9]{4}-[a-hjkmnp-z2-9]{4}$/;
