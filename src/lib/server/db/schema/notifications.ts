import type { Generated } from 'kysely';

export type Channel = 'email' | 'sms';

export interface NotificationsTable {
	id: Generated<number>;
	/** null for a buyer. */
	account_id: number | null;
	channel: Channel;
	kind: 'code' | 'unresponsive' | 'responding' | 'earnings' | 'buyer';
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
}

/** The address of an account for alerts, and its events. */
export interface AlertChannelsTable {
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
}

/** An outage with an alert. */
export interface AlertOutagesTable {
	alert_channel_id: number;
	gateway_id: number;
	since: number;
}
