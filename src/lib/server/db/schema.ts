import type { Generated } from 'kysely';
import type { AccessKind } from '#lib/domain/access-kind.ts';

/**
 * The tables as Kysely sees them, the same on SQLite and PostgreSQL: integers for ids, money (minor units),
 * instants (`*_at`, milliseconds since the epoch) and flags (0 or 1); text for everything else; lists and
 * documents as JSON in text. The tables `sign_in_*` are better-auth's alone (sign-in/auth.ts) and not listed.
 */
export interface Schema {
	accounts: AccountsTable;
	api_keys: ApiKeysTable;
	routers: RoutersTable;
	sessions: SessionsTable;
	payments: PaymentsTable;
	refunds: RefundsTable;
	operator_messages: OperatorMessagesTable;
	reviews: ReviewsTable;
	audit_log: AuditLogTable;
	events: EventsTable;
	jobs: JobsTable;
	price_changes: PriceChangesTable;
	brands: BrandsTable;
	purchases: PurchasesTable;
	idempotent_answers: IdempotentAnswersTable;
	request_log: RequestLogTable;
	key_usage: KeyUsageTable;
	webhook_endpoints: WebhookEndpointsTable;
	webhook_deliveries: WebhookDeliveriesTable;
	webhook_attempts: WebhookAttemptsTable;
	gateways: GatewaysTable;
	gateway_visits: CaptiveSessionsTable;
	access_grants: AccessGrantsTable;
	access_devices: AccessDevicesTable;
	network_sessions: NetworkSessionsTable;
	network_usage: NetworkUsageTable;
	sandbox_charges: SandboxChargesTable;
	sandbox_refunds: SandboxRefundsTable;
	sandbox_instructions: SandboxInstructionsTable;
}

export interface AccountsTable {
	id: Generated<number>;
	email: string;
	role: 'app' | 'owner' | 'admin';
	plan: 'default' | 'enterprise' | 'portal';
	status: 'active' | 'suspended';
	created_at: number;
}

export interface ApiKeysTable {
	id: Generated<number>;
	account_id: number;
	name: string;
	/** SHA-256 of the whole key, hex. */
	hash: string;
	hint: string;
	role: 'app' | 'owner' | 'admin';
	/** JSON array of scopes; empty means all of the role. */
	scopes: string;
	created_at: number;
	expires_at: number | null;
	last_used_at: number | null;
	revoked_at: number | null;
	/** Names the form that made it; null for keys made in other ways. */
	form_token: string | null;
}

export interface RoutersTable {
	id: Generated<number>;
	owner_account_id: number;
	/** The owner's own id of the router (from an import); unique for that owner. */
	external_id: string | null;
	name: string;
	address: string | null;
	ssid: string;
	security: 'wpa' | 'nopass';
	lat: number;
	lon: number;
	price_minor: number;
	currency: string;
	status: 'online' | 'offline';
	/** JSON array of slugs beside `mobile_money`, which every router accepts. */
	payment_methods: string;
	min_duration: string;
	max_duration: string;
	/** How the bought password works there. */
	access_kind: Generated<AccessKind>;
	/** The network's own password, where that is not what is bought: shared by all, or the owner's own. Sealed. */
	network_password_sealed: Generated<string | null>;
	/** Devices that one pass lets online at a time. */
	max_devices: Generated<number>;
	/** Since when none of its gateways has been heard of; null while they are, or where none is expected to be. */
	silent_since: Generated<number | null>;
	created_at: number;
	updated_at: number;
	disabled_at: number | null;
}

