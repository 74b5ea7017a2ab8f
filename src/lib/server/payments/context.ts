import type { Audit } from '../audit/audit.ts';
import type { Clock } from '../clock.ts';
import type { Config } from '../config.ts';
import type { Database } from '../db/database.ts';
import type { Events } from '../events/events.ts';
import type { Jobs } from '../jobs/jobs.ts';
import type { Log } from '../log.ts';
import type { Operators } from '../operators/registry.ts';
import type { Reviews } from '../reviews/reviews.ts';
import type { Routers } from '../routers/routers.ts';
import type { Secrets } from '../secrets.ts';
import type { Sessions } from '../sessions/sessions.ts';
import type { Changes } from './changes.ts';

/** What the parts of the payments noun share. */
export interface PaymentsContext {
	database: Database;
	clock: Clock;
	config: Config;
	secrets: Secrets;
	jobs: Jobs;
	events: Events;
	log: Log;
	sessions: Sessions;
	routers: Routers;
	operators: Operators;
	changes: Changes;
	audit: Audit;
	reviews: Reviews;
}

/** Sends the request to the operator (the outbox). */
export const SUBMIT_JOB = 'payment.submit';
/** Asks the operator what became of it. */
export const RECONCILE_JOB = 'payment.reconcile';
/** Sends money back; its subject is the refund. */
export const REFUND_JOB = 'payment.refund';
