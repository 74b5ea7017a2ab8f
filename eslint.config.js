import js from '@eslint/js';
import svelte from 'eslint-plugin-svelte';
import globals from 'globals';
import ts from 'typescript-eslint';
import svelteConfig from './svelte.config.js';

export default ts.config(
	{
		ignores: [
			'build/',
			'.svelte-kit/',
			'node_modules/',
			'data/',
			'test-results/',
			'tests/output/',
			'src/lib/i18n/generated/'
		]
	},
	js.configs.recommended,
	...ts.configs.strict,
	...svelte.configs.recommended,
	{ languageOptions: { globals: { ...globals.browser, ...globals.node } } },
	{
		files: ['**/*.svelte', '**/*.svelte.ts'],
		languageOptions: { parserOptions: { parser: ts.parser, extraFileExtensions: ['.svelte'], svelteConfig } }
	},
	{
		rules: {
			'no-undef': 'off',
			// Paths are made by link(), which keeps the language; the application has no base path.
			'svelte/no-navigation-without-resolve': 'off',
			'no-console': ['error', { allow: ['error'] }],
			'no-duplicate-imports': ['error', { allowSeparateTypeImports: true }],
			'@typescript-eslint/consistent-type-imports': 'error',
			'@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_' }]
		}
	},
	{
		// Programs whose output is their purpose.
		files: ['src/cli/**', 'src/server.js', 'tests/**'],
		rules: { 'no-console': 'off' }
	}
);
