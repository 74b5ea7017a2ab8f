import type { z } from 'zod';
import { ITEM_CODES, type ProblemItem } from './schemas.ts';

/** Escapes `~` and `/` in names (RFC 6901). */
const pointer = (path: readonly PropertyKey[]) =>
	path.map((part) => `/${String(part).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');

const valueAt = (value: unknown, path: readonly PropertyKey[]): unknown =>
	path.reduce<unknown>((part, name) => (Object(part) as Record<PropertyKey, unknown>)[name], value);

/** @param sent the value that the schema parsed */
export function itemsOf(location: ProblemItem['in'], issue: z.core.$ZodIssue, sent: unknown): ProblemItem[] {
	const value = valueAt(sent, issue.path);
	const at = (code: ProblemItem['code'], detail: string, path = issue.path): ProblemItem[] => [
		{ in: location, pointer: pointer(path), code, detail }
	];
	if (location === 'query' && Array.isArray(value)) return at('duplicate', 'Send this parameter once.');
	switch (issue.code) {
		case 'unrecognized_keys':
			return issue.keys.flatMap((key) =>
				at('unknown_field', 'This endpoint has no such field.', [...issue.path, key])
			);
		case 'invalid_type':
			if (value === undefined) return at('required', 'This field is required.');
			if (issue.path.length === 0) return at('invalid_type', 'Use a JSON object.');
			return at('invalid_type', `Use ${withArticle(issue.expected === 'int' ? 'integer' : issue.expected)}.`);
		case 'too_small':
			return at(
				'out_of_range',
				`Use ${issue.inclusive === false ? 'more than' : 'at least'} ${issue.minimum}.`
			);
		case 'too_big':
			return at('out_of_range', `Use at most ${issue.maximum}.`);
		case 'invalid_value':
			// All enumerations in the schemas contain strings.
			if (value === undefined) return at('required', 'This field is required.');
			if (typeof value !== 'string') return at('invalid_type', 'Use a string.');
			return at('unknown_value', `Use one of ${issue.values.map(String).join(', ')}.`);
		case 'custom': {
			const item = String(issue.params?.item);
			return at(item in ITEM_CODES ? (item as ProblemItem['code']) : 'invalid_format', issue.message);
		}
		default:
			return at('invalid_format', issue.message);
	}
}

const withArticle = (type: string) => (/^[aeio]/.test(type) ? `an ${type}` : `a ${type}`);
