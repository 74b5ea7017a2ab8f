import type { Migration } from '../migrate.ts';

/**
 * What gateways let in, compared with the passes instead of commanded. Running passes go on. `grants` stays for processes
 * of the release before; a later release drops it.
 */
export const admissions: Migration = {
	name: '0002-admissions',
	statements: ({ id, int, end }) => [
		`create table admissions (
			id ${id},
			pass_id ${int} not null,
			gateway_id ${int} not null references gateways (id) on delete cascade,
			captive_session_id ${int} references captive_sessions (id) on delete set null,
			mac text,
			created_at ${int} not null,
			released_at ${int},
			sent_until ${int},
			allowed_until ${int},
			allowed_at ${int},
			unanswered_at ${int},
			check_at ${int},
			problem text,
			data_bytes ${int} not null default 0,
			data_reported_at ${int}
		${end}`,
		`create unique index admissions_wanted on admissions (pass_id, gateway_id, coalesce(mac, '')) where released_at is null`,
		`create index admissions_pass on admissions (pass_id, id)`,
		`create index admissions_gateway on admissions (gateway_id, id)
			where released_at is null or sent_until is not null or unanswered_at is not null`,
		`create index admissions_device on admissions (gateway_id, mac) where released_at is null`,
		`create index admissions_created on admissions (created_at)`,
		`create index admissions_captive_session on admissions (captive_session_id) where captive_session_id is not null`,
		...COPIES.map(
			({
				states,
				released,
				sent,
				allowed,
				unanswered
			}) => `insert into admissions (pass_id, gateway_id, captive_session_id, mac,
				created_at, released_at, sent_until, allowed_until, allowed_at, unanswered_at, data_bytes, data_reported_at)
			select pass_id, gateway_id, captive_session_id, mac, created_at, ${released}, ${sent}, ${allowed}, granted_at,
				${unanswered}, data_bytes, data_reported_at from grants where state in (${states}) order by id`
		),
		`insert into jobs (kind, subject_id, run_at, created_at) select 'access.gateway', id, 0, 0 from gateways where true
			on conflict (kind, subject_id) do nothing`
	]
};

const SENT = 'coalesce(requested_end_at, confirmed_end_at)';
const COPIES: readonly Record<'states' | 'released' | 'sent' | 'allowed' | 'unanswered', string>[] = [
	{
		...{ states: `'granting', 'granted'`, released: 'released_at', sent: SENT, allowed: 'confirmed_end_at' },
		unanswered: 'unanswered_at'
	},
	{
		...{ states: `'revoking'`, released: 'coalesce(released_at, updated_at)', unanswered: 'unanswered_at' },
		...{ sent: 'coalesce(requested_end_at, confirmed_end_at, created_at)', allowed: 'confirmed_end_at' }
	},
	{
		...{
			states: `'revoked', 'failed'`,
			released: 'coalesce(released_at, revoked_at, updated_at)',
			...{ sent: 'null', unanswered: 'null' }
		},
		allowed: 'case when revoked_at < confirmed_end_at then revoked_at else confirmed_end_at end'
	}
];
