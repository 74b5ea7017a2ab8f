import { z } from 'zod';
import type { Clock } from '#lib/server/platform/clock.ts';
import type { Log } from '#lib/server/platform/log.ts';
import type { Setting } from '#lib/server/config/setting.ts';
import type { OperatorHttp } from './http.ts';
import type { OperatorAdapter, StatementColumns } from './operator.ts';

/**
 * The definition of a mobile-money operator: its name, its settings and how to build its adapter. Each operator's folder
 * exports one, and installed.ts lists it; nothing else names the operator.
 */
export interface OperatorDefinition<Values = never> {
	/** Stored with each payment and part of callback addresses, e.g. `mtn`: never changed. */
	readonly id: string;
	/** For people, e.g. `MTN MoMo`. */
	readonly name: string;
	/**
	 * Environment variables, all with one prefix. The operator is configured if any of them is set; then those
	 * without a default whose schema is not optional must all be set.
	 */
	readonly settings: Readonly<Record<string, Setting>>;
	/** Payment methods that it supports with these values. */
	methods(values: Values): readonly string[];
	/** Returns problems between values: sentences that begin with the variable's name. */
	check?(values: Values, installation: Installation): string[];
	create(values: Values, dependencies: OperatorDependencies): OperatorAdapter;
	/** Column names of the operator's list of settled payments (CSV), most common first. */
	readonly statement: StatementColumns;
}

export interface Installation {
	mode: 'sandbox' | 'live';
	/** ISO 4217 code of all prices. */
	currency: string;
	/** Base address for callbacks, without a trailing slash. */
	callbackUrl: string;
}

export interface OperatorDependencies extends Installation {
	clock: Clock;
	log: Log;
	http: OperatorHttp;
}

/** A definition with valid values. */
export interface ConfiguredOperator {
	readonly id: string;
	readonly name: string;
	readonly methods: readonly string[];
	readonly statement: StatementColumns;
	create(dependencies: OperatorDependencies): OperatorAdapter;
}

/** The parsed values of settings. */
export type ValuesOf<Settings extends Record<string, Setting>> = {
	[Name in keyof Settings]: z.output<Settings[Name]['schema']>;
};

/** Types the values of a definition. */
export function defineOperator<const Settings extends Record<string, Setting>>(
	definition: OperatorDefinition<ValuesOf<Settings>> & { readonly settings: Settings }
): OperatorDefinition {
	return definition;
}

/** For settings: an address without a trailing slash. */
export const baseUrl = z
	.url({ protocol: /^https?$/, error: 'Use an address such as "https://api.example".' })
	.transform((text) => text.replace(/\/+$/, ''));

/** For settings: a credential. */
export const credential = z.string().regex(/^\S(.*\S)?$/, 'Remove the spaces around it.');

/** For settings: ISO 3166 code of a country. */
export const countryCode = z.string().regex(/^[A-Z]{2}$/, 'Use an ISO 3166 code such as "UG".');
