import type { Generated } from 'kysely';
import type { AccessKind } from '#lib/domain/access-kind.ts';
import type { WifiSecurity } from '#lib/domain/wifi/wifi-qr.ts';

export interface RoutersTable {
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
	/** JSON array of offers; see routers/offers.ts. */
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
	/** When it sells, see domain/time/opening-hours.ts; null: always. */
	opening_hours: Generated<string | null>;
}

export interface PriceChangesTable {
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
}

/** The list of offers that an account set, in full. */
export interface OfferChangesTable {
	id: Generated<number>;
	router_id: number;
	hourly: number;
	offers: string;
	account_id: number;
	/** null if a signed-in person made the change. */
	api_key_id: number | null;
	changed_at: number;
}

/** Branding of an account, for all its routers. */
export interface BrandsTable {
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
}
