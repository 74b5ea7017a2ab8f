import type { Payments } from '#lib/server/billing/payments/payments.ts';
import type { Sessions } from '#lib/server/billing/sessions/sessions.ts';
import type { Base } from '#lib/server/base.ts';
import type { CaptiveSessions } from '#lib/server/gateways/captive-sessions/captive-sessions.ts';
import type { GatewayTransport } from '#lib/server/gateways/gateway.ts';
import type { Gateways } from '#lib/server/gateways/gateways.ts';
import type { Offers } from '#lib/server/offers/offers.ts';
import type { PskCandidates } from '#lib/server/access/radius/psk-candidates.ts';
import type { Routers } from '#lib/server/routers/routers.ts';
import type { Passes } from '../../passes/passes.ts';
import type { ConcurrencyLimit } from './grants/concurrency-limit.ts';

export interface ProvisioningContext extends Base {
	gateways: Gateways;
	routers: Routers;
}

export interface AccessContext extends ProvisioningContext {
	captiveSessions: CaptiveSessions;
	sessions: Sessions;
	payments: Payments;
	passes: Passes;
	transport: GatewayTransport;
	concurrencyLimit: ConcurrencyLimit;
	offers: Pick<Offers, 'checkHeld'>;
	pskCandidates: PskCandidates;
}
