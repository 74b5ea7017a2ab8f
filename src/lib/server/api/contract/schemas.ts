import { z } from 'zod';
import { ACCESS_KINDS } from '#lib/domain/access-kind.ts';
import { FIRST_DATE, isDate, LAST_DATE } from '#lib/format/calendar.ts';
import { ITEM_CODES } from './problems.ts';

/**
 * The wire format's shapes (snake_case, money in major units, RFC 3339 times in UTC). What goes out is
 * described with `z.object` (additions are not breaking); what comes in with `z.strictObject`, because a field
 * that is silently ignored can cost money. Nothing is coerced.
 */

/** A number as text in a query string: no exponent, no blank, at most 12 decimals. */
const queryNumber = (min: number, max: number, hint: string) =>
	z
		.string()
		.regex(/^-?\d{1,6}(\.\d{1,12})?$/, hint)
		.transform(Number)
		.pipe(z.number().min(min).max(max));

const queryInteger = (min: number, max: number) =>
	z
		.string()
		.regex(/^\d{1,6}$/, `Use a whole number from ${min} to ${max}.`)
		.transform(Number)
		.pipe(z.int().min(min).max(max));

/** Any integer; one that names nothing (0, negative, beyond 2^53 - 1) is answered 404 later. */
const bodyId = z
	.number()
	.refine(Number.isInteger, { params: { item: 'invalid_type' }, error: 'Use an integer.' });

/** Path ids: digits only, else 400; what names nothing is a 404. */
export const pathId = z
	.string()
	.regex(/^-?\d+$/, 'Use an integer.')
	.transform(Number);

export const timestamp = z.iso.datetime({ precision: 3 });
const currency = z.string().regex(/^[A-Z]{3}$/);

export const phoneText = z.string().regex(/^.{1,64}$/s, 'Use a mobile number, e.g. "+256772123456".');

export const idParams = z.strictObject({ id: pathId });

export const routerStatus = z.enum(['online', 'offline']).meta({ id: 'RouterStatus' });

export const logo = z.object({ url: z.string(), width: z.int(), height: z.int() }).meta({ id: 'Logo' });

