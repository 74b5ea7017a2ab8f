/** Compiles the catalogues: for the build (plugin.ts), and by `npm run language` for tools that do not run it. */
import { join } from 'node:path';
import { compile } from '@inlang/paraglide-js';

process.chdir(join(import.meta.dirname, '../..'));
await compile({
	project: './src/language/project.inlang',
	outdir: './src/lib/i18n/generated',
	outputStructure: 'locale-modules',
	emitTsDeclarations: true,
	emitReadme: false,
	// The request's language is known from its address or its headers (src/lib/language), not from Paraglide's own ways.
	strategy: ['globalVariable', 'baseLocale']
});
// The compiler leaves a timer behind that would keep this process for half a minute.
process.exit();
