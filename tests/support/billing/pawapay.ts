/** The adapter of pawaPay beside its simulator. */
import type {
	Installation,
	OperatorAdapter,
	PaymentRequest
} from '#lib/server/billing/operators/operator.ts';
import { adapterWith, attempt, receiver, sentTo, simulator } from './adapter.ts';

export const CALLBACKS = '/callbacks/pawapay/token';

export const adapterFor = (
	env: Record<string, string> = {},
	more: Partial<Installation> = {}
): OperatorAdapter => adapterWith(env, { callbackUrl: receiver.url, ...more });

export const sent = (path: string) => sentTo(path) as Record<string, unknown>[];

/** Lets a minute pass, and reads what has become of a payment. */
export async function settled(adapter: OperatorAdapter, payment: PaymentRequest) {
	simulator.advance(60_000);
	return adapter.readStatus(attempt(payment));
}
