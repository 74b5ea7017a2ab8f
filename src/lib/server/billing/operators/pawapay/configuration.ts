import type { HttpOutcome } from '#lib/server/platform/http/http-client.ts';
import type { Installation } from '../definition.ts';
import { member, textMember, jsonObject } from '../response.ts';
import { describe } from './outcomes.ts';
import type { Provider } from './providers.ts';
import type { PawapayValues } from './settings.ts';

/** An account's configuration for a provider, from GET /v2/active-conf (docs.pawapay.io, toolkit). */
interface ProviderRules {
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

/** Compares the account's configuration with our settings. Returns problems as sentences. */
export function healthProblems(
	outcome: HttpOutcome,
	values: PawapayValues,
	installation: Installation
): string[] {
	const known = readConfiguration(outcome);
	if (known === null) return [describe(outcome)];
	const problems = values.PAWAPAY_PROVIDERS.flatMap(({ code }) =>
		providerProblems(code, known.rulesOf(code, installation.currency), installation)
	);
	if (known.signedRequestsOnly && values.PAWAPAY_SIGNING_KEY === undefined) {
		problems.push('the account takes signed requests only: set PAWAPAY_SIGNING_KEY');
	}
	if (values.PAWAPAY_VERIFY_CALLBACKS === 'on' && !known.signedCallbacks) {
		problems.push('PAWAPAY_VERIFY_CALLBACKS is on, but the account does not sign callbacks');
	}
	return problems;
}

function providerProblems(code: string, rules: ProviderRules | null, installation: Installation): string[] {
	if (!rules) return [`${code} does not take deposits in ${installation.currency} for this account`];
	const problems: string[] = [];
	// pawaPay rejects deposits while a provider is DELAYED or CLOSED.
	if (rules.status !== null && rules.status !== 'OPERATIONAL') problems.push(`${code} is ${rules.status}`);
	if (rules.authType !== null && rules.authType !== 'PROVIDER_AUTH') {
		problems.push(`${code} does not ask the payer on the phone (${rules.authType})`);
	}
	if (
		rules.callbackUrl !== null &&
		!rules.callbackUrl.startsWith(`${installation.callbackUrl}/callbacks/pawapay/`)
	) {
		problems.push(`callbacks of ${code} go elsewhere: set the address in the dashboard`);
	}
	return problems;
}
