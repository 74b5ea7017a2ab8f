import { setTimeout as sleep } from 'node:timers/promises';
import type { App } from '#lib/server/app.ts';
import { isoTime } from '#lib/server/platform/clock.ts';
import type { Config } from '#lib/server/config/config.ts';
import type { OperatorAdapter } from '#lib/server/billing/operators/operator.ts';
import { messageOf } from '../support/errors.ts';
import { withApp } from '../support/services.ts';
import { fail, ok, warn, type Finding } from './finding.ts';

const LIMIT_MS = 10 * 1000;

/** Whether each configured mobile-money operator answers. Builds the application. */
export async function* checkOperators(config: Config): AsyncGenerator<Finding> {
	const findings = await withApp(config, async (app) => {
		const operators = app.operators.all();
		const answers = await Promise.all(operators.map(operatorFinding));
		const addresses = operators.flatMap((operator) => portalAddress(app, operator));
		const refunds = operators.flatMap(refundFinding);
		return [...answers, ...refunds, ...addresses, await reviewFinding(app)];
	});
	yield* findings;
	if (config.mode === 'live' && config.operators.length === 0) {
		yield fail(
			'operator',
			'no mobile-money operator is configured, so nobody can pay',
			'configure one (AIRTILL_MODE=sandbox needs none)'
		);
	}
}

/** Money of such an operator that bought nothing stays until a person sends it back. */
function refundFinding({ id, refund }: OperatorAdapter): Finding[] {
	if (refund) return [];
	const advice = 'set its credentials for refunds, or see "review list" daily and send the money by hand';
	return [warn('operator', `${id}: sends no money back`, advice)];
}

/** What must be entered by hand, where an operator takes no address with a request. */
function portalAddress(app: App, { id, capabilities }: OperatorAdapter): Finding[] {
	if (!capabilities.usesPortalCallback) return [];
	return [
		ok('operator', `${id}: the callback address for its portal is ${app.payments.portalCallbackUrl(id)}`)
	];
}

/** Questions about money that wait for a person. */
async function reviewFinding(app: App): Promise<Finding> {
	const { count, oldest } = await app.reviews.countOpen();
	if (count === 0) return ok('reviews', 'nobody waits for a decision about money');
	const what = `${count} open, the oldest since ${isoTime(oldest) ?? ''}`;
	return warn('reviews', what, 'see "review list" and decide');
}

async function operatorFinding(operator: OperatorAdapter): Promise<Finding> {
	const advice = "see the operator's credentials and whether this machine reaches its address";
	const limit = sleep(LIMIT_MS, null, { ref: false });
	try {
		const health = await Promise.race([operator.health(), limit]);
		if (health?.ok) return ok('operator', `${operator.id} answers`);
		const reason = health ? (health.reason ?? 'it is not well') : `no answer in ${LIMIT_MS / 1000} s`;
		return fail('operator', `${operator.id}: ${reason}`, advice);
	} catch (error) {
		return fail('operator', `${operator.id}: ${messageOf(error)}`, advice);
	}
}
