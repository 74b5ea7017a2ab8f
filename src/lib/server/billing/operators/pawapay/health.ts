import type { HttpOutcome } from '../http.ts';
import { describe } from './answers.ts';
import { readConfiguration, type ProviderRules } from './configuration.ts';
import type { Provider } from './providers.ts';

interface Setup {
	providers: readonly Provider[];
	currency: string;
	callbackUrl: string;
	verifyCallbacks: boolean;
	signs: boolean;
}

/** Compares the account's configuration with our settings. @returns problems as sentences */
export function healthProblems(outcome: HttpOutcome, setup: Setup): string[] {
	const known = readConfiguration(outcome);
	if (known === null) return [describe(outcome)];
	const problems = setup.providers.flatMap(({ code }) =>
		providerProblems(code, known.rulesOf(code, setup.currency), setup)
	);
	if (known.signedRequestsOnly && !setup.signs) {
		problems.push('the account takes signed requests only: set PAWAPAY_SIGNING_KEY');
	}
	if (setup.verifyCallbacks && !known.signedCallbacks) {
		problems.push('PAWAPAY_VERIFY_CALLBACKS is on, but the account does not sign callbacks');
	}
	return problems;
}

function providerProblems(code: string, rules: ProviderRules | null, setup: Setup): string[] {
	if (!rules) return [`${code} does not take deposits in ${setup.currency} for this account`];
	const problems: string[] = [];
	// While it is DELAYED or CLOSED, deposits are rejected.
	if (rules.status !== null && rules.status !== 'OPERATIONAL') problems.push(`${code} is ${rules.status}`);
	if (rules.authType !== null && rules.authType !== 'PROVIDER_AUTH') {
		problems.push(`${code} does not ask the payer on the phone (${rules.authType})`);
	}
	if (
		rules.callbackUrl !== null &&
		!rules.callbackUrl.startsWith(`${setup.callbackUrl}/callbacks/pawapay/`)
	) {
		problems.push(`callbacks of ${code} go elsewhere: set the address in the dashboard`);
	}
	return problems;
}
