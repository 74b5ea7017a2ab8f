import type { Migration } from '../migrate.ts';

/**
 * Gives passes their own rows. Before, a pass was the id of its first session (`pass_id`). It ended with its last
 * active session, and each session had a copy of its password. `line_id` named the orders that a new pass continued;
 * now unpaid orders move to the new pass when it begins. Ids, ends and sealed passwords carry over. A password stays
 * sealed for `password_session_id`, because SQL cannot change the associated data.
 */
export const passRows: Migration = {
	name: '0019-pass-rows',
	statements: ({ sqlite, int, end }) => [
		`create table passes (
			id ${int} primary key,
			router_id ${int} not null references routers (id),
			access_kind text not null,
			max_devices ${int} not null,
			starts_at ${int},
			ends_at ${int},
			activating_until ${int},
			password_sealed text,
			password_session_id ${int},
			created_at ${int} not null,
			updated_at ${int} not null,
			check ((starts_at is null) = (ends_at is null))
		${end}`,
		...fillPasses,
		...(sqlite ? rebuildSessions : alterSessions),
		`create index passes_router on passes (router_id, ends_at)`,
		`create index passes_waiting on passes (router_id) where activating_until is not null`
	]
};

/** Paid sessions: they began, wait for a gateway, or failed at it. */
const PAID = `(starts_at is not null or status = 'activating' or status_reason = 'provisioning_failed')`;

const fillPasses = [
	`insert into passes (id, router_id, access_kind, max_devices, starts_at, ends_at, activating_until,
			password_sealed, password_session_id, created_at, updated_at)
		select paid.pass_id, newest.router_id, newest.access_kind, paid.max_devices, paid.starts_at, paid.ends_at,
			paid.activating_until, newest.password_sealed,
			case when newest.password_sealed is null then null else newest.id end, paid.created_at, paid.updated_at
		from (select pass_id, max(max_devices) as max_devices, min(starts_at) as starts_at,
				max(case when starts_at is null then null when status = 'active' then expires_at else ended_at end) as ends_at,
				min(activating_until) as activating_until, min(created_at) as created_at, max(updated_at) as updated_at
			from sessions where ${PAID} group by pass_id) paid
		join sessions newest on newest.id = (select id from sessions
			where sessions.pass_id = paid.pass_id and ${PAID}
			order by case when password_sealed is null then 1 else 0 end, coalesce(expires_at, 0) desc, id desc limit 1)`,
	// An order for an ended pass continues the pass that replaced it.
	`update sessions set pass_id = coalesce((select later.pass_id from sessions later
			where later.line_id = sessions.line_id and later.status in ('activating', 'active')
			order by coalesce(later.expires_at, 0) desc, later.id desc limit 1), pass_id)
		where starts_at is null and (status = 'pending_payment' or status_reason = 'payment_timeout')`
];

/** On PostgreSQL, `not in` compares every session with every pass once the ids exceed its hash memory. */
const forgetUnpaid = `update sessions set pass_id = null
	where not exists (select 1 from passes where passes.id = sessions.pass_id)`;

const alterSessions = [
	`drop index sessions_line`,
	`alter table sessions alter column pass_id drop not null`,
	forgetUnpaid,
	`alter table sessions add foreign key (pass_id) references passes (id)`,
	// Dropping the column also drops the check of active sessions.
	`alter table sessions drop column password_sealed, drop column line_id, drop column activating_until`,
	`alter table sessions add check (status <> 'active' or (starts_at is not null and expires_at is not null
		and payment_id is not null and pass_id is not null))`
];

const COLUMNS = `id, account_id, router_id, status, status_reason, duration, duration_seconds, payment_method, phone,
	amount_minor, currency, ssid, payment_id, extends_session_id, pass_id, access_kind, max_devices, payment_due_at,
	starts_at, expires_at, ended_at, created_at, updated_at`;

/** SQLite drops no column that a check names, so the table is rebuilt (sqlite.org/lang_altertable.html, 7). */
const rebuildSessions = [
	forgetUnpaid,
	`create table new_sessions (
		id integer primary key autoincrement,
		account_id integer not null references accounts (id),
		router_id integer not null references routers (id),
		status text not null check (status in
			('pending_payment', 'activating', 'active', 'expired', 'ended', 'cancelled')),
		status_reason text,
		duration text not null,
		duration_seconds integer not null check (duration_seconds > 0),
		payment_method text not null,
		phone text not null,
		amount_minor integer not null check (amount_minor > 0),
		currency text not null,
		ssid text not null,
		payment_id integer,
		extends_session_id integer references sessions (id),
		pass_id integer references passes (id),
		access_kind text not null default 'wpa_personal_per_client',
		max_devices integer not null default 1,
		payment_due_at integer not null,
		starts_at integer,
		expires_at integer,
		ended_at integer,
		created_at integer not null,
		updated_at integer not null,
		check (status <> 'active' or (starts_at is not null and expires_at is not null
			and payment_id is not null and pass_id is not null))
	) strict`,
	`insert into new_sessions (${COLUMNS}) select ${COLUMNS} from sessions`,
	// Prevents reuse of the ids of deleted rows.
	`update sqlite_sequence set seq = (select seq from sqlite_sequence where name = 'sessions')
		where name = 'new_sessions' and exists (select 1 from sqlite_sequence where name = 'sessions')`,
	`drop table sessions`,
	`alter table new_sessions rename to sessions`,
	`create index sessions_account on sessions (account_id)`,
	`create index sessions_router on sessions (router_id, status)`,
	`create index sessions_pass on sessions (pass_id)`
];
