import type { HttpOutcome } from '#lib/server/platform/http/http-client.ts';
import { member, textMember, jsonObject } from '../response.ts';
import type { Provider } from './providers.ts';

/** An account's configuration for a provider, from GET /v2/active-conf (docs.pawapay.io, toolkit). */
export interface ProviderRules {
	decimals: 0 | 2 | null;
	/** In major units. */
	min: number | null;
	max: number | null;
	/** `OPERATIONAL`, `DELAYED` or `CLOSED`. */
	status: string | null;
	/** `PROVIDER_AUTH` is the prompt on the phone, the only method that Airtill supports. */
	authType: string | null;
	callbackUrl: string | null;
}

export interface ActiveConfiguration {
	/** Rules of deposits. */
	rulesOf(provider: Provider['code'], currency: string): ProviderRules | null;
	signedRequestsOnly: boolean;
	signedCallbacks: boolean;
}

export const CONFIGURATION_PATH = '/v2/active-conf?operationType=DEPOSIT';

export function readConfiguration(outcome: HttpOutcome): ActiveConfiguration | null {
	if (outcome.kind === 'failure' || outcome.status !== 200) return null;
	const body = jsonObject(outcome.text);
	if (body === null || !Array.isArray(body['countries'])) return null;
	const rules = new Map<string, ProviderRules>();
	for (const country of listOf(body, 'countries')) {
		for (const provider of listOf(country, 'providers')) {
			for (const currency of listOf(provider, 'currencies')) {
				const deposits = operationOf(currency, 'DEPOSIT');
				if (!deposits) continue;
				const key = keyOf(textMember(provider, 'provider') ?? '', textMember(currency, 'currency') ?? '');
				rules.set(key, readRules(deposits));
			}
		}
	}
	const signatures = member(body, 'signatureConfiguration');
	return {
		rulesOf: (provider, currency) => rules.get(keyOf(provider, currency)) ?? null,
		signedRequestsOnly: signatures['signedRequestsOnly'] === true,
		signedCallbacks: signatures['signedCallbacks'] === true
	};
}

const keyOf = (provider: string, currency: string) => `${provider} ${currency}`;

const listOf = (object: unknown, name: string): unknown[] => {
	const list = member(object, name);
	return Array.isArray(list) ? list : [];
};

/** pawaPay documents an object by name, a list of such objects, and a list with the name inside. */
function operationOf(currency: unknown, name: string): Record<string, unknown> | null {
	const operations = member(currency, 'operationTypes');
	for (const candidate of Array.isArray(operations) ? (operations as unknown[]) : [operations]) {
		if (textMember(candidate, 'operationType') === name) return candidate as Record<string, unknown>;
		const named = member(candidate, name);
		if (Object.keys(named).length > 0) return named;
	}
	return null;
}

function readRules(operation: Record<string, unknown>): ProviderRules {
	const decimals = textMember(operation, 'decimalsInAmount');
	return {
		decimals: decimals === 'NONE' ? 0 : decimals === 'TWO_PLACES' ? 2 : null,
		min: numberOf(operation, 'minAmount', 'minTransactionLimit'),
		max: numberOf(operation, 'maxAmount', 'maxTransactionLimit'),
		status: textMember(operation, 'status'),
		authType: textMember(operation, 'authType'),
		callbackUrl: textMember(operation, 'callbackUrl')
	};
}

/** pawaPay documents two names for each limit. */
function numberOf(object: unknown, name: string, otherName: string): number | null {
	const text = textMember(object, name) ?? textMember(object, otherName);
	const value = text === null ? NaN : Number(text);
	return Number.isFinite(value) ? value : null;
}
