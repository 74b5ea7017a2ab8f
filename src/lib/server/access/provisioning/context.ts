import type { Payments } from '#lib/server/billing/payments/payments.ts';
import type { Sessions } from '#lib/server/billing/sessions/sessions.ts';
import type { Config } from '#lib/server/config/config.ts';
import type { Database } from '#lib/server/db/database.ts';
import type { CaptiveSessions } from '#lib/server/gateways/captive-sessions/captive-sessions.ts';
import type { GatewayTransport } from '#lib/server/gateways/gateway.ts';
import type { Gateways } from '#lib/server/gateways/gateways.ts';
import type { Jobs } from '#lib/server/jobs/jobs.ts';
import type { Clock } from '#lib/server/platform/clock.ts';
import type { Log } from '#lib/server/platform/log.ts';
import type { Offers } from '#lib/server/offers/offers.ts';
import type { PskCandidates } from '#lib/server/radius/psk-candidates.ts';
import type { Routers } from '#lib/server/routers/routers.ts';
import type { Passes } from '../passes/passes.ts';
import type { ConcurrencyLimit } from './grants/concurrency-limit.ts';

export interface ProvisioningContext {
	clock: Clock;
	jobs: Jobs;
	gateways: Gateways;
	routers: Pick<Routers, 'findOrThrow'>;
	config: Pick<Config, 'mode'>;
}

export interface AccessContext extends ProvisioningContext {
	database: Database;
	log: Log;
	captiveSessions: CaptiveSessions;
	sessions: Sessions;
	payments: Payments;
	passes: Passes;
	routers: Routers;
	transport: GatewayTransport;
	concurrencyLimit: ConcurrencyLimit;
	offers: Pick<Offers, 'checkHeld'>;
	pskCandidates: PskCandidates;
}
