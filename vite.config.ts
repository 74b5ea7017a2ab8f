import { sveltekit } from '@sveltejs/kit/vite';
import { defineConfig } from 'vitest/config';

export default defineConfig({
	plugins: [sveltekit()],
	server: { port: Number(process.env.PORT ?? 3000) },
	test: {
		projects: [
			{
				extends: true,
				test: { name: 'unit', include: ['tests/unit/**/*.test.ts'] }
			},
			{
				extends: true,
				test: {
					name: 'api',
					include: ['tests/api/**/*.test.ts'],
					globalSetup: ['tests/support/global-setup.ts'],
					testTimeout: 60_000,
					hookTimeout: 120_000
				}
			}
		]
	}
});
