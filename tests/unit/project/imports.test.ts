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

const INFRASTRUCTURE = ['api', 'config', 'db', 'demo', 'platform', 'web'];
/** The area of a service file: its folder in lib/server. RADIUS is a part of access. */
function areaOf(file: string): string | null {
	const folder = /^lib\/server\/([^/]+)\//.exec(file)?.[1];
	if (folder === undefined || INFRASTRUCTURE.includes(folder)) return null;
	return folder === 'radius' ? 'access' : folder;
}
/** The file of a folder that has its name: what other areas may use. */
const isMain = (file: string) =>
	path.posix.basename(file, '.ts') === path.posix.basename(path.posix.dirname(file));

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

	it('never import the database, operators, gateways or a store', () => {
		expect(found(routes, /^lib\/server\/(db|billing\/operators|gateways)\/|\/store\.ts$/)).toEqual([]);
	});

	it('import app.ts, api/, web/ and portal/; of a service only errors, limits and types', () => {
		const others = imports.filter(
			({ from, to, names, isType }) =>
				routes.test(from) &&
				/^lib\/server\/(?!app\.ts|(api|web|portal)\/)/.test(to) &&
				!isType &&
				to !== 'lib/server/platform/errors.ts' &&
				!(isMain(to) && names.every((name) => /^(type .*|\w+(Error|Refused|Moved)|[A-Z_]+)$/.test(name)))
		);
		expect(
			shown(others, [
				// The start of the process.
				'hooks.server.ts -> lib/server/config/config.ts',
				'hooks.server.ts -> lib/server/demo/demo.ts',
				'hooks.server.ts -> lib/server/platform/ids.ts'
			])
		).toEqual([]);
	});
});

describe('rule 3: buyer pages reach the service through the API client', () => {
	const portal = files.filter((file) => /^(routes\/\(portal\)|lib\/server\/web\/portal)\/.*\.ts$/.test(file));
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
		'apiBuyers',
		// Text messages with the code belong to the portal's purchase, which the API does not know.
		'notifications'
	];

	it('and use no other service of the app', () => {
		expect(portal.length).toBeGreaterThan(5);
		for (const file of portal) {
			const text = textOf(file);
			const used = [
				...[...text.matchAll(/\bapp\.(\w+)/g)].map(([, name = '']) => name),
				...[...text.matchAll(/\{([^{}]*)\}\s*=\s*(?:event\.)?locals\.app\b/g)].flatMap(([, names = '']) =>
					names.split(',').map((name) => name.trim().replace(/:.*/, ''))
				)
			];
			for (const name of used) expect(ALLOWED, file).toContain(name);
		}
	});

	it('and so do portal/, web/portal/ and map/', () => {
		expect(
			found(
				/^lib\/server\/(portal|map|web\/portal)\//,
				/^lib\/server\/(billing|access|accounts|routers|developer|gateways|authentication)\//
			)
		).toEqual([]);
	});
});

describe('rule 4: only api/, web/, routes and hooks know the web', () => {
	const outside = files.filter(
		(file) =>
			/^(lib|cli)\/.*\.ts$/.test(file) && !/^lib\/server\/((api|web)\/|portal\/api-client\.ts)/.test(file)
	);

	it('no other file imports Hono or SvelteKit', () => {
		expect(
			found(/^lib\/server\/(?!(api|web)\/)|^cli\//, /^(@sveltejs\/kit|\$app\/|\$env\/|hono|@hono\/)/)
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
		for (const file of outside.filter((name) => areaOf(name) !== null)) {
			expect(textOf(file).match(/Date\.now\(\)|new Date\(\)/)?.[0], file).toBeUndefined();
		}
	});
});

describe('rule 5: services', () => {
	const between = imports.filter(({ from, to }) => {
		const [own, other] = [areaOf(from), areaOf(to)];
		return own !== null && other !== null && own !== other;
	});

	it('use no store.ts of another area', () => {
		expect(shown(between.filter(({ to }) => to.endsWith('/store.ts')))).toEqual([]);
	});

	it('use main files of other areas, the interfaces of gateways and operators, and types', () => {
		const INTERFACES =
			/^lib\/server\/(gateways\/(gateway|registry)|billing\/operators\/(operator|registry|operator-for-payment))\.ts$/;
		const inner = between.filter(({ to, isType }) => !isMain(to) && !isType && !INTERFACES.test(to));
		expect(
			shown(inner, [
				// The map uses a part of the portal's rate limit.
				'lib/server/map/map-routers.ts -> lib/server/portal/quota.ts'
			])
		).toEqual([]);
	});

	it('import each other without cycles', () => {
		const next = new Map<string, Set<string>>();
		for (const { from, to, isType } of between) {
			if (isType) continue;
			const [own = '', other = ''] = [areaOf(from) ?? '', areaOf(to) ?? ''];
			next.set(own, (next.get(own) ?? new Set()).add(other));
		}
		const cycle = (area: string, trail: string[]): string[] | null => {
			if (trail.includes(area)) return [...trail, area];
			for (const other of next.get(area) ?? []) {
				const closed = cycle(other, [...trail, area]);
				if (closed) return closed;
			}
			return null;
		};
		expect(next.size).toBeGreaterThan(2);
		for (const area of next.keys()) expect(cycle(area, [])).toBeNull();
	});

	it('use of api/ only its schemas, texts and rate limits', () => {
		const used = imports.filter(
			({ from, to, isType }) =>
				areaOf(from) !== null &&
				/^lib\/server\/(api|web)\//.test(to) &&
				!/^lib\/server\/api\/(contract|schemas|rate-limits)\//.test(to) &&
				!isType
		);
		expect(shown(used)).toEqual([]);
	});

	it('keep their queries in a store.ts that uses db/ and pure values only', () => {
		expect(found(/\/store\.ts$/, /^(?!kysely$|zod$|lib\/server\/db\/|lib\/(?!server\/))/)).toEqual([]);
	});

	it('are unknown to db/', () => {
		expect(
			shown(imports.filter(({ from, to }) => from.startsWith('lib/server/db/') && areaOf(to) !== null))
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
