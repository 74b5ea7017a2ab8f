import type { Migration } from '../migrate.ts';

/** A review is about one payment, or a statement's transaction that matches none. Audit rows never change. */
export const moneyEvidence: Migration = {
	name: '0010-money-evidence',
	statements: ({ id, int, end }) => [
		`alter table payments add column claim text`,
		`alter table payments add column statement_at ${int}`,
		`create index payments_operator_paid on payments (operator, paid_at)`,
		`create index payments_provider on payments (operator, provider_reference)`,
		`alter table refunds add column operator_reference text`,
		`alter table refunds add column claim text`,
		`alter table refunds add column submitted_at ${int}`,
		`create table reviews (
			id ${id},
			payment_id ${int} references payments (id),
			subject text not null,
			reason text not null,
			detail text,
			opened_at ${int} not null,
			resolved_at ${int},
			resolved_by text,
			decision text,
			note text,
			check ((resolved_at is null) = (decision is null))
		${end}`,
		// One open review per subject and reason, however often it occurs.
		`create unique index reviews_open on reviews (subject, reason) where resolved_at is null`,
		`create index reviews_payment on reviews (payment_id)`,
		`insert into reviews (payment_id, subject, reason, opened_at)
			select id, 'payment ' || id, review_reason, updated_at from payments where review_reason is not null`,
		`alter table payments drop column review_reason`,
		`create table audit_log (
			id ${id},
			at ${int} not null,
			actor text not null,
			action text not null,
			payment_id ${int} references payments (id),
			refund_id ${int} references refunds (id),
			reason text not null,
			before text not null,
			after text not null
		${end}`,
		`create index audit_log_payment on audit_log (payment_id)`
	]
};
