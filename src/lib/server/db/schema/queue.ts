import type { Generated } from 'kysely';

export interface EventsTable {
	/** `evt_<ULID>` */
	id: string;
	type: string;
	account_id: number;
	router_id: number;
	session_id: number;
	payment_id: number | null;
	/** JSON of the API object at the time of the event, without the password; `{}` once deleted. */
	data: string;
	created_at: number;
}

export interface JobsTable {
	id: Generated<number>;
	kind: string;
	subject_id: number;
	/** Shares a concurrency limit with other jobs (jobs/jobs.ts); null for most kinds. */
	group_id: Generated<number | null>;
	run_at: number;
	attempts: Generated<number>;
	/** Counts its schedulings, so that a wake-up while it runs is not lost. */
	wakes: Generated<number>;
	lease_owner: string | null;
	lease_until: number | null;
	last_error: string | null;
	created_at: number;
}
