import { EXAMPLE_CURSOR } from './fields.ts';
import type { EarningsBody, OwnerUserBody } from './owner.ts';
import type { OwnerOfferListBody } from './offer.ts';
import type { PaymentBody } from './payment.ts';
import type { RouterBody, RouterListBody } from './router.ts';
import type { SessionBody, SessionCreationBody } from './session.ts';
import type { VoucherBatchBody, VoucherBody } from './voucher.ts';
import { API_VERSION, TEST_MESSAGE, type EventName } from './webhooks.ts';

/** The examples of the API tell one story: a buyer gets two hours in a Kampala café. Times, ids and amounts are consistent. */

const limits = { max_devices: 3, speed_down_kbps: null, speed_up_kbps: null, data_limit_mb: null };

export const router: RouterBody = {
	id: 42,
	name: 'Kisementi Cafe',
	address: 'Cooper Rd, Kampala',
	ssid: 'Kisementi-WiFi',
	hidden: false,
	lat: 0.336219,
	lon: 32.589781,
	distance: null,
	price: 500,
	currency: 'UGX',
	hourly: true,
	max_devices: 1,
	offers: [
		{
			id: 1,
			name: 'Day',
			duration: '1d',
			duration_seconds: 86_400,
			price: 1000,
			...limits,
			available: true
		}
	],
	status: 'online',
	status_reason: null,
	payment_methods: ['mobile_money', 'mtn_momo', 'airtel_money'],
	payment_limits: [],
	min_duration: '15m',
	max_duration: '30d',
	security: 'wpa',
	access_kind: 'wpa_personal_per_client',
	network_password_provided: true,
	brand: {
		name: 'Kisementi Cafe',
		contact: '0772 000 000',
		accent: '#7a3e9d',
		logo: { url: '/logos/3f1c9a50e2b84d67a1c0d9e8f7b6a594.svg', width: 64, height: 64 }
	},
	created_at: '2026-03-02T08:00:00.000Z',
	updated_at: '2026-11-20T10:00:00.000Z'
};

export const routerPage = (hasMore = false): RouterListBody => ({
	data: [{ ...router, distance: 184 }],
	has_more: hasMore,
	next_cursor: hasMore ? EXAMPLE_CURSOR : null,
	radius: 1000,
	radius_unit: 'm'
});

export const lastPage = <T>(entry: T) => ({ data: [entry], has_more: false, next_cursor: null });

export const ownerOffers: OwnerOfferListBody = {
	router_id: 42,
	hourly: true,
	max_duration: '6h',
	version: 7,
	currency: 'UGX',
	timezone: 'Africa/Kampala',
	data: [
		{
			id: 1,
			name: 'Day',
			duration: '1d',
			price: 1000,
			...limits,
			days: null,
			from: null,
			until: null,
			active: true
		}
	],
	changed_at: '2026-11-20T10:00:00.000Z',
	changed_by: 'owner@example.com'
};

export const offersUpdate = {
	hourly: true,
	offers: [{ name: 'Day', duration: '1d', price: 1000, max_devices: 3 }]
};

export const order: SessionCreationBody = {
	router_id: 42,
	duration: '2h',
	payment_method: 'mtn_momo',
	phone: '+256772123456'
};

export const ordered: SessionBody = {
	id: 9001,
	router_id: 42,
	status: 'pending_payment',
	status_reason: null,
	duration: '2h',
	duration_seconds: 7200,
	payment_method: 'mtn_momo',
	phone: '+256772123456',
	amount: 1000,
	currency: 'UGX',
	offer: null,
	payment_id: null,
	ssid: 'Kisementi-WiFi',
	password: null,
	access: {
		kind: 'wpa_personal_per_client',
		username: null,
		network_password: null,
		qr: null,
		qr_joins: null,
		end_enforced: true,
		max_devices: 1
	},
	payment_due_at: '2026-11-21T09:45:00.000Z',
	starts_at: null,
	expires_at: null,
	ended_at: null,
	extra_seconds: 0,
	remaining_seconds: null,
	data_used_mb: null,
	data_left_mb: null,
	extends_session_id: null,
	pass_id: 9001,
	created_at: '2026-11-21T09:15:00.000Z',
	updated_at: '2026-11-21T09:15:00.000Z'
};