export interface SessionsTable {
	id: Generated<number>;
	account_id: number;
	router_id: number;
	status: 'pending_payment' | 'activating' | 'active' | 'expired' | 'ended' | 'cancelled';
	status_reason: string | null;
	duration: string;
	duration_seconds: number;
	payment_method: string;
	phone: string;
	amount_minor: number;
	currency: string;
	ssid: string;
	/** The payment that bought the time; before that, the newest one that was started for it. */
	payment_id: number | null;
	/** Sealed with AES-256-GCM; present only while the session is active. */
	password_sealed: string | null;
	/** The session whose pass this one was ordered to lengthen; null for a pass of its own. */
	extends_session_id: Generated<number | null>;
	/** First session of the pass: those of one pass follow each other under one password. */
	pass_id: Generated<number>;
	/** First session of all that were ordered one upon the other, whether or not they became one pass. */
	line_id: Generated<number>;
	/** As the router had it when the time was ordered. */
	access_kind: Generated<AccessKind>;
	max_devices: Generated<number>;
	/** While `activating`: until when a gateway must have let it in. */
	activating_until: Generated<number | null>;
	payment_due_at: number;
	starts_at: number | null;
	expires_at: number | null;
	ended_at: number | null;
	created_at: number;
	updated_at: number;
}

export interface PaymentsTable {
	id: Generated<number>;
	session_id: number;
	account_id: number;
	/** Adapter that carries the payment, e.g. `sandbox`. */
	operator: string;
	payment_method: string;
	/** UUID v4, our reference at the operator: stored before the operator is called. */
	reference: string;
	/** The operator's own reference of the request, where it has one. */
	operator_reference: string | null;
	amount_minor: number;
	currency: string;
	phone: string;
	status: 'pending' | 'success' | 'failed' | 'expired' | 'refund_pending' | 'refunded' | 'refund_failed';
	/** How far the request to the operator got; decides whether it may be sent (again). */
	submit_state: 'created' | 'submitting' | 'accepted' | 'refused' | 'uncertain';
	submitted_at: number | null;
	/** Status reads in a row that did not know the reference. */
	not_found_count: Generated<number>;
	applied: Generated<number>;
	failure_code: string | null;
	failure_message: string | null;
	/** The operator's id of the settled transaction. */
	provider_reference: string | null;
	/** What the operator says it took, when it says so. */
	settled_minor: number | null;
	settled_currency: string | null;
	commission_basis_points: number;
	/** What an authentic callback claimed (CallbackClaim as JSON). */
	claim: string | null;
	/** When it was found in the operator's list of settled payments. */
	statement_at: number | null;
	expires_at: number;
	paid_at: number | null;
	refunded_at: number | null;
	refund_reason: string | null;
	created_at: number;
	updated_at: number;
}

export interface RefundsTable {
	id: Generated<number>;
	payment_id: number;
	reference: string;
	amount_minor: number;
	currency: string;
	reason: string;
	status: 'pending' | 'succeeded' | 'failed';
	submit_state: 'created' | 'submitting' | 'accepted' | 'refused' | 'uncertain';
	operator_reference: string | null;
	/** What an authentic callback claimed (CallbackClaim as JSON). */
	claim: string | null;
	submitted_at: number | null;
	created_at: number;
	updated_at: number;
}

/** What a person must decide. */
export interface ReviewsTable {
	id: Generated<number>;
	/** null: about a transaction of a statement that no payment belongs to. */
	payment_id: number | null;
	/** `payment 12`, or `mtn transaction 334455`. */
	subject: string;
	reason: string;
	detail: string | null;
	opened_at: number;
	resolved_at: number | null;
	resolved_by: string | null;
	decision: string | null;
	note: string | null;
}

/** Every decision that moved money or ended a question about it. */
export interface AuditLogTable {
	id: Generated<number>;
	at: number;
	/** Who: `reconciler`, `refunds`, or a person's name from the command line. */
	actor: string;
	action: string;
	payment_id: number | null;
	refund_id: number | null;
	reason: string;
	/** JSON */
	before: string;
	/** JSON */
	after: string;
}

export interface OperatorMessagesTable {
	id: Generated<number>;
	payment_id: number;
	kind: 'submit' | 'status' | 'callback' | 'refund';
	/** Short result, e.g. `accepted`, `pending`, `succeeded`. */
	outcome: string;
	/** What the operator sent, redacted and cut. */
	raw: string | null;
	received_at: number;
}

