import type { Generated } from 'kysely';

export interface IdempotentAnswersTable {
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
}

export interface RequestLogTable {
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
}
