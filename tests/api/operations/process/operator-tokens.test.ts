/** Processes share the operator's token: a new one of Daraja ends the one before, so that each would end the other's. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { OPERATORS } from '../../../simulators/protocols.ts';
import { type Api, createApi } from '../../../support/api/api.ts';
import { type OperatedFixture, startOperated } from '../../../support/billing/operators.ts';
import { demoKey, eventually, SECRET } from '../../../support/server/fixture.ts';
import { startServer, type TestServer } from '../../../support/server/server.ts';

const DAY_MS = 24 * 60 * 60_000;
const CLAIM_MS = 10_000;

let operated: OperatedFixture;
let second: TestServer;
let processes: Api[];

beforeAll(async () => {
	const facts = OPERATORS.find(({ name }) => name === 'mpesa');
	if (!facts) throw new Error('no operator');
	operated = await startOperated(facts, 'postgres');
	const { simulator, fixture } = operated;
	second = await startServer({
		database: fixture.server.databaseUrl,
		env: {
			...simulator.environment,
			...{ PAYMENT_METHODS: 'mpesa', AIRTILL_SECRET: SECRET, AIRTILL_DEMO: 'off' }
		}
	});
	processes = [fixture.api, createApi(second.url, demoKey(fixture.server, 'app'))];
});
afterAll(async () => {
	await second?.stop();
	await operated?.stop();
});

/** Buys through each process at the same moment. */
async function buyThroughAll(): Promise<void> {
	await Promise.all(
		processes.map(async (api) => {
			const phone = operated.newPhone();
			operated.simulator.script({ phone: phone.slice(1) }, { afterMs: 0 });
			const payment = await api.pay(await api.createSession({ payment_method: 'mpesa', phone }));
			await eventually('it is paid', async () => (await api.getPayment(payment.id, 10)).status === 'success');
		})
	);
}

const tokens = () => operated.simulator.requests.filter(({ path }) => path.startsWith('/oauth/')).length;

it('one token serves all processes, until it ends', async () => {
	for (let round = 0; round < 3; round += 1) await buyThroughAll();
	expect(tokens()).toBe(1);
	operated.simulator.expireTokens();
	for (let round = 0; round < 3; round += 1) await buyThroughAll();
	expect(tokens()).toBe(2);
});

it('a process that has died while it asked stops nobody for long', async () => {
	const before = tokens();
	operated.simulator.expireTokens();
	const { sql, server } = operated.fixture;
	await sql.run('update operator_tokens set claimed_until = ?', server.now() + CLAIM_MS);
	const since = performance.now();
	await buyThroughAll();
	expect(tokens()).toBe(before + 1);
	expect(performance.now() - since, 'they waited').toBeGreaterThan(CLAIM_MS - 1_000);
});

it('a claim of a clock that was ahead, and a token that the secret does not open, stop nobody', async () => {
	const before = tokens();
	operated.simulator.expireTokens();
	await operated.fixture.sql.run(
		"update operator_tokens set claimed_until = ?, token_sealed = 'v1.x'",
		Date.now() + DAY_MS
	);
	await buyThroughAll();
	expect(tokens()).toBe(before + 1);
});
