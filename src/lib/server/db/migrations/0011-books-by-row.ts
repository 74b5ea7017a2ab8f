import type { Migration } from '../migrate.ts';

const COLUMNS = [
	...['kind', 'source_id', 'at', 'debit', 'credit', 'amount_minor', 'fee_debit', 'fee_credit', 'fee_minor'],
	...['currency', 'owner_account_id', 'router_id', 'offer_name', 'payment_method']
];

/** Posts the same entries as 0006, one by one: on Citus 13.2 its insert of a select from the view finds no rows. */
export const booksByRow: Migration = {
	name: '0011-books-by-row',
	statements: ({ sqlite }) =>
		sqlite
			? []
			: [
					`create or replace function post_book_entries() returns trigger language plpgsql as $$
					declare due record;
					begin
						for due in select * from due_entries where source = tg_argv[0] and source_id = new.id loop
							insert into book_entries (${COLUMNS.join(', ')})
								values (${COLUMNS.map((column) => `due.${column}`).join(', ')}) on conflict do nothing;
						end loop;
						return null;
					end $$`
				]
};