export const active: SessionBody = {
	...ordered,
	status: 'active',
	payment_id: 7001,
	password: 'k7mq-x2vd-9hta',
	access: {
		...ordered.access,
		qr: 'WIFI:T:WPA;S:Kisementi-WiFi;P:k7mq-x2vd-9hta;;',
		qr_joins: 'access'
	},
	starts_at: '2026-11-21T09:16:21.000Z',
	expires_at: '2026-11-21T11:16:21.000Z',
	remaining_seconds: 7133,
	data_used_mb: 84,
	updated_at: '2026-11-21T09:16:21.000Z'
};

const over = { ...active, password: null, access: ordered.access, remaining_seconds: 0 };

export const expiredSession: SessionBody = {
	...over,
	status: 'expired',
	ended_at: '2026-11-21T11:16:21.000Z',
	updated_at: '2026-11-21T11:16:21.000Z'
};

export const ended: SessionBody = {
	...over,
	status: 'ended',
	status_reason: 'client_ended',
	ended_at: '2026-11-21T10:02:00.000Z',
	updated_at: '2026-11-21T10:02:00.000Z'
};

export const cancelled: SessionBody = {
	...ordered,
	status: 'cancelled',
	status_reason: 'client_cancelled',
	ended_at: '2026-11-21T09:20:00.000Z',
	updated_at: '2026-11-21T09:20:00.000Z'
};

export const pending: PaymentBody = {
	id: 7001,
	session_id: 9001,
	status: 'pending',
	amount: 1000,
	currency: 'UGX',
	phone: '+256772123456',
	payment_method: 'mtn_momo',
	operator_request: 'unsent',
	applied: false,
	failure_code: null,
	failure_message: null,
	provider_reference: null,
	refund_reason: null,
	refund_amount: null,
	refund_currency: null,
	expires_at: '2026-11-21T09:26:00.000Z',
	paid_at: null,
	refunded_at: null,
	created_at: '2026-11-21T09:16:00.000Z',
	updated_at: '2026-11-21T09:16:00.000Z'
};

export const paid: PaymentBody = {
	...pending,
	status: 'success',
	operator_request: 'accepted',
	applied: true,
	provider_reference: '1029384756',
	paid_at: '2026-11-21T09:16:20.000Z',
	updated_at: '2026-11-21T09:16:20.914Z'
};

export const failed: PaymentBody = {
	...pending,
	status: 'failed',
	operator_request: 'accepted',
	failure_code: 'insufficient_funds',
	failure_message: 'The payer does not have enough money on this number.',
	updated_at: '2026-11-21T09:16:34.120Z'
};

export const refunded: PaymentBody = {
	...paid,
	status: 'refunded',
	applied: false,
	refund_reason: 'late_payment',
	refund_amount: 1000,
	refund_currency: 'UGX',
	paid_at: '2026-11-21T10:31:07.000Z',
	refunded_at: '2026-11-21T10:33:40.000Z',
	updated_at: '2026-11-21T10:33:40.000Z'
};

export const earnings: EarningsBody = {
	period: 'weekly',
	currency: 'UGX',
	timezone: 'Africa/Kampala',
	from: '2026-11-09',
	to: '2026-11-22',
	total: {
		sessions: 58,
		gross: 72_000,
		refunds: 1500,
		fees: 7050,
		net: 63_450,
		owed: 60_450,
		cash: 4000,
		commission: 400
	},
	data: [
		{
			start: '2026-11-09',
			end: '2026-11-15',
			sessions: 27,
			gross: 33_500,
			refunds: 1500,
			fees: 3200,
			net: 28_800,
			owed: 28_800,
			cash: 0,
			commission: 0
		},
		{
			start: '2026-11-16',
			end: '2026-11-22',
			sessions: 31,
			gross: 38_500,
			refunds: 0,
			fees: 3850,
			net: 34_650,
			owed: 31_650,
			cash: 4000,
			commission: 400
		}
	]
};