/** How a router's owner looks to buyers; each part may be missing. */
export const brand = z
	.object({
		name: z.string().nullable(),
		accent: z
			.string()
			.regex(/^#[0-9a-f]{6}$/)
			.nullable(),
		logo: logo.nullable()
	})
	.meta({ id: 'Brand' });

export const accessKind = z.enum(ACCESS_KINDS).meta({ id: 'AccessKind' });

export const router = z
	.object({
		id: z.int(),
		name: z.string(),
		address: z.string().nullable(),
		ssid: z.string(),
		lat: z.number(),
		lon: z.number(),
		distance: z.int().nullable(),
		price: z.number(),
		currency,
		status: routerStatus,
		payment_methods: z.array(z.string()),
		min_duration: z.string(),
		max_duration: z.string(),
		security: z.enum(['wpa', 'nopass']),
		access_kind: accessKind,
		brand: brand.nullable(),
		created_at: timestamp,
		updated_at: timestamp
	})
	.meta({ id: 'Router' });

export const routerListQuery = z.object({
	lat: queryNumber(-90, 90, 'Use decimal degrees, e.g. 0.3476.'),
	lon: queryNumber(-180, 180, 'Use decimal degrees, e.g. 32.5825.'),
	radius: queryNumber(0, 50_000, 'Use metres, e.g. 1000.')
		.refine((metres) => metres > 0, { params: { item: 'out_of_range' }, error: 'Use more than 0 metres.' })
		.default(1000),
	limit: queryInteger(1, 100).default(20),
	cursor: z.string().optional()
});

export const routerList = z
	.object({
		data: z.array(router),
		has_more: z.boolean(),
		next_cursor: z.string().nullable(),
		radius: z.number(),
		radius_unit: z.literal('m')
	})
	.meta({ id: 'RouterList' });

export const sessionStatus = z
	.enum(['pending_payment', 'activating', 'active', 'expired', 'ended', 'cancelled'])
	.meta({ id: 'SessionStatus' });

/** How the bought password works. What lets somebody in is told where the password is. */
export const access = z
	.object({
		kind: accessKind,
		username: z.string().nullable(),
		network_password: z.string().nullable(),
		qr: z.string().nullable(),
		qr_joins: z.enum(['access', 'network']).nullable(),
		end_enforced: z.boolean(),
		max_devices: z.int()
	})
	.meta({ id: 'Access' });

export const session = z
	.object({
		id: z.int(),
		router_id: z.int(),
		status: sessionStatus,
		status_reason: z.string().nullable(),
		duration: z.string(),
		duration_seconds: z.int(),
		payment_method: z.string(),
		phone: z.string(),
		amount: z.number(),
		currency,
		payment_id: z.int().nullable(),
		ssid: z.string(),
		password: z.string().nullable(),
		access,
		payment_due_at: timestamp,
		starts_at: timestamp.nullable(),
		expires_at: timestamp.nullable(),
		ended_at: timestamp.nullable(),
		remaining_seconds: z.int().nullable(),
		extends_session_id: z.int().nullable(),
		pass_id: z.int(),
		created_at: timestamp,
		updated_at: timestamp
	})
	.meta({ id: 'Session' });

export const sessionCreation = z
	.strictObject({
		router_id: bodyId,
		duration: z.string().regex(/^[1-9][0-9]{0,4}[mhdw]$/, 'Use a count and a unit, e.g. "2h".'),
		payment_method: z
			.string()
			.regex(/^[a-z][a-z0-9_]{0,31}$/, 'Use one of the router\'s payment_methods, e.g. "mobile_money".'),
		phone: phoneText,
		extends_session_id: bodyId.optional()
	})
	.meta({ id: 'SessionCreation' });

export const paymentStatus = z
	.enum(['pending', 'success', 'failed', 'expired', 'refund_pending', 'refunded', 'refund_failed'])
	.meta({ id: 'PaymentStatus' });

/** `if_status`: only while the session is still in this state, so that a retry never ends time that was just paid. */
export const sessionEndQuery = z.object({ if_status: sessionStatus.optional() });

export const failureCode = z
	.enum([
		'payer_rejected',
		'insufficient_funds',
		'payer_not_found',
		'payer_limit_reached',
		'payer_timeout',
		'provider_unavailable',
		'provider_error'
	])
	.meta({ id: 'FailureCode' });

export const payment = z
	.object({
		id: z.int(),
		session_id: z.int(),
		status: paymentStatus,
		amount: z.number(),
		currency,
		phone: z.string(),
		payment_method: z.string(),
		applied: z.boolean(),
		failure_code: failureCode.nullable(),
		failure_message: z.string().nullable(),
		provider_reference: z.string().nullable(),
		refund_reason: z.string().nullable(),
		expires_at: timestamp,
		paid_at: timestamp.nullable(),
		refunded_at: timestamp.nullable(),
		created_at: timestamp,
		updated_at: timestamp
	})
	.meta({ id: 'Payment' });

export const paymentStart = z
	.strictObject({
		amount: z
			.number()
			.refine((amount) => amount > 0, { params: { item: 'out_of_range' }, error: 'Use an amount above 0.' }),
		phone: phoneText,
		session_id: bodyId
	})
	.meta({ id: 'PaymentStart' });

/** Longest time in seconds that a payment status may be held back until it changes. */
export const MAX_STATUS_WAIT_SECONDS = 20;

export const paymentStatusQuery = z.object({
	wait: queryInteger(0, MAX_STATUS_WAIT_SECONDS).default(0)
});

const date = z
	.string()
	.refine(isDate, {
		params: { item: 'invalid_format' },
		error: 'Use a date, e.g. "2026-11-21".',
		abort: true
	})
	.refine((text) => text >= FIRST_DATE && text <= LAST_DATE, {
		params: { item: 'out_of_range' },
		error: `Use a date from ${FIRST_DATE} to ${LAST_DATE}.`
	});

export const earningsQuery = z.object({
	period: z.enum(['daily', 'weekly', 'monthly']).default('daily'),
	from: date.optional(),
	to: date.optional()
});

const earningsFigures = {
	sessions: z.int(),
	gross: z.number(),
	refunds: z.number(),
	fees: z.number(),
	net: z.number()
};

export const earningsTotal = z.object(earningsFigures).meta({ id: 'EarningsTotal' });

export const earningsBucket = z
	.object({ start: z.string(), end: z.string(), ...earningsFigures })
	.meta({ id: 'EarningsBucket' });

export const earnings = z
	.object({
		period: z.enum(['daily', 'weekly', 'monthly']),
		currency,
		timezone: z.string(),
		from: z.string(),
		to: z.string(),
		total: earningsTotal,
		data: z.array(earningsBucket)
	})
	.meta({ id: 'Earnings' });

/** The specification's two classes of sessions: the ended ones count as expired. */
export const sessionGroup = z.enum(['active', 'expired']).meta({ id: 'SessionGroup' });

export const ownerUsersQuery = z.object({
	status: sessionGroup.optional(),
	limit: queryInteger(1, 100).default(20),
	cursor: z.string().optional()
});

export const ownerUser = z
	.object({
		session_id: z.int(),
		router_id: z.int(),
		router_name: z.string(),
		status: sessionStatus,
		group: sessionGroup,
		phone_masked: z.string(),
		duration: z.string(),
		amount: z.number(),
		currency,
		starts_at: timestamp,
		expires_at: timestamp,
		ended_at: timestamp.nullable(),
		remaining_seconds: z.int()
	})
	.meta({ id: 'OwnerUser' });

export const ownerUserCounts = z
	.object({ active: z.int(), expired: z.int() })
	.meta({ id: 'OwnerUserCounts' });

export const ownerUserList = z
	.object({
		data: z.array(ownerUser),
		has_more: z.boolean(),
		next_cursor: z.string().nullable(),
		counts: ownerUserCounts
	})
	.meta({ id: 'OwnerUserList' });

export const priceUpdate = z
	.strictObject({
		price: z
			.number()
			.refine((price) => price > 0, { params: { item: 'out_of_range' }, error: 'Use a price above 0.' })
	})
	.meta({ id: 'PriceUpdate' });

/**
 * What may be registered for. `webhook.test` is only sent on demand, whether it was registered for or not; it is a
 * known name all the same, so a client may list every name that the documentation lists.
 */
export const EVENT_NAMES = [
	'payment.success',
	'session.expired',
	'payment.failed',
	'payment.refunded',
	'session.created',
	'session.activated',
	'session.ended',
	'session.cancelled',
	'webhook.test'
] as const;

const MAX_WEBHOOK_EVENTS = 20;

export const webhookRegistration = z
	.strictObject({
		// Which URLs are allowed is a rule of its own (webhook_url_not_allowed); this is only the form.
		url: z.string().refine((text) => URL.canParse(text) && !/[\s\p{Cc}]/u.test(text), {
			params: { item: 'invalid_format' },
			error: 'Use an absolute URL, e.g. "https://app.example.com/hooks/wifi".'
		}),
		events: z
			.array(z.enum(EVENT_NAMES))
			.min(1)
			.max(MAX_WEBHOOK_EVENTS)
			.check(({ value, issues }) => {
				for (const [index, name] of value.entries()) {
					if (value.indexOf(name) === index) continue;
					const message = 'Name each event once.';
					issues.push({ code: 'custom', input: name, path: [index], params: { item: 'duplicate' }, message });
				}
			})
			.meta({ uniqueItems: true })
	})
	.meta({ id: 'WebhookRegistration' });

export const webhookEndpoint = z
	.object({
		id: z.int(),
		url: z.string(),
		events: z.array(z.string()),
		status: z.enum(['active', 'disabled']),
		secret: z.string().nullable(),
		created_at: timestamp,
		updated_at: timestamp
	})
	.meta({ id: 'WebhookEndpoint' });

export const problemItem = z
	.object({
		in: z.enum(['body', 'query', 'path', 'header']),
		pointer: z.string(),
		code: z.enum(ITEM_CODES),
		detail: z.string()
	})
	.meta({ id: 'ProblemItem' });

/** Any error; contract/openapi-problems.ts has the exact shape of each code. */
export const problem = z.object({
	type: z.string(),
	title: z.string(),
	status: z.int(),
	detail: z.string(),
	code: z.string(),
	request_id: z.string(),
	errors: z.array(problemItem).optional()
});

export type RouterBody = z.infer<typeof router>;
export type BrandBody = z.infer<typeof brand>;
export type RouterListBody = z.infer<typeof routerList>;
export type SessionBody = z.infer<typeof session>;
export type SessionCreationBody = z.infer<typeof sessionCreation>;
export type PaymentBody = z.infer<typeof payment>;
export type PaymentStartBody = z.infer<typeof paymentStart>;
export type EarningsBody = z.infer<typeof earnings>;
export type OwnerUserBody = z.infer<typeof ownerUser>;
export type WebhookRegistrationBody = z.infer<typeof webhookRegistration>;
export type WebhookBody = z.infer<typeof webhookEndpoint>;
export type ProblemBody = z.infer<typeof problem> & Record<string, unknown>;
