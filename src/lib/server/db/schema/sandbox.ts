export interface SandboxChargesTable {
	reference: string;
	phone: string;
	amount_minor: number;
	currency: string;
	callback_url: string;
	payment_expires_at: number;
	first_seen_at: number;
	/** null if the charge arrived during an outage and is not queued yet. */
	queued_at: number | null;
}

export interface SandboxRefundsTable {
	reference: string;
	charge_reference: string;
	amount_minor: number;
	currency: string;
	created_at: number;
}
