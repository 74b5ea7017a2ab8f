import type { Migration } from '../migrate.ts';

/**
 * Payouts to owners, and where they go. As in 0006-books, a view derives their entries, and a trigger posts what is due in the
 * transaction that changes a payout: once it is approved the money has left the owner's account, and when it fails it is
 * back. `payout_late`: it had failed, and the owner got it all the same.
 */
const COLUMNS = `kind, source_id, at, debit, credit, amount_minor, fee_debit, fee_credit, fee_minor, currency,
	owner_account_id, router_id, offer_name, payment_method`;

const CHANNEL = `'payout:' || coalesce(payout.operator, 'file')`;

const selectEntry = (kind: string, at: string, debit: string, credit: string, due: string) =>
	`select 'payouts' as source, '${kind}' as kind, payout.id as source_id, ${at} as at, ${debit} as debit,
		${credit} as credit, payout.amount_minor as amount_minor, cast(null as text) as fee_debit,
		cast(null as text) as fee_credit, 0 as fee_minor, payout.currency as currency,
		payout.owner_account_id as owner_account_id, cast(null as bigint) as router_id,
		cast(null as text) as offer_name, payout.method as payment_method
	from payouts payout where payout.approved_at is not null and ${due}`;

const DUE = [
	selectEntry('payout', 'payout.approved_at', `'owner'`, CHANNEL, '1 = 1'),
	selectEntry('payout_failed', 'payout.failed_at', CHANNEL, `'owner'`, 'payout.failed_at is not null'),
	selectEntry(
		...(['payout_late', 'payout.paid_at', `'owner'`, CHANNEL] as const),
		`payout.failed_at is not null and payout.status = 'paid'`
	)
];

const POST = `insert into book_entries (${COLUMNS}) select ${COLUMNS} from due_payouts where source_id = new.id
	on conflict do nothing;`;
/** [name, event, condition] */
const TRIGGERS = [
	['payouts_post', 'after insert on payouts', 'new.approved_at is not null'],
	[
		'payouts_post_change',
		'after update of status on payouts',
		'new.approved_at is not null and new.status <> old.status'
	]
] as const;

export const payouts: Migration = {
	name: '0009-payouts',
	statements: ({ sqlite, id, int, end }) => [
		`create table payout_destinations (
			id ${id},
			owner_account_id ${int} not null references accounts (id),
			method text not null,
			address text not null,
			account_id ${int} not null references accounts (id),
			usable_at ${int} not null,
			cancelled_at ${int},
			created_at ${int} not null
		${end}`,
		`create index payout_destinations_owner on payout_destinations (owner_account_id, id)`,
		`create table payouts (
			id ${id},
			run text not null,
			owner_account_id ${int} not null references accounts (id),
			method text not null,
			address text not null,
			operator text,
			reference text not null unique,
			amount_minor ${int} not null check (amount_minor > 0),
			currency text not null,
			status text not null check (status in ('proposed', 'open', 'paid', 'failed', 'cancelled')),
			submit_state text not null check (submit_state in ('created', 'submitting', 'accepted', 'uncertain')),
			submitted_at ${int},
			provider_reference text,
			answer text,
			created_by text not null,
			approved_by text,
			created_at ${int} not null,
			approved_at ${int},
			paid_at ${int},
			failed_at ${int},
			updated_at ${int} not null,
			unique (run, owner_account_id),
			check ((approved_at is not null) = (status in ('open', 'paid', 'failed'))),
			check (status <> 'paid' or paid_at is not null),
			check (status <> 'failed' or failed_at is not null)
		${end}`,
		`create unique index payouts_one_open on payouts (owner_account_id) where status in ('proposed', 'open')`,
		`create index payouts_owner on payouts (owner_account_id, id)`,
		`create index payouts_by_status on payouts (status, id)`,
		`create view due_payouts as ${DUE.join(' union all ')}`,
		...(sqlite
			? TRIGGERS.map(([name, event, due]) => `create trigger ${name} ${event} when ${due} begin ${POST} end`)
			: [
					// One by one, for Citus, as 0011-books-by-row.
					`create function post_payout_entries() returns trigger language plpgsql as $$
					declare due record;
					begin
						for due in select * from due_payouts where source_id = new.id loop
							insert into book_entries (${COLUMNS})
								values (${COLUMNS.split(',')
									.map((column) => `due.${column.trim()}`)
									.join(', ')}) on conflict do nothing;
						end loop;
						return null;
					end $$`,
					...TRIGGERS.map(
						([name, event, due]) =>
							`create trigger ${name} ${event} for each row when (${due}) execute function post_payout_entries()`
					)
				])
	]
};
