/**
 * Which sentences a page may show after it has come alive: those that its components, and the code that runs beside
 * them in a browser, ask for by name. Read off the sources, so that nobody keeps a list.
 */
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

/**
 * Where most buyers are, on the slowest links: a page whose address begins like this gets its own sentences alone.
 * All others share one list.
 */
export const SECTIONS = ['r', 's', 'splash'] as const;
export const ELSEWHERE = 'all';

/** Sentences are asked for by their name, so that the build sees which ones a browser needs. */
export const USE = /\bm\.([a-z][a-z0-9_]*)/g;
const IMPORT = /^\s*(?:import|export)\s(?!type\s)[^'";]*?['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]/gm;

/** First part of a page's address: `r` of `src/routes/(portal)/r/[router]/+page.svelte`. */
const sectionOf = (root: string, page: string) =>
	relative(join(root, 'src/routes'), page)
		.split('/')
		.find((part) => !part.startsWith('(')) ?? '';

const routeFiles = (root: string, pattern: RegExp) =>
	readdirSync(join(root, 'src/routes'), { recursive: true, encoding: 'utf8' })
		.filter((name) => pattern.test(name))
		.map((name) => join(root, 'src/routes', name));

/** Files of ours that a file loads in a browser. */
function importsOf(root: string, file: string): string[] {
	return [...readFileSync(file, 'utf8').matchAll(IMPORT)].flatMap(([, fixed, late]) => {
		const target = fixed ?? late ?? '';
		const path = target.startsWith('#lib/')
			? join(root, 'src/lib', target.slice('#lib/'.length))
			: join(dirname(file), target);
		const isOurs = /^(#lib\/|\.)/.test(target) && /\.(svelte|ts)$/.test(path);
		return isOurs && !path.includes('/lib/server/') && existsSync(path) ? [path] : [];
	});
}

/**
 * Names of sentences by section.
 * @param root the project's folder
 */
export function usedSentences(root: string): Map<string, string[]> {
	// Layouts and error pages stand around every page.
	const everywhere = routeFiles(root, /(^|\/)\+(layout|error)\.(svelte|ts)$/);
	const pages = routeFiles(root, /(^|\/)\+page\.(svelte|ts)$/);
	return new Map(
		[...SECTIONS, ELSEWHERE].map((section) => {
			const files = new Set([
				...everywhere,
				...pages.filter((page) => section === ELSEWHERE || sectionOf(root, page) === section)
			]);
			const names = new Set<string>();
			// A set that grows while it is walked is walked to its new end.
			for (const file of files) {
				for (const [, name] of readFileSync(file, 'utf8').matchAll(USE)) if (name) names.add(name);
				for (const imported of importsOf(root, file)) files.add(imported);
			}
			return [section, [...names].sort()];
		})
	);
}
