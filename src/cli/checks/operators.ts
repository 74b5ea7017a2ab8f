import { setTimeout as sleep } from 'node:timers/promises';
import type { App } from '#lib/server/app.ts';
import { isoTime } from '#lib/server/platform/clock.ts';
import type { OperatorAdapter } from '#lib/server/billing/operators/operator.ts';
import { messageOf } from '../support/errors.ts';
import { fail, ok, warn, type Finding } from './finding.ts';

const LIMIT_MS = 10 * 1000;

export async function* checkOperators(app: App): AsyncGenerator<Finding> {
	const operators = app.operators.all();
	yield* await Promise.all(operators.map(operatorFinding));
	for (const { id, capabilities, refund } of operators) {
		if (!refund) {
			const advice = 'set its credentials for refunds, or check "review list" daily and refund by hand';
			yield warn('operator', `${id}: sends no money back`, advice);
		}
		if (capabilities.usesPortalCallback) {
			const url = app.payments.portalCallbackUrl(id);
			yield ok('operator', `${id}: the callback address for its portal is ${url}`);
		}
	}
	yield* merchantFindings(await app.payments.merchantErrors());
	const { count, oldest } = await app.reviews.countOpen();
	if (count === 0) yield ok('reviews', 'no question about money is open');
	else
		yield warn(
			'reviews',
			`${count} open, the oldest since ${isoTime(oldest)}`,
			'see "review list" and decide'
		);
	if (app.config.mode === 'live' && app.config.operators.length === 0) {
		const what = 'no mobile-money operator is configured, so nobody can pay';
		yield fail('operator', what, 'configure one (AIRTILL_MODE=sandbox needs none)');
	}
}

const MAX_QUOTE_LENGTH = 200;

function* merchantFindings(
	errors: Awaited<ReturnType<App['payments']['merchantErrors']>>
): Generator<Finding> {
	const byOperator = Map.groupBy(errors, ({ operator }) => operator);
	for (const [operator, [last, ...others]] of byOperator) {
		const times = others.length === 0 ? 'a payment' : `${others.length + 1} payments`;
		const quote = last?.raw?.slice(0, MAX_QUOTE_LENGTH) ?? '';
		const what = `${operator}: refused ${times} in 24 hours because of our account or settings, last at ${isoTime(last?.received_at ?? null)}: ${quote}`;
		yield warn('operator', what, "correct the operator's settings, then buy something as a test");
	}
}

async function operatorFinding(operator: OperatorAdapter): Promise<Finding> {
	const advice = "check the operator's credentials, and the connection to its address";
	const limit = sleep(LIMIT_MS, null, { ref: false });
	try {
		const health = await Promise.race([operator.health(), limit]);
		if (health?.ok) return ok('operator', `${operator.id} answers`);
		const reason = health ? (health.reason ?? 'it reports a problem') : `no answer in ${LIMIT_MS / 1000} s`;
		return fail('operator', `${operator.id}: ${reason}`, advice);
	} catch (error) {
		return fail('operator', `${operator.id}: ${messageOf(error)}`, advice);
	}
}
