/**
 * Generated histories of buyers, operators, networks and clocks against a small model of what each buyer is owed
 * (tests/model). The seeds are fixed, so that a failure comes from the change under test: one, and six with
 * `npm test -- --all`. AIRTILL_MODEL_RUNS plays that many random ones instead, AIRTILL_MODEL_SEED one of them again,
 * AIRTILL_MODEL_SHRINK=1 looks for the shortest history that fails; AIRTILL_MODEL_OPERATOR names the operator (mtn).
 */
import process from 'node:process';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { histories, PlaceOrder } from '../../../model/commands.ts';
import { sellData } from '../../../model/data.ts';
import { judgeHistory, startOf } from '../../../model/owed.ts';
import { newBuyers, BUYERS, type Real } from '../../../model/buyers.ts';
import { type Simulator, startSimulator } from '../../../simulators/simulator.ts';
import { isAll } from '../../../support/all.ts';
import { startReceiver, type Receiver } from '../../../support/api/receiver.ts';
import { DATABASES, startFixture, type Fixture } from '../../../support/server/fixture.ts';
import { judgeBooks } from '../../../torture/books.ts';
import { judgeEarnings } from '../../../torture/earnings.ts';
import { OPERATORS } from '../../../torture/operators.ts';
import { serverNow } from '../../../torture/time.ts';
import { EVENTS, HOOK, judgeWebhooks } from '../../../torture/webhooks.ts';

const { AIRTILL_MODEL_OPERATOR: operatorName = 'mtn' } = process.env;
const { AIRTILL_MODEL_RUNS: runs, AIRTILL_MODEL_SEED: seed, AIRTILL_MODEL_SHRINK: shrink } = process.env;
const STEPS = 160;
const SEEDS = seedsToPlay();
const SECONDS_PER_RUN = 270;

describe.each(DATABASES)('on %s', (database) => {
	let simulator: Simulator;
	let receiver: Receiver;
	let fixture: Fixture;
	let real: Real;
	let from: number;
	beforeAll(async () => {
		const operator = OPERATORS[operatorName];
		if (!operator) throw new Error('no operator');
		simulator = await startSimulator(operator.protocol());
		receiver = await startReceiver();
		fixture = await startFixture({
			database,
			env: {
				...simulator.environment,
				PAYMENT_METHODS: operator.method,
				AIRTILL_LOG_LEVEL: 'silent',
				OPERATOR_TIMEOUT_SECONDS: '1',
				PAYER_PROMPTS: '1000',
				WEBHOOK_ALLOW_INSECURE: '1'
			}
		});
		const { server } = fixture;
		const data = await sellData(fixture);
		real = { fixture, server, simulator, receiver, operator, data, behindMs: 0, born: 0 };
		from = serverNow(server);
		await operator.enterAddress(simulator, server);
		await fixture.api.send('POST', '/v1/webhooks/register', {
			body: { url: receiver.url + HOOK, events: EVENTS }
		});
	});
	afterAll(async () => {
		await fixture?.stop();
		await receiver?.stop();
		await simulator?.stop();
	});

	async function play(one: number): Promise<void> {
		const property = fc.asyncProperty(histories(STEPS), async (history) => {
			const since = await startOf(real);
			const model = newBuyers(real);
			for (let who = 0; who < BUYERS; who += 1) await new PlaceOrder(who).run(model, real);
			await fc.asyncModelRun(() => ({ model, real }), history);
			const { lost, doubled, wrong } = await judgeHistory(real, model, since);
			expect({ lost, doubled, wrong }).toEqual({ lost: [], doubled: [], wrong: [] });
		});
		await fc.assert(property, { seed: one, numRuns: 1, unbiased: true, endOnFailure: shrink !== '1' });
	}

	it(
		'whoever paid has the time or the money, once; nobody else has anything; all of it is told once',
		async () => {
			for (const one of SEEDS) await play(one);
			const sent = await judgeWebhooks(receiver, real, fixture.sql);
			const owner = {
				send: async (method: string, path: string) => {
					const { status, body } = await fixture.owner.send(method, path);
					return { status, body: Object(body) as Record<string, unknown> };
				}
			};
			const earned = await judgeEarnings(owner, fixture.sql, { from, until: serverNow(fixture.server) });
			const booked = await judgeBooks(fixture.server.databaseUrl);
			expect([...sent, ...earned, ...booked]).toEqual([]);
			const { payments } = simulator.ledger();
			const usedUp = "select count(*) from sessions where status_reason = 'data_limit_reached'";
			console.log(
				`${database}: ${SEEDS.length} histories, ${simulator.books.payments.length} payments, ${payments} paid, ${await fixture.sql.count(usedUp)} ended without data`
			);
		},
		SEEDS.length * SECONDS_PER_RUN * 1000
	);
});

function seedsToPlay(): number[] {
	if (seed !== undefined) return [Number(seed)];
	if (runs === undefined) return isAll ? [1, 2, 3, 4, 5, 6] : [1];
	return Array.from({ length: Number(runs) }, () => Math.floor(Math.random() * 2 ** 31));
}
