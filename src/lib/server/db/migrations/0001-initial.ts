import type { Dialect, Migration } from '../migrate.ts';

/** Tables in the order of their references, each with its indexes. `db/schema.ts` says what the columns hold. */
const createTables = ({ id, int, real, time, bool, end }: Dialect): string[] => [
	`create table accounts (
		id ${id},
		email text not null unique,
		status text not null check (status in ('active', 'suspended')),
		created_at ${int} not null,
		plan text not null default 'default' check (plan in ('default', 'enterprise', 'portal')),
		role text not null default 'app' check (role in ('app', 'owner', 'admin', 'staff')),
		employer_id ${int} references accounts (id),
		staff_role text check (staff_role in ('manager', 'cashier'))
	${end}`,
	`create index accounts_employer on accounts (employer_id) where employer_id is not null`,
	`create table staff_invitations (
		id ${id},
		employer_id ${int} not null references accounts (id),
		email text not null,
		staff_role text not null check (staff_role in ('manager', 'cashier')),
		token_hash text,
		invited_at ${int} not null,
		unique (employer_id, email)
	${end}`,
	`create unique index staff_invitations_token on staff_invitations (token_hash)`,
	`create table api_keys (
		id ${id},
		account_id ${int} not null references accounts (id),
		name text not null,
		hash text not null unique,
		hint text not null,
		role text not null check (role in ('app', 'owner', 'admin')),
		scopes text not null,
		created_at ${int} not null,
		expires_at ${int},
		last_used_at ${int},
		revoked_at ${int},
		form_token text
	${end}`,
	`create index api_keys_account on api_keys (account_id)`,
	`create unique index api_keys_form on api_keys (account_id, form_token)`,
	`create table routers (
		id ${id},
		owner_account_id ${int} not null references accounts (id),
		external_id text,
		name text not null,
		address text,
		ssid text not null,
		security text not null check (security in ('wpa', 'nopass')),
		lat ${real} not null check (lat between -90 and 90),
		lon ${real} not null check (lon between -180 and 180),
		price_minor ${int} not null check (price_minor > 0),
		currency text not null,
		status text not null check (status in ('online', 'offline')),
		payment_methods text not null,
		min_duration text not null,
		max_duration text not null,
		created_at ${int} not null,
		updated_at ${int} not null,
		disabled_at ${int},
		access_kind text not null default 'wpa_personal_per_client',
		network_password_sealed text,
		max_devices ${int} not null default 1,
		unresponsive_since ${int},
		responded_at ${int},
		access_confirmed_at ${int},
		offers text not null default '[]',
		last_offer_id ${int} not null default 0,
		hourly ${int} not null default 1,
		paused_until ${int},
		disabled_by_owner ${int} not null default 0,
		opening_hours text,
		hidden ${int} not null default 0
	${end}`,
	`create unique index routers_external on routers (owner_account_id, external_id)`,
	`create index routers_owner on routers (owner_account_id)`,
	`create index routers_silent on routers (id) where unresponsive_since is not null`,
	`create table passes (
		id ${int} primary key,
		router_id ${int} not null references routers (id),
		access_kind text not null,
		max_devices ${int} not null,
		starts_at ${int},
		ends_at ${int},
		activating_until ${int},
		password_sealed text,
		created_at ${int} not null,
		updated_at ${int} not null,
		speed_down_kbps ${int},
		speed_up_kbps ${int},
		data_limit_mb ${int},
		data_used_bytes ${int},
		check ((starts_at is null) = (ends_at is null))
	${end}`,
	`create index passes_router on passes (router_id, ends_at)`,
	`create index passes_waiting on passes (router_id) where activating_until is not null`,
	`create table sessions (
		id ${id},
		account_id ${int} not null references accounts (id),
		router_id ${int} not null references routers (id),
		status text not null check (status in ('pending_payment', 'activating', 'active', 'expired', 'ended', 'cancelled')),
		status_reason text,
		duration text not null,
		duration_seconds ${int} not null check (duration_seconds > 0),
		payment_method text not null,
		phone text not null,
		amount_minor ${int} not null check (amount_minor > 0),
		currency text not null,
		ssid text not null,
		payment_id ${int},
		extends_session_id ${int} references sessions (id),
		pass_id ${int} references passes (id),
		access_kind text not null default 'wpa_personal_per_client',
		max_devices ${int} not null default 1,
		payment_due_at ${int} not null,
		starts_at ${int},
		expires_at ${int},
		ended_at ${int},
		created_at ${int} not null,
		updated_at ${int} not null,
		offer_id ${int},
		offer_name text,
		speed_down_kbps ${int},
		speed_up_kbps ${int},
		data_limit_mb ${int},
		check (status <> 'active' or (starts_at is not null and expires_at is not null and payment_id is not null and pass_id is not null))
	${end}`,
	`create index sessions_router on sessions (router_id, status)`,
	`create index sessions_pass on sessions (pass_id)`,
	`create index sessions_account_status on sessions (account_id, status, created_at, id)`,
	`create index sessions_account_created on sessions (account_id, created_at, id)`,
	`create index sessions_with_number on sessions (created_at) where phone <> '+9990000000'`,
	`create index sessions_router_created on sessions (router_id, created_at, id)`,
	`create index sessions_of_router on sessions (router_id, id)`,
	`create index sessions_router_started on sessions (router_id, starts_at, id) where starts_at is not null`,
	`create table payments (
		id ${id},
		session_id ${int} not null references sessions (id),
		account_id ${int} not null references accounts (id),
		operator text not null,
		payment_method text not null,
		reference text not null unique,
		operator_reference text,
		amount_minor ${int} not null check (amount_minor > 0),
		currency text not null,
		phone text not null,
		status text not null check (status in ('pending', 'success', 'failed', 'expired', 'refund_pending', 'refunded', 'refund_failed')),
		submit_state text not null check (submit_state in ('created', 'submitting', 'accepted', 'refused', 'uncertain')),
		submitted_at ${int},
		not_found_count ${int} not null default 0,
		applied ${int} not null default 0 check (applied in (0, 1)),
		failure_code text,
		failure_message text,
		provider_reference text,
		settled_minor ${int},
		settled_currency text,
		commission_basis_points ${int} not null,
		expires_at ${int} not null,
		paid_at ${int},
		refunded_at ${int},
		refund_reason text,
		created_at ${int} not null,
		updated_at ${int} not null,
		claim text,
		statement_at ${int},
		network text,
		network_56 text,
		network_48 text,
		device text
	${end}`,
	`create unique index payments_one_pending on payments (session_id) where status = 'pending'`,
	`create unique index payments_one_applied on payments (session_id) where applied = 1`,
	`create index payments_session on payments (session_id)`,
	`create index payments_phone on payments (phone, created_at)`,
	`create index payments_paid on payments (paid_at) where applied = 1`,
	`create index payments_operator_paid on payments (operator, paid_at)`,
	`create index payments_provider on payments (operator, provider_reference)`,
	`create index payments_network on payments (network, created_at) where network is not null`,
	`create index payments_network_unpaid on payments (created_at) where network is not null and paid_at is null`,
	`create index payments_network_56 on payments (network_56, created_at) where network_56 is not null`,
	`create index payments_network_48 on payments (network_48, created_at) where network_48 is not null`,
	`create index payments_device on payments (device, created_at) where device is not null`,
	`create index payments_device_unpaid on payments (created_at) where device is not null and paid_at is null`,
	`create index payments_api_unpaid on payments (created_at) where network is null and paid_at is null`,
	`create index payments_account_status on payments (account_id, status, created_at, id)`,
	`create index payments_account_created on payments (account_id, created_at, id)`,
	`create index payments_ending on payments (substr(phone, length(phone) - 3), created_at) where phone <> '+9990000000'`,
	`create index payments_refunded on payments (refunded_at) where applied = 1 and refunded_at is not null`,
	`create index payments_receipt on payments (provider_reference) where provider_reference is not null`,
	`create index payments_request on payments (operator, operator_reference) where operator_reference is not null`,
	`create table refunds (
		id ${id},
		payment_id ${int} not null references payments (id),
		reference text not null unique,
		amount_minor ${int} not null check (amount_minor > 0),
		currency text not null,
		reason text not null,
		status text not null check (status in ('pending', 'succeeded', 'failed')),
		submit_state text not null check (submit_state in ('created', 'submitting', 'accepted', 'refused', 'uncertain')),
		created_at ${int} not null,
		updated_at ${int} not null,
		operator_reference text,
		claim text,
		submitted_at ${int}
	${end}`,
	`create unique index refunds_one_open on refunds (payment_id) where status <> 'failed'`,
	`create table operator_messages (
		id ${id},
		payment_id ${int} not null references payments (id),
		kind text not null check (kind in ('submit', 'status', 'callback', 'refund')),
		outcome text not null,
		raw text,
		received_at ${int} not null
	${end}`,
	`create index operator_messages_payment on operator_messages (payment_id, kind)`,
	`create table events (
		id text primary key,
		type text not null,
		account_id ${int} not null references accounts (id),
		router_id ${int} not null references routers (id),
		session_id ${int} not null references sessions (id),
		payment_id ${int} references payments (id),
		data text not null,
		created_at ${int} not null
	${end}`,
	`create index events_session on events (session_id)`,
	`create index events_kept on events (created_at) where data <> '{}'`,
	`create index events_account on events (account_id, created_at, id) where data <> '{}'`,
	`create table jobs (
		id ${id},
		kind text not null,
		subject_id ${int} not null,
		run_at ${int} not null,
		attempts ${int} not null default 0,
		wakes ${int} not null default 0,
		lease_owner text,
		lease_until ${int},
		last_error text,
		created_at ${int} not null,
		group_id ${int},
		unique (kind, subject_id)
	${end}`,
	`create index jobs_due on jobs (run_at, id) where lease_until is null and group_id is null`,
	`create index jobs_due_in_group on jobs (group_id, run_at, id) where lease_until is null and group_id is not null`,
	`create index jobs_leased on jobs (group_id, lease_until) where lease_until is not null`,
	`create table purchases (
		id ${id},
		token_hash text not null unique,
		router_id ${int} not null,
		duration text not null,
		payment_method text not null,
		phone text not null,
		amount_minor ${int} not null,
		currency text not null,
		session_id ${int},
		replaces_session_id ${int},
		payment_ids text not null default '[]',
		created_at ${int} not null,
		updated_at ${int} not null,
		code_hash text,
		token_sealed text,
		extends_purchase_id ${int} references purchases (id),
		extends_session_id ${int},
		offer_id ${int},
		number_hash text,
		asked_from text
	${end}`,
	`create index purchases_session on purchases (session_id)`,
	`create unique index purchases_code on purchases (code_hash)`,
	`create index purchases_extends on purchases (extends_purchase_id)`,
	`create index purchases_with_number on purchases (created_at) where phone <> '+9990000000'`,
	`create index purchases_number on purchases (number_hash) where number_hash is not null`,
	`create index purchases_replaced on purchases (replaces_session_id) where replaces_session_id is not null`,
	`create table sandbox_charges (
		reference text primary key,
		phone text not null,
		amount_minor ${int} not null,
		currency text not null,
		callback_url text not null,
		payment_expires_at ${int} not null,
		first_seen_at ${int} not null,
		queued_at ${int}
	${end}`,
	`create table sandbox_refunds (
		reference text primary key,
		charge_reference text not null references sandbox_charges (reference),
		amount_minor ${int} not null,
		currency text not null,
		created_at ${int} not null
	${end}`,
	`create table idempotent_answers (
		account_id ${int} not null references accounts (id),
		method text not null,
		path text not null,
		key text not null,
		fingerprint text not null,
		status ${int} not null,
		location text,
		body text not null,
		created_at ${int} not null,
		primary key (account_id, method, path, key)
	${end}`,
	`create index idempotent_answers_created on idempotent_answers (created_at)`,
	`create table webhook_endpoints (
		id ${id},
		account_id ${int} not null references accounts (id),
		url text not null,
		address text not null,
		events text not null,
		status text not null check (status in ('active', 'disabled')),
		disabled_reason text check (disabled_reason in ('gone', 'failing', 'manual')),
		secret_sealed text not null,
		old_secret_sealed text,
		old_secret_until ${int},
		last_success_at ${int},
		failing_since ${int},
		failing_noticed ${int} not null default 0 check (failing_noticed in (0, 1)),
		notice text check (notice in ('failing', 'disabled')),
		notice_lease_until ${int},
		created_at ${int} not null,
		updated_at ${int} not null,
		check ((status = 'disabled') = (disabled_reason is not null))
	${end}`,
	`create unique index webhook_endpoints_address on webhook_endpoints (account_id, address)`,
	`create table webhook_deliveries (
		id ${id},
		endpoint_id ${int} not null references webhook_endpoints (id) on delete cascade,
		event_id text not null,
		type text not null,
		body_sealed text not null,
		status text not null check (status in ('pending', 'delivered', 'failed')),
		attempts ${int} not null default 0,
		tries ${int} not null default 0,
		next_attempt_at ${int},
		last_status_code ${int},
		last_failure text,
		last_attempt_at ${int},
		created_at ${int} not null,
		updated_at ${int} not null,
		check ((status = 'pending') = (next_attempt_at is not null))
	${end}`,
	`create unique index webhook_deliveries_event on webhook_deliveries (endpoint_id, event_id)`,
	`create index webhook_deliveries_list on webhook_deliveries (endpoint_id, id)`,
	`create index webhook_deliveries_old on webhook_deliveries (updated_at) where status <> 'pending'`,
	`create table webhook_attempts (
		id ${id},
		delivery_id ${int} not null references webhook_deliveries (id) on delete cascade,
		started_at ${int} not null,
		duration_ms ${int} not null,
		status_code ${int},
		failure text,
		response text
	${end}`,
	`create index webhook_attempts_delivery on webhook_attempts (delivery_id, started_at)`,
	`create index webhook_attempts_started on webhook_attempts (started_at)`,
	`create table sign_in_users (
		id text primary key,
		name text not null,
		email text not null unique,
		email_verified ${bool} not null,
		image text,
		account_id ${int} unique references accounts (id),
		created_at ${time} not null,
		updated_at ${time} not null,
		two_factor_enabled ${bool}
	${end}`,
	`create table sign_in_sessions (
		id text primary key,
		user_id text not null references sign_in_users (id) on delete cascade,
		token text not null unique,
		expires_at ${time} not null,
		ip_address text,
		user_agent text,
		created_at ${time} not null,
		updated_at ${time} not null
	${end}`,
	`create index sign_in_sessions_user on sign_in_sessions (user_id)`,
	`create index sign_in_sessions_end on sign_in_sessions (expires_at)`,
	`create table sign_in_passwords (
		id text primary key,
		user_id text not null references sign_in_users (id) on delete cascade,
		account_id text not null,
		provider_id text not null,
		access_token text,
		refresh_token text,
		id_token text,
		access_token_expires_at ${time},
		refresh_token_expires_at ${time},
		scope text,
		password text,
		created_at ${time} not null,
		updated_at ${time} not null
	${end}`,
	`create index sign_in_passwords_user on sign_in_passwords (user_id)`,
	`create table sign_in_verifications (
		id text primary key,
		identifier text not null,
		value text not null,
		expires_at ${time} not null,
		created_at ${time} not null,
		updated_at ${time} not null
	${end}`,
	`create index sign_in_verifications_identifier on sign_in_verifications (identifier)`,
	`create table sign_in_passkeys (
		id text primary key,
		user_id text not null references sign_in_users (id) on delete cascade,
		name text,
		public_key text not null,
		credential_id text not null unique,
		counter ${int} not null,
		device_type text not null,
		backed_up ${bool} not null,
		transports text,
		aaguid text,
		created_at ${time}
	${end}`,
	`create index sign_in_passkeys_user on sign_in_passkeys (user_id)`,
	`create table request_log (
		id ${id},
		account_id ${int} not null,
		key_id ${int} not null,
		at ${int} not null,
		method text not null,
		path text not null,
		status ${int} not null,
		duration_ms ${int} not null,
		request_id text not null,
		error_code text
	${end}`,
	`create index request_log_account on request_log (account_id, id)`,
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
	`create unique index reviews_open on reviews (subject, reason) where resolved_at is null`,
	`create index reviews_payment on reviews (payment_id)`,
	`create index reviews_open_by_id on reviews (id) where resolved_at is null`,
	`create index reviews_subject on reviews (subject, reason)`,
	`create table audit_log (
		id ${id},
		at ${int} not null,
		actor text not null,
		action text not null,
		payment_id ${int} references payments (id),
		refund_id ${int} references refunds (id),
		reason text not null,
		before text not null,
		after text not null,
		router_id ${int}
	${end}`,
	`create index audit_log_payment on audit_log (payment_id)`,
	`create index audit_log_at on audit_log (at, id)`,
	`create index audit_log_action on audit_log (action, at, id)`,
	`create index audit_log_actor on audit_log (actor, at, id)`,
	// Decisions of people, among many more entries of MACHINES (audit.ts). The condition is that of the query.
	`create index audit_log_people on audit_log (at, id)
		where actor not in ('access', 'airtill', 'demo', 'reconciler', 'refunds')`,
	`create index audit_log_router on audit_log (router_id, at, id) where router_id is not null`,
	`create table gateways (
		id ${id},
		router_id ${int} not null,
		kind text not null,
		name text not null unique,
		key_hash text not null unique,
		key_sealed text not null,
		login_hosts text not null,
		secret_sealed text,
		settings text not null,
		created_at ${int} not null,
		updated_at ${int} not null,
		credentials_sealed text,
		seen_at ${int},
		unresponsive_since ${int},
		clock_offset_ms ${int},
		trouble text,
		checked_at ${int},
		checked_seen_at ${int},
		missed_checks ${int} not null default 0,
		online_count ${int},
		installation text,
		unread_device text,
		unread_device_at ${int}
	${end}`,
	`create index gateways_kind on gateways (kind)`,
	`create index gateways_router on gateways (router_id)`,
	`create table access_point_owners (
		access_point text primary key,
		owner_account_id ${int} not null references accounts (id),
		decided_at ${int} not null
	${end}`,
	`create table captive_sessions (
		id ${id},
		id_hash text not null unique,
		gateway_id ${int} not null references gateways (id) on delete cascade,
		client_mac text,
		client_ip text,
		entry_sealed text not null,
		purchase_token_hash text,
		bound_at ${int},
		tried_at ${int},
		created_at ${int} not null,
		expires_at ${int} not null
	${end}`,
	`create index captive_sessions_mac on captive_sessions (gateway_id, client_mac, id)`,
	`create index captive_sessions_ip on captive_sessions (gateway_id, client_ip, id)`,
	`create index captive_sessions_purchase on captive_sessions (purchase_token_hash, id)`,
	`create index captive_sessions_end on captive_sessions (expires_at)`,
	`create table brands (
		account_id ${int} primary key references accounts (id),
		name text,
		accent text,
		logo_file text,
		logo_data text,
		logo_width ${int},
		logo_height ${int},
		updated_at ${int} not null,
		updated_by ${int} not null references accounts (id),
		contact text
	${end}`,
	`create index brands_logo on brands (logo_file) where logo_file is not null`,
	`create table grants (
		id ${id},
		pass_id ${int} not null,
		gateway_id ${int} not null references gateways (id) on delete cascade,
		captive_session_id ${int} references "captive_sessions" (id) on delete set null,
		mac text,
		state text not null check (state in ('granting', 'granted', 'revoking', 'revoked', 'failed')),
		requested_end_at ${int},
		granted_at ${int},
		released_at ${int},
		revoked_at ${int},
		unanswered_at ${int},
		revision ${int} not null default 1,
		attempts ${int} not null default 0,
		last_error text,
		created_at ${int} not null,
		updated_at ${int} not null,
		is_marked integer not null default 0,
		confirmed_end_at ${int},
		data_bytes ${int} not null default 0,
		data_reported_at ${int}
	${end}`,
	`create unique index grants_open on grants (pass_id, gateway_id, coalesce(mac, '')) where state in ('granting', 'granted') and released_at is null`,
	`create index grants_pass on grants (pass_id, id)`,
	`create index grants_gateway on grants (gateway_id, state, id)`,
	`create index grants_device on grants (gateway_id, mac) where state in ('granting', 'granted')`,
	`create index grants_over on grants (updated_at) where state in ('revoked', 'failed')`,
	`create index grants_by_captive_session on grants (captive_session_id) where captive_session_id is not null`,
	`create table device_slots (
		id ${id},
		pass_id ${int} not null,
		gateway_id ${int} not null references gateways (id) on delete cascade,
		mac text not null,
		bound_at ${int} not null,
		reported_at ${int} not null,
		released_at ${int},
		expected_until ${int}
	${end}`,
	`create unique index device_slots_bound on device_slots (pass_id, mac) where released_at is null`,
	`create index device_slots_mac on device_slots (gateway_id, mac, id)`,
	`create index device_slots_pass on device_slots (pass_id, id)`,
	`create index device_slots_released on device_slots (released_at) where released_at is not null`,
	`create index device_slots_reported on device_slots (reported_at)`,
	`create table connections (
		id ${id},
		gateway_id ${int} not null references gateways (id) on delete cascade,
		acct_session_id text not null,
		pass_id ${int},
		user_name text,
		mac text,
		ip text,
		nas_address text,
		nas_identifier text,
		started_at ${int} not null,
		seen_at ${int} not null,
		stopped_at ${int},
		stop_cause text,
		enforced_until ${int},
		bytes_in ${int} not null default 0,
		bytes_out ${int} not null default 0,
		disconnect_state text not null default 'none' check (disconnect_state in ('none', 'asked', 'done', 'failed')),
		disconnect_attempts ${int} not null default 0,
		last_error text,
		counter_in ${int},
		counter_out ${int}
	${end}`,
	`create unique index connections_key on connections (gateway_id, acct_session_id, coalesce(nas_address, ''), coalesce(nas_identifier, ''))`,
	`create index connections_pass on connections (pass_id, id)`,
	`create index connections_open on connections (gateway_id, seen_at) where stopped_at is null`,
	`create index connections_seen on connections (seen_at)`,
	`create table failed_sign_ins (
		subject text primary key,
		failures ${int} not null,
		failed_at ${int} not null
	${end}`,
	`create index failed_sign_ins_time on failed_sign_ins (failed_at)`,
	`create table offer_changes (
		id ${id},
		router_id ${int} not null references routers (id),
		hourly ${int} not null,
		offers text not null,
		account_id ${int} not null references accounts (id),
		api_key_id ${int} references api_keys (id),
		changed_at ${int} not null
	${end}`,
	`create index offer_changes_by_router on offer_changes (router_id, id)`,
	`create table price_changes (
		id ${id},
		router_id ${int} not null references routers (id),
		old_price_minor ${int} not null,
		new_price_minor ${int} not null,
		currency text not null,
		account_id ${int} references accounts (id),
		api_key_id ${int} references api_keys (id),
		changed_at ${int} not null
	${end}`,
	`create index price_changes_router on price_changes (router_id)`,
	`create table extra_time (
		id ${id},
		session_id ${int} not null references sessions (id),
		account_id ${int} not null references accounts (id),
		form text not null unique,
		seconds ${int} not null check (seconds > 0),
		created_at ${int} not null
	${end}`,
	`create index extra_time_session on extra_time (session_id)`,
	`create index extra_time_account on extra_time (account_id, created_at)`,
	`create table owner_views (
		id ${id},
		account_id ${int} not null references accounts (id),
		admin_id ${int} not null references accounts (id),
		sign_in_session text not null,
		reason text not null,
		started_at ${int} not null,
		ends_at ${int} not null,
		ended_at ${int}
	${end}`,
	`create index owner_views_account on owner_views (account_id, started_at)`,
	`create index owner_views_open on owner_views (sign_in_session) where ended_at is null`,
	`create table notifications (
		id ${id},
		account_id ${int} references accounts (id),
		channel text not null check (channel in ('email', 'sms')),
		kind text not null,
		key text not null unique,
		address text not null,
		content_sealed text,
		status text not null check (status in ('queued', 'sending', 'sent', 'failed', 'uncertain')),
		tries ${int} not null default 0,
		price_minor ${int} not null,
		currency text not null,
		created_at ${int} not null
	${end}`,
	`create index notifications_account on notifications (account_id, created_at)`,
	`create index notifications_address on notifications (address, created_at)`,
	`create index notifications_created on notifications (created_at)`,
	`create table alert_channels (
		id ${id},
		account_id ${int} not null references accounts (id),
		channel text not null check (channel in ('email', 'sms')),
		address text not null,
		locale text not null,
		events text not null default '[]',
		confirmed_at ${int},
		code_hash text,
		code_until ${int},
		code_tries ${int} not null default 0,
		earnings_day text,
		review_id ${int} not null default 0,
		unique (account_id, channel)
	${end}`,
	`create table alert_outages (
		alert_channel_id ${int} not null references alert_channels (id) on delete cascade,
		gateway_id ${int} not null references gateways (id) on delete cascade,
		since ${int} not null,
		primary key (alert_channel_id, gateway_id)
	${end}`,
	`create index alert_outages_gateway on alert_outages (gateway_id)`,
	`create table sign_in_second_factors (
		id text primary key,
		user_id text not null unique references sign_in_users (id) on delete cascade,
		secret_sealed text not null,
		backup_codes_sealed text not null,
		verified ${bool} not null,
		failed_verification_count ${int},
		locked_until ${time}
	${end}`
];

