import type { Migration } from '../migrate.ts';

/**
 * The books: entries (debit, credit, amount, and the same for a fee) of everything that moves value. `due_entries` derives them from the rows of
 * payments, vouchers and cash closings; triggers post what is due in the transaction that changes such a row, so that also
 * a process of the release before posts. See src/docs/decisions/books.md and billing/books.ts.
 */
const COLUMNS = `kind, source_id, at, debit, credit, amount_minor, fee_debit, fee_credit, fee_minor, currency,
	owner_account_id, router_id, offer_name, payment_method`;

interface Entry {
	kind: string;
	at: string;
	/** The account that gets the amount, and the one that gives it, in SQL. */
	debit: string;
	credit: string;
	amount: string;
	fee?: { debit: string; credit: string };
	currency?: string;
	/** When it is due. */
	if: string;
}

const FEE = '(payment.amount_minor * payment.commission_basis_points + 5000) / 10000';
const COMMISSION = '(batch.amount_minor * batch.commission_basis_points + 5000) / 10000';

const selectFee = (fee: Entry['fee'], minor: string) =>
	fee
		? `'${fee.debit}' as fee_debit, '${fee.credit}' as fee_credit, ${minor} as fee_minor`
		: 'cast(null as text) as fee_debit, cast(null as text) as fee_credit, 0 as fee_minor';

const ofPayment = ({ kind, at, debit, credit, amount, fee, currency = 'payment.currency', if: due }: Entry) =>
	`select 'payments' as source, '${kind}' as kind, payment.id as source_id, ${at} as at, ${debit} as debit,
		${credit} as credit, ${amount} as amount_minor, ${selectFee(fee, FEE)}, ${currency} as currency,
		router.owner_account_id as owner_account_id, router.id as router_id, session.offer_name as offer_name,
		payment.payment_method as payment_method
	from payments payment join sessions session on session.id = payment.session_id
		join routers router on router.id = session.router_id
	where payment.paid_at is not null and ${amount} > 0 and ${due}`;

const ofVoucher = ({ kind, at, debit, credit, fee, if: due }: Omit<Entry, 'amount' | 'currency'>) =>
	`select 'vouchers', '${kind}', voucher.id, ${at}, ${debit}, ${credit}, batch.amount_minor,
		${selectFee(fee, COMMISSION)}, batch.currency, batch.owner_account_id, batch.router_id, batch.offer_name, 'voucher'
	from vouchers voucher join voucher_batches batch on batch.id = voucher.batch_id
	where voucher.sold_at is not null and ${due}`;

const IS_VOUCHER = `payment.operator = 'voucher'`;
const OPERATOR = `'operator:' || payment.operator`;
/** It bought time, and a gateway did not let the buyer in. */
const TAKEN_BACK = `payment.applied = 0 and payment.refund_reason in ('provisioning_failed', 'voucher_restored')`;
/** Its money is returned, and it never bought anything. */
const UNAPPLIED = `payment.applied = 0 and payment.refund_reason is not null
	and payment.refund_reason not in ('provisioning_failed', 'voucher_restored')`;
const RETURNED_BY = `case when exists (select 1 from refunds refund where refund.payment_id = payment.id
	and refund.status = 'succeeded') then ${OPERATOR} else 'by_hand' end`;
const taken = {
	amount: 'coalesce(payment.settled_minor, payment.amount_minor)',
	currency: 'coalesce(payment.settled_currency, payment.currency)'
};

