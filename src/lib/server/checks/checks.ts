import { setTimeout as sleep } from 'node:timers/promises';
import type { ProxySettings } from '../http/client-address.ts';
import type { Base } from '../base.ts';
import type { Operators } from '../billing/operators/registry.ts';
import type { Payments } from '../billing/payments.ts';
import type { Reviews } from '../billing/reviews.ts';
import type { Gateways } from '../gateways/gateways.ts';
import type { Routers } from '../routers/routers.ts';
import { warn, type Finding } from './finding.ts';
import { checkGateways } from './gateways.ts';
import { checkAddresses, checkBackup, checkDisk } from './installation.ts';
import { storedOperatorFindings } from './operators.ts';

export type { Finding } from './finding.ts';

export interface ChecksContext extends Base {
	operators: Operators;
	payments: Payments;
	reviews: Reviews;
	gateways: Gateways;
	routers: Routers;
}

/** A page waits no longer. */
const LIMIT_MS = 3_000;

/** The checks of `airtill doctor` that call nobody, so that a page may run them. */
export const createChecks = (context: ChecksContext) => ({
	/** Each group has a time limit and cannot stop the others. */
	async findings(proxy: ProxySettings): Promise<Finding[]> {
		const { config } = context;
		const groups = {
			disk: checkDisk(config),
			backup: checkBackup(config, context.database),
			operator: storedOperatorFindings(context),
			// A remote API has its own routers and gateways.
			...(config.remoteApi ? {} : { gateways: checkGateways(context) }),
			address: checkAddresses(config, proxy)
		};
		const found = Object.entries(groups).map(([name, findings]) => inTime(context, name, findings));
		return (await Promise.all(found)).flat();
	}
});

async function inTime(
	{ log }: ChecksContext,
	name: string,
	findings: AsyncIterable<Finding> | Iterable<Finding>
): Promise<Finding[]> {
	const late = sleep(LIMIT_MS, [warn(name, 'not checked in time', 'run "airtill doctor"')], { ref: false });
	const found = Array.fromAsync(findings).catch((error: unknown) => {
		log.warn({ err: error }, 'a check failed');
		return [warn(name, 'the check itself failed', 'see the log, and run "airtill doctor"')];
	});
	return Promise.race([found, late]);
}
