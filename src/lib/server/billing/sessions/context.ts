import type { Base } from '#lib/server/base.ts';
import type { createProvisioning } from '#lib/server/access/access.ts';
import type { Passes } from '#lib/server/access/passes/passes.ts';
import type { Events } from '#lib/server/events/events.ts';
import type { Routers } from '#lib/server/routers/routers.ts';
import type { Operators } from '../operators/registry.ts';

export interface SessionsContext extends Base {
	events: Events;
	routers: Routers;
	operators: Operators;
	passes: Passes;
	provisioning: ReturnType<typeof createProvisioning>;
}

/** One per session: cancels an unpaid session, expires a paid one. Stored jobs have this kind. */
export const SESSION_END_JOB = 'session.settle';
