import type { CompilerOptions } from '@inlang/paraglide-js';

/** How Paraglide compiles the catalogues: for the build and for `npm run language`. */
export const COMPILER_OPTIONS: CompilerOptions = {
	project: './src/language/project.inlang',
	outdir: './src/lib/language/generated',
	outputStructure: 'locale-modules',
	emitTsDeclarations: true,
	emitReadme: false,
	// The request's language is known from its address or its headers (src/lib/language), not from Paraglide's own ways.
	strategy: ['globalVariable', 'baseLocale']
};
