import type { Generated } from 'kysely';

export interface AccountsTable {
	id: Generated<number>;
	email: string;
	role: 'app' | 'owner' | 'admin' | 'staff';
	/** The owner for whom a person of the role staff works; null for others, and after removal. */
	employer_id: Generated<number | null>;
	staff_role: Generated<'manager' | 'cashier' | null>;
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
	/** JSON array of scopes; empty for all scopes of the role. */
	scopes: string;
	created_at: number;
	expires_at: number | null;
	last_used_at: number | null;
	revoked_at: number | null;
	form_token: string | null;
}

/** An administrator looks at the pages of an owner. */
export interface OwnerViewsTable {
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
}

export interface FailedSignInsTable {
	/** SHA-256, hex. */
	subject: string;
	failures: number;
	failed_at: number;
}

/** Only better-auth reads and writes it (authentication/second-factor.ts). */
export interface SecondFactorsTable {
	id: string;
	/** The key that the person's app has, sealed. */
	secret_sealed: string;
	/** JSON array of the unused recovery codes, sealed. */
	backup_codes_sealed: string;
}