export interface EventsTable {
	/** `evt_<ULID>` */
	id: string;
	type: string;
	account_id: number;
	router_id: number;
	session_id: number;
	payment_id: number | null;
	/** The API object at the time of the event, without the password; JSON. `{}` once it is forgotten. */
	data: string;
	created_at: number;
}

export interface JobsTable {
	id: Generated<number>;
	kind: string;
	subject_id: number;
	run_at: number;
	attempts: Generated<number>;
	/** Counts wake-ups, so that one that comes while the job runs is not lost. */
	wakes: Generated<number>;
	lease_owner: string | null;
	lease_until: number | null;
	last_error: string | null;
	created_at: number;
}

export interface PurchasesTable {
	id: Generated<number>;
	token_hash: string;
	router_id: number;
	duration: string;
	payment_method: string;
	phone: string;
	/** What the buyer saw and agreed to. */
	amount_minor: number;
	currency: string;
	session_id: number | null;
	/** The unpaid session in whose place this purchase was made. */
	replaces_session_id: number | null;
	/** JSON array of the payments that were started for it, oldest first. */
	payment_ids: Generated<string>;
	/** Keyed hash of the short code that opens it; null until it is next opened, and for added time. */
	code_hash: Generated<string | null>;
	/** The token, sealed, for who has the code. */
	token_sealed: Generated<string | null>;
	/** The purchase whose page shows this one: added time. */
	extends_purchase_id: Generated<number | null>;
	/** The session that the added time is ordered for. */
	extends_session_id: Generated<number | null>;
	created_at: number;
	updated_at: number;
}

export interface PriceChangesTable {
	id: Generated<number>;
	router_id: number;
	old_price_minor: number;
	new_price_minor: number;
	currency: string;
	account_id: number;
	/** null: changed on a page, by somebody who was signed in. */
	api_key_id: number | null;
	changed_at: number;
}

/** What an owner shows to buyers; a router's own fields go before those of its owner's account. */
export interface BrandsTable {
	/** `account 5`, or `router 12`. */
	subject: string;
	/** The owner. */
	account_id: number;
	/** null: for all routers of the account. */
	router_id: number | null;
	name: string | null;
	/** `#0a6b4b`, as it was chosen. */
	accent: string | null;
	/** Hash of the bytes with `.svg` or `.png`. */
	logo_file: string | null;
	/** base64 */
	logo_data: string | null;
	/** Pixels, or units of the drawing: only their ratio counts. */
	logo_width: number | null;
	logo_height: number | null;
	updated_at: number;
	updated_by: number;
}

export interface IdempotentAnswersTable {
	account_id: number;
	method: string;
	path: string;
	key: string;
	/** SHA-256 of the request's raw body, hex. */
	fingerprint: string;
	status: number;
	location: string | null;
	/** Sealed with AES-256-GCM. */
	body: string;
	created_at: number;
}

export interface RequestLogTable {
	id: Generated<number>;
	account_id: number;
	key_id: number;
	at: number;
	method: string;
	/** Without the query; what could be a secret is left out of it (request-log/path.ts). */
	path: string;
	status: number;
	duration_ms: number;
	request_id: string;
}

export interface KeyUsageTable {
	key_id: number;
	/** Minutes since the epoch. */
	minute: number;
	/** Calls of the key in that minute. */
	calls: number;
}

