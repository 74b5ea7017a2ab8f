/** Every page and form action of owners is in the table of roles. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { OWNER_ROUTES } from '#lib/server/web/owner/roles.ts';
import { accountActions } from '#lib/server/web/sign-in/account-page.ts';

const ACCOUNT_ACTIONS = Object.keys(accountActions(() => Promise.reject(new Error('nobody'))));
const routes = fileURLToPath(new URL('../../../src/routes/(area)/owner', import.meta.url));

const files = readdirSync(routes, { recursive: true, withFileTypes: true }).filter(({ name }) =>
	['+page.svelte', '+page.server.ts', '+server.ts'].includes(name)
);

const folders = [...new Set(files.map(({ parentPath }) => path.relative(routes, parentPath)))];

function actionsOf(place: string): string[] {
	const read = (file: string) => {
		const isThere = files.some(
			({ name, parentPath }) => name === file && path.relative(routes, parentPath) === place
		);
		return isThere ? readFileSync(path.join(routes, place, file), 'utf8') : null;
	};
	const server = read('+server.ts');
	if (server !== null) {
		const methods = [...server.matchAll(/^export const (GET|POST|\w+): RequestHandler/gm)];
		return methods.map(([, method]) => (method === 'GET' ? 'page' : 'default'));
	}
	const source = read('+page.server.ts') ?? '';
	const ofAccount = source.includes('accountActions(') ? ACCOUNT_ACTIONS : [];
	const written = /^export const actions\b.*?^\}|^export const actions\b.*$/ms.exec(source)?.[0] ?? '';
	const named = [...written.matchAll(/(?:^\t|[{,] )'?([\w-]+)'?: \w+\(/gm)].map(([, name = '']) => name);
	return ['page', ...ofAccount, ...named];
}

it('and the table names nothing else', () => {
	expect(Object.keys(OWNER_ROUTES).sort()).toEqual(folders.sort());
	for (const [place, actions] of Object.entries(OWNER_ROUTES)) {
		expect(Object.keys(actions).sort(), place).toEqual(actionsOf(place).sort());
	}
});

it('each file asks who calls, and each form', () => {
	const guards = /\b(owner|router|gateway|help)(Page|Form)\(|formVisitor/;
	const unguarded = files
		.filter(({ name }) => name.endsWith('.ts'))
		.map(({ name, parentPath }) => path.join(parentPath, name))
		.filter((file) => !guards.test(readFileSync(file, 'utf8')));
	expect(unguarded).toEqual([]);
	for (const { name, parentPath } of files.filter(({ name }) => name === '+page.server.ts')) {
		const source = readFileSync(path.join(parentPath, name), 'utf8');
		const place = path.relative(routes, parentPath);
		const forms = actionsOf(place).filter((action) => ![...ACCOUNT_ACTIONS, 'page'].includes(action));
		expect(source.match(/\b(owner|router|gateway|help)Form\(/g) ?? [], place).toHaveLength(forms.length);
	}
});
