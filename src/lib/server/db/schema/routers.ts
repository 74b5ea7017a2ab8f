import type { Generated } from 'kysely';
import type { AccessKind } from '#lib/domain/access-kind.ts';

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
	unresponsive_since: Generated<number | null>;
	created_at: number;
	updated_at: number;
	disabled_at: number | null;
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