export interface WebhookEndpointsTable {
	id: Generated<number>;
	account_id: number;
	/** As it was registered. */
	url: string;
	/** The same, normalised: where deliveries go, and unique for the account. */
	address: string;
	/** JSON array of event names, as JSON.stringify writes it. */
	events: string;
	status: 'active' | 'disabled';
	/** `gone`: it answered 410; `failing`: five days without a success; `manual`: its account did it. */
	disabled_reason: 'gone' | 'failing' | 'manual' | null;
	secret_sealed: string;
	/** The secret before the last rotation, and until when it signs too. */
	old_secret_sealed: string | null;
	old_secret_until: number | null;
	/** Exact to a minute. */
	last_success_at: number | null;
	/** First failed attempt since the last success. */
	failing_since: number | null;
	/** 1: its account was told that it fails. */
	failing_noticed: Generated<number>;
	/** What its account is still to be told. */
	notice: 'failing' | 'disabled' | null;
	notice_lease_until: number | null;
	created_at: number;
	updated_at: number;
}

export interface WebhookDeliveriesTable {
	id: Generated<number>;
	endpoint_id: number;
	/** `evt_<ULID>`; the event itself has no row when it is a test. */
	event_id: string;
	type: string;
	/** The bytes to send, sealed: there may be a phone number in them. */
	body_sealed: string;
	status: 'pending' | 'delivered' | 'failed';
	/** All attempts so far. */
	attempts: Generated<number>;
	/** Attempts since it was made or last replayed: they decide how long the next one waits. */
	tries: Generated<number>;
	next_attempt_at: number | null;
	lease_owner: string | null;
	lease_until: number | null;
	last_status_code: number | null;
	last_failure: string | null;
	last_attempt_at: number | null;
	created_at: number;
	updated_at: number;
}

export interface WebhookAttemptsTable {
	id: Generated<number>;
	delivery_id: number;
	started_at: number;
	duration_ms: number;
	status_code: number | null;
	/** Why there is no status. */
	failure: string | null;
	/** Beginning of the answer's body, redacted. */
	response: string | null;
}

/** A gateway on a router, which sends devices without internet to `/splash/{key}`. */
export interface GatewaysTable {
	id: Generated<number>;
	router_id: number;
	kind: 'opennds' | 'mikrotik' | 'coova' | 'unifi' | 'hostapd';
	name: string;
	/** SHA-256 of the key in its portal address, hex. */
	key_hash: string;
	/** The key itself, to be shown again. */
	key_sealed: string;
	/** JSON array of `host` or `host:port`. */
	login_hosts: string;
	/** What is shared with the gateway; null where there is nothing. */
	secret_sealed: string | null;
	/** GatewaySettings as JSON. */
	settings: string;
	/** GatewayCredentials as JSON, sealed; null for gateways from before there were any. */
	credentials_sealed: Generated<string | null>;
	/** When it was last heard of through a channel that it proves itself on; null before the first time. */
	seen_at: Generated<number | null>;
	/** Since when it ought to have been heard of; null while it is. */
	silent_since: Generated<number | null>;
	/** Its clock less ours, as last measured. */
	clock_offset_ms: Generated<number | null>;
	/** Why it could last not be told something, for people; null when it could. */
	trouble: Generated<string | null>;
	/** When it was last looked whether it is silent. */
	checked_at: Generated<number | null>;
	/** `seen_at` as that check found it. */
	checked_seen_at: Generated<number | null>;
	/** How many checks in a row found nothing newer, though something was expected. */
	quiet_checks: Generated<number>;
	/** Devices that it last said it has online; null where it does not say. */
	online_count: Generated<number | null>;
	created_at: number;
	updated_at: number;
}

/** One device that a gateway sent. */
export interface CaptiveSessionsTable {
	id: Generated<number>;
	/** SHA-256 of the id in the visit's address, hex. */
	id_hash: string;
	gateway_id: number;
	/** As the browser said: a hint. */
	client_mac: string | null;
	client_ip: string | null;
	/** What was handed over (Entry as JSON), sealed: it says what the customer asked for. */
	entry_sealed: string;
	/** SHA-256 of the token of the purchase that was made, or opened, on this visit. */
	purchase_token_hash: string | null;
	/** When that purchase was last opened on it: the newest one is the device to let online. */
	bound_at: number | null;
	/** When the browser was last sent to the gateway to sign in. */
	tried_at: number | null;
	created_at: number;
	expires_at: number;
}

