import { setTimeout as sleep } from 'node:timers/promises';
import type { App } from '#lib/server/app.ts';
import type { OperatorAdapter } from '#lib/server/billing/operators/operator.ts';
import { fail, ok, type Finding } from '#lib/server/checks/finding.ts';
import { storedOperatorFindings } from '#lib/server/checks/operators.ts';
import { messageOf } from '#lib/server/platform/errors.ts';

const LIMIT_MS = 10 * 1000;

export async function* checkOperators(app: App): AsyncGenerator<Finding> {
	yield* await Promise.all(app.operators.all().map(operatorFinding));
	yield* storedOperatorFindings(app);
}

async function operatorFinding(operator: OperatorAdapter): Promise<Finding> {
	const advice = "check the operator's credentials, and the connection to its address";
	const limit = sleep(LIMIT_MS, `no answer in ${LIMIT_MS / 1000} s`, { ref: false });
	try {
		const problem = await Promise.race([operator.health(), limit]);
		if (problem === null) return ok('operator', `${operator.id} answers`);
		return fail('operator', `${operator.id}: ${problem}`, advice);
	} catch (error) {
		return fail('operator', `${operator.id}: ${messageOf(error)}`, advice);
	}
}
