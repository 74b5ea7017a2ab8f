import { z } from '@hono/zod-openapi';
import { hiddenCharacter, readLine } from '#lib/domain/text.ts';
import { WEEKDAYS } from '#lib/domain/opening-hours.ts';
import * as field from './fields.ts';

export const MAX_OFFERS = 20;
const MAX_SPEED_KBPS = 10_000_000;
const MAX_DATA_MB = 1_000_000_000;

const limit = (description: string, maximum: number) =>
	z.int().min(1).max(maximum).nullable().meta({ description, minimum: 1, maximum });

const limits = {
	max_devices: limit(
		'Number of devices that can be online at the same time; null: as many as the router allows.',
		10
	),
	speed_down_kbps: limit('Fastest download in kbit/s; null: no limit.', MAX_SPEED_KBPS),
	speed_up_kbps: limit('Fastest upload in kbit/s; null: no limit.', MAX_SPEED_KBPS),
	data_limit_mb: limit(
		'Data that is included, up and down together, in MB (10^6 bytes); null: no limit.',
		MAX_DATA_MB
	)
};

const id = field.id(
	'Id of the offer at its router. It stands for the duration, the price and the limits: when one of them changes, the offer gets a new id.'
);
const price = field.amount('Price of the whole duration in major units of `currency`.');

export const offer = z
	.object({
		id,
		name: z.string().describe('Name of the offer, as its owner wrote it.'),
		duration: field.duration(),
		duration_seconds: field.positive('`duration` in seconds.'),
		price,
		...limits,
		available: z
			.boolean()
			.describe('Whether the offer is on sale now. false outside of its days and hours of sale.')
	})
	.openapi('Offer', { description: 'A package of time that a router sells at its own price.' });

export const agreedOffer = z
	.object({ id, name: z.string().describe('Name of the offer when it was ordered.'), ...limits })
	.openapi('AgreedOffer', { description: 'The offer that a session was ordered with, as it was then.' });

const time = (description: string) =>
	z
		.string()
		.regex(/^([01]\d|2[0-3]):[0-5]\d$/, 'Use a time, e.g. "08:00".')
		.nullable()
		.meta({ description, pattern: String.raw`^([01]\d|2[0-3]):[0-5]\d$` });

const saleTimes = {
	days: z
		.array(z.enum(WEEKDAYS))
		.min(1)
		.max(WEEKDAYS.length)
		.nullable()
		.describe('Days of sale in the time zone of the installation; null: every day.'),
	from: time('Start of the hours of sale (`HH:MM`); null with `until` null: the whole day.'),
	until: time('End of the hours of sale, exclusive. Earlier than `from`: the next day.')
};

const ownerOffer = z
	.object({
		id,
		name: z.string().describe('Name of the offer.'),
		duration: field.duration(),
		price,
		...limits,
		...saleTimes,
		active: z.boolean().describe('Whether the offer is sold at all.')
	})
	.openapi('OwnerOffer', { description: 'An offer as its owner edits it.' });

const hourly = z
	.boolean()
	.describe(
		'Whether other durations, up to `max_duration`, are sold at the hourly price. false: only the offers are sold.'
	);

const version = field.count('Number of the change that made this list; 0 before the first change.');

export const ownerOfferList = z
	.object({
		router_id: field.id('Id of the router.'),
		hourly,
		max_duration: field.duration('Longest time that is sold at the hourly price. Offers may be longer.'),
		version,
		currency: field.currency,
		timezone: z.string().describe('IANA time zone of the days and hours of sale.'),
		data: z.array(ownerOffer).describe('All offers in the order of sale, also those that are not active.'),
		changed_at: field.timeOrNull('Time of the last change; null before the first one.'),
		changed_by: field.textOrNull('Email address of the account that made the last change.')
	})
	.openapi('OwnerOfferList', { description: 'The offers of a router.' });

const newOffer = z
	.strictObject({
		id: field
			.bodyId('Id from the last list. It may be left out: an offer with unchanged terms keeps its id.')
			.optional(),
		name: z
			.string()
			.regex(/^(?=.*\S)\P{Cc}{1,40}$/u, 'Use 1 to 40 characters in one line.')
			.refine(
				(text) => /\p{Cc}/u.test(text) || hiddenCharacter(readLine(text)) === null,
				'Leave out invisible characters.'
			)
			.meta({
				description: 'Name of the offer.',
				// Other languages and generators read neither a lookahead nor `\P`.
				pattern: String.raw`^[^\x00-\x1f\x7f-\x9f]*[^\x00-\x20\x7f-\x9f][^\x00-\x1f\x7f-\x9f]*$`,
				minLength: 1,
				maxLength: 40
			}),
		duration: field.bodyDuration,
		price: field.bodyAmount(
			'Price of the whole duration in major units of the currency.',
			'Use a price above 0.'
		),
		...z.object({ ...limits, ...saleTimes }).partial().shape,
		active: z.boolean().default(true).describe('Whether the offer is sold; default true.')
	})
	.openapi('OfferUpdate', { description: 'An offer of the new list.' });

export const offersUpdate = z
	.strictObject({
		hourly: hourly.default(true),
		max_duration: field.bodyDuration
			.optional()
			.describe('Longest time that is sold at the hourly price, at most `30d`. Left out: as before.'),
		version: version
			.optional()
			.describe('`version` of the list that was edited. If it has changed since, nothing is set.'),
		offers: z
			.array(newOffer)
			.max(MAX_OFFERS)
			.describe('The whole list in the order of sale. Offers that are missing are no longer sold.'),
		reason: field.reason
	})
	.openapi('OffersUpdate', { description: 'The new offers of a router.' });

export type OfferBody = z.infer<typeof offer>;
export type OwnerOfferListBody = z.infer<typeof ownerOfferList>;
export type OffersUpdateBody = z.infer<typeof offersUpdate>;
