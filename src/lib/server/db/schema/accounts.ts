import type { Generated } from 'kysely';

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
	/** JSON array of scopes; empty for all scopes of the role. */
	scopes: string;
	created_at: number;
	expires_at: number | null;
	last_used_at: number | null;
	revoked_at: number | null;
	form_token: string | null;
}

export interface FailedSignInsTable {
	/** SHA-256, hex. */
	subject: string;
	failures: number;
	failed_at: number;
}
