/** `npm run language`: compiles the catalogues for tools that do not run the build (types, lint). */
import { compile } from '@inlang/paraglide-js';
import { COMPILER_OPTIONS } from './compiler-options.ts';

await compile(COMPILER_OPTIONS);
