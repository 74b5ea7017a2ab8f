/** The adapter of M-Pesa Express beside a simulated Daraja, with one clock for both. */
import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest';
import { createLog } from '../../../src/lib/server/platform/log.ts';
import { configureOperators } from '../../../src/lib/server/billing/operators/configure.ts';
import { createHttpClient, type HttpClient } from '../../../src/lib/server/platform/http/http-client.ts';
import type {
	AttemptReference,
	CallbackClaim,
	OperatorAdapter,
	PaymentRequest,
	RawCallback
} from '../../../src/lib/server/billing/operators/operator.ts';
import { startSimulator, type Simulator } from '../../simulators/frame.ts';
import { mpesa } from '../../simulators/mpesa.ts';
import type { Script } from '../../simulators/script.ts';
import { startReceiver, type Receiver } from '../api/receiver.ts';

export const INSTALLATION = {
	mode: 'sandbox',
	currency: 'KES',
	callbackUrl: 'http://127.0.0.1:3000'
} as const;

export let simulator: Simulator;
/** Takes the callbacks in. */
export let receiver: Receiver;
export let adapter: OperatorAdapter;
let http: HttpClient;
const log = createLog('silent');

/** A new simulator for each test of the file. */
export function useMpesa(): void {
	beforeAll(async () => {
		receiver = await startReceiver();
		// Long enough for every answer that comes, short enough to wait for one that does not.
		http = createHttpClient({ timeoutMs: 3_000 });
	});
	afterAll(async () => {
		await http.stop();
		await receiver.stop();
	});
	beforeEach(() => start());
	afterEach(() => simulator.stop());
}

/** Starts a simulator with options of its own; the one before must be stopped. */
export async function start(options: Parameters<typeof mpesa>[0] = {}): Promise<void> {
	simulator = await startSimulator(mpesa(options));
	configure();
}

/** The adapter as the simulator's settings, and changes of them, make it. */
export function adapterWith(changes: Record<string, string> = {}): OperatorAdapter {
	const { operators, problems } = configureOperators({ ...simulator.environment, ...changes }, INSTALLATION);
	expect(problems).toEqual([]);
	const [configured] = operators;
	if (!configured) throw new Error('M-Pesa is not configured');
	return configured.create({ ...INSTALLATION, clock: simulator.books, log, http });
}

export function configure(changes: Record<string, string> = {}): void {
	adapter = adapterWith(changes);
}

export function request(changes: Partial<PaymentRequest> = {}): PaymentRequest {
	const reference = changes.reference ?? randomUUID();
	return {
		reference,
		amountMinor: 2_500,
		currency: 'KES',
		payerPhone: '+254708374149',
		paymentMethod: 'mpesa',
		description: 'Wi-Fi 1 hour',
		callbackUrl: `${receiver.url}/callbacks/daraja/${reference}/token`,
		expiresAt: simulator.books.now() + 600_000,
		...changes
	};
}

export const attempt = (
	asked: PaymentRequest,
	changes: Partial<AttemptReference> = {}
): AttemptReference => ({
	reference: asked.reference,
	operatorReference: null,
	submittedAt: simulator.books.now(),
	amountMinor: asked.amountMinor,
	currency: asked.currency,
	claim: null,
	...changes
});

/** A push that was accepted, and the reference to ask about it. */
export async function pushed(script: Partial<Script> = {}, changes: Partial<PaymentRequest> = {}) {
	simulator.script({}, script);
	const asked = request(changes);
	const outcome = await adapter.submit(asked);
	if (outcome.kind !== 'accepted') throw new Error(`It was ${outcome.kind}: ${outcome.raw}`);
	return { asked, reference: attempt(asked, { operatorReference: outcome.operatorReference }) };
}

export const lastSent = (): Record<string, unknown> =>
	JSON.parse(simulator.requests.at(-1)?.body ?? '{}') as Record<string, unknown>;

export const callbackOf = (url: string, body: string): RawCallback => ({
	method: 'POST',
	path: new URL(url).pathname + new URL(url).search,
	authority: 'airtill.example',
	headers: { 'content-type': 'application/json' },
	body
});

/** Turns the message that arrived at an address into a claim, as the core does. */
export async function claimAt(url: string): Promise<CallbackClaim> {
	const at = new URL(url).pathname + new URL(url).search;
	await expect.poll(() => receiver.at(at).length, { timeout: 15_000 }).toBeGreaterThan(0);
	const { claimed, ...hint } = await adapter.parseCallback(
		callbackOf(url, receiver.at(at).at(-1)?.raw ?? '')
	);
	if (claimed !== 'succeeded' && claimed !== 'failed') throw new Error(`It claims ${claimed}`);
	const { operatorReference, providerReference, amountMinor, currency } = hint;
	return { claimed, operatorReference, providerReference, amountMinor, currency };
}
