/**
 * Who may import whom: rules 2 to 6 of the architecture page, read off the import statements of src. Where the
 * code needs more than the page allows, the exception stands here by name, with its reason, and nowhere else.
 */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { ROUTES } from '../../src/lib/server/api/contract/routes.ts';
import { ENDPOINTS } from '../../src/lib/server/api/api.ts';

const root = fileURLToPath(new URL('../../src', import.meta.url));

interface Import {
	/** The importing file, relative to src. */
	from: string;
	/** A file relative to src, or the name of a package. */
	to: string;
}

const files = readdirSync(root, { recursive: true, encoding: 'utf8' })
	.map((file) => file.replaceAll(path.sep, '/'))
	// What the language compiler makes is not ours to judge.
	.filter((file) => /\.(ts|js|svelte)$/.test(file) && !file.startsWith('lib/i18n/generated/'))
	.sort();

/** Without comments, which may speak of anything. */
const textOf = (file: string) =>
	readFileSync(path.join(root, file), 'utf8')
		.replace(/\/\*.*?\*\//gs, '')
		.replace(/^\s*\/\/.*$/gm, '');

function importsOf(file: string): Import[] {
	const statements = textOf(file).matchAll(
		/^\s*(?:import|export)\b[^'";]*?from\s*'([^']+)'|^\s*import\s*'([^']+)'|\bimport\('([^']+)'\)/gm
	);
	return [...statements].map(([, from, bare, dynamic]) => {
		const target = from ?? bare ?? dynamic ?? '';
		if (target.startsWith('#lib/')) return { from: file, to: target.replace('#lib/', 'lib/') };
		if (!target.startsWith('.')) return { from: file, to: target };
		return { from: file, to: path.posix.join(path.posix.dirname(file), target) };
	});
}

const imports = files.flatMap(importsOf);

/** Imports that match both patterns, as `from -> to`, without the named exceptions. */
function found(from: RegExp, to: RegExp, except: readonly string[] = []): string[] {
	return imports
		.filter((one) => from.test(one.from) && to.test(one.to))
		.map((one) => `${one.from} -> ${one.to}`)
		.filter((one) => !except.includes(one));
}

const server = 'lib/server/';
/** Folders of lib/server that are not nouns; docs only tells what the others are. */
const NOT_NOUNS = ['contract', 'http', 'operators', 'gateways', 'db', 'demo', 'docs'];
const nounOf = (file: string) => {
	const folder = new RegExp(`^${server}([^/]+)/`).exec(file)?.[1];
	return folder === undefined || NOT_NOUNS.includes(folder) ? null : folder;
};

it('the files and their imports are found', () => {
	expect(files.length).toBeGreaterThan(90);
	expect(imports.length).toBeGreaterThan(300);
	const inside = imports.filter(({ to }) => /^(lib|routes|cli)\//.test(to) && !to.endsWith('$types'));
	const missing = inside.filter(
		({ to }) => !files.includes(to) && !/\.(css|svg|bin)(\?|$)|\/\$types|^lib\/i18n\/generated\//.test(to)
	);
	expect(missing).toEqual([]);
});

describe('rule 2: routes and hooks', () => {
	const routes = /^(routes\/.*\.ts|hooks(\.\w+)?\.ts)$/;

	it('never reach for the database, operators, gateways or a store', () => {
		expect(found(routes, /^lib\/server\/(db|operators|gateways)\/|\/store\.ts$/)).toEqual([]);
	});

	it('use app.ts, http/, api-client.ts and lib/*.ts', () => {
		expect(
			found(routes, /^lib\/server\/(?!app\.ts|http\/|api-client\.ts)/, [
				// Start of the process.
				'hooks.server.ts -> lib/server/config.ts',
				'hooks.server.ts -> lib/server/demo/demo.ts',
				'hooks.server.ts -> lib/server/ids.ts',
				// A picture, made on the server because of its weight.
				'routes/(portal)/kiosk/[router]/view.ts -> lib/server/wifi-qr-svg.ts',
				'routes/(portal)/s/[token]/move-to.ts -> lib/server/wifi-qr-svg.ts',
				'routes/(portal)/r/[router]/poster/+page.server.ts -> lib/server/wifi-qr-svg.ts',
				'routes/(portal)/s/[token]/way-in.ts -> lib/server/wifi-qr-svg.ts',
				// Refusals that the page turns into words beside the field.
				'routes/owner/(signed-in)/people/+page.server.ts -> lib/server/errors.ts',
				'routes/owner/(signed-in)/routers/[router]/price/+page.server.ts -> lib/server/errors.ts',
				'routes/owner/(signed-in)/routers/[router]/price/+page.server.ts -> lib/server/routers/routers.ts',
				'routes/owner/(signed-in)/routers/[router]/network-password/+page.server.ts -> lib/server/access/access.ts',
				'routes/owner/brand.ts -> lib/server/branding/branding.ts',
				// Where a page of the books begins.
				'routes/owner/(signed-in)/payments/+page.server.ts -> lib/server/earnings/earnings.ts',
				'routes/owner/(signed-in)/payments/export/+server.ts -> lib/server/earnings/earnings.ts',
				'routes/developer/(signed-in)/keys/new/+page.server.ts -> lib/server/api-keys/api-keys.ts',
				'routes/developer/(signed-in)/payments/+page.server.ts -> lib/server/errors.ts',
				'routes/developer/(signed-in)/webhooks/new/+page.server.ts -> lib/server/errors.ts',
				'routes/developer/(signed-in)/webhooks/[id]/+page.server.ts -> lib/server/errors.ts',
				// The callback route is not of /v1 and answers for itself.
				'routes/callbacks/[operator]/[reference]/[token]/+server.ts -> lib/server/errors.ts'
			])
				.filter(
					(one) => !/^routes\/(developer|owner|\(portal\))\/.* -> lib\/server\/api\/contract\//.test(one)
				)
				// The reference shows what is; there is nothing to call.
				.filter((one) => !/^routes\/\(reference\)\/.* -> lib\/server\/docs\//.test(one))
				.filter((one) => !/^routes\/\(portal\)\/.* -> lib\/server\/purchases\/purchases\.ts$/.test(one))
		).toEqual([]);
	});

	it('of the API take their description from the contract', () => {
		expect(ENDPOINTS).toHaveLength(ROUTES.length);
		// The very descriptions, not such as look alike.
		expect(ROUTES.filter((described) => !ENDPOINTS.some(({ route }) => route === described))).toEqual([]);
	});
});

describe('rule 3: the portal reaches the service through api-client.ts', () => {
	const portal = files.filter((file) => /^routes\/\(portal\)\/.*\.ts$/.test(file));

	it('and has no other service in its hands', () => {
		expect(portal.length).toBeGreaterThan(5);
		for (const file of portal) {
			const text = textOf(file);
			const used = [
				...[...text.matchAll(/\bapp\.(\w+)/g)].map(([, name = '']) => name),
				...[...text.matchAll(/\{([^{}]*)\}\s*=\s*(?:event\.)?locals\.app\b/g)].flatMap(([, names = '']) =>
					names.split(',').map((name) => name.trim().replace(/:.*/, ''))
				)
			];
			for (const name of used)
				expect(
					['purchases', 'places', 'config', 'clock', 'log', 'api', 'gateways', 'captiveSessions', 'guests'],
					file
				).toContain(name);
		}
	});

	it('and its own nouns know the service by the client only', () => {
		expect(
			found(
				/^lib\/server\/(purchases|places)\//,
				/^lib\/server\/(sessions|payments|routers|accounts|api-keys|operators)\//
			)
		).toEqual([]);
	});
});

describe('rule 4: only http/ and routes know the web', () => {
	const domain = files.filter(
		(file) => /^(lib|cli)\/.*\.ts$/.test(file) && !/^lib\/server\/(http\/|api-client\.ts)/.test(file)
	);

	it('no other file imports SvelteKit', () => {
		expect(found(/^lib\/server\/(?!http\/)|^cli\//, /^(@sveltejs\/kit|\$app\/|\$env\/)/)).toEqual([]);
		expect(found(/^lib\/[^/]+\.ts$/, /^(@sveltejs\/kit|\$env\/)/)).toEqual([]);
	});

	it('no other file speaks of Request, Response or Headers', () => {
		for (const file of domain) {
			const spoken = textOf(file).match(
				/(?<![\w.'"`])(new |: |<|\| )(Request|Response|Headers|RequestEvent)\b(?!\w)/
			);
			expect(spoken?.[0], file).toBeUndefined();
		}
	});

	it('no domain file asks Date for the time', () => {
		for (const file of domain.filter((name) => nounOf(name) !== null || name.includes('/operators/'))) {
			expect(textOf(file).match(/Date\.now\(\)|new Date\(\)/)?.[0], file).toBeUndefined();
		}
	});
});

describe('rule 5: nouns', () => {
	it('use their own store.ts, and no other noun’s', () => {
		const foreign = imports.filter(
			({ from, to }) => to.endsWith('/store.ts') && path.posix.dirname(from) !== path.posix.dirname(to)
		);
		expect(foreign).toEqual([]);
	});

	it('use another noun’s main file and nothing else of it', () => {
		const inner = imports.filter(({ from, to }) => {
			const [own, other] = [nounOf(from), nounOf(to)];
			return own !== null && other !== null && own !== other && to !== `${server}${other}/${other}.ts`;
		});
		expect(inner).toEqual([]);
	});

	it('use of operators and gateways the interface', () => {
		const inner = imports.filter(
			({ from, to }) =>
				nounOf(from) !== null &&
				/^lib\/server\/(operators|gateways)\//.test(to) &&
				!/\/(operator|gateway|registry|carriage|gateways|visits)\.ts$/.test(to)
		);
		expect(inner).toEqual([]);
	});

	it('do not go in circles', () => {
		const next = new Map<string, Set<string>>();
		for (const { from, to } of imports) {
			const [own, other] = [nounOf(from), nounOf(to)];
			if (own !== null && other !== null && own !== other)
				next.set(own, (next.get(own) ?? new Set()).add(other));
		}
		const circle = (noun: string, trail: string[]): string[] | null => {
			if (trail.includes(noun)) return [...trail, noun];
			for (const other of next.get(noun) ?? []) {
				const closed = circle(other, [...trail, noun]);
				if (closed) return closed;
			}
			return null;
		};
		expect(next.size).toBeGreaterThan(2);
		for (const noun of next.keys()) expect(circle(noun, [])).toBeNull();
	});

	it('a store.ts uses db/ and pure values only', () => {
		expect(found(/\/store\.ts$/, /^(?!kysely$|zod$|lib\/server\/db\/|lib\/[^/]+\.ts$)/)).toEqual([]);
	});

	it('db/ knows no noun', () => {
		expect(imports.filter(({ from, to }) => /^lib\/server\/db\//.test(from) && nounOf(to) !== null)).toEqual(
			[]
		);
	});
});

describe('rule 6', () => {
	it('lib/*.ts import nothing of ours but each other, and the language', () => {
		expect(
			found(/^lib\/[^/]+\.ts$/, /^(lib\/(?!language\/)[^/]+\/|routes\/|cli\/|hooks|\$app\/|node:)/)
		).toEqual([]);
	});

	it('what the command line runs needs no compiled sentences: it works without a build', () => {
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
