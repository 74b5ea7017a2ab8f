import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isAtLeast, isInstalled, stampOf } from '../../../src/cli/bootstrap.js';

let folder = '';

beforeEach(() => {
	folder = mkdtempSync(path.join(tmpdir(), 'airtill-bootstrap-'));
});

afterEach(() => rmSync(folder, { recursive: true }));

function write(name: string, content: unknown) {
	const file = path.join(folder, name);
	mkdirSync(path.dirname(file), { recursive: true });
	writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
}

describe('the stamp of a build', () => {
	const inputs = ['src', 'project.inlang', 'config.js', 'absent'];
	const stamp = () => stampOf(folder, inputs);

	beforeEach(() => {
		write('src/routes/page.ts', 'one');
		write('config.js', 'two');
	});

	it('stays the same while nothing changes, whatever the time of the files', () => {
		const before = stamp();
		write('config.js', 'two');
		expect(stamp()).toBe(before);
	});

	it('changes when an input is edited, added, renamed or removed', () => {
		const seen = new Set([stamp()]);
		write('src/routes/page.ts', 'ONE');
		seen.add(stamp());
		write('src/routes/other.ts', '');
		seen.add(stamp());
		rmSync(path.join(folder, 'src/routes/other.ts'));
		write('src/routes/renamed.ts', '');
		seen.add(stamp());
		rmSync(path.join(folder, 'config.js'));
		seen.add(stamp());
		expect(seen.size).toBe(5);
	});

	it('does not change by what a build writes among its sources', () => {
		const before = stamp();
		write('src/lib/i18n/generated/messages/en.js', '');
		write('project.inlang/cache/plugins/one', '');
		expect(stamp()).toBe(before);
		write('project.inlang/settings.json', '{}');
		expect(stamp()).not.toBe(before);
	});

	it('does not change for files outside of its inputs', () => {
		const before = stamp();
		write('data/airtill.db', 'three');
		expect(stamp()).toBe(before);
	});
});

describe('packages are taken as installed', () => {
	const manifest = { dependencies: { pg: '^8.0.0' } };
	const packages = {
		'node_modules/pg': { version: '8.1.0' },
		'node_modules/for-another-platform': { version: '1.0.0', optional: true },
		'node_modules/for-tests': { version: '2.0.0', dev: true }
	};

	beforeEach(() => {
		write('package.json', manifest);
		write('package-lock.json', { packages: { '': manifest, ...packages } });
	});

	const installed = (content: unknown, options?: { withDev: boolean }) => {
		write('node_modules/.package-lock.json', { packages: content });
		return isInstalled(folder, options);
	};
	const pg = { 'node_modules/pg': { version: '8.1.0' } };
	const forTests = { 'node_modules/for-tests': { version: '2.0.0' } };

	it('when npm has recorded all that the lock file asks for', () => {
		expect(installed({ ...pg, ...forTests })).toBe(true);
	});

	it('without those of the tests, to start but not to test', () => {
		expect(installed(pg, { withDev: false })).toBe(true);
		expect(installed(pg, { withDev: true })).toBe(false);
		expect(installed(forTests, { withDev: false })).toBe(false);
	});

	it('but not in a fresh clone', () => {
		expect(isInstalled(folder)).toBe(false);
	});

	it('but not when a package is missing or has another version', () => {
		expect(installed({})).toBe(false);
		expect(installed({ ...forTests, 'node_modules/pg': { version: '8.0.0' } })).toBe(false);
	});

	it('but not when package.json asks for more than the lock file knows', () => {
		write('package.json', { dependencies: { ...manifest.dependencies, zod: '^4.0.0' } });
		expect(installed(packages)).toBe(false);
	});
});

it('compares versions as numbers', () => {
	expect(isAtLeast('22.19.0', '22.19')).toBe(true);
	expect(isAtLeast('24.0.1', '22.19')).toBe(true);
	expect(isAtLeast('22.9.0', '22.19')).toBe(false);
	expect(isAtLeast('20.20.2', '22.19')).toBe(false);
});

it.each([
	...['package.json', 'Dockerfile', 'deploy/airtill.service', 'src/docs/install.md'],
	...['src/docs/go-live.md', 'tests/bench/support/server.ts']
])('%s starts the server with the V8 flags that decide its memory', (name) => {
	const text = readFileSync(new URL(`../../../${name}`, import.meta.url), 'utf8');
	const flags = /--max-semi-space-size=\d+[', "]+--heap-growing-percent=\d+/.exec(text)?.[0];
	expect(flags?.match(/--[\w-]+=\d+/g)).toEqual(['--max-semi-space-size=2', '--heap-growing-percent=30']);
});

it('no npm script loads a tool of the tests before it is known that its packages are installed', () => {
	const { scripts } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')) as {
		scripts: Record<string, string>;
	};
	const tools = Object.values(scripts).filter((script) => script.includes('tests/'));
	expect(tools.length).toBeGreaterThan(10);
	expect(
		tools.filter((script) => !/^node (tests\/support\/start\.js )?tests\/\S+( \w+)?$/.test(script))
	).toEqual([]);
	const direct = tools.filter((script) => !script.includes('support/start.js'));
	expect(direct.filter((script) => !/\.js( |$)/.test(script))).toEqual([]);
});

it.each(['Dockerfile', 'deploy/airtill.service', 'tests/bench/support/server.ts', 'tests/bench/hour.ts'])(
	'%s limits the heaps of the C library',
	(name) => {
		const text = readFileSync(new URL(`../../../${name}`, import.meta.url), 'utf8');
		expect(text).toMatch(/MALLOC_ARENA_MAX(=2\n|: '2')/);
	}
);
