/** Finds the modules that a component loads in a browser, from the sources. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const IMPORT = /^\s*(?:import|export)\s(?!type\s)[^'";]*?['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]/gm;

/** A file and all files of ours that it imports, however far away; paths from the project's folder. */
export function importsIn(file: string): Set<string> {
	const files = new Set([file]);
	// A set that grows while it is walked is walked to its new end.
	for (const one of files) {
		for (const [, fixed, late] of readFileSync(one, 'utf8').matchAll(IMPORT)) {
			const target = fixed ?? late ?? '';
			const path = target.startsWith('#lib/')
				? target.replace('#lib/', 'src/lib/')
				: join(dirname(one), target);
			if (/^(#lib\/|\.)/.test(target) && /\.(svelte|ts)$/.test(path) && existsSync(path)) files.add(path);
		}
	}
	return files;
}