export const ownerUser: OwnerUserBody = {
	session_id: 9001,
	router_id: 42,
	router_name: 'Kisementi Cafe',
	status: 'active',
	group: 'active',
	phone_masked: '+256*****3456',
	duration: '2h',
	amount: 1000,
	currency: 'UGX',
	starts_at: '2026-11-21T09:16:21.000Z',
	expires_at: '2026-11-21T11:16:21.000Z',
	ended_at: null,
	remaining_seconds: 7133
};

export const endpoint = {
	id: 301,
	url: 'https://app.example.com/hooks/wifi',
	events: ['payment.success', 'session.expired'],
	status: 'active',
	// Not a secret: the key is the words "an example, not a real secret!!!".
	secret: `whsec_${Buffer.from('an example, not a real secret!!!').toString('base64')}`,
	created_at: '2026-11-21T09:00:00.000Z',
	updated_at: '2026-11-21T09:00:00.000Z'
};

export const redeemed: SessionBody = {
	...active,
	payment_method: 'voucher',
	phone: '+9990000000',
	duration: '1d',
	duration_seconds: 86_400,
	offer: { id: 1, name: 'Day', ...limits },
	starts_at: '2026-11-21T09:16:21.000Z',
	expires_at: '2026-11-22T09:16:21.000Z',
	remaining_seconds: 86_400
};

export const voucherOrder = {
	router_id: 42,
	offer_id: 1,
	count: 40,
	seller: 'Corner shop',
	commission_percent: 10
};

export const voucherBatch: VoucherBatchBody = {
	id: 12,
	router_id: 42,
	offer: { id: 1, name: 'Day', ...limits },
	duration: '1d',
	amount: 1000,
	currency: 'UGX',
	size: 40,
	seller: 'Corner shop',
	commission_percent: 10,
	states: { unsold: 22, sold: 3, redeemed: 15, void: 0 },
	created_at: '2026-11-20T10:00:00.000Z'
};

export const newVoucherBatch = {
	...voucherBatch,
	size: 1,
	states: { unsold: 1, sold: 0, redeemed: 0, void: 0 },
	codes: [{ id: 1034, number: 'V1034', code: 'K7MQ-29XT-4HWB' }]
};

export const voucher: VoucherBody = {
	id: 1034,
	number: 'V1034',
	batch_id: 12,
	router_id: 42,
	status: 'redeemed',
	amount: 1000,
	currency: 'UGX',
	seller: 'Corner shop',
	session_id: 9001,
	created_at: '2026-11-20T10:00:00.000Z',
	sold_at: '2026-11-21T09:16:21.000Z',
	redeemed_at: '2026-11-21T09:16:21.000Z',
	void_at: null
};

export const SESSION_EVENT_ID = 'evt_01KAJD5W7R2X9M4P6Q8S0T1V3K';

const paymentEvent = (data: PaymentBody) =>
	['evt_01KAJ6A3N0Y6T4W8Z2B5C7D9EF', data.updated_at, { router_id: 42, ...data }] as const;

function sessionEvent({ password: _password, ...session }: SessionBody) {
	const data = {
		...session,
		// As in billing/sessions.ts: events have no credentials, and none of the duration is used yet.
		access: { ...session.access, qr: null, qr_joins: null },
		...(session.status === 'active' ? { remaining_seconds: session.duration_seconds } : {})
	};
	return [SESSION_EVENT_ID, session.updated_at, data] as const;
}

const EVENTS: Readonly<Record<EventName, readonly [id: string, timestamp: string, data: object]>> = {
	'payment.success': paymentEvent(paid),
	'payment.failed': paymentEvent(failed),
	'payment.refunded': paymentEvent(refunded),
	'session.created': sessionEvent(ordered),
	'session.activated': sessionEvent(active),
	'session.expired': sessionEvent(expiredSession),
	'session.ended': sessionEvent(ended),
	'session.cancelled': sessionEvent(cancelled),
	'voucher.redeemed': ['evt_01KAJ6A4N1Z7V5X9P3D6E8F0GH', '2026-11-21T09:16:21.000Z', voucher],
	'webhook.test': ['evt_01KAJA0C2E4G6J8M0P2R4T6W8Y', '2026-11-21T10:00:00.000Z', { message: TEST_MESSAGE }]
};

export function eventExample(type: EventName) {
	const [id, timestamp, data] = EVENTS[type];
	return { id, type, timestamp, api_version: API_VERSION, data };
}
