/** The portal's records of purchases in this process, on the database of a running service. */
import { afterAll, beforeAll } from 'vitest';
import { openDatabase, type Database } from '../../../../src/lib/server/db/database.ts';
import { createRateLimits } from '../../../../src/lib/server/rate-limits.ts';
import { systemClock } from '../../../../src/lib/server/platform/clock.ts';
import { createLog } from '../../../../src/lib/server/platform/log.ts';
import { createSecrets } from '../../../../src/lib/server/platform/secrets.ts';
import { apiClient, type ApiClient } from '../../../../src/lib/server/portal/api-client.ts';
import { type Purchases, createPurchases } from '../../../../src/lib/server/portal/purchases.ts';
import { demoKey, SECRET, type Fixture } from '../../../support/server/fixture.ts';

export const HOUR = {
	routerId: 3,
	duration: '1h',
	offerId: null,
	paymentMethod: 'mobile_money',
	amount: 500,
	currency: 'UGX'
};

export let purchases: Purchases;
export let api: ApiClient;
let database: Database;

/** Opens them for the tests of one `describe`. */
export function usePurchases(fixture: () => Fixture): void {
	beforeAll(async () => {
		const { server } = fixture();
		database = await openDatabase(server.databaseUrl, { poolSize: 2 });
		purchases = newPurchases();
		const access = { url: `${server.url}/v1`, key: demoKey(server, 'app') };
		api = apiClient({
			fetch,
			request: new Request(server.url),
			locals: { app: { api: access, log: createLog('silent') } }
		});
	});
	afterAll(() => database.close());
}

/** With counts of their own, on databases whose processes do not share them. */
export const newPurchases = (): Purchases => {
	const rateLimits = createRateLimits(database, systemClock, createLog('silent'));
	return createPurchases({
		database,
		clock: systemClock,
		secrets: createSecrets(SECRET),
		rateLimits,
		region: 'UG',
		readInExtraTime: () => Promise.resolve(null),
		findOutages: () => Promise.resolve(null)
	});
};
