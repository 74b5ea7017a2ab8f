import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { repeatedNames } from '../../src/lib/server/api/http/repeated.ts';

describe('names that stand twice in a JSON object', () => {
	it.each([
		['{"a": 1, "b": 2, "a": 3}', ['a']],
		['{"a": 1, "\\u0061": 1}', ['a']],
		['{"a": 1, "a": 2, "a": 3, "b": 1, "b": 1}', ['a', 'b']],
		['{"__proto__": 1, "__proto__": 1}', ['__proto__']],
		['{"": 1, "":2}', ['']],
		['{"\\"": 1, "\\\\": 1, "\\"" : 1}', ['"']]
	])('%s', (json, names) => {
		expect(repeatedNames(json)).toEqual(names);
	});

	it.each([
		'{}',
		'{"a": "a"}',
		'{"a": {"a": 1}, "b": [{"a": 1}, {"a": 1}]}',
		'{"a": "\\", \\"a\\": 1", "b": "{"}'
	])('none in %s', (json) => {
		expect(repeatedNames(json)).toEqual([]);
	});

	it('whatever an object holds, none stands twice in it, and each does in two of it', () => {
		fc.assert(
			fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (object) => {
				const inside = JSON.stringify(object).slice(1, -1);
				expect(repeatedNames(`{${inside}}`)).toEqual([]);
				if (inside === '') return;
				expect(repeatedNames(`{${inside}, ${inside}}`).sort()).toEqual(Object.keys(object).sort());
			})
		);
	});
});