const DUE = [
	ofPayment({
		...{ kind: 'payment', at: 'payment.paid_at', amount: 'payment.amount_minor' },
		debit: `case when ${IS_VOUCHER} then 'vouchers' else ${OPERATOR} end`,
		credit: `case when ${IS_VOUCHER} then 'sales' else 'owner' end`,
		fee: { debit: 'owner', credit: 'platform' },
		if: `(payment.applied = 1 or ${TAKEN_BACK})`
	}),
	ofPayment({
		...{ kind: 'correction', at: 'payment.paid_at', amount: 'payment.amount_minor' },
		debit: `case when ${IS_VOUCHER} then 'sales' else 'owner' end`,
		credit: `case when ${IS_VOUCHER} then 'vouchers' else 'buyers' end`,
		fee: { debit: 'platform', credit: 'owner' },
		if: TAKEN_BACK
	}),
	ofPayment({
		...{ kind: 'refund', at: 'payment.refunded_at', amount: 'payment.amount_minor' },
		debit: `case when ${IS_VOUCHER} then 'sales' else 'owner' end`,
		credit: RETURNED_BY,
		fee: { debit: 'platform', credit: 'owner' },
		if: 'payment.applied = 1 and payment.refunded_at is not null'
	}),
	ofPayment({
		...{ kind: 'unapplied_payment', at: 'payment.paid_at', ...taken, if: UNAPPLIED },
		...{ debit: OPERATOR, credit: `'buyers'` }
	}),
	ofPayment({
		...{ kind: 'unapplied_refund', at: 'payment.refunded_at', ...taken },
		...{ debit: `'buyers'`, credit: RETURNED_BY },
		if: `payment.applied = 0 and payment.refunded_at is not null and not ${IS_VOUCHER}`
	}),
	ofVoucher({
		...{ kind: 'voucher', at: 'voucher.sold_at', debit: `'till'`, credit: `'vouchers'` },
		...{ fee: { debit: 'commission', credit: 'sellers' }, if: '1 = 1' }
	}),
	ofVoucher({
		...{ kind: 'voucher_void', at: 'voucher.void_at', debit: `'vouchers'`, credit: `'till'` },
		...{ fee: { debit: 'sellers', credit: 'commission' }, if: 'voucher.void_at is not null' }
	}),
	`select 'cash_closings', 'cash_difference', closing.id, closing.created_at,
		case when closing.counted_minor > closing.expected_minor then 'till' else 'difference' end,
		case when closing.counted_minor > closing.expected_minor then 'difference' else 'till' end,
		abs(closing.counted_minor - closing.expected_minor), null, null, 0, closing.currency, closing.owner_account_id,
		null, null, 'voucher'
	from cash_closings closing where closing.counted_minor <> closing.expected_minor`
];

const selectDue = (due: string) =>
	`insert into book_entries (${COLUMNS}) select ${COLUMNS} from due_entries where ${due}`;

/** [name, event, condition] */
const POSTING: readonly (readonly [string, string, string])[] = [
	['payments_post', 'after insert on payments', 'new.paid_at is not null'],
	[
		'payments_post_change',
		'after update of status, applied on payments',
		'new.paid_at is not null and (new.status <> old.status or new.applied <> old.applied)'
	],
	['vouchers_post', 'after insert on vouchers', 'new.sold_at is not null'],
	[
		'vouchers_post_change',
		'after update of status on vouchers',
		'new.sold_at is not null and new.status <> old.status'
	],
	// Its insert does not know yet what was expected.
	['cash_closings_post', 'after update of expected_minor on cash_closings', '1 = 1']
];

const findSource = (event: string) => event.split(' ').at(-1) ?? '';
const NEVER = 'An entry of the books is never changed or deleted';

const SQLITE = [
	...['update', 'delete'].map(
		(change) => `create trigger book_entries_no_${change} before ${change} on book_entries begin
			select raise(abort, '${NEVER}');
		end`
	),
	...POSTING.map(
		([name, event, due]) => `create trigger ${name} ${event} when ${due} begin
			${selectDue(`source = '${findSource(event)}' and source_id = new.id`)} on conflict do nothing;
		end`
	)
];

const POSTGRES = [
	`create function refuse_book_change() returns trigger language plpgsql as $$
		begin raise exception '${NEVER}'; end $$`,
	`create trigger book_entries_no_change before update or delete or truncate on book_entries
		for each statement execute function refuse_book_change()`,
	`create function post_book_entries() returns trigger language plpgsql as $$ begin
		${selectDue('source = tg_argv[0] and source_id = new.id')} on conflict do nothing;
		return null;
	end $$`,
	...POSTING.map(
		([name, event, due]) =>
			`create trigger ${name} ${event} for each row when (${due})
				execute function post_book_entries('${findSource(event)}')`
	)
];

export const books: Migration = {
	name: '0006-books',
	statements: ({ sqlite, id, int, end }) => [
		`create table book_entries (
			id ${id},
			kind text not null,
			source_id ${int} not null,
			at ${int} not null,
			debit text not null,
			credit text not null,
			amount_minor ${int} not null check (amount_minor > 0),
			fee_debit text,
			fee_credit text,
			fee_minor ${int} not null check (fee_minor >= 0),
			currency text not null,
			owner_account_id ${int} not null,
			router_id ${int},
			offer_name text,
			payment_method text not null,
			check (debit <> credit),
			check (fee_minor = 0 or (fee_debit is not null and fee_credit is not null and fee_debit <> fee_credit)),
			unique (source_id, kind)
		${end}`,
		`create index book_entries_owner on book_entries (owner_account_id, at)`,
		`create index book_entries_sales on book_entries (at) where kind in ('payment', 'correction')`,
		`create view due_entries as ${DUE.join(' union all ')}`,
		// Before the entries of the existing rows: on PostgreSQL the triggers make other writers wait.
		...(sqlite ? SQLITE : POSTGRES),
		`${selectDue('1 = 1')} order by at, source_id`
	]
};
