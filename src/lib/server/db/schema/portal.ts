import type { Generated } from 'kysely';

export interface PurchasesTable {
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
	/** Keyed hash of the router and of the number that was asked to pay last; null for purchases before migration 0070. */
	number_hash: Generated<string | null>;
	/** JSON array of keyed hashes: the network, page and captive session of the order (earlier-orders.ts). */
	asked_from: Generated<string | null>;
	created_at: number;
	updated_at: number;
}
