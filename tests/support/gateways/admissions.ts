/** What was seen of the devices and users of a pass at gateways. */
import type { Sql } from '../database/sql.ts';

/**
 * Rows of `admissions`, with their state: `waits` for its gateway, `in`, `leaving` (to be disconnected, or once more because
 * a call without an answer may come late), or `out`.
 */
export const admissionsOf = (sql: Pick<Sql, 'all'>, passId: unknown) =>
	sql.all(
		`select admissions.*, case
			when released_at is null and sent_until is not null and allowed_at is not null and problem is null then 'in'
			when released_at is null then 'waits'
			when sent_until is not null or unanswered_at is not null then 'leaving'
			else 'out' end as state
		from admissions where pass_id = ? order by id`,
		Number(passId)
	);
