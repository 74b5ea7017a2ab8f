import type { FieldView } from '#lib/developer/reference.ts';
import { nameOf, resolved, type ApiDocument, type Parameter, type Schema } from './document.ts';
import { hrefOf, type Places } from './objects.ts';

/** Fields and parameters as the reference shows them. */

interface Context {
	document: ApiDocument;
	places: Places;
}

const MAX_SAFE = Number.MAX_SAFE_INTEGER;
const number = (value: number) => (value === MAX_SAFE ? '2⁵³ − 1' : value.toLocaleString('en'));

function rangeOf({ minimum, maximum, exclusiveMinimum }: Schema): string[] {
	if (exclusiveMinimum !== undefined) {
		const above = `more than ${number(exclusiveMinimum)}`;
		return [maximum === undefined ? above : `${above}, at most ${number(maximum)}`];
	}
	if (minimum !== undefined && maximum !== undefined) return [`${number(minimum)} to ${number(maximum)}`];
	if (minimum !== undefined) return [`${number(minimum)} or more`];
	return maximum === undefined ? [] : [`at most ${number(maximum)}`];
}

function sizeOf(low: number | undefined, high: number | undefined, unit: string): string[] {
	if (low === undefined && high === undefined) return [];
	if (high === undefined) return [`${low ?? 0} or more ${unit}`];
	return [`${low ?? 0} to ${high} ${unit}`];
}

/** Limits of a value, in words. */
function factsOf(schema: Schema): string[] {
	return [
		...rangeOf(schema),
		...sizeOf(schema.minLength, schema.maxLength, 'characters'),
		...sizeOf(schema.minItems, schema.maxItems, 'entries'),
		...(schema.uniqueItems ? ['each once'] : []),
		// A format says more than the pattern that goes with it, a length all that `.{1,64}` does.
		...(schema.pattern !== undefined && schema.format === undefined && schema.maxLength === undefined
			? [`pattern \`${schema.pattern}\``]
			: []),
		...(schema.default === undefined ? [] : [`default \`${String(schema.default)}\``])
	];
}

const FORMATS: Readonly<Record<string, string>> = { 'date-time': 'time', date: 'date', uri: 'URL' };

function plainType(schema: Schema): string {
	const types = Array.isArray(schema.type) ? schema.type : [schema.type ?? typeof schema.const];
	const named = types.map((type) => (type === 'string' && FORMATS[schema.format ?? '']) || type);
	return named.join(' or ');
}

/** One schema, looked through: a list is its entries, "this or null" is this. */
interface Unfolded {
	before: string;
	after: string;
	schema: Schema;
	name: string | null;
}

function unfold(document: ApiDocument, outer: Schema): Unfolded {
	const options = outer.anyOf ?? outer.oneOf;
	const value = options?.find(({ type }) => type !== 'null');
	if (options && value && options.length === 2) {
		const inner = unfold(document, value);
		return { ...inner, after: ' or null' };
	}
	const name = nameOf(outer);
	const schema = {
		...resolved(document, outer),
		...(outer.description ? { description: outer.description } : {})
	};
	if (name === null && schema.type === 'array' && schema.items) {
		const inner = unfold(document, schema.items);
		return { ...inner, before: `array of ${inner.before}` };
	}
	return { before: '', after: '', schema, name };
}

function valuesOf(schema: Schema): string[] {
	if (schema.const !== undefined) return [String(schema.const)];
	return (schema.enum ?? []).filter((value) => value !== null).map(String);
}

function fieldOf(name: string, outer: Schema, required: boolean, { document, places }: Context): FieldView {
	const { before, after, schema, name: shape } = unfold(document, outer);
	const isObject = schema.properties !== undefined;
	return {
		name,
		type: `${before}${isObject ? '' : plainType(schema)}${after}`,
		object: isObject && shape !== null ? { name: shape, href: hrefOf(places, shape) } : null,
		required,
		facts: [...factsOf(schema), ...(outer.type === 'array' ? factsOf(outer) : [])],
		values: valuesOf(schema),
		description: outer.description ?? schema.description ?? ''
	};
}

/** The fields of an object. */
export function fieldsOf(schema: Schema, context: Context): FieldView[] {
	const { properties = {}, required = [] } = resolved(context.document, schema);
	return Object.entries(properties).map(([name, field]) =>
		fieldOf(name, field, required.includes(name), context)
	);
}

export const parameterOf = (parameter: Parameter, context: Context): FieldView =>
	fieldOf(
		parameter.name,
		{ ...parameter.schema, description: parameter.description },
		parameter.required ?? false,
		context
	);
