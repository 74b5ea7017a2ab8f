import type { z } from 'zod';
import { ITEM_CODE_TEXTS } from './describe-problems.ts';
import type * as schemas from '../schemas.ts';

/**
 * What the fields of the API mean, for the OpenAPI document: one text for each field of each named shape, with
 * units, and where the schema alone says too little, JSON Schema keywords that belong to it. A field without a
 * text does not compile.
 */

/** A text, or a text with keywords of JSON Schema. */
export type FieldText = string | ({ description: string } & Readonly<Record<string, unknown>>);

const textOf = (text: FieldText) => (typeof text === 'string' ? text : text.description);

type Texts<S extends z.ZodType> = Record<keyof z.infer<S> & string, FieldText>;

/** Ids are integers that JavaScript can hold. */
export const ID = { format: 'int64', minimum: 1, maximum: Number.MAX_SAFE_INTEGER } as const;

const id = (what: string) => ({ description: `Id of the ${what}.`, ...ID });
/** The zod schemas of bodies take any number here, to say in their own words what is wrong with it. */
const sentId = (what: string) => ({ ...id(what), type: 'integer' });
const count = (description: string) => ({ description, minimum: 0 });
const day = (description: string) => ({ description, format: 'date' });

const CREATED_AT = 'When it was created, RFC 3339 in UTC with milliseconds.';
const UPDATED_AT = 'When it last changed, RFC 3339 in UTC with milliseconds.';
const CURRENCY = 'ISO 4217 code of the currency of every amount in this object.';
const HAS_MORE = 'Whether there is a next page.';
const NEXT_CURSOR =
	'Value of `cursor` that fetches the next page with the same filters; null on the last page.';
const DURATION = {
	description:
		'Time bought: a count and a unit, `m` minutes, `h` hours, `d` days of 24 hours, `w` weeks of 7 days.',
	pattern: '^[1-9][0-9]{0,4}[mhdw]$'
};

/** A Markdown list of the codes, because an enumeration has one description. */
const ITEM_CODES_TEXT = `Reason for the refusal of this value:\n\n${Object.entries(ITEM_CODE_TEXTS)
	.map(([code, { meaning, advice }]) => `- \`${code}\`: ${meaning} ${advice}`)
	.join('\n')}`;

const router: Texts<typeof schemas.router> = {
	id: id('router'),
	name: 'Name of the place, as its owner wrote it.',
	address: 'Street address for people; null when unknown.',
	ssid: 'Name of the Wi-Fi network.',
	lat: { description: 'Latitude in decimal degrees.', minimum: -90, maximum: 90 },
	lon: { description: 'Longitude in decimal degrees.', minimum: -180, maximum: 180 },
	distance: {
		description: 'Whole metres from the centre of the search; null outside of the router list.',
		minimum: 0
	},
	price: {
		description: 'Price of one hour in major units of `currency` (500 is 500 UGX, 1.5 is 1.50 KES).',
		exclusiveMinimum: 0
	},
	currency: CURRENCY,
	status: '`online` routers sell time; `offline` ones are listed and sell nothing now.',
	payment_methods:
		'Mobile-money networks that the router accepts. `mobile_money` finds the network from the number of the payer.',
	min_duration: { ...DURATION, description: 'Shortest time that is sold here, e.g. `15m`.' },
	max_duration: { ...DURATION, description: 'Longest time that is sold here, e.g. `30d`.' },
	security: '`wpa`: the network asks for a password; `nopass`: an open network.',
	access_kind:
		'What the bought password is there. `wpa_personal_per_client`: the password of the Wi-Fi itself. `wpa_enterprise`: with the user name, the sign-in of the Wi-Fi itself (PEAP). `portal_login`: with the user name, the sign-in of the hotspot. `shared_password`: the password of the owner, the same for all.',
	brand:
		'How the owner looks to buyers, for pages that sell time on this router; null: in no way of its own.',
	created_at: CREATED_AT,
	updated_at: UPDATED_AT
};

const brand: Texts<typeof schemas.brand> = {
	name: 'Name that the owner goes by; null: none is set.',
	accent: {
		description:
			'Colour of the owner as `#rrggbb`, as it was chosen: fit it to your grounds before you set text in it. null: none is set.',
		pattern: '^#[0-9a-f]{6}$'
	},
	logo: 'Logo of the owner; null: none is set.'
};

