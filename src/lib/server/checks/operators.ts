import { isoTime } from '../platform/clock.ts';
import type { ChecksContext } from './checks.ts';
import { fail, ok, warn, type Finding } from './finding.ts';

/** Reads stored data and calls no operator. */
export async function* storedOperatorFindings(app: ChecksContext): AsyncGenerator<Finding> {
	for (const { id, capabilities, refund } of app.operators.all()) {
		if (!refund) {
			const advice = 'set its credentials for refunds, or look at /admin/reviews daily and refund by hand';
			yield warn('operator', `${id}: sends no money back`, advice);
		}
		if (capabilities.usesPortalCallback) {
			const url = app.payments.portalCallbackUrl(id);
			yield ok('operator', `${id}: the callback address for its portal is ${url}`);
		}
	}
	yield* merchantFindings(await app.payments.merchantErrors());
	const { count, oldest } = await app.reviews.countOpen();
	if (count === 0) yield ok('reviews', 'no review is open');
	else
		yield warn(
			'reviews',
			`${count} open, the oldest since ${isoTime(oldest)}`,
			'decide them at /admin/reviews'
		);
	yield* promptFindings(await app.payments.crowdedPools());
	if (app.config.mode === 'live' && app.config.operators.length === 0) {
		const what = 'no mobile-money operator is configured, so nobody can pay';
		yield fail('operator', what, 'configure one (AIRTILL_MODE=sandbox needs none)');
	}
}

const ASKED_BY = {
	pages: 'buyers of the pages',
	devices: 'devices that gateways redirected',
	api: 'accounts of the API'
};

function* promptFindings(pools: Awaited<ReturnType<ChecksContext['payments']['crowdedPools']>>) {
	for (const pool of pools) {
		const what = `too many payment prompts of the last 15 minutes are unpaid: ${ASKED_BY[pool]} that have not paid in 24 hours get no more`;
		yield warn('prompts', what, 'find out who sends them, or raise UNPAID_PROMPTS_TOTAL');
	}
}

const MAX_QUOTE_LENGTH = 200;

function* merchantFindings(
	errors: Awaited<ReturnType<ChecksContext['payments']['merchantErrors']>>
): Generator<Finding> {
	const byOperator = Map.groupBy(errors, ({ operator }) => operator);
	for (const [operator, [last, ...others]] of byOperator) {
		const times = others.length === 0 ? 'a payment' : `${others.length + 1} payments`;
		const quote = last?.raw?.slice(0, MAX_QUOTE_LENGTH) ?? '';
		const what = `${operator}: refused ${times} in 24 hours because of our account or settings, last at ${isoTime(last?.received_at ?? null)}: ${quote}`;
		yield warn('operator', what, "correct the operator's settings, then buy something as a test");
	}
}
