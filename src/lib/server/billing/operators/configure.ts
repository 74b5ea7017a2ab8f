import { readSettings, settingsTable } from '#lib/server/config/setting.ts';
import { airtel } from './airtel/airtel.ts';
import type { ConfiguredOperator, Installation, OperatorDefinition } from './definition.ts';
import { mpesa } from './mpesa/mpesa.ts';
import { mtn } from './mtn/mtn.ts';
import { pawapay } from './pawapay/pawapay.ts';

/** To add an operator, create a folder with its definition and add it here. */
const INSTALLED: readonly OperatorDefinition[] = [mtn, mpesa, airtel, pawapay];

/** Configures each operator that has a variable set, in the order of INSTALLED. Problems are sentences. */
export function configureOperators(
	env: Record<string, string | undefined>,
	installation: Installation
): { operators: ConfiguredOperator[]; problems: string[] } {
	const operators: ConfiguredOperator[] = [];
	const problems: string[] = [];
	const isHidden = installation.mode === 'live' && !installation.callbackUrl.startsWith('https:');
	const uncalled: string[] = [];
	for (const definition of INSTALLED) {
		const names = Object.keys(definition.settings);
		if (!names.some((name) => env[name] !== undefined && env[name] !== '')) continue;
		const { values, problems: found } = readSettings(env, definition.settings);
		const wrong = found.map((one) => one.replace(/is required\.$/, `is required for ${definition.name}.`));
		const between = wrong.length > 0 ? [] : (definition.check?.(values as never, installation) ?? []);
		problems.push(...wrong, ...between.filter((one) => one !== false));
		const { id, name, statement } = definition;
		if (isHidden && definition.needsHttps) uncalled.push(name);
		operators.push({
			id,
			name,
			statement,
			methods: wrong.length > 0 ? [] : definition.methods(values as never),
			create: (dependencies) => definition.create(values as never, dependencies)
		});
	}
	if (uncalled.length > 0) {
		const names = uncalled.join(' and ');
		problems.push(`CALLBACK_URL: must be a public https address in live mode for ${names}.`);
	}
	return { operators, problems };
}

export const operatorTables = (): string =>
	INSTALLED.map(({ name, settings }) => `### ${name}\n\n${settingsTable(settings)}`).join('\n\n');
