/**
 * Property: whatever is sent to whichever endpoint, the answer is one that the contract knows and never a 500, and
 * what is refused changes nothing. The seed is fixed, so that a failure comes from the change under test; other seeds, and
 * as many requests as you like, with `npm run fuzz -- --requests 1000000`.
 */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ROUTES } from '../../../support/api/routes.ts';
import { startAttack, type Attack } from '../../../fuzz/attack.ts';
import { wildRequest } from '../../../fuzz/requests.ts';
import { isAll } from '../../../support/all.ts';
import { DATABASES, useFixture } from '../../../support/server/fixture.ts';

const requests = Number(process.env['AIRTILL_FUZZ_REQUESTS'] ?? (isAll ? 1500 : 400));
const seed = Number(process.env['AIRTILL_FUZZ_SEED'] ?? 91_996_644);
const wanted = process.env['AIRTILL_FUZZ_DATABASE'];
const msPerRequest = 50;

describe.each(DATABASES.filter((name) => wanted === undefined || wanted === name))('on %s', (database) => {
	const fixture = useFixture({ database, env: { PAYER_PROMPTS: '1000' } });
	let attack: Attack;
	beforeAll(async () => {
		attack = await startAttack(fixture());
	});
	afterAll(() => attack.stop());

	it(
		`answers ${requests} wild requests by the contract, and a refused one changes nothing`,
		async () => {
			await fc.assert(
				fc.asyncProperty(wildRequest, (wild) => attack.send(wild)),
				{ numRuns: requests, seed, endOnFailure: requests > 100_000 }
			);
			console.log(
				`hostile requests on ${database}, seed ${seed}: ` +
					[...attack.tally]
						.sort()
						.map(([name, count]) => `${name} ${count}`)
						.join(', ')
			);
			// So many reach behind the input checks of each endpoint.
			if (requests < 1_500) return;
			for (const { operationId, status } of ROUTES) {
				expect(attack.tally.get(`${operationId} ${status}`), operationId).toBeGreaterThan(0);
			}
		},
		60_000 + requests * msPerRequest
	);
});
