import type { AccessKind, WifiSecurity } from '#lib/domain/wifi.ts';
import type { Generated, Selectable } from 'kysely';

/**
 * The tables, the same on SQLite and PostgreSQL. Integers hold ids, money (minor units), instants (`*_at`, ms since
 * the epoch) and flags (0 or 1). Text holds the rest, with lists and documents as JSON.
 * Only better-auth uses the tables `sign_in_*` (authentication/sign-in.ts), so only the one with sealed values is listed.
 */
export interface Schema {
	accounts: {
		id: Generated<number>;
		email: string;
		role: 'app' | 'owner' | 'admin' | 'staff';
		/** The owner for whom a person of the role staff works; null for others, and after removal. */
		employer_id: Generated<number | null>;
		staff_role: Generated<'manager' | 'cashier' | null>;
		plan: 'default' | 'enterprise' | 'portal';
		status: 'active' | 'suspended';
		created_at: number;
	};
	api_keys: {
		id: Generated<number>;
		account_id: number;
		name: string;
		/** SHA-256 of the whole key, hex. */
		hash: string;
		hint: string;
		role: 'app' | 'owner' | 'admin';
		/** JSON array of scopes; empty for all scopes of the role. */
		scopes: string;
		created_at: number;
		expires_at: number | null;
		last_used_at: number | null;
		revoked_at: number | null;
		form_token: string | null;
	};
	/** Shared by all processes (billing/operators/client.ts). */
	operator_tokens: {
		/** SHA-256 of the request for the token, hex. */
		name: string;
		/** '' before the first one. */
		token_sealed: Generated<string>;
		/** When to renew it. */
		valid_until: Generated<number>;
		/** Until then one process asks for a new one, and others wait; 0 for nobody. */
		claimed_until: number;
	};
	/** A person whom an owner has invited, and who has not accepted. */
	staff_invitations: {
		id: Generated<number>;
		employer_id: number;
		email: string;
		staff_role: 'manager' | 'cashier';
		/** SHA-256 of the token in the emailed link, hex; null without one. */
		token_hash: string | null;
		invited_at: number;
	};
	/** An administrator looks at the pages of an owner. */
	owner_views: {
		id: Generated<number>;
		account_id: number;
		admin_id: number;
		/** Id of the administrator's sign-in session, the only one that sees the pages. */
		sign_in_session: string;
		reason: string;
		started_at: number;
		ends_at: number;
		/** null while it runs. */
		ended_at: number | null;
	};
	failed_sign_ins: {
		/** SHA-256, hex. */
		subject: string;
		failures: number;
		failed_at: number;
	};
	/** Only better-auth reads and writes it (authentication/sign-in.ts). */
	sign_in_second_factors: {
		id: string;
		/** The key that the person's app has, sealed. */
		secret_sealed: string;
		/** JSON array of the unused recovery codes, sealed. */
		backup_codes_sealed: string;
	};
	routers: {
		id: Generated<number>;
		owner_account_id: number;
		/** The owner's id of the router (from an import); unique per owner. */
		external_id: string | null;
		name: string;
		address: string | null;
		ssid: string;
		/** 1 if the network does not announce its SSID. */
		hidden: Generated<number>;
		security: WifiSecurity;
		lat: number;
		lon: number;
		price_minor: number;
		currency: string;
		status: 'online' | 'offline';
		/** JSON array of slugs besides `mobile_money`, which every router accepts. */
		payment_methods: string;
		min_duration: string;
		max_duration: string;
		/** JSON array of offers; see routers/offer-list.ts. */
		offers: Generated<string>;
		last_offer_id: Generated<number>;
		/** 0 if only the offers are sold. */
		hourly: Generated<number>;
		access_kind: Generated<AccessKind>;
		/** The Wi-Fi network's own password, if buyers get another one; sealed. */
		network_password_sealed: Generated<string | null>;
		/** Devices of a pass that may be online at the same time. */
		max_devices: Generated<number>;
		/** When the last of its gateways stopped responding; null while one responds, or if none is expected to. */
		unresponsive_since: Generated<number | null>;
		/** When one of its gateways first responded; null if none has. */
		responded_at: Generated<number | null>;
		/** When an administrator confirmed that buyers get access without a gateway here; null if none did. */
		access_confirmed_at: Generated<number | null>;
		created_at: number;
		updated_at: number;
		disabled_at: number | null;
		/** 0 if an administrator disabled it: then only an administrator enables it. */
		disabled_by_owner: Generated<number>;
		/** Closed for new orders until then; null, or in the past, if it is not. */
		paused_until: Generated<number | null>;
		/** When it sells, see domain/opening-hours.ts; null: always. */
		opening_hours: Generated<string | null>;
		/** 0 if passes do not get back the time of an outage. */
		gives_time_back: Generated<number>;
	};
	/** From the first to the last moment in which none of the gateways of a router answered (gateways/outages.ts). */
	outages: {
		id: Generated<number>;
		router_id: number;
		began_at: number;
		/** The last check without an answer. */
		checked_at: number;
		/** null while it lasts. */
		ended_at: number | null;
		/** When its passes had their time back. */
		given_at: Generated<number | null>;
	};
	price_changes: {
		id: Generated<number>;
		router_id: number;
		old_price_minor: number;
		new_price_minor: number;
		currency: string;
		/** null for an import; the audit log names the person. */
		account_id: number | null;
		/** null if a signed-in person made the change. */
		api_key_id: number | null;
		changed_at: number;
	};
	/** The list of offers that an account set, in full. */
	offer_changes: {
		id: Generated<number>;
		router_id: number;
		hourly: number;
		offers: string;
		account_id: number;
		/** null if a signed-in person made the change. */
		api_key_id: number | null;
		changed_at: number;
	};
	/** Branding of an account, for all its routers. */
	brands: {
		account_id: number;
		name: string | null;
		/** Phone number for buyers, as the owner wrote it. */
		contact: string | null;
		/** For example `#0a6b4b`. */
		accent: string | null;
		/** Hash of the bytes, with `.svg` or `.png`. */
		logo_file: string | null;
		/** base64 */
		logo_data: string | null;
		/** In pixels or SVG units; only the ratio is used. */
		logo_width: number | null;
		logo_height: number | null;
		updated_at: number;
		updated_by: number;
	};
	sessions: {
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
		/** The payment that bought the time; until then, the newest one. */
		payment_id: number | null;
		/** The session whose pass the buyer asked to extend; null for a new pass. */
		extends_session_id: Generated<number | null>;
		/** Of an extension from the order on; null until a session begins a pass of its own. */
		pass_id: Generated<number | null>;
		/** Copied from the router when the time was ordered. */
		access_kind: Generated<AccessKind>;
		max_devices: Generated<number>;
		/** The offer that was bought; null for time at the hourly price. */
		offer_id: Generated<number | null>;
		offer_name: Generated<string | null>;
		/** Limits of the offer; null without one. */
		speed_down_kbps: Generated<number | null>;
		speed_up_kbps: Generated<number | null>;
		data_limit_mb: Generated<number | null>;
		payment_due_at: number;
		starts_at: number | null;
		expires_at: number | null;
		ended_at: number | null;
		created_at: number;
		updated_at: number;
	};
	extra_time: {
		id: Generated<number>;
		session_id: number;
		/** The person who gave it; after an outage the owner of the router. */
		account_id: number;
		/** Names the form, or the outage and the pass. */
		form: string;
		seconds: number;
		/** The outage that took the time; null if a person gave it. */
		outage_id: Generated<number | null>;
		created_at: number;
	};
	/** Vouchers for one offer of a router, on the terms of that day (billing/vouchers.ts). */
	voucher_batches: {
		id: Generated<number>;
		owner_account_id: number;
		router_id: number;
		offer_id: number;
		offer_name: string;
		duration: string;
		duration_seconds: number;
		amount_minor: number;
		currency: string;
		max_devices: number;
		speed_down_kbps: number | null;
		speed_up_kbps: number | null;
		data_limit_mb: number | null;
		/** Vouchers to print; 0: they are sold one at a time. */
		size: number;
		/** Who sells the printed vouchers; null: the owner and the staff. */
		seller: string | null;
		/** Share of the price that the seller keeps. */
		commission_basis_points: Generated<number>;
		/** The person who made it. */
		account_id: number;
		/** Names the form. */
		form: Generated<string | null>;
		printed_at: Generated<number | null>;
		created_at: number;
	};
	vouchers: {
		id: Generated<number>;
		batch_id: number;
		/** Keyed hash. */
		code_hash: string;
		status: 'unsold' | 'sold' | 'redeemed' | 'void';
		sold_at: Generated<number | null>;
		/** null: sold outside of Airtill, and known since it was redeemed. */
		sold_by: Generated<number | null>;
		redeemed_at: Generated<number | null>;
		/** The session that it paid for. */
		session_id: Generated<number | null>;
		void_at: Generated<number | null>;
		void_by: Generated<number | null>;
		/** The count of cash that has its price; null while the person has the cash. */
		closing_id: Generated<number | null>;
		/** SHA-256 of the token of the form that sold it, from which its code is derived. */
		form: Generated<string | null>;
		created_at: number;
	};
	/** A person counted the cash of the vouchers that they sold since the last time. */
	cash_closings: {
		id: Generated<number>;
		owner_account_id: number;
		account_id: number;
		vouchers: number;
		expected_minor: number;
		counted_minor: number;
		currency: string;
		note: string;
		/** Names the form. */
		form: string;
		created_at: number;
	};
	/** Never changed or deleted; posted by triggers (billing/books.ts). */
	book_entries: BookEntry & { id: Generated<number> };
	/** A view: the entries that follow from the rows of `source`. */
	due_entries: BookEntry & { source: 'payments' | 'vouchers' | 'cash_closings' };
	/** The same of payouts. */
	due_payouts: BookEntry & { source: 'payouts' };
	/** Where an owner wants to be paid. The newest one that is usable counts; never changed but for `cancelled_at`. */
	payout_destinations: {
		id: Generated<number>;
		owner_account_id: number;
		/** A payment method, or `bank`. */
		method: string;
		/** A number in E.164; of `bank` what the owner wrote. */
		address: string;
		/** The person who entered it. */
		account_id: number;
		usable_at: number;
		/** Replaced before it was usable. */
		cancelled_at: Generated<number | null>;
		created_at: number;
	};
	/** Money to owners (billing/payouts.ts). */
	payouts: {
		id: Generated<number>;
		/** Names the run, which is a form. */
		run: string;
		owner_account_id: number;
		method: string;
		address: string;
		/** The adapter that sends it; null: a person does, with a file. */
		operator: string | null;
		/** UUID v4: our reference at the operator, stored before the call. */
		reference: string;
		amount_minor: number;
		currency: string;
		status: 'proposed' | 'open' | 'paid' | 'failed' | 'cancelled';
		submit_state: 'created' | 'submitting' | 'accepted' | 'uncertain';
		submitted_at: Generated<number | null>;
		/** The operator's transaction id. */
		provider_reference: Generated<string | null>;
		/** What the operator answered last, redacted, or why a person ended it. */
		answer: Generated<string | null>;
		/** Actors of the audit log. */
		created_by: string;
		approved_by: string | null;
		created_at: number;
		/** When it left the owner's account in the books. */
		approved_at: number | null;
		paid_at: Generated<number | null>;
		failed_at: Generated<number | null>;
		updated_at: number;
	};
	payments: {
		id: Generated<number>;
		session_id: number;
		account_id: number;
		/** The adapter, e.g. `sandbox`. */
		operator: string;
		payment_method: string;
		/** UUID v4: our reference at the operator, stored before the call. */
		reference: string;
		/** The operator's own name of the request. */
		operator_reference: string | null;
		amount_minor: number;
		currency: string;
		phone: string;
		/** Keyed hash of the buyer's network, for the limits of prompts; null for the API. */
		network: Generated<string | null>;
		/** The same of the /56 and /48 of an IPv6 address. */
		network_56: Generated<string | null>;
		network_48: Generated<string | null>;
		/** Keyed hash of a device that a gateway redirected, in its network. */
		device: Generated<string | null>;
		status: 'pending' | 'success' | 'failed' | 'expired' | 'refund_pending' | 'refunded' | 'refund_failed';
		/** State of the request to the operator; decides whether it may be sent again. */
		submit_state: 'created' | 'submitting' | 'accepted' | 'refused' | 'uncertain';
		submitted_at: number | null;
		/** Consecutive status reads that did not know the reference. */
		not_found_count: Generated<number>;
		/** 1 if it bought the session's time. */
		applied: Generated<number>;
		failure_code: string | null;
		failure_message: string | null;
		/** The operator's transaction id. */
		provider_reference: string | null;
		settled_minor: number | null;
		settled_currency: string | null;
		commission_basis_points: number;
		/** Claim of an authentic callback (CallbackClaim as JSON). */
		claim: string | null;
		/** When an import found it in the operator's statement. */
		statement_at: number | null;
		expires_at: number;
		paid_at: number | null;
		refunded_at: number | null;
		refund_reason: string | null;
		created_at: number;
		updated_at: number;
	};
	refunds: {
		id: Generated<number>;
		payment_id: number;
		reference: string;
		amount_minor: number;
		currency: string;
		reason: string;
		status: 'pending' | 'succeeded' | 'failed';
		submit_state: 'created' | 'submitting' | 'accepted' | 'refused' | 'uncertain';
		operator_reference: string | null;
		/** Claim of an authentic callback (CallbackClaim as JSON). */
		claim: string | null;
		submitted_at: number | null;
		created_at: number;
		updated_at: number;
	};
	operator_messages: {
		id: Generated<number>;
		payment_id: number;
		kind: 'submit' | 'status' | 'callback' | 'refund';
		/** Short result, e.g. `accepted`, `pending`, `succeeded`. */
		outcome: string;
		/** The operator's message, redacted and truncated. */
		raw: string | null;
		received_at: number;
	};
	/** Decisions about money that a person must make. */
	reviews: {
		id: Generated<number>;
		/** null if a statement's transaction matches no payment. */
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
	};
	/** Decisions that moved money or resolved a review. */
	audit_log: {
		id: Generated<number>;
		at: number;
		/** `reconciler`, `refunds`, `account` with its id, or a person's name from the command line. */
		actor: string;
		action: string;
		payment_id: number | null;
		refund_id: number | null;
		/** The router whose settings were changed. */
		router_id: Generated<number | null>;
		reason: string;
		/** JSON */
		before: string;
		/** JSON */
		after: string;
	};
	purchases: {
		id: Generated<number>;
		token_hash: string;
		router_id: number;
		duration: string;
		/** null for time at the hourly price. */
		offer_id: Generated<number | null>;
		payment_method: string;
		phone: string;
		/** The price that the buyer saw and accepted. */
		amount_minor: number;
		currency: string;
		session_id: number | null;
		/** The unpaid session that this purchase replaced. */
		replaces_session_id: number | null;
		/** JSON array of payment ids, oldest first. */
		payment_ids: Generated<string>;
		/** Keyed hash of the resume code; null for added time, and for old purchases until they are opened. */
		code_hash: Generated<string | null>;
		/** The token, sealed: buyers with the resume code get it. */
		token_sealed: Generated<string | null>;
		/** For added time: the purchase whose page shows it. */
		extends_purchase_id: Generated<number | null>;
		/** For added time: the session to extend. */
		extends_session_id: Generated<number | null>;
		/** Keyed hash of the router and of the number that was asked to pay last. */
		number_hash: Generated<string | null>;
		/** JSON array of keyed hashes: the network, page and captive session of the order (portal/ordering.ts). */
		asked_from: Generated<string | null>;
		created_at: number;
		updated_at: number;
	};
	events: {
		/** `evt_<ULID>` */
		id: string;
		type: string;
		account_id: number;
		router_id: number;
		session_id: number;
		payment_id: number | null;
		/** JSON of the API object at the time of the event, without the password; `{}` once deleted. */
		data: string;
		created_at: number;
	};
	jobs: {
		id: Generated<number>;
		kind: string;
		subject_id: number;
		/** Shares a concurrency limit with other jobs (jobs.ts); null for most kinds. */
		group_id: Generated<number | null>;
		run_at: number;
		attempts: Generated<number>;
		/** Counts its schedulings, so that a wake-up while it runs is not lost. */
		wakes: Generated<number>;
		lease_owner: string | null;
		lease_until: number | null;
		last_error: string | null;
		created_at: number;
	};
	idempotent_answers: {
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
	};
	request_log: {
		id: Generated<number>;
		account_id: number;
		key_id: number;
		at: number;
		method: string;
		/** Without the query and possible secrets. */
		path: string;
		status: number;
		error_code: string | null;
		duration_ms: number;
		request_id: string;
	};
	webhook_endpoints: {
		id: Generated<number>;
		account_id: number;
		/** As registered. */
		url: string;
		/** The normalised URL, to which deliveries go. Unique per account. */
		address: string;
		/** JSON array of event names, as JSON.stringify writes it. */
		events: string;
		status: 'active' | 'disabled';
		/** `gone`: the receiver answered 410; `failing`: no success for five days; `manual`: the account disabled it. */
		disabled_reason: 'gone' | 'failing' | 'manual' | null;
		secret_sealed: string;
		/** Signs until `old_secret_until`, after a rotation. */
		old_secret_sealed: string | null;
		old_secret_until: number | null;
		/** Precise to a minute. */
		last_success_at: number | null;
		/** First failed attempt since the last success. */
		failing_since: number | null;
		failing_noticed: Generated<number>;
		notice: 'failing' | 'disabled' | null;
		notice_lease_until: number | null;
		created_at: number;
		updated_at: number;
	};
	webhook_deliveries: {
		id: Generated<number>;
		endpoint_id: number;
		/** `evt_<ULID>`; a test has no row in `events`. */
		event_id: string;
		type: string;
		/** The bytes to send, sealed because they may contain a phone number. */
		body_sealed: string;
		status: 'pending' | 'delivered' | 'failed';
		attempts: Generated<number>;
		/** Attempts since its creation or last replay; they decide the next delay. */
		tries: Generated<number>;
		next_attempt_at: number | null;
		last_status_code: number | null;
		last_failure: string | null;
		last_attempt_at: number | null;
		created_at: number;
		updated_at: number;
	};
	webhook_attempts: {
		id: Generated<number>;
		delivery_id: number;
		started_at: number;
		duration_ms: number;
		status_code: number | null;
		failure: string | null;
		/** Beginning of the response body, redacted. */
		response: string | null;
	};
	/** A gateway on a router, which sends devices without internet to `/splash/{key}`. */
	gateways: {
		id: Generated<number>;
		router_id: number;
		kind: 'opennds' | 'mikrotik' | 'mikrotik-fetch' | 'coova' | 'unifi' | 'hostapd';
		name: string;
		/** SHA-256 of the key in its portal address, hex. */
		key_hash: string;
		key_sealed: string;
		/** JSON array of `host` or `host:port`. */
		login_hosts: string;
		/** null if the gateway shares none. */
		secret_sealed: string | null;
		/** GatewaySettings as JSON. */
		settings: string;
		/** GatewayCredentials as JSON, sealed. */
		credentials_sealed: Generated<string | null>;
		/** Marks our users there; null: derived from the secret that seals the key. */
		installation: Generated<string | null>;
		/** Its last authenticated message. */
		seen_at: Generated<number | null>;
		/** When it stopped responding; null while it responds. */
		unresponsive_since: Generated<number | null>;
		/** Its clock minus ours, at the last measurement. */
		clock_offset_ms: Generated<number | null>;
		/** Why the last call failed, for people; null if it succeeded. */
		trouble: Generated<string | null>;
		checked_at: Generated<number | null>;
		checked_seen_at: Generated<number | null>;
		/** Consecutive checks without an expected message. */
		missed_checks: Generated<number>;
		/** First moment of these without an answer; null while Airtill did not ask either. */
		silent_since: Generated<number | null>;
		/** Devices online by its last report; null if it sends none. */
		online_count: Generated<number | null>;
		/** How it last named a device that is no MAC address, its digits as `x`; '' for no name, null for never. */
		unread_device: Generated<string | null>;
		unread_device_at: Generated<number | null>;
		/** When its removal began, which disconnects its devices. */
		removing_at: Generated<number | null>;
		created_at: number;
		updated_at: number;
	};
	/** Whose an access point is, as an administrator decided. */
	access_point_owners: {
		/** `aa:bb:cc:dd:ee:ff` */
		access_point: string;
		owner_account_id: number;
		decided_at: number;
	};
	/** One visit of a device that a gateway redirected. */
	captive_sessions: {
		id: Generated<number>;
		/** SHA-256 of the id in its address, hex. */
		id_hash: string;
		gateway_id: number;
		/** From the browser, so only a hint. */
		client_mac: string | null;
		client_ip: string | null;
		/** Entry as JSON, sealed because it contains the address that the buyer requested. */
		entry_sealed: string;
		/** SHA-256 of the token of its purchase, hex. */
		purchase_token_hash: string | null;
		/** When that purchase was last opened in it. The newest captive session has the device to connect. */
		bound_at: number | null;
		/** When the browser was last sent to the gateway to sign in. */
		tried_at: number | null;
		created_at: number;
		expires_at: number;
	};
	/** The right to be online at a router from `starts_at` to `ends_at`. Sessions buy its time. */
	passes: {
		/** Id of its first session. The API and the usernames at gateways show it. */
		id: number;
		router_id: number;
		access_kind: AccessKind;
		max_devices: number;
		/** null without a limit; the same for all sessions of the pass. */
		speed_down_kbps: Generated<number | null>;
		speed_up_kbps: Generated<number | null>;
		/** Of all its sessions together; null without a limit. */
		data_limit_mb: Generated<number | null>;
		/** Up and down, by all devices; null if no gateway has reported any. */
		data_used_bytes: Generated<number | null>;
		/** null until a gateway confirms the pass, and after a refund of an unused pass. */
		starts_at: number | null;
		ends_at: number | null;
		/** A paid pass waits for a gateway until then; afterwards it is refunded. */
		activating_until: number | null;
		/** Sealed with AES-256-GCM; erased at the end of the pass. */
		password_sealed: string | null;
		created_at: number;
		updated_at: number;
	};
	/** Access of one device, or user, of a pass at one gateway. */
	admissions: {
		id: Generated<number>;
		pass_id: number;
		gateway_id: number;
		/** The captive session of the device. Its parameters let the gateway sign the device in. */
		captive_session_id: number | null;
		/** null if the gateway lets in a user, on any device. */
		mac: string | null;
		created_at: number;
		/** When the pass gave it up: at its end, after a move or a refund, or when the gateway was removed. */
		released_at: number | null;
		/** The end last sent, stored before the call, or fetched; null if the gateway lets nobody in for it. */
		sent_until: number | null;
		/** The end that the gateway last confirmed, or when it disconnected. */
		allowed_until: number | null;
		/** Since when the gateway lets it in; null if that is not known (any more). */
		allowed_at: number | null;
		/** The last call without an answer: the gateway may still carry it out. Names the call that is on its way. */
		unanswered_at: number | null;
		/** After a failed call: when to try again. Otherwise when to read the counter. */
		check_at: number | null;
		/** Why the last call failed; null if it did not. */
		problem: string | null;
		/** The device's counter as its gateway reported it last, up and down together. */
		data_bytes: Generated<number>;
		data_reported_at: Generated<number | null>;
	};
	device_slots: {
		id: Generated<number>;
		pass_id: number;
		gateway_id: number;
		/** `aa:bb:cc:dd:ee:ff`, from the gateway. */
		mac: string;
		bound_at: number;
		reported_at: number;
		/** The end that a gateway without reports (BinAuth) enforces; null for others. */
		expected_until: Generated<number | null>;
		released_at: number | null;
	};
	/** One connection of a device as a gateway accounts for it (RFC 2866). */
	connections: {
		id: Generated<number>;
		gateway_id: number;
		acct_session_id: string;
		/** null if the report names no known pass. */
		pass_id: number | null;
		user_name: string | null;
		mac: string | null;
		ip: string | null;
		nas_address: string | null;
		nas_identifier: string | null;
		started_at: number;
		seen_at: number;
		stopped_at: number | null;
		stop_cause: string | null;
		/** The end that the gateway enforces (Session-Timeout). */
		enforced_until: number | null;
		/** From the device. */
		bytes_in: Generated<number>;
		/** To the device. */
		bytes_out: Generated<number>;
		/** The counters of the last report, which may differ from the bytes (access/radius-accounting.ts); null before the first. */
		counter_in: number | null;
		counter_out: number | null;
		disconnect_state: Generated<'none' | 'asked' | 'done' | 'failed'>;
		disconnect_attempts: Generated<number>;
		/** When a call without success is repeated; null for now. */
		check_at: Generated<number | null>;
		last_error: string | null;
	};
	notifications: {
		id: Generated<number>;
		/** null for a buyer. */
		account_id: number | null;
		channel: Channel;
		kind: 'code' | 'unresponsive' | 'responding' | 'earnings' | 'reviews' | 'buyer' | 'payout';
		/** Names its reason, for example `purchase … 0`. */
		key: string;
		/** Email address, or number in E.164. */
		address: string;
		/** Subject and text as JSON, sealed; null after the last try. */
		content_sealed: string | null;
		/** `uncertain`: it may have been sent. */
		status: 'queued' | 'sending' | 'sent' | 'failed' | 'uncertain';
		tries: Generated<number>;
		/** Of all its parts. */
		price_minor: number;
		currency: string;
		created_at: number;
	};
	/** The address of an account for alerts, and its events. */
	alert_channels: {
		id: Generated<number>;
		account_id: number;
		channel: Channel;
		address: string;
		locale: string;
		/** JSON array of events. */
		events: Generated<string>;
		/** null until the person has entered the code. */
		confirmed_at: number | null;
		/** Keyed hash. */
		code_hash: string | null;
		code_until: number | null;
		code_tries: Generated<number>;
		/** The last day whose takings were sent, YYYY-MM-DD. */
		earnings_day: Generated<string | null>;
		/** The newest review with an alert. */
		review_id: Generated<number>;
	};
	/** An outage with an alert. */
	alert_outages: {
		alert_channel_id: number;
		gateway_id: number;
		since: number;
	};
	sandbox_charges: {
		reference: string;
		phone: string;
		amount_minor: number;
		currency: string;
		callback_url: string;
		payment_expires_at: number;
		first_seen_at: number;
		/** null if the charge arrived during an outage and is not queued yet. */
		queued_at: number | null;
	};
	sandbox_refunds: {
		reference: string;
		charge_reference: string;
		amount_minor: number;
		currency: string;
		created_at: number;
	};
}

