import { sveltekit } from '@sveltejs/kit/vite';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** They take minutes, and would otherwise start late: a fresh clone knows the size of files only. */
const LONGEST = /process\/(torture|model)\.test\.ts$/;
const SUITE = /\/tests\/(unit|api|gateways)\//;

/** The longest tests first; those of gateways, which wait most of the time, spread among those of the API. */
class Sequencer extends BaseSequencer {
	override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
		const suites = Map.groupBy(await super.sort(files), ({ moduleId }) => SUITE.exec(moduleId)?.[1]);
		const ranked = [...suites].flatMap(([name, those]) =>
			those.map((file, index) => {
				const rank = LONGEST.test(file.moduleId) ? -1 : index / those.length;
				// Together: a worker serves one project.
				return { file, rank: name === 'unit' ? 1 : rank };
			})
		);
		return ranked.sort((a, b) => a.rank - b.rank).map(({ file }) => file);
	}
}

export default defineConfig({
	// Without Paraglide, which compiles the messages in 14 s of CPU: the build or `npm run language` has done it.
	plugins: [sveltekit()],
	test: {
		// Tests wait for timers of the server most of the time: four workers keep two cores busy.
		maxWorkers: 4,
		// A new process for each file took a fifth of the time. Tests share nothing but constants of their modules.
		isolate: false,
		sequence: { sequencer: Sequencer },
		expect: { poll: { timeout: 60_000 } },
		globalSetup: ['tests/support/temporary-folder.ts'],
		projects: [
			{
				extends: true,
				// The default of 5 s is near what a test of 2,000 generated cases takes on a busy machine.
				test: { name: 'unit', pool: 'threads', include: ['tests/unit/**/*.test.ts'], testTimeout: 60_000 }
			},
			{
				extends: true,
				// Both in one project: for each change of project a worker starts anew. tests/gateways works with the real
				// FreeRADIUS and openNDS, which npm run test:gateways installs.
				test: {
					name: 'api',
					include: ['tests/api/**/*.test.ts', 'tests/gateways/**/*.test.ts'],
					globalSetup: ['tests/support/postgres-setup.ts'],
					testTimeout: 120_000,
					hookTimeout: 180_000
				}
			}
		]
	}
});
