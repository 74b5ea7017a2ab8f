import { startPurchaseFixtures, type PurchaseFixtures } from './purchase-fixtures.ts';
import { test as base } from './test.ts';

/** An installation with a purchase in each state; nothing moves its clock after that. */
export const test = base.extend<object, { fixtures: PurchaseFixtures }>({
	fixtures: [
		async ({ setUp: _setUp }, use) => {
			const fixtures = await startPurchaseFixtures();
			await use(fixtures);
			await fixtures.server.stop();
		},
		{ scope: 'worker', timeout: 300_000 }
	]
});

export { expect } from './test.ts';
