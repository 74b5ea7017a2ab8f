import { z } from '@hono/zod-openapi';
import { ACCESS_KINDS } from '#lib/domain/wifi.ts';
import * as field from './fields.ts';
import { MAX_OFFERS, offer } from './offer.ts';

/** Routers in the API. */

const routerStatus = z.enum(['online', 'offline']).openapi('RouterStatus', {
	description: 'Whether a router sells time now. `offline` routers are listed but sell nothing.'
});

const routerStatusReason = z
	.union([
		z.enum(['closed', 'gateway_unresponsive', 'access_unverified', 'network_password_missing']),
		z.null()
	])
	.describe(
		'Why the router is `offline`; null while it is `online`. `closed`: the owner has closed it, or it is outside its opening hours. `gateway_unresponsive`: none of its gateways responds. `access_unverified`: no gateway has responded yet, and no administrator has confirmed the access. `network_password_missing`: the owner has not set the shared password.'
	);

const logo = z
	.object({
		url: z.string().meta({
			description:
				'Path of the picture on the host of this API (PNG, at most 48 KB; older logos may be SVG). A new logo gets a new path.',
			format: 'uri-reference'
		}),
		width: field.positive('Width in pixels, or in units of the drawing.'),
		height: field.positive('Height in the same unit.')
	})
	.openapi('Logo', { description: 'A picture and its size.' });

const brand = z
	.object({
		name: field.textOrNull('Name of the owner; null if none is set.'),
		contact: field.textOrNull(
			'Phone number that buyers can call, as the owner wrote it; null if none is set.'
		),
		accent: z
			.string()
			.regex(/^#[0-9a-f]{6}$/)
			.nullable()
			.describe(
				'Colour of the owner as `#rrggbb`; null if none is set. Check its contrast before you use it behind text.'
			),
		logo: z.union([logo, z.null()]).describe('Logo of the owner; null if none is set.')
	})
	.openapi('Brand', { description: 'Branding of the owner of a router; each part may be missing.' });

export const accessKind = z.enum(ACCESS_KINDS).openapi('AccessKind', {
	description:
		'Kind of the bought password. `wpa_personal_per_client`: the password of the Wi-Fi network itself. `wpa_enterprise`: with the username, the sign-in of the Wi-Fi network (PEAP). `portal_login`: with the username, the sign-in of the hotspot. `shared_password`: the password of the owner, the same for all buyers.'
});

const paymentLimit = z
	.object({
		payment_method: z.string().describe('One of `payment_methods`.'),
		step: field.amount('The amount is a multiple of this.'),
		min: field.amount('Smallest amount.'),
		max: field.amount('Largest amount.')
	})
	.openapi('PaymentLimit', {
		description: 'The amounts that a payment method can charge, in major units of `currency`.'
	});

export const router = z
	.object({
		id: field.id('Id of the router.'),
		name: z.string().describe('Name of the location, as its owner wrote it.'),
		address: field.textOrNull('Street address; null if unknown.'),
		ssid: z.string().describe('Name of the Wi-Fi network, byte for byte: blanks at its ends are part of it.'),
		hidden: z
			.boolean()
			.describe(
				'Whether the network does not announce its name, so that phones do not list it. The QR codes say so.'
			),
		lat: z.number().meta({ description: 'Latitude in decimal degrees.', minimum: -90, maximum: 90 }),
		lon: z.number().meta({ description: 'Longitude in decimal degrees.', minimum: -180, maximum: 180 }),
		distance: field.countOrNull('Whole metres from the centre of the search; null outside the router list.'),
		price: field.amount('Price of one hour in major units of `currency` (500 is 500 UGX, 1.5 is 1.50 KES).'),
		currency: field.currency,
		hourly: z
			.boolean()
			.describe(
				'Whether any duration from `min_duration` to `max_duration` is sold at `price`. false: only the durations of `offers` are sold.'
			),
		max_devices: field.positive(
			'Number of devices that can be online at the same time, unless the offer has its own number.'
		),
		offers: z
			.array(offer)
			.max(MAX_OFFERS)
			.describe('Packages that are sold here besides the hourly price, in the order of sale.'),
		status: routerStatus,
		status_reason: routerStatusReason,
		payment_methods: z
			.array(z.string())
			.describe(
				'Payment methods that the router accepts. `mobile_money` finds the method from the number of the payer.'
			),
		payment_limits: z
			.array(paymentLimit)
			.describe(
				'Payment methods that cannot charge every amount. Another amount is refused with `payment_method_not_supported`.'
			),
		min_duration: field.duration('Shortest time that is sold here, e.g. `15m`.'),
		max_duration: field.duration('Longest time that is sold at `price`, e.g. `30d`. Offers may be longer.'),
		security: z
			.enum(['wpa', 'nopass'])
			.describe('`wpa`: the network asks for a password. `nopass`: an open network.'),
		access_kind: accessKind,
		network_password_provided: z
			.boolean()
			.describe(
				'Whether buyers can join the network with what they get. false: it also has a password that they must ask for at the location; say so before payment.'
			),
		brand: z
			.union([brand, z.null()])
			.describe('Branding of the owner, for pages that sell time on this router; null if none is set.'),
		...field.changes
	})
	.openapi('Router', { description: 'A Wi-Fi router that sells time.' });

export const routerList = field.list(
	'RouterList',
	'One page of the routers near a location.',
	router,
	'Routers of this page, nearest first, then by id.',
	{
		radius: z.number().meta({
			description: 'Radius of the search in metres.',
			exclusiveMinimum: 0,
			maximum: 50_000
		}),
		radius_unit: field.constant('m', 'Unit of `radius` and `distance`: metres.')
	}
);

const degrees = (maximum: number, hint: number, param: { description: string; example: number }) =>
	field
		.queryNumber(z.number().min(-maximum).max(maximum), `Use decimal degrees, e.g. ${hint}.`)
		.openapi({ type: 'number', minimum: -maximum, maximum, param });

export const routerListQuery = z.object({
	lat: degrees(90, 0.3476, {
		description: `Latitude of the centre in decimal degrees: ${field.ANY_JSON_NUMBER}.`,
		example: 0.3354
	}),
	lon: degrees(180, 32.5825, {
		description: `Longitude of the centre in decimal degrees: ${field.ANY_JSON_NUMBER}.`,
		example: 32.5884
	}),
	radius: field
		.queryNumber(z.number().gt(0).max(50_000), 'Use metres, e.g. 1000.')
		.default(1000)
		.openapi({
			type: 'number',
			exclusiveMinimum: 0,
			maximum: 50_000,
			default: 1000,
			param: { description: `Radius of the search in metres, more than 0: ${field.ANY_JSON_NUMBER}.` }
		}),
	name: z
		.string()
		.regex(/^(?=.*[\p{L}\p{N}]).{1,100}$/su, 'Use 1 to 100 characters with a letter or digit.')
		.optional()
		.openapi({
			type: 'string',
			minLength: 1,
			maxLength: 100,
			param: {
				description:
					'Lists only routers whose `name`, `address` or `ssid` has words that begin with each of these words (at most 5). Of words that more than 1,000 routers in the area have, it lists some of these routers.'
			}
		}),
	...field.paging
});

export type RouterBody = z.infer<typeof router>;
export type BrandBody = z.infer<typeof brand>;
export type RouterListBody = z.infer<typeof routerList>;