const logo: Texts<typeof schemas.logo> = {
	url: {
		description:
			'Path of the picture on the host of this API (PNG, at most 48 KB; older logos may be SVG). A new logo gets a new path.',
		format: 'uri-reference'
	},
	width: { description: 'Width in pixels, or in units of the drawing.', minimum: 1 },
	height: { description: 'Height in the same measure.', minimum: 1 }
};

const access: Texts<typeof schemas.access> = {
	kind: 'As `access_kind` of the router, fixed when the session was created.',
	username:
		'User name to sign in with beside `password`; null where none is asked for, and wherever `password` is null.',
	network_password:
		'Password of the network itself, which all its guests share, where another one is signed in with; else null.',
	qr: 'Text of a QR code that joins the network (`WIFI:…`); null where none can, and wherever `password` is null.',
	qr_joins:
		'What that code does. `access`: who scans it is online. `network`: it only joins the network, where `username` and `password` are still to be signed in with. null: there is no code.',
	end_enforced:
		'Whether the end of the time is enforced. false: the password works on, because all share it.',
	max_devices: { description: 'Devices that the pass lets online at a time.', minimum: 1 }
};

const session: Texts<typeof schemas.session> = {
	id: id('session'),
	router_id: id('router on which time is bought'),
	status: 'State of the session at the moment of the answer.',
	status_reason:
		'Why the session is `ended` (`client_ended`, `admin_ended`, `refunded`) or `cancelled` (`client_cancelled`, `payment_timeout`, `provisioning_failed`); else null. More reasons may be added.',
	duration: DURATION,
	duration_seconds: { description: '`duration` in seconds.', minimum: 1 },
	payment_method: 'Mobile-money network that was chosen for the session.',
	phone: {
		description: 'Number of the payer in E.164.',
		pattern: '^\\+[1-9][0-9]{6,14}$'
	},
	amount: {
		description:
			'What the session costs in major units of `currency`, fixed when it was created: price per hour × time, half up to the smallest unit of the currency.',
		exclusiveMinimum: 0
	},
	currency: CURRENCY,
	payment_id: {
		...id('payment'),
		description: 'Id of the payment that bought the time, before that of the newest attempt; null before any.'
	},
	ssid: 'Name of the Wi-Fi network.',
	password:
		'Bought password, only while the session is `active` and only for the account that created it; else null. `xxxx-xxxx-xxxx` without look-alikes, but for `access.kind` `shared_password`, where it is the password of the owner.',
	access: 'How the password works, and what a QR code can do.',
	payment_due_at: 'Until when the session must be paid; after that it is cancelled as `payment_timeout`.',
	starts_at:
		'When the time began to run, or for added time will begin: where the pass ended before; null before it was paid.',
	expires_at: 'When the time runs out: `starts_at` + `duration_seconds`; null before it began.',
	ended_at: 'When the session was over (`expired`, `ended` or `cancelled`); null before.',
	remaining_seconds: {
		description:
			'Seconds left of the time of this session, rounded up, so at most `duration_seconds`; null before it was paid, 0 when it is over.',
		minimum: 0
	},
	extends_session_id: {
		...id('session'),
		description: 'Id of the session whose pass this one was ordered to lengthen; else null.'
	},
	pass_id: {
		...id('session'),
		description:
			'Id of the first session of the pass, its own for a pass of one session. The active sessions of a pass follow each other and have one password. Added time that was paid when the pass was over is a pass of its own.'
	},
	created_at: CREATED_AT,
	updated_at: UPDATED_AT
};

