import type { Clock } from '#lib/server/platform/clock.ts';
import { jsonObject, textMember } from '../http.ts';
import type { Calls } from './calls.ts';
import { likelyProvider, type Provider } from './providers.ts';

/** Predictions are kept, so that a buyer who tries again does not wait twice. */
const KEPT_MS = 10 * 60 * 1000;
const MAX_KEPT = 1_000;

/**
 * Chooses the provider for a payment: the one of the buyer's payment method. For `mobile_money`, the one that pawaPay
 * predicts (POST /v2/predict-provider, wrong for one number in 800), or our own guess.
 */
export function createChoice(providers: readonly Provider[], calls: Calls, clock: Clock) {
	const kept = new Map<string, { code: string; at: number }>();

	async function predicted(phone: string): Promise<string | null> {
		const known = kept.get(phone);
		if (known && clock.now() - known.at < KEPT_MS) return known.code;
		const outcome = await calls.post('/v2/predict-provider', { phoneNumber: phone.slice(1) });
		if (outcome.kind === 'failure' || outcome.status !== 200) return null;
		const code = textMember(jsonObject(outcome.text), 'provider');
		if (code === null) return null;
		const [oldest] = kept.keys();
		if (kept.size >= MAX_KEPT && oldest !== undefined) kept.delete(oldest);
		kept.set(phone, { code, at: clock.now() });
		return code;
	}

	return async (method: string, phone: string): Promise<Provider | undefined> => {
		const chosen = providers.find((provider) => provider.method === method);
		if (chosen) return chosen;
		const prediction = await briefly(predicted(phone), null);
		return providers.find(({ code }) => code === prediction) ?? likelyProvider(providers, phone);
	};
}

/** Limit for optional requests while a buyer waits for the prompt. */
const HELP_MS = 3_000;

/** Waits for an optional value; returns `otherwise` if it takes too long. */
export async function briefly<T>(work: Promise<T>, otherwise: T): Promise<T> {
	let timer: NodeJS.Timeout | undefined;
	const limit = new Promise<T>((resolve) => {
		timer = setTimeout(() => resolve(otherwise), HELP_MS);
	});
	try {
		return await Promise.race([work, limit]);
	} finally {
		clearTimeout(timer);
	}
}
