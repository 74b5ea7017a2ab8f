import type { HttpOutcome } from '#lib/server/platform/http/http-client.ts';
import type { Installation } from '../definition.ts';
import { describe } from './outcomes.ts';
import { readConfiguration, type ProviderRules } from './configuration.ts';
import type { PawapayValues } from './settings.ts';

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
