import { setTimeout as sleep } from 'node:timers/promises';
import type { Config } from '#lib/server/config.ts';
import type { OperatorAdapter } from '#lib/server/operators/operator.ts';
import { messageOf } from '../errors.ts';
import { withApp } from '../services.ts';
import { fail, ok, type Finding } from './finding.ts';

const LIMIT_MS = 10 * 1000;

/** Whether each configured mobile-money operator answers. Builds the application. */
export async function* checkOperators(config: Config): AsyncGenerator<Finding> {
	const findings = await withApp(config, (app) => Promise.all(app.operators.all().map(operatorFinding)));
	yield* findings;
	if (findings.length === 0) {
		yield fail(
			'operator',
			'no mobile-money operator is configured, so nobody can pay',
			'configure one (AIRTILL_MODE=sandbox needs none)'
		);
	}
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
