/** A server that sells through a simulated operator. */
import { type OperatorFacts, PROTOCOLS } from '../../simulators/protocols.ts';
import { type Simulator, startSimulator } from '../../simulators/simulator.ts';
import { untilQuiet } from '../../torture/time.ts';
import { portalAddress } from './portal-address.ts';
import { startFixture, type Fixture } from '../server/fixture.ts';

export interface OperatedFixture {
	fixture: Fixture;
	simulator: Simulator;
	/** A payer's number that nobody has used. */
	newPhone(): string;
	/** Moves the clocks of the server and of the operator, and waits until what is due then is done. */
	advance(ms: number): Promise<void>;
	stop(): Promise<void>;
}

/**
 * A simulated operator, and a server in sandbox mode whose settings alone point at it.
 * @param settings other than those that the simulator gives
 */
export async function startOperated(
	facts: OperatorFacts,
	database: string,
	settings: Readonly<Record<string, string>> = {}
): Promise<OperatedFixture> {
	const protocol = PROTOCOLS[facts.name]?.(facts.options);
	if (!protocol) throw new Error(`There is no simulated ${facts.name}`);
	const simulator = await startSimulator(protocol);
	const fixture = await startFixture({
		database,
		env: { ...simulator.environment, PAYMENT_METHODS: facts.method, AIRTILL_DEMO: 'routers', ...settings }
	});
	if (facts.hasPortal) simulator.portal({ callback_url: await portalAddress(fixture.server, facts.id) });
	let phones = 0;
	return {
		fixture,
		simulator,
		newPhone: () => `${facts.phone}${String(100_000 + (phones += 1)).slice(-6)}`,
		async advance(ms) {
			simulator.advance(ms);
			await fixture.server.advance(ms);
			await untilQuiet(fixture.server, fixture.sql);
		},
		async stop() {
			await fixture.stop();
			await simulator.stop();
		}
	};
}
