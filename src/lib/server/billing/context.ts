import type { Fenced } from '#lib/server/jobs.ts';
import type { Base } from '#lib/server/base.ts';
import type { Events } from '#lib/server/events.ts';
import type { Operators } from './operators/registry.ts';
import type { Reviews } from './reviews.ts';
import type { Routers } from '#lib/server/routers/routers.ts';
import type { Sessions } from './sessions.ts';
import type { Changes } from './payments.ts';

export interface BillingContext extends Base {
	events: Events;
	sessions: Sessions;
	routers: Routers;
	operators: Operators;
	changes: Changes;
	reviews: Reviews;
}

/** For what runs in a transaction of its caller. */
export type BillingServices = Omit<BillingContext, 'database'>;

/** For handlers of jobs. */
export type BillingJob = Fenced<BillingContext>;

export const SUBMIT_JOB = 'payment.submit';
export const RECONCILE_JOB = 'payment.reconcile';
/** Its subject is the refund, not the payment. */
export const REFUND_JOB = 'payment.refund';