const payment: Texts<typeof schemas.payment> = {
	id: id('payment'),
	session_id: id('session that is paid for'),
	status: 'State of the payment at the moment of the answer.',
	amount: { description: 'Amount in major units of `currency`.', exclusiveMinimum: 0 },
	currency: CURRENCY,
	phone: { description: 'Number that is asked to pay, in E.164.', pattern: '^\\+[1-9][0-9]{6,14}$' },
	payment_method: 'Mobile-money network of the session.',
	applied:
		'Whether this payment bought the time. A success that came too late, or twice, is not applied and goes back.',
	failure_code: 'Why the payment failed; null unless `status` is `failed` or `expired`.',
	failure_message: 'The same for people, in English; may change.',
	provider_reference: "The operator's own reference of the transaction; null until it is known.",
	refund_reason: 'Why the money goes back, e.g. `late_payment`, `duplicate_payment`; else null.',
	expires_at: 'When a payment without an answer of the operator shows as `expired`.',
	paid_at: 'When the operator took the money; null before.',
	refunded_at: 'When the money was given back; null unless it was.',
	created_at: CREATED_AT,
	updated_at: UPDATED_AT
};

const figures: Texts<typeof schemas.earningsTotal> = {
	sessions: count('Number of sessions paid for.'),
	gross: count('Sum of the payments that bought time, in major units of the currency.'),
	refunds: count('Sum of what was given back, in major units; booked on the day of the refund.'),
	fees: count('Commission of the platform, in major units.'),
	net: 'gross − refunds − fees, in major units; below 0 when refunds of earlier sales outweigh.'
};

const owned: Texts<typeof schemas.ownerUser> = {
	session_id: id('session'),
	router_id: id('router'),
	router_name: 'Name of the router.',
	status: 'State of the session: `active`, `expired` or `ended`.',
	group: '`active`, or `expired` for what ran out or was ended early.',
	phone_masked: 'Number of the buyer without its middle digits, e.g. `+256*****3456`.',
	duration: DURATION,
	amount: { description: 'What the session cost, in major units of `currency`.', exclusiveMinimum: 0 },
	currency: CURRENCY,
	starts_at: session.starts_at,
	expires_at: 'When the time runs out, or ran out.',
	ended_at: 'When the session was over; null while it is active.',
	remaining_seconds: { description: 'Seconds left, rounded up; 0 when it is over.', minimum: 0 }
};

const PHONE_MASKED: FieldText =
	'In place of `phone`, for the account that owns the router and did not buy: the number without its middle digits.';

