import type { Generated } from 'kysely';

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
