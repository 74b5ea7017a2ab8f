import { resolve, type ApiDocument, type Schema } from './openapi.ts';

export interface Property {
	name: string;
	schema: Schema;
	isRequired: boolean;
}

/** Turns "#/components/schemas/Router" into "Router". Returns null for a schema without a name. */
export const schemaName = (schema: Schema): string | null => schema.$ref?.split('/').at(-1) ?? null;

export function propertiesOf(document: ApiDocument, schema: Schema): Property[] {
	const found = new Map<string, Property>();
	for (const part of [resolve(document, schema), ...(resolve(document, schema).allOf ?? [])]) {
		const { properties = {}, required = [] } = resolve(document, part);
		for (const [name, property] of Object.entries(properties)) {
			const known = found.get(name)?.schema.description;
			const described = known === undefined ? property : { description: known, ...property };
			found.set(name, { name, schema: described, isRequired: required.includes(name) });
		}
	}
	return [...found.values()];
}

type TypePart = { text: string } | { schema: string };

/** Describes a type: "integer", "array of" and a schema, "string or null". */
export function typeOf(schema: Schema): TypePart[] {
	const name = schemaName(schema);
	if (name !== null) return [{ schema: name }];
	const choices = schema.anyOf ?? schema.oneOf;
	if (choices) {
		return choices.flatMap((one, index) => [...(index > 0 ? [{ text: ' or ' }] : []), ...typeOf(one)]);
	}
	if (schema.items) return [{ text: 'array of ' }, ...typeOf(schema.items)];
	const types = [schema.type ?? []].flat();
	return [{ text: types.length > 0 ? types.join(' or ') : typeof schema.const }];
}

const KEYWORDS = [
	['const', 'always'],
	['format', 'format'],
	['minimum', 'minimum'],
	['exclusiveMinimum', 'greater than'],
	['maximum', 'maximum'],
	['minLength', 'minimum length'],
	['maxLength', 'maximum length'],
	['minItems', 'minimum items'],
	['maxItems', 'maximum items'],
	['pattern', 'pattern'],
	['default', 'default']
] as const;

export const limitsOf = (schema: Schema): { label: string; value: string }[] =>
	KEYWORDS.flatMap(([keyword, label]) =>
		schema[keyword] === undefined ? [] : [{ label, value: String(schema[keyword]) }]
	);

export const valuesOf = (document: ApiDocument, schema: Schema): string[] =>
	(resolve(document, schema).enum ?? []).map(String);

/** Names the schemas that a part of the document refers to, and those that they refer to. */
export function schemasBelow(document: ApiDocument, part: unknown, seen = new Set<string>()): Set<string> {
	for (const [, name = ''] of JSON.stringify(part).matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g)) {
		if (seen.has(name)) continue;
		seen.add(name);
		schemasBelow(document, document.components.schemas[name], seen);
	}
	return seen;
}
