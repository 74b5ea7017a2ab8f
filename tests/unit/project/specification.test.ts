/** The tables of the specification's lines and of the security guide name tests that exist, for each line at least one. */
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const tests = fileURLToPath(new URL('../..', import.meta.url));
const table = readFileSync(path.join(tests, 'api/specification.md'), 'utf8');
const security = readFileSync(path.join(tests, '../src/docs/security.md'), 'utf8');

interface Row {
	/** Such as `W1.6.3`. */
	id: string;
	line: string;
	statement: string;
	/** As they stand in the table: `file › title`. */
	tests: string[];
}

function rowsOf(markdown: string): Row[] {
	const rows = markdown
		.split('\n')
		.filter((line) => line.startsWith('|') && !/^\|(---|\s(Line|Threat|Risk)\s)/.test(line));
	return rows.map((row) => {
		const [line = '', statement = '', held = '', ...rest] = row
			.slice(1, -1)
			.split('|')
			.map((cell) => cell.trim());
		expect(rest, row).toEqual([]);
		const named = held === '' ? [] : held.split(/<br>|(?<=`), /).map((test) => test.trim());
		return { id: line.split(' ')[0] ?? '', line, statement, tests: named };
	});
}

const SUFFIXES: Readonly<Record<string, string>> = {
	api: '.test.ts',
	unit: '.test.ts',
	e2e: '.spec.ts',
	support: '.ts'
};

const sources = new Map<string, string | null>();

/** The source of `api/billing/sessions/orders` and the like; null when there is no such file. */
function sourceOf(name: string): string | null {
	const file = path.join(tests, name + SUFFIXES[name.split('/', 1)[0] ?? '']);
	if (!sources.has(file)) sources.set(file, existsSync(file) ? readFileSync(file, 'utf8') : null);
	return sources.get(file) ?? null;
}

/** Whether a file has a test of this title (the first argument of a call), or support a function of this name. */
function has(name: string, title: string): boolean {
	const source = sourceOf(name);
	if (source === null) return false;
	if (name.startsWith('support/')) return source.includes(`function ${title}(`);
	return ["'", '"', '`'].some((quote) =>
		source
			.split(quote + title + quote)
			.slice(0, -1)
			.some((before) => /\(\s*$/.test(before))
	);
}

describe('the table of the specification', () => {
	const rows = rowsOf(table);

	it('has a row for every part of the specification and every section of the wire format', () => {
		const parts = new Set(rows.map(({ id }) => /^[SW]\d+/.exec(id)?.[0]));
		for (const part of ['S1', 'S2', 'S3', 'S4', 'S5', 'S6', 'S7', 'S8', 'S9']) expect(parts).toContain(part);
		for (const part of ['W0', 'W1', 'W2', 'W3', 'W4', 'W5', 'W6', 'W7', 'W8']) expect(parts).toContain(part);
	});

	it('numbers each line once, and says what it states', () => {
		const ids = rows.map(({ id }) => id);
		expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
		for (const { id, line, statement } of rows) {
			expect(id, line).toMatch(/^[SW]\d+(\.\d+)*$/);
			expect(statement, line).not.toBe('');
		}
	});
});

describe('the security guide', () => {
	it('has every risk of the OWASP API Security Top 10', () => {
		const risks = rowsOf(security).filter(({ id }) => id.startsWith('API'));
		expect(risks.map(({ id }) => id)).toEqual(
			Array.from({ length: 10 }, (_, index) => `API${index + 1}:2023`)
		);
	});
});

it.each([...rowsOf(table), ...rowsOf(security)].map((row) => [row.line, row] as const))(
	'%s is held by tests that exist',
	(_line, row) => {
		expect(row.tests).not.toEqual([]);
		const missing = row.tests.filter((test) => {
			const [, name = '', title = ''] = /^`([\w/-]+) › (.+)`$/.exec(test) ?? [];
			return !has(name, title);
		});
		expect(missing).toEqual([]);
	}
);
