/** The import rules of the architecture, read from the import statements of src. Exceptions are named with a reason. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../../../src', import.meta.url));

interface Import {
	/** The importing file, relative to src. */
	from: string;
	/** A file relative to src, or the name of a package. */
	to: string;
	/** Names between the braces, each with `type` in front if only its type is used. */
	names: string[];
	isType: boolean;
}

const files = readdirSync(root, { recursive: true, encoding: 'utf8' })
	.map((file) => file.replaceAll(path.sep, '/'))
	.filter((file) => /\.(ts|js|svelte)$/.test(file) && !file.includes('/generated/'))
	.sort();

/** Without comments, which may name anything. */
const textOf = (file: string) =>
	readFileSync(path.join(root, file), 'utf8')
		.replace(/\/\*.*?\*\//gs, '')
		.replace(/^\s*\/\/.*$/gm, '');

const STATEMENT =
	/^\s*(?:import|export)\b([^'";]*?)from\s*'([^']+)'|^\s*import\s*'([^']+)'|\bimport\('([^']+)'\)/gm;

function importsOf(file: string): Import[] {
	return [...textOf(file).matchAll(STATEMENT)].map(([, what = '', from, bare, dynamic]) => {
		const target = from ?? bare ?? dynamic ?? '';
		const isType = /^\s*type\b/.test(what);
		const names = (/\{([^}]*)\}/.exec(what)?.[1] ?? '')
			.split(',')
			.map((name) => name.trim())
			.filter((name) => name !== '');
		const isOnlyTypes = isType || (names.length > 0 && names.every((name) => name.startsWith('type ')));
		const to = target.startsWith('#lib/')
			? target.replace('#lib/', 'lib/')
			: target.startsWith('.')
				? path.posix.join(path.posix.dirname(file), target)
				: target;
		return { from: file, to, names, isType: isOnlyTypes };
	});
}

const imports = files.flatMap(importsOf);
const shown = (list: readonly Import[], except: readonly string[] = []) =>
	list.map(({ from, to }) => `${from} -> ${to}`).filter((one) => !except.includes(one));
/** Imports that match both patterns, as `from -> to`, without the named exceptions. */
const found = (from: RegExp, to: RegExp, except: readonly string[] = []) =>
	shown(
		imports.filter((one) => from.test(one.from) && to.test(one.to)),
		except
	);

/** The folders and files of lib/server, in the order of the code map. */
const LAYERS = readFileSync(path.join(root, '../CONTRIBUTING.md'), 'utf8')
	.replace(/^.*\n {4}server\/ |\ntests\/\n.*$/gs, '')
	.split('\n')
	.flatMap((line) => /^ {6}([\w./-]+?)(\/<name>|\/)? /.exec(line)?.[1] ?? []);
const INFRASTRUCTURE = [
	...['api', 'app', 'base', 'config', 'contract', 'db', 'demo', 'http', 'open-portal', 'platform'],
	...['web']
];
/** Two folders of one area, one of which stands below billing/ or access/. */
const PARTS: Readonly<Record<string, string>> = {
	passes: 'access',
	'access-kinds': 'access',
	'gateway-setup': 'gateways'
};
/** The area of a service file: its folder in lib/server, or the file itself. */
function areaOf(file: string): string | null {
	const folder = /^lib\/server\/([\w-]+)(?:\/|\.ts$)/.exec(file)?.[1];
	return folder === undefined || INFRASTRUCTURE.includes(folder) ? null : (PARTS[folder] ?? folder);
}
it('the files and their imports are found', () => {
	expect(files.length).toBeGreaterThan(90);
	expect(imports.length).toBeGreaterThan(300);
	const inside = imports.filter(({ to }) => /^(lib|routes|cli)\//.test(to) && !to.endsWith('$types'));
	const missing = inside.filter(
		({ to }) =>
			!files.includes(to) && !/\.(css|svg|bin|md)(\?|$)|\?|\/\$types|^lib\/i18n\/generated\//.test(to)
	);
	expect(shown(missing)).toEqual([]);
});

it('the command line and the server load no package that the container removes', () => {
	const read = (name: string) => readFileSync(path.join(root, '..', name), 'utf8');
	const removed = [...read('Dockerfile').matchAll(/\bdependencies\.(\S+)/g)].map(([, name = '']) => name);
	const { dependencies } = JSON.parse(read('package.json')) as { dependencies: Record<string, string> };
	expect(removed.filter((name) => dependencies[name] === undefined)).toEqual([]);
	expect(removed).toContain('vite');
	const loaded = new Set(['cli/airtill.js', 'cli/main.ts', 'server.js']);
	for (const file of loaded)
		for (const one of imports) if (one.from === file && !one.isType) loaded.add(one.to);
	expect(loaded).toContain('lib/server/app.ts');
	expect(
		[...loaded].filter((to) => removed.some((name) => to === name || to.startsWith(`${name}/`)))
	).toEqual([]);
});

it('rule 1: components import nothing of the server', () => {
	expect(found(/\.svelte$/, /^lib\/server\//)).toEqual([]);
});

describe('rule 2: routes and hooks', () => {
	const routes = /^(routes\/.*\.ts|hooks(\.\w+)?\.ts)$/;

	it('call services, never the database, an operator or an adapter of a vendor', () => {
		expect(
			found(
				routes,
				/^lib\/server\/((db|billing\/operators)\/|gateways\/(mikrotik|unifi|coova|hostapd|opennds)\b)/
			)
		).toEqual([]);
	});
});

describe('rule 3: buyer pages reach the service through the API client', () => {
	const portal = files.filter((file) => /^(routes\/\(portal\)|lib\/server\/portal)\/.*\.ts$/.test(file));
	const ALLOWED = [
		'purchases',
		'mapRouters',
		'openingTimes',
		'config',
		'clock',
		'log',
		'api',
		'gateways',
		'captiveSessions',
		// Text messages with the code belong to the portal's purchase, which the API does not know.
		'notifications',
		// Of captive sessions, which the API does not know.
		'rateLimits'
	];

	it('and use no other service of the app', () => {
		expect(portal.length).toBeGreaterThan(5);
		for (const file of portal) {
			const text = textOf(file);
			const used = [
				...[...text.matchAll(/\bapp\.(\w+)/g)].map(([, name = '']) => name),
				...[...text.matchAll(/\{([^{}]*)\}\s*=\s*(?:event\.)?locals\.app\b(?!\.)/g)].flatMap(
					([, names = '']) => names.split(',').map((name) => name.trim().replace(/:.*/, ''))
				)
			];
			for (const name of used) expect(ALLOWED, file).toContain(name);
		}
	});

	it('and import no service that the API serves', () => {
		expect(
			shown(
				imports.filter(
					({ from, to, isType }) =>
						!isType &&
						/^(routes\/\(portal\)|lib\/server\/portal)\//.test(from) &&
						/^lib\/server\/(billing|access|accounts|routers|developer|authentication)\//.test(to)
				)
			)
		).toEqual([]);
	});
});

describe('rule 4: only api/, http/, portal/, web/, routes and hooks know the web', () => {
	const outside = files.filter(
		(file) => /^(lib|cli)\/.*\.ts$/.test(file) && !/^lib\/server\/(api|http|portal|web)\//.test(file)
	);

	it('no other file imports Hono or SvelteKit', () => {
		expect(
			found(
				/^lib\/server\/(?!(api|contract|http|portal|web)\/)|^cli\//,
				/^(@sveltejs\/kit|\$app\/|\$env\/|hono|@hono\/)/
			)
		).toEqual([]);
		expect(found(/^lib\/(?!server\/).*\.ts$/, /^(@sveltejs\/kit|\$env\/)/)).toEqual([]);
	});

	it('no other file names Request, Response or Headers', () => {
		for (const file of outside) {
			const named = textOf(file).match(
				/(?<![\w.'"`])(new |: |<|\| )(Request|Response|Headers|RequestEvent)\b(?!\w)/
			);
			expect(named?.[0], file).toBeUndefined();
		}
	});

	it('services take the time from the clock', () => {
		for (const file of files.filter((name) => areaOf(name) !== null)) {
			expect(textOf(file).match(/Date\.now\(\)|new Date\(\)/)?.[0], file).toBeUndefined();
		}
	});
});

describe('rule 5: layers', () => {
	/** The longest name in LAYERS that contains the file; -1 for none. */
	const layerOf = (file: string) => {
		const own = LAYERS.filter((name) => `${file}/`.startsWith(`lib/server/${name}/`));
		return LAYERS.indexOf(own.sort((a, b) => b.length - a.length)[0] ?? '');
	};

	it('contain every file of the server', () => {
		const server = files.filter((file) => file.startsWith('lib/server/'));
		expect(server.filter((file) => layerOf(file) === -1)).toEqual([]);
	});

	it('import only what stands before them, also types', () => {
		const up = imports.filter(
			({ from, to }) => from.startsWith('lib/server/') && layerOf(to) > layerOf(from)
		);
		expect(
			shown(up, [
				// An operator describes its settings in its own folder.
				'lib/server/config/config.ts -> lib/server/billing/operators/registry.ts'
			])
		).toEqual([]);
	});
});

describe('other folders', () => {
	it('lib/ outside the server imports nothing of the server, the routes or Node', () => {
		expect(found(/^lib\/(?!server\/).*\.ts$/, /^(lib\/server\/|routes\/|cli\/|hooks|node:)/)).toEqual([]);
	});

	it('the command line needs no compiled sentences, so that it works without a build', () => {
		const reached = new Set(['cli/main.ts']);
		for (const file of reached) {
			for (const { from, to } of imports) if (from === file && !reached.has(to)) reached.add(to);
		}
		expect(reached.size).toBeGreaterThan(50);
		expect([...reached].filter((file) => file.startsWith('lib/i18n/messages'))).toEqual([]);
	});

	it('nothing imports the tests', () => {
		expect(found(/./, /(^|\/)tests\//)).toEqual([]);
	});
});
