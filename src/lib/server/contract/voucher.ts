import { z } from '@hono/zod-openapi';
import { hiddenCharacter } from '#lib/domain/text.ts';
import * as field from './fields.ts';
import { agreedOffer } from './offer.ts';

export const MAX_VOUCHERS = 1_000;
/** Percent. */
export const MAX_COMMISSION = 50;
export const MAX_SELLER = 60;

const voucherStatus = z.enum(['unsold', 'sold', 'redeemed', 'void']).openapi('VoucherStatus', {
	description:
		'State of a voucher. `unsold`: made. `sold`: a person took the cash. `redeemed`: it bought time. `void`: it buys nothing any more.'
});

const price = field.amount('Price of one voucher in major units of `currency`.');
const seller = field.textOrNull('Who sells the printed vouchers; null: the owner and the staff.');

export const voucher = z
	.object({
		id: field.id('Id of the voucher.'),
		number: z.string().describe('The number on the voucher, e.g. `V1034`. It opens nothing.'),
		batch_id: field.id('Id of its batch.'),
		router_id: field.id('Id of the router whose time it buys.'),
		status: voucherStatus,
		amount: price,
		currency: field.currency,
		seller,
		session_id: field.id('Id of the session that it bought; null unless it is `redeemed`.').nullable(),
		created_at: field.timestamp.describe('Time at which its code was made.'),
		sold_at: field.timeOrNull(
			'Time of the sale, if a person recorded it; otherwise of its first use. null before.'
		),
		redeemed_at: field.timeOrNull('Time at which it bought the session; null unless it is `redeemed`.'),
		void_at: field.timeOrNull('Time at which it became `void`; else null.')
	})
	.openapi('Voucher', { description: 'A voucher, without its code.' });

export const voucherList = field.list(
	'VoucherList',
	'One page of the vouchers of a batch.',
	voucher,
	'Vouchers of this page, newest first.'
);

export const voucherListQuery = z.object(field.paging);

const count = (status: string) => field.count(`Number of vouchers that are \`${status}\`.`);

const batch = {
	id: field.id('Id of the batch.'),
	router_id: field.id('Id of the router.'),
	offer: agreedOffer,
	duration: field.duration(),
	amount: price,
	currency: field.currency,
	size: field.positive('Number of vouchers that were ordered.'),
	seller,
	commission_percent: z
		.number()
		.meta({ description: 'Share of the price that the seller keeps, in percent.', minimum: 0 }),
	states: z
		.object({
			unsold: count('unsold'),
			sold: count('sold'),
			redeemed: count('redeemed'),
			void: count('void')
		})
		.openapi('VoucherCounts', { description: 'Vouchers of the batch by state.' }),
	created_at: field.timestamp.describe('Time of creation, RFC 3339 in UTC with milliseconds.')
};

export const voucherBatch = z
	.object(batch)
	.openapi('VoucherBatch', { description: 'Vouchers for one offer, on its terms when the batch was made.' });

export const newVoucherBatch = z
	.object({
		...batch,
		codes: z
			.array(
				z
					.object({
						id: field.id('Id of the voucher.'),
						number: z.string().describe('Number for the print, e.g. `V1034`.'),
						code: z.string().describe('Code that buys the time, e.g. `K7MQ-29XT-4HWB`.')
					})
					.openapi('VoucherCode', { description: 'The code of a voucher.' })
			)
			.describe('The codes, shown only in this response: they are stored hashed.')
	})
	.openapi('NewVoucherBatch', { description: 'A new batch with its codes.' });

export const voucherBatchList = field.list(
	'VoucherBatchList',
	'One page of the batches of the caller.',
	voucherBatch,
	'Batches of this page, newest first.'
);

export const voucherBatchCreation = z
	.strictObject({
		router_id: field.bodyId('Id of one of the routers of the caller.'),
		offer_id: field.bodyId('Id of an active offer of the router.'),
		count: z
			.int()
			.min(1)
			.max(MAX_VOUCHERS)
			.meta({ description: 'Number of vouchers.', minimum: 1, maximum: MAX_VOUCHERS }),
		seller: z
			.string()
			.regex(
				new RegExp(`^(?=.*\\S)\\P{Cc}{1,${MAX_SELLER}}$`, 'u'),
				`Use 1 to ${MAX_SELLER} characters in one line.`
			)
			.refine(
				(text) => /\p{Cc}/u.test(text) || hiddenCharacter(text) === null,
				'Leave out invisible characters.'
			)
			.optional()
			.meta({
				description: 'Name of the person or shop that sells them.',
				pattern: String.raw`^[^\x00-\x1f\x7f-\x9f]*[^\x00-\x20\x7f-\x9f][^\x00-\x1f\x7f-\x9f]*$`,
				minLength: 1,
				maxLength: MAX_SELLER
			}),
		commission_percent: z.number().min(0).max(MAX_COMMISSION).default(0).meta({
			description: 'Share of the price that the seller keeps, in percent, with at most two decimals.',
			minimum: 0,
			maximum: MAX_COMMISSION
		})
	})
	.openapi('VoucherBatchCreation', { description: 'An order of vouchers.' });

export const voucherRedemption = z
	.strictObject({
		code: z
			.string()
			.regex(/^.{1,64}$/s, 'Use the code of a voucher, e.g. "K7MQ-29XT-4HWB".')
			.meta({
				description: 'Code of the voucher as the buyer typed it: case, blanks and hyphens do not matter.',
				pattern: '^.{1,64}$',
				minLength: 1,
				maxLength: 64
			}),
		router_id: field
			.bodyId('Id of the router at which the buyer is. The voucher of another router is refused.')
			.optional(),
		extends_session_id: field
			.bodyId(
				'Id of an `active` session of this account at the router of the voucher: the time of the voucher is added to it, with the same password.'
			)
			.optional()
	})
	.openapi('VoucherRedemption', { description: 'The code of a voucher.' });

export type VoucherBody = z.infer<typeof voucher>;
export type VoucherBatchBody = z.infer<typeof voucherBatch>;
export type VoucherRedemptionBody = z.infer<typeof voucherRedemption>;
