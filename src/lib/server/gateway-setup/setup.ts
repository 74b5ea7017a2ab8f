import { binder } from '#lib/server/platform/bind.ts';
import { ownerGateways } from './owner-gateways.ts';
import { addGateway, changeGateway, configOf, statusOf, type GatewaySetupContext } from './steps.ts';

export { type TestResult } from './owner-gateways.ts';
export { MAX_OWN_GATEWAYS, OWN_KINDS, type OwnInput, type OwnKind } from './owner-input.ts';

/** The steps from a new gateway to one that works, for the command line and the owner pages. */
export function createGatewaySetup(context: GatewaySetupContext) {
	const bind = binder(context);
	return {
		add: bind(addGateway),
		change: bind(changeGateway),
		configOf: bind(configOf),
		statusOf: bind(statusOf),
		owner: ownerGateways(context)
	};
}
