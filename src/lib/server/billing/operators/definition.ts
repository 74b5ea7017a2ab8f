import { isSupportedCountry } from 'libphonenumber-js/mobile';
import { z } from 'zod';
import type { Clock } from '#lib/server/platform/clock.ts';
import type { Log } from '#lib/server/platform/log.ts';
import type { Setting } from '#lib/server/config/setting.ts';
import type { HttpClient } from '#lib/server/platform/http-client.ts';
import type { OperatorAdapter, StatementColumns } from './operator.ts';

/** Defines a mobile-money operator. Each operator's folder exports one, and configure.ts lists it. */
export interface OperatorDefinition<Values = never> {
	/** Stored with payments and part of callback addresses, e.g. `mtn`: never change it. */
	readonly id: string;
	/** Display name, e.g. `MTN MoMo`. */
	readonly name: string;
	/** Variables with one prefix. Setting one configures the operator; then all required ones must be set. */
	readonly settings: Readonly<Record<string, Setting>>;
	methods(values: Values): readonly string[];
	/** Calls back only https addresses; payments need its callbacks. */
	readonly needsHttps?: true;
	/** Returns problems between values: sentences that begin with the variable's name. */
	check?(values: Values, installation: Installation): Problems;
	create(values: Values, dependencies: OperatorDependencies): OperatorAdapter;
	readonly statement: StatementColumns;
}

export interface Installation {
	mode: 'sandbox' | 'live';
	/** ISO 4217 code of all prices. */
	currency: string;
	/** Without a trailing slash. */
	callbackUrl: string;
}

export interface OperatorDependencies extends Installation {
	clock: Clock;
	log: Log;
	http: HttpClient;
}

export interface ConfiguredOperator extends Pick<OperatorDefinition, 'id' | 'name' | 'statement'> {
	readonly methods: readonly string[];
	create(dependencies: OperatorDependencies): OperatorAdapter;
}

export type ValuesOf<Settings extends Record<string, Setting>> = {
	[Name in keyof Settings]: z.output<Settings[Name]['schema']>;
};

/** Infers the type of a definition's values from its settings. */
export const defineOperator = <const Settings extends Record<string, Setting>>(
	definition: OperatorDefinition<ValuesOf<Settings>> & { readonly settings: Settings }
): OperatorDefinition => definition;

export const baseUrl = z
	.url({ protocol: /^https?$/, error: 'Use an address such as "https://api.example".' })
	.transform((text) => text.replace(/\/+$/, ''));

export const onOff = z.enum(['on', 'off'], 'Use "on" or "off".');

export const credential = z.string().regex(/^\S(.*\S)?$/, 'Remove the spaces around it.');

export const countryCode = z.string().refine(isSupportedCountry, 'Use an ISO 3166 code such as "UG".');

/** Sentences about settings; false where there is no problem. */
export type Problems = (string | false)[];

/**
 * Checks an operator's address: real and test money do not mix, and live calls are encrypted.
 * @param name the variable
 * @param hosts of the operator that move `real` money, and those of its `test` system
 */
export function checkAddress(
	name: string,
	address: string,
	{ mode }: Installation,
	hosts: { real: RegExp; test?: RegExp }
): Problems {
	const { protocol, hostname } = new URL(address);
	const host = hostname.replace(/\.$/, '');
	if (mode === 'sandbox') {
		return [hosts.real.test(host) && `${name}: takes real money, which AIRTILL_MODE=sandbox must not.`];
	}
	return [
		protocol !== 'https:' && `${name}: must be https in live mode.`,
		hosts.test?.test(host) === true && `${name}: is a test system, which is refused in live mode.`
	];
}