/** The places of routers in an R*Tree and the words of their names in FTS5, which triggers keep in step. */
const SQLITE = [
	`create virtual table router_positions using rtree (id, min_lat, max_lat, min_lon, max_lon)`,
	`create trigger routers_position_insert after insert on routers begin
		insert into router_positions values (new.id, new.lat, new.lat, new.lon, new.lon);
	end`,
	`create trigger routers_position_update after update of lat, lon on routers begin
		update router_positions set min_lat = new.lat, max_lat = new.lat, min_lon = new.lon, max_lon = new.lon
		where id = new.id;
	end`,
	`create trigger routers_position_delete after delete on routers begin
		delete from router_positions where id = old.id;
	end`,
	`create virtual table router_words using fts5 (words, content = '', contentless_delete = 1,
		tokenize = 'unicode61 remove_diacritics 2')`,
	`create trigger routers_words_insert after insert on routers begin
		insert into router_words (rowid, words)
			values (new.id, new.name || ' ' || coalesce(new.address, '') || ' ' || new.ssid);
	end`,
	`create trigger routers_words_update after update of name, address, ssid on routers begin
		update router_words set words = new.name || ' ' || coalesce(new.address, '') || ' ' || new.ssid
			where rowid = new.id;
	end`,
	`create trigger routers_words_delete after delete on routers begin
		delete from router_words where rowid = old.id;
	end`
];

