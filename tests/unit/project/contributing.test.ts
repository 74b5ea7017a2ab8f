/** CONTRIBUTING.md and README.md match the repository. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { TEST_NUMBERS } from '#lib/server/billing/operators/sandbox.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const textOf = (file: string) => readFileSync(path.join(root, file), 'utf8');
const contributing = textOf('CONTRIBUTING.md');
const { dependencies, scripts } = JSON.parse(textOf('package.json')) as Record<
	string,
	Record<string, string>
>;

describe('CONTRIBUTING.md', () => {
	it('names existing files and folders, of the server or with their whole path', () => {
		const words = [...contributing.matchAll(/`([\w.()[\]<>-]+\/[^`\s]*)`/g)].map(([, name = '']) => name);
		expect(words.length).toBeGreaterThan(100);
		// A path with a placeholder is checked up to it.
		const paths = words.map((name) => name.replace(/<.*/, ''));
		const isThere = (name: string) =>
			existsSync(path.join(root, name)) || existsSync(path.join(root, 'src/lib/server', name));
		expect(paths.filter((name) => !isThere(name))).toEqual([]);
	});

	it('names functions that exist', () => {
		const words = [...contributing.matchAll(/`([a-z]+[A-Z]\w*)`/g)].map(([, name = '']) => name);
		expect(words.length).toBeGreaterThan(20);
		const sources = readdirSync(path.join(root, 'src'), { recursive: true, encoding: 'utf8' })
			.filter((file) => /\.(ts|js|svelte)$/.test(file))
			.map((file) => textOf(`src/${file}`));
		const known = new Set(sources.flatMap((source) => source.match(/\b[a-z]+[A-Z]\w*/g) ?? []));
		expect(words.filter((name) => !known.has(name))).toEqual([]);
	});

	it('shows existing folders in the code map', () => {
		const map = /## Code map\n\n```\n(.*?)```/s.exec(contributing)?.[1] ?? '';
		const trail: string[] = [];
		const missing: string[] = [];
		for (const line of map.split('\n').filter((one) => one.trim() !== '')) {
			const depth = line.search(/\S/) / 2;
			const words = line.trim().split(/\s+/);
			const end = words.findIndex((word) => !/^[\w().[\]-]+(\/|\.\w+)$/.test(word));
			const names = words.slice(0, end < 0 ? undefined : end);
			trail.length = depth;
			missing.push(
				...names.map((name) => path.join(...trail, name)).filter((name) => !existsSync(path.join(root, name)))
			);
			trail.push(names[0] ?? '');
		}
		expect(missing).toEqual([]);
	});

	it('has at most 250 lines, and a decision at most 40', () => {
		expect(contributing.split('\n').length).toBeLessThanOrEqual(251);
		const folder = path.join(root, 'src/docs/decisions');
		const long = readdirSync(folder).filter(
			(file) => textOf(`src/docs/decisions/${file}`).split('\n').length > 41
		);
		expect(long).toEqual([]);
	});

	it('and the comments of the code name files and functions that exist', () => {
		const files = ['src', 'tests', 'deploy'].flatMap((folder) =>
			readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' })
				.filter((file) => !/generated|node_modules/.test(file))
				.map((file) => `${folder}/${file}`)
		);
		const sources = files.filter((file) => /^(src|tests).*\.(ts|js|svelte)$/.test(file));
		const comment = /\/\*[\s\S]*?\*\/|(?<!:)\/\/.*/g;
		const code = sources.map((file) => textOf(file).replace(comment, ' ')).join('\n');
		const known = new Set(code.match(/\b[a-z]+[A-Z]\w*/g));
		const texts = [
			...sources.map((file) => [file, (textOf(file).match(comment) ?? []).join('\n')] as const),
			...readdirSync(path.join(root, 'src/docs/decisions')).map(
				(file) => [file, textOf(`src/docs/decisions/${file}`)] as const
			)
		];
		const written = new Set(['Node.js', 'build/handler.js', 'first-purchase.ts', 'FILE.ts', 'allowScripts']);
		const isFile = (name: string) => files.some((file) => `/${file}`.endsWith(`/${name}`));
		const stale = texts.flatMap(([file, text]) => [
			...[...text.matchAll(/(?<![\w./@-])(?:[\w.-]+\/)*[\w-]+\.(?:ts|js|svelte)\b(?!\.)/g)]
				.filter(([name]) => !written.has(name) && !isFile(name) && !(name in (dependencies ?? {})))
				.map(([name]) => `${file}: ${name}`),
			...[...text.matchAll(/`([a-z]+[A-Z]\w*)`/g)]
				.filter(([, name = '']) => !written.has(name) && !known.has(name))
				.map(([, name]) => `${file}: ${name}`)
		]);
		expect(stale).toEqual([]);
	});

	it('gives a reason for each production dependency', () => {
		const named = [...textOf('src/docs/decisions/packages.md').matchAll(/^\| `([^`]+)`\s+\| \S/gm)].map(
			([, name]) => name
		);
		expect(named.sort()).toEqual(Object.keys(dependencies ?? {}).sort());
	});
});

it.each(['CONTRIBUTING.md', 'README.md'])('%s names existing scripts', (file) => {
	const named = [...textOf(file).matchAll(/npm run (?:--silent )?([\w:]+)/g)].map(([, name = '']) => name);
	expect(named.filter((name) => !scripts?.[name])).toEqual([]);
});

it('README.md has the test numbers of the sandbox', () => {
	const rows = TEST_NUMBERS.map(({ digits, description }) => `| ${digits} | ${description} |`);
	expect(textOf('README.md')).toContain(rows.join('\n'));
});

it('README.md has at most 120 lines and existing links', () => {
	const readme = textOf('README.md');
	expect(readme.split('\n').length).toBeLessThanOrEqual(121);
	const links = [...readme.matchAll(/\]\(([^)#]+)\)/g)].map(([, link = '']) => link);
	expect(links.filter((link) => !link.startsWith('http') && !existsSync(path.join(root, link)))).toEqual([]);
});
