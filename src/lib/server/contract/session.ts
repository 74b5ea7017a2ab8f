import { z } from '@hono/zod-openapi';
import * as field from './fields.ts';
import { agreedOffer } from './offer.ts';
import { accessKind } from './router.ts';

export const sessionStatus = z
	.enum(['pending_payment', 'activating', 'active', 'expired', 'ended', 'cancelled'])
	.openapi('SessionStatus', {
		description:
			'State of a session. `pending_payment`: ordered, not paid. `activating`: paid, the gateway has not confirmed yet. `active`: the time is running. `expired`: the time ran out. `ended`: ended early. `cancelled`: never started.'
	});

const access = z
	.object({
		kind: accessKind,
		username: field.textOrNull(
			'Username for the sign-in with `password`; null if none is needed or `password` is null.'
		),
		network_password: field.textOrNull(
			'Password of the Wi-Fi network, shared by everyone, if buyers then sign in with another one; else null.'
		),
		qr: field.textOrNull(
			'Text of a QR code that joins the network (`WIFI:…`); null if no code can, or if `password` is null.'
		),
		qr_joins: z
			.enum(['access', 'network'])
			.nullable()
			.describe(
				'Effect of the QR code. `access`: the device is online. `network`: the device joins the network, then signs in with `username` and `password`. null: there is no code.'
			),
		end_enforced: z
			.boolean()
			.describe('Whether access stops at the end. false: the shared password keeps working.'),
		max_devices: field.positive('Number of devices that can be online at the same time.')
	})
	.openapi('Access', {
		description:
			'How the bought password works and what a QR code can do. `kind` is fixed when the session is created.'
	});

export const session = z
	.object({
		id: field.id('Id of the session.'),
		router_id: field.id('Id of the router.'),
		status: sessionStatus,
		status_reason: field.textOrNull(
			'Reason for `ended` (`client_ended`, `admin_ended`, `refunded`, `data_limit_reached`) or `cancelled` (`client_cancelled`, `payment_timeout`, `provisioning_failed`); else null. More reasons may be added.'
		),
		duration: field.duration(),
		duration_seconds: field.positive('`duration` in seconds.'),
		payment_method: z
			.string()
			.describe('Payment method that was chosen for the session; `voucher` if a voucher bought it.'),
		phone: field.phone(
			'Number of the payer in E.164; `+9990000000` once it is deleted, and for a voucher, which has none.'
		),
		amount: field.amount(
			'Price of the session in major units of `currency`, fixed when it was created: the price of the offer, or price per hour × time, half up to the smallest unit of the currency.'
		),
		currency: field.currency,
		offer: z
			.union([agreedOffer, z.null()])
			.describe('The offer that was ordered; null for time at the hourly price.'),
		payment_id: field
			.id('Id of the payment that bought the time; until then of the newest attempt; null if there is none.')
			.nullable(),
		ssid: z.string().describe('Name of the Wi-Fi network.'),
		password: field.textOrNull(
			'Bought password, only while the session is `active` and only for the account that created it; else null. `xxxx-xxxx-xxxx` without easily confused characters; with `access.kind` `shared_password`, the password of the owner.'
		),
		access,
		payment_due_at: field.timestamp.describe(
			'Deadline for the payment; an unpaid session is then cancelled as `payment_timeout`.'
		),
		starts_at: field.timeOrNull(
			'Start of the time; for added time, the previous end of the pass. null until the session is paid.'
		),
		expires_at: field.timeOrNull(
			'End of the time: `starts_at` + `duration_seconds` + `extra_seconds`; null until the time starts.'
		),
		extra_seconds: field.count(
			'Free time in this session, in seconds: given by the owner, or given back after an outage of the router. It can grow while the session is `active`.'
		),
		ended_at: field.timeOrNull(
			'Time at which the session became `expired`, `ended` or `cancelled`; else null.'
		),
		remaining_seconds: field.countOrNull(
			'Seconds left of this session, rounded up; null until it is paid, 0 when it is over. More than `duration_seconds` only with `extra_seconds`.'
		),
		data_used_mb: field.countOrNull(
			'Data that all devices of the pass have used, up and down together, in whole MB (10^6 bytes), rounded down. It counts for all sessions with this `pass_id`. null before the time starts, and until a gateway has reported any data. Some gateways report it only when a device signs out.'
		),
		data_left_mb: field.countOrNull(
			'Data left of the pass, in whole MB (10^6 bytes), rounded up. The data limits of its sessions add up. At 0 the pass ends: its sessions become `ended` with the reason `data_limit_reached`. null without a data limit, before the time starts, and while `data_used_mb` is null.'
		),
		extends_session_id: field
			.id('Id of the session whose pass this session was ordered to extend; else null.')
			.nullable(),
		pass_id: field.id(
			'Id of the first session of the pass; its own id if the pass has one session. Active sessions of a pass follow each other and share one password. Added time that is paid after the pass ended is a pass of its own.'
		),
		...field.changes
	})
	.openapi('Session', { description: 'A purchase of time on a router.' });

export const sessionCreation = z
	.strictObject({
		router_id: field.bodyId('Id of the router.'),
		duration: field.bodyDuration,
		payment_method: z
			.string()
			.regex(/^.{1,64}$/s, 'Use one of the router\'s payment_methods, e.g. "mobile_money".')
			.meta({ pattern: '^.{1,64}$', minLength: 1, maxLength: 64 })
			.describe(
				'One of `payment_methods` of the router. Case and punctuation do not matter, and a brand such as `MTN` or `M-Pesa` is understood; the session has the name of the list.'
			),
		phone: field.bodyPhone(
			'Mobile number of the payer: E.164, or as it is dialled in the country of the installation.'
		),
		offer_id: field
			.bodyId(
				'Id of an offer of the router that is `available`; its duration must equal `duration`. Without it, the cheapest available offer of exactly this duration that adds no limit is bought, otherwise the time at the hourly price.'
			)
			.optional(),
		extends_session_id: field
			.bodyId(
				'Id of an `active` session of the same account on the same router. When this session is paid, its time is added to the end of that pass, under the same password. If the pass is over by then, the time starts at once as a pass of its own.'
			)
			.optional()
	})
	.openapi('SessionCreation', { description: 'An order of time on a router.' });

export const sessionListQuery = z.object({
	status: field.parameter(sessionStatus, 'Only sessions in this state.'),
	...field.newestFirst
});

export const sessionList = field.list(
	'SessionList',
	'One page of the sessions that the account created.',
	session,
	'Sessions of this page, newest first, without passwords.'
);

export const sessionEndQuery = z.object({
	if_status: field.parameter(
		sessionStatus,
		'Only end the session in this state. `pending_payment` never ends time that was just paid. It also gives up an order that was cancelled as `payment_timeout`: the reason becomes `client_cancelled`, and a late payment is refunded instead of buying the time.'
	)
});

export type SessionBody = z.infer<typeof session>;
export type SessionCreationBody = z.infer<typeof sessionCreation>;