/** The limits that processes share: unlogged, so no commit waits for the disk, and a crash of the database resets them. */
const POSTGRES = [
	`create index routers_position on routers using gist (point(lon, lat))`,
	// The extension `unaccent` is not installed everywhere. Unicode normalization needs the encoding UTF8.
	String.raw`create function without_accents(words text) returns text language sql immutable strict parallel safe as $$
		select translate(case when getdatabaseencoding() = 'UTF8'
			then regexp_replace(normalize(words, NFKD), '[\u0300-\u036f\u064b-\u065f]', '', 'g') else words end,
			'/\.-+_:@&<>', '           ')
	$$`,
	`create index routers_words on routers using gin
		(to_tsvector('simple', without_accents(name || ' ' || coalesce(address, '') || ' ' || ssid)))`,
	`create unlogged table rate_heads (
		subject text primary key,
		asked_at timestamptz not null,
		first bigint not null default 0,
		next bigint not null default 0,
		ring integer not null default 1
	)`,
	`create unlogged table rate_hits (
		subject text not null references rate_heads (subject) on delete cascade,
		slot integer not null,
		at timestamptz not null,
		primary key (subject, slot)
	)`,
	// The hits of a subject form a ring of slots, oldest first; its head knows the first that counts and the next. The
	// row lock on the head queues requests of this caller only.
	`create function take_rate(wanted text, most integer, span interval,
		out admitted boolean, out remaining integer, out reset_ms double precision)
	language plpgsql as $$
	declare
		head rate_heads;
		moment timestamptz;
		oldest timestamptz;
	begin
		loop
			select * into head from rate_heads where subject = wanted for update;
			exit when found;
			insert into rate_heads (subject, asked_at) values (wanted, clock_timestamp()) on conflict do nothing;
		end loop;
		moment := clock_timestamp();
		loop
			oldest := null;
			exit when head.first = head.next;
			select at into oldest from rate_hits where subject = wanted and slot = head.first % head.ring;
			exit when oldest > moment - span;
			head.first := head.first + 1;
		end loop;
		if oldest is null then
			head.first := 0;
			head.next := 0;
			head.ring := greatest(most, 1);
		elsif head.ring < most then
			with counted as (delete from rate_hits where subject = wanted returning at)
				insert into rate_hits (subject, slot, at)
				select wanted, row_number() over (order by at) - 1, at from counted where at > moment - span;
			get diagnostics head.next = row_count;
			head.first := 0;
			head.ring := most;
		end if;
		admitted := head.next - head.first < most;
		if admitted then
			update rate_hits set at = moment where subject = wanted and slot = head.next % head.ring;
			if not found then
				insert into rate_hits (subject, slot, at) values (wanted, head.next % head.ring, moment);
			end if;
			head.next := head.next + 1;
		end if;
		update rate_heads set asked_at = moment, first = head.first, next = head.next, ring = head.ring
			where subject = wanted;
		remaining := greatest(most - (head.next - head.first), 0);
		reset_ms := extract(epoch from coalesce(oldest, moment) + span - moment) * 1000;
	end $$`,
	// Takes the limits of several requests in one call, one row per limit. Like single calls: a limit after a refusal of
	// the same request does not count it (nulls). No plan reads the whole table: a function keeps the plan that it made
	// while the table was small.
	`create function take_rates(request integer[], wanted text[], most integer[], span_ms double precision[])
	returns table (admitted boolean, remaining integer, reset_ms double precision)
	language plpgsql set enable_seqscan = off as $$
	declare
		refused integer;
	begin
		-- Every call locks in the same order (a key, then its account), so that none waits for
		-- another that waits for it.
		insert into rate_heads (subject, asked_at)
			select distinct subject, clock_timestamp() from unnest(wanted) subject order by subject desc
			on conflict do nothing;
		perform 1 from rate_heads where subject = any (wanted) order by subject desc for update;
		for i in 1 .. array_length(wanted, 1) loop
			admitted := null;
			remaining := null;
			reset_ms := null;
			if request[i] is distinct from refused then
				select * into admitted, remaining, reset_ms
					from take_rate(wanted[i], most[i], make_interval(secs => span_ms[i] / 1000));
				if not admitted then
					refused := request[i];
				end if;
			end if;
			return next;
		end loop;
	end $$`
];

/** Jobs that run again and again. */
const JOBS = ['gateways.check', 'webhooks.upkeep', 'personal-data.delete', 'alerts.find'];

export const initial: Migration = {
	name: '0001-first-release',
	statements: (dialect) => [
		...createTables(dialect),
		...(dialect.sqlite ? SQLITE : POSTGRES),
		...JOBS.map((job) => `insert into jobs (kind, subject_id, run_at, created_at) values ('${job}', 0, 0, 0)`)
	]
};
