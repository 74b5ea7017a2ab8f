import type { Generated } from 'kysely';

export type Channel = 'email' | 'sms';

export interface MessagesTable {
	id: Generated<number>;
	/** null for a buyer. */
	account_id: number | null;
	channel: Channel;
	kind: 'code' | 'silent' | 'back' | 'takings' | 'refunds' | 'buyer';
	/** Names its reason, for example `purchase … 0`. */
	key: string;
	/** E-mail address, or number in E.164. */
	address: string;
	/** Subject and text as JSON, sealed; null once it is not to be sent any more. */
	content_sealed: string | null;
	/** `uncertain`: it may have been sent. */
	status: 'queued' | 'sending' | 'sent' | 'failed' | 'uncertain';
	tries: Generated<number>;
	/** Of all its parts. */
	price_minor: number;
	currency: string;
	created_at: number;
}

/** Where an account gets alerts. */
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
	takings_day: Generated<string | null>;
	/** The newest review that was told. */
	review_id: Generated<number>;
}

/** An unresponsive gateway that was told. */
export interface AlertOutagesTable {
	alert_channel_id: number;
	gateway_id: number;
	since: number;
}
