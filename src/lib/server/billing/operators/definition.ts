import { z } from 'zod';
import type { Clock } from '#lib/server/platform/clock.ts';
import type { Log } from '#lib/server/platform/log.ts';
import type { Setting } from '#lib/server/config/setting.ts';
import type { OperatorHttp } from './http.ts';
import type { OperatorAdapter, StatementColumns } from './operator.ts';

/**
 * One mobile-money operator: what it is called, what must be configured, and how to build its adapter. A file of
 * this folder exports one, and installed.ts lists it; nothing else needs to know the operator.
 */
export interface OperatorDefinition<Values = never> {
	/** Stored with each payment and part of callback addresses, e.g. `mtn`: never changed. */
	readonly id: string;
	/** For people, e.g. `MTN MoMo`. */
	readonly name: string;
	/**
	 * Environment variables, all with one prefix. The operator is configured when any of them is set; then those
	 * without a default whose schema is not optional must all be set.
	 */
	readonly settings: Readonly<Record<string, Setting>>;
	/** Payment methods (networks) that it carries with these values. */
	methods(values: Values): readonly string[];
	/** Problems between values, or of values and installation: sentences that begin with the variable's name. */
	check?(values: Values, installation: Installation): string[];
	create(values: Values, dependencies: OperatorDependencies): OperatorAdapter;
	/** Names of the columns of the operator's list of settled payments (CSV), most usual first. */
	readonly statement: StatementColumns;
}

export interface Installation {
	mode: 'sandbox' | 'live';
	/** ISO 4217 code of all prices. */
	currency: string;
	/** Address at which operators reach us, without a slash at the end. */
	callbackUrl: string;
}

export interface OperatorDependencies extends Installation {
	clock: Clock;
	log: Log;
	http: OperatorHttp;
}

/** A definition whose values were read and found right. */
export interface ConfiguredOperator {
	readonly id: string;
	readonly name: string;
	readonly methods: readonly string[];
	readonly statement: StatementColumns;
	create(dependencies: OperatorDependencies): OperatorAdapter;
}

type ValuesOf<Settings extends Record<string, Setting>> = {
	[Name in keyof Settings]: z.output<Settings[Name]['schema']>;
};

/** Gives the values of a definition their types. */
export function defineOperator<const Settings extends Record<string, Setting>>(
	definition: OperatorDefinition<ValuesOf<Settings>> & { readonly settings: Settings }
): OperatorDefinition {
	return definition;
}

/** For settings: an address without a slash at the end. */
export const baseUrl = z
	.url({ protocol: /^https?$/, error: 'Use an address such as "https://api.example".' })
	.transform((text) => text.replace(/\/+$/, ''));

/** For settings: a credential, as the operator gave it. */
export const credential = z.string().regex(/^\S(.*\S)?$/, 'Remove the spaces around it.');

/** For settings: ISO 3166 code of a country. */
export const countryCode = z.string().regex(/^[A-Z]{2}$/, 'Use an ISO 3166 code such as "UG".');
