import type { Audit } from '#lib/server/audit/audit.ts';
import type { Clock } from '#lib/server/platform/clock.ts';
import type { Config } from '#lib/server/config/config.ts';
import type { Database } from '#lib/server/db/database.ts';
import type { Events } from '#lib/server/events/events.ts';
import type { Jobs } from '#lib/server/jobs/jobs.ts';
import type { Log } from '#lib/server/platform/log.ts';
import type { Operators } from '../operators/registry.ts';
import type { Reviews } from '../reviews/reviews.ts';
import type { Routers } from '#lib/server/routers/routers.ts';
import type { Secrets } from '#lib/server/platform/secrets.ts';
import type { Sessions } from '../sessions/sessions.ts';
import type { Changes } from './changes.ts';

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

export const SUBMIT_JOB = 'payment.submit';
export const RECONCILE_JOB = 'payment.reconcile';
/** Its subject is the refund, not the payment. */
export const REFUND_JOB = 'payment.refund';