/** By component of the document, then by field. */
export const FIELD_TEXTS: Readonly<Record<string, Readonly<Record<string, FieldText>>>> = {
	Router: router,
	Brand: brand,
	Access: access,
	Logo: logo,
	RouterList: {
		data: 'Routers of this page, the nearest first; equally near ones by id.',
		has_more: HAS_MORE,
		next_cursor: NEXT_CURSOR,
		radius: {
			description: 'Radius of the search as it was understood, in metres.',
			exclusiveMinimum: 0,
			maximum: 50_000
		},
		radius_unit: 'Unit of `radius` and `distance`: metres.'
	} satisfies Texts<typeof schemas.routerList>,
	Session: session,
	SessionCreation: {
		router_id: sentId('router on which time is bought'),
		duration: {
			...DURATION,
			description: `${DURATION.description} Between the router's \`min_duration\` and \`max_duration\`.`
		},
		payment_method: "One of the router's `payment_methods`.",
		phone: {
			description:
				'Mobile number of the payer: E.164, or as it is dialled in the country of the installation.',
			minLength: 1,
			maxLength: 64
		},
		extends_session_id: {
			...sentId('session to lengthen'),
			description:
				'Id of an `active` session of the same account on the same router: when this order is paid, its time is added to the end of that pass, under the same password. If the pass is over by then, the time starts at once as a pass of its own.'
		}
	} satisfies Texts<typeof schemas.sessionCreation>,
	Payment: payment,
	PaymentStart: {
		amount: {
			description: 'Exactly the `amount` of the session, in major units of its currency.',
			exclusiveMinimum: 0
		},
		phone: {
			description: 'Mobile number that is asked to pay; it may differ from the number of the session.',
			minLength: 1,
			maxLength: 64
		},
		session_id: sentId('session that is paid for')
	} satisfies Texts<typeof schemas.paymentStart>,
	Earnings: {
		period: 'Length of a bucket.',
		currency: CURRENCY,
		timezone: 'IANA time zone in which days begin and end.',
		from: day('First day of the first bucket.'),
		to: day('Last day of the last bucket.'),
		total: 'Sum of all buckets.',
		data: 'Buckets in ascending order, empty ones included.'
	} satisfies Texts<typeof schemas.earnings>,
	EarningsTotal: figures,
	EarningsBucket: {
		start: day('First day of the bucket (a Monday for weeks).'),
		end: day('Last day of the bucket.'),
		...figures
	} satisfies Texts<typeof schemas.earningsBucket>,
	OwnerUser: owned,
	OwnerUserList: {
		data: 'Sessions of this page, the latest start first.',
		has_more: HAS_MORE,
		next_cursor: NEXT_CURSOR,
		counts: 'All sessions on the routers of the caller, whatever the page and the filter.'
	} satisfies Texts<typeof schemas.ownerUserList>,
	OwnerUserCounts: {
		active: count('Sessions whose time runs.'),
		expired: count('Sessions whose time ran out or was ended early.')
	} satisfies Texts<typeof schemas.ownerUserCounts>,
	PriceUpdate: {
		price: {
			description:
				'New price of one hour in major units of the currency of the router, with no more decimals than the currency has.',
			exclusiveMinimum: 0
		}
	} satisfies Texts<typeof schemas.priceUpdate>,
	WebhookRegistration: {
		url: 'Where events are delivered: https, a DNS name, port 443 or from 1024.',
		events: 'Names of the events to receive, each once.'
	} satisfies Texts<typeof schemas.webhookRegistration>,
	WebhookEndpoint: {
		id: id('webhook endpoint'),
		url: 'Where events are delivered.',
		events: 'Names of the events that are delivered.',
		status: '`active`, or `disabled` after five days of failures or an answer 410.',
		secret:
			'`whsec_` and the base64 key that signs deliveries (Standard Webhooks). Shown once, when the endpoint is created; null later.',
		created_at: CREATED_AT,
		updated_at: UPDATED_AT
	} satisfies Texts<typeof schemas.webhookEndpoint>,
	TestEventData: { message: 'Says that this is a test.' },
	SessionEventData: {
		...session,
		phone: `${textOf(session.phone)} Only for the account that bought.`,
		phone_masked: PHONE_MASKED
	},
	PaymentEventData: {
		...payment,
		router_id: id('router of the session'),
		phone: `${textOf(payment.phone)} Only for the account that paid.`,
		phone_masked: PHONE_MASKED
	},
	Problem: {
		type: { description: 'Address of a page that explains the code.', format: 'uri' },
		title: 'What the code means; always the same for a code.',
		status: 'The HTTP status.',
		detail: 'What is wrong with this request, for people; may change.',
		code: 'Stable code of the error.',
		request_id: {
			description: 'Id of this request, as in `X-Request-Id`.',
			pattern: '^req_[0-7][0-9A-HJKMNP-TV-Z]{25}$'
		}
	},
	ProblemItem: {
		in: 'Where the wrong value stood.',
		pointer:
			'The value in the body (RFC 6901), or `/` and the name of the parameter; empty for the body or path as a whole.',
		code: ITEM_CODES_TEXT,
		detail: 'The same for people; may change.'
	}
};
