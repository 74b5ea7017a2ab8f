import { z } from '@hono/zod-openapi';
import { FIRST_DATE, LAST_DATE, isDate } from '#lib/domain/time.ts';
import * as field from './fields.ts';
import { sessionStatus } from './session.ts';

const dateParameter = (description: string) =>
	z
		.string()
		.refine(isDate, {
			params: { item: 'invalid_format' },
			error: 'Use a date, e.g. "2026-11-21".',
			abort: true
		})
		.refine((text) => text >= FIRST_DATE && text <= LAST_DATE, {
			params: { item: 'out_of_range' },
			error: `Use a date from ${FIRST_DATE} to ${LAST_DATE}.`
		})
		.optional()
		.openapi({
			format: 'date',
			param: { description: `${description} ${FIRST_DATE} to ${LAST_DATE}.` }
		});

const PERIODS = ['daily', 'weekly', 'monthly'] as const;

export const earningsQuery = z.object({
	period: z
		.enum(PERIODS)
		.default('daily')
		.openapi({ param: { description: 'Length of a bucket.' } }),
	from: dateParameter('First day; the bucket with this day is included completely.'),
	to: dateParameter('Last day; the bucket with this day is included completely.')
});

const day = (description: string) => z.string().meta({ description, format: 'date' });

const sum = (description: string) => z.number().meta({ description, minimum: 0 });

const figures = {
	sessions: field.count('Number of paid sessions.'),
	gross: sum('Sum of the payments that bought time, in major units of the currency.'),
	refunds: sum('Sum of the refunds, in major units, on the day of each refund.'),
	fees: z
		.number()
		.describe(
			'Commission of the platform on what was kept, in major units: a refund returns the fee of its payment, on the day of the refund. Negative if refunds of earlier sales exceed sales.'
		),
	net: z
		.number()
		.describe('gross − refunds − fees, in major units; negative if refunds of earlier sales exceed sales.'),
	owed: z
		.number()
		.describe(
			'Part of `net` that the platform owes the owner, in major units: mobile money, less refunds and fees. The rest of `net` was paid in cash, for vouchers, and counts when they are redeemed.'
		),
	cash: z
		.number()
		.describe(
			"Cash that came into the owner's own till, in major units: vouchers when they were sold, less those voided and refunded, and differences that a count of the cash found."
		),
	commission: z
		.number()
		.describe('Commission due to sellers of vouchers, in major units, when the vouchers were sold.')
};

export const earnings = z
	.object({
		period: z.enum(PERIODS).describe('Length of a bucket.'),
		currency: field.currency,
		timezone: z.string().describe('IANA time zone in which days begin and end.'),
		from: day('First day of the first bucket.'),
		to: day('Last day of the last bucket.'),
		total: z.object(figures).openapi('EarningsTotal', { description: 'Sum of all buckets.' }),
		data: z
			.array(
				z
					.object({
						start: day('First day of the bucket (a Monday for weeks).'),
						end: day('Last day of the bucket.'),
						...figures
					})
					.openapi('EarningsBucket', { description: 'Figures of one day, week or month.' })
			)
			.describe('Buckets in ascending order, including empty ones.')
	})
	.openapi('Earnings', { description: "Earnings of the caller's routers by bucket." });

/** The specification has two groups. Sessions that were ended early count as expired. */
const sessionGroup = z.enum(['active', 'expired']).openapi('SessionGroup', {
	description: '`active`, or `expired` for sessions that ran out or were ended early.'
});

export const ownerUsersQuery = z.object({
	status: field.parameter(sessionGroup, 'Only this group.'),
	...field.paging
});

const ownerUser = z
	.object({
		session_id: field.id('Id of the session.'),
		router_id: field.id('Id of the router.'),
		router_name: z.string().describe('Name of the router.'),
		status: sessionStatus,
		group: sessionGroup,
		phone_masked: z.string().describe('Number of the buyer without its middle digits, e.g. `+256*****3456`.'),
		duration: field.duration(),
		amount: field.amount('Price of the session, in major units of `currency`.'),
		currency: field.currency,
		starts_at: field.timestamp.describe('Start of the time; for added time, the previous end of the pass.'),
		expires_at: field.timestamp.describe('End of the time.'),
		ended_at: field.timeOrNull('Time at which the session ended; null while it is active.'),
		remaining_seconds: field.count('Seconds left, rounded up; 0 when it is over.')
	})
	.openapi('OwnerUser', {
		description: 'A session as the owner of its router sees it: without password and full number.'
	});

export const ownerUserList = field.list(
	'OwnerUserList',
	"One page of the sessions on the caller's routers.",
	ownerUser,
	'Sessions of this page, latest start first.',
	{
		counts: z
			.object({
				active: field.count('Number of sessions whose time is running.'),
				expired: field.count('Number of sessions that ran out or were ended early.')
			})
			.openapi('OwnerUserCounts', {
				description: "Number of sessions on the caller's routers by group, regardless of page and filter."
			})
	}
);

export const priceUpdate = z
	.strictObject({
		price: field.bodyAmount(
			'New price of one hour in major units of the currency of the router, with no more decimals than the currency has.',
			'Use a price above 0.'
		),
		reason: field.reason
	})
	.openapi('PriceUpdate', { description: 'The new price of a router.' });

export type EarningsBody = z.infer<typeof earnings>;
export type OwnerUserBody = z.infer<typeof ownerUser>;
