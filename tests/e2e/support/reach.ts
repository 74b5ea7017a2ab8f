import { startScene, type Scene } from '../scene.ts';
import { test as base } from './test.ts';

/** An installation with a purchase in each state; nothing moves its clock after that. */
export const test = base.extend<object, { scene: Scene }>({
	scene: [
		async ({ setUp: _setUp }, use) => {
			const scene = await startScene();
			await use(scene);
			await scene.server.stop();
		},
		{ scope: 'worker', timeout: 120_000 }
	]
});

export { expect } from './test.ts';