interface BookEntry {
	kind:
		| 'payment'
		| 'correction'
		| 'refund'
		| 'unapplied_payment'
		| 'unapplied_refund'
		| 'voucher'
		| 'voucher_void'
		| 'cash_difference'
		| 'payout'
		| 'payout_failed'
		| 'payout_late';
	/** Of the payment, voucher, cash closing or payout that it follows from. */
	source_id: number;
	/** When it counts. */
	at: number;
	/** An account of the books. */
	debit: string;
	credit: string;
	amount_minor: number;
	/** Of the fee or commission that moves with the amount; null: none can. */
	fee_debit: string | null;
	fee_credit: string | null;
	fee_minor: number;
	currency: string;
	owner_account_id: number;
	/** null for the cash of several routers. */
	router_id: number | null;
	/** null for time at the hourly price. */
	offer_name: string | null;
	payment_method: string;
}

/** A row as it is read. */
export type Row<Table extends keyof Schema> = Selectable<Schema[Table]>;

export type Channel = 'email' | 'sms';

export type AdmissionsTable = Schema['admissions'];
export type DeviceSlotsTable = Schema['device_slots'];
export type ConnectionsTable = Schema['connections'];
export type GatewaysTable = Schema['gateways'];
export type CaptiveSessionsTable = Schema['captive_sessions'];