/** What a gateway has been told about one pass (and one device, where it lets in devices): the truth is the pass. */
export interface AccessGrantsTable {
	id: Generated<number>;
	pass_id: number;
	gateway_id: number;
	/** The visit that brought the device: what the gateway handed over with it. */
	visit_id: number | null;
	/** null where the gateway is told of a user, whatever the device. */
	mac: string | null;
	/**
	 * `granting`: to be let in, maybe is. `granted`: is in until `until_at`. `revoking`: to be put out, maybe is.
	 * `revoked`: is out. `failed`: could not be put out; the gateway does so by itself at `until_at`.
	 */
	state: 'granting' | 'granted' | 'revoking' | 'revoked' | 'failed';
	/** The end that the gateway was told. */
	until_at: number | null;
	/** The last end that it has said it knows; what it was asked without an answer is not in it. */
	confirmed_until_at: Generated<number | null>;
	granted_at: number | null;
	/** When it was wanted no longer though the pass runs: another device took its place, or nobody could be let in. */
	released_at: number | null;
	revoked_at: number | null;
	/** When its gateway was last asked to let it in and has not confirmed that: it may do so, or have done so. */
	asked_at: number | null;
	/** Goes up when it has to be told anew: what was told before does not count then. */
	revision: Generated<number>;
	/** 0 where it was made before users said which installation they are of. */
	is_marked: Generated<number>;
	attempts: Generated<number>;
	last_error: string | null;
	created_at: number;
	updated_at: number;
}

/** A device that a pass let online, proved by its gateway. */
export interface AccessDevicesTable {
	id: Generated<number>;
	pass_id: number;
	gateway_id: number;
	/** `aa:bb:cc:dd:ee:ff`, as the gateway says. */
	mac: string;
	bound_at: number;
	/** When the gateway last said that it is there. */
	seen_at: number;
	released_at: number | null;
}

/** One connection of a device as a gateway accounts for it (RFC 2866). */
export interface NetworkSessionsTable {
	id: Generated<number>;
	gateway_id: number;
	acct_session_id: string;
	/** null where it is not known who it is. */
	pass_id: number | null;
	user_name: string | null;
	mac: string | null;
	ip: string | null;
	/** Where the gateway can be asked to end it. */
	nas_address: string | null;
	nas_identifier: string | null;
	started_at: number;
	seen_at: number;
	stopped_at: number | null;
	stop_cause: string | null;
	/** The end that the gateway was told (Session-Timeout). */
	told_until: number | null;
	/** From the device. */
	bytes_in: Generated<number>;
	/** To the device. */
	bytes_out: Generated<number>;
	disconnect_state: Generated<'none' | 'asked' | 'done' | 'failed'>;
	disconnect_attempts: Generated<number>;
	last_error: string | null;
	/** How much of `bytes_in` and `bytes_out` stands in network_usage. */
	booked_in: Generated<number>;
	booked_out: Generated<number>;
}

/** Data that went through a router on one day of the installation's reports. */
export interface NetworkUsageTable {
	router_id: number;
	/** YYYY-MM-DD */
	day: string;
	/** From devices. */
	bytes_in: number;
	/** To devices. */
	bytes_out: number;
}

export interface SandboxChargesTable {
	reference: string;
	phone: string;
	amount_minor: number;
	currency: string;
	callback_url: string;
	payment_expires_at: number;
	first_seen_at: number;
	/** null while the operator only noticed the attempt during its outage. */
	queued_at: number | null;
}

export interface SandboxRefundsTable {
	reference: string;
	charge_reference: string;
	amount_minor: number;
	currency: string;
	created_at: number;
}

export interface SandboxInstructionsTable {
	charge_reference: string;
	/** One of the outcomes in operators/sandbox/scenarios.ts. */
	outcome: string;
	instructed_at: number;
}
