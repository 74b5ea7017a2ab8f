/** Statements that undo the migrations 0006-books and 0009-payouts. */
export const withoutBooks = (kind: 'sqlite' | 'postgres'): string[] => [
	...(kind === 'sqlite'
		? [
				...['payments_post', 'payments_post_change', 'vouchers_post', 'vouchers_post_change'],
				...['cash_closings_post', 'book_entries_no_update', 'book_entries_no_delete'],
				...['payouts_post', 'payouts_post_change']
			].map((trigger) => `drop trigger ${trigger}`)
		: ['post_book_entries', 'refuse_book_change', 'post_payout_entries'].map(
				(name) => `drop function ${name} cascade`
			)),
	'drop view due_entries',
	'drop view due_payouts',
	'drop table book_entries',
	'drop table payouts',
	'drop table payout_destinations'
];
