/** How a page comes alive in a browser (src/hydration), and what pages must keep to so that it can. */
import { readFileSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { start, type Hydration, type PageApp, type PageNode } from '../../src/hydration/start.ts';
import { importsIn } from '../support/svelte-imports.ts';

vi.stubGlobal('location', new URL('http://till.test/sw/r/3?kept'));

const ROUTES = 'src/routes';

type Made = ConstructorParameters<PageApp['root']>[0];

function scene(page: PageNode) {
	const made: Made[] = [];
	const told: object[] = [];
	const whole = vi.fn(async () => {});
	const init = vi.fn(async () => {});
	const app: PageApp = {
		nodes: { 0: async () => ({ component: 'layout' }) },
		hooks: { init },
		root: class {
			readonly options: Made;
			constructor(options: Made) {
				this.options = options;
				expect(init).toHaveBeenCalled();
				made.push(options);
			}
		}
	};
	const kit = { whole: async () => ({ start: whole }), update: (state: object) => void told.push(state) };
	const hydration: Hydration = {
		node_ids: [0, 7],
		data: [
			{ type: 'data', data: { testMode: true, name: 'outer' } },
			{ type: 'data', data: { name: 'inner' } }
		],
		form: null,
		error: null,
		params: { router: '3' },
		server_route: { id: '/r/[router]', nodes: { 7: async () => page } }
	};
	// No DOM is touched here: the generated root does that.
	const target = Object.create(null) as Element;
	return { app, kit, hydration, target, made, told, whole };
}

describe('a page that comes alive', () => {
	it('gets its components, what the server loaded for them, and what `page` says', async () => {
		const { app, kit, hydration, target, made, told, whole } = scene({ component: 'page' });
		await start(kit, app, target, hydration);
		const page = {
			data: { testMode: true, name: 'inner' },
			error: null,
			form: null,
			params: { router: '3' },
			route: { id: '/r/[router]' },
			state: {},
			status: 200,
			url: new URL('http://till.test/sw/r/3?kept')
		};
		expect(told).toEqual([page]);
		expect(made).toEqual([
			{
				target,
				hydrate: true,
				sync: false,
				props: {
					constructors: ['layout', 'page'],
					components: [],
					form: null,
					data_0: { testMode: true, name: 'outer' },
					data_1: { testMode: true, name: 'inner' },
					page,
					stores: { page: expect.anything() }
				}
			}
		]);
		expect(whole).not.toHaveBeenCalled();
	});

	it('gets what its own half of loading makes of that', async () => {
		const load = ({ data }: { data: object | null }) => ({ ...data, more: 1 });
		const { app, kit, hydration, target, made } = scene({ component: 'page', universal: { load } });
		await start(kit, app, target, hydration);
		expect(made[0]?.props.data_1).toEqual({ testMode: true, name: 'inner', more: 1 });
	});

	it("is left to SvelteKit's start when it changes its address by itself", async () => {
		const { app, kit, hydration, target, made, whole } = scene({
			component: 'page',
			universal: { _navigates: true }
		});
		await start(kit, app, target, hydration);
		expect(whole).toHaveBeenCalledWith(app, target, hydration);
		expect(made).toEqual([]);
	});

	it('stays as the server wrote it when a file does not come', async () => {
		const { app, kit, hydration, target, made } = scene({ component: 'page' });
		app.nodes[0] = () => Promise.reject(new Error('gone'));
		await expect(start(kit, app, target, hydration)).rejects.toThrow('gone');
		expect(made).toEqual([]);
	});
});

describe('pages of the portal', () => {
	const files = readdirSync(ROUTES, { recursive: true, encoding: 'utf8' }).map((name) => join(ROUTES, name));
	const optionsOf = (page: string) => {
		const file = join(dirname(page), '+page.ts');
		return files.includes(file) ? readFileSync(file, 'utf8') : '';
	};

	it('say so when they change their address without being loaded anew, and only then', () => {
		const pages = files.filter((file) => /\+(page|layout|error)\.svelte$/.test(file));
		const navigating = pages.filter((page) =>
			[...importsIn(page)].some((file) =>
				/from '\$app\/(navigation|forms|stores)'/.test(readFileSync(file, 'utf8'))
			)
		);
		expect(navigating.length).toBeGreaterThan(0);
		expect(navigating).toEqual(
			pages.filter((page) => page.endsWith('+page.svelte') && optionsOf(page).includes('_navigates = true'))
		);
	});

	it('ask for no more than the data in their own half of loading', () => {
		const loading = files.filter(
			(file) => /\+(page|layout)\.ts$/.test(file) && /\bload\b/.test(readFileSync(file, 'utf8'))
		);
		expect(loading.length).toBeGreaterThan(0);
		for (const file of loading) {
			expect(readFileSync(file, 'utf8'), file).toMatch(/\bload: \w+ = (async )?\(\{ data \}\)/);
		}
	});
});
