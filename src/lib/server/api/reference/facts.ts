import type { Config } from '#lib/server/config/config.ts';
import { MAX_BODY_BYTES } from '../http/parse.ts';
import { TEST_NUMBERS } from '#lib/server/billing/operators/sandbox/scenarios.ts';
import { WATCH_FAILED_MS } from '#lib/server/billing/payments/reconcile.ts';
import { WINDOW_MS } from '../rate-limits/rate-limits.ts';

/** What this installation is set to, in the words of the reference. */
export interface Facts {
	mode: 'sandbox' | 'live';
	/** Kind of keys that this installation takes. */
	keyPrefix: string;
	currency: string;
	region: string;
	timezone: string;
	windowSeconds: number;
	plans: { name: string; limit: string }[];
	maxFailedKeys: string;
	maxBody: string;
	timeToPay: string;
	timeToAnswer: string;
	/** How long the operator is asked on about a payment that it has not answered, and about one that failed. */
	askedFor: { unanswered: string; failed: string };
	latePayment: string;
	paymentAttempts: number;
	payerPrompts: number;
	maxPrice: string;
	/** Empty on a live installation: it refuses the sandbox. */
	testNumbers: { digits: string; description: string }[];
}

const UNITS = [
	[86_400, 'day'],
	[3_600, 'hour'],
	[60, 'minute'],
	[1, 'second']
] as const;

/** 1800 -> "30 minutes": in the largest unit that leaves no rest. */
export function spanText(seconds: number): string {
	const [size, unit] = UNITS.find(([length]) => seconds >= length && seconds % length === 0) ?? [1, 'second'];
	const count = seconds / size;
	return `${count} ${unit}${count === 1 ? '' : 's'}`;
}

const number = (value: number) => value.toLocaleString('en');

export function factsOf(config: Config): Facts {
	const isSandbox = config.mode === 'sandbox';
	return {
		mode: config.mode,
		keyPrefix: isSandbox ? 'atl_test_' : 'atl_live_',
		currency: config.currency,
		region: new Intl.DisplayNames('en', { type: 'region' }).of(config.defaultRegion) ?? config.defaultRegion,
		timezone: config.reportTimezone,
		windowSeconds: WINDOW_MS / 1000,
		plans: (['default', 'enterprise'] as const).map((name) => ({
			name,
			limit: number(config.rateLimits[name])
		})),
		maxFailedKeys: number(config.maxFailedKeys),
		maxBody: `${number(MAX_BODY_BYTES)} bytes`,
		timeToPay: spanText(config.sessionPaymentMs / 1000),
		timeToAnswer: spanText(config.paymentTimeoutMs / 1000),
		askedFor: {
			unanswered: spanText(config.reconcileMs / 1000),
			failed: spanText(WATCH_FAILED_MS / 1000)
		},
		latePayment: spanText(config.latePaymentMs / 1000),
		paymentAttempts: config.maxPaymentAttempts,
		payerPrompts: config.maxPayerPrompts,
		maxPrice: number(config.maxPrice),
		testNumbers: isSandbox ? [...TEST_NUMBERS] : []
	};
}
