import { defineConfig, mergeConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import viteConfig from './vite.config.ts';

/** Few lines that run long. Vitest begins with the files that have the most lines. */
const LONG = [
	'api/operations/torture',
	'api/operations/model',
	'api/operations/faults',
	'api/operations/crashes',
	'api/portal/prompt-limits',
	'gateways/opennds',
	'gateways/opennds-limits',
	'gateways/radius'
];

/** Long files begin first: otherwise one worker runs them in the end, and the others wait. */
class LongestFirst extends BaseSequencer {
	override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
		const sorted = await super.sort(files);
		const isLong = ({ moduleId }: TestSpecification) =>
			LONG.some((name) => moduleId.endsWith(`/tests/${name}.test.ts`));
		return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
	}
}

export default defineConfig((env) =>
	mergeConfig(viteConfig(env), {
		test: {
			// Tests wait for timers of the server most of the time: five workers keep two cores busy.
			maxWorkers: 5,
			sequence: { sequencer: LongestFirst },
			expect: { poll: { timeout: 15_000 } },
			projects: [
				{
					extends: true,
					// The default of 5 s is near what a test of 2,000 generated cases takes on a busy machine.
					test: { name: 'unit', pool: 'threads', include: ['tests/unit/**/*.test.ts'], testTimeout: 60_000 }
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
				},
				{
					extends: true,
					// With the real FreeRADIUS and openNDS: npm run test:gateways installs them.
					test: {
						name: 'gateways',
						include: ['tests/gateways/**/*.test.ts'],
						globalSetup: ['tests/support/global-setup.ts'],
						testTimeout: 120_000,
						hookTimeout: 180_000
					}
				}
			]
		}
	})
);
