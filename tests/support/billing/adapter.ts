/** The adapter of an operator beside its simulator, with one clock for both. */
import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest';
import { createLog } from '#lib/server/platform/log.ts';
import { configureOperators } from '#lib/server/billing/operators/registry.ts';
import type {
	AttemptReference,
	CallbackClaim,
	Installation,
	OperatorAdapter,
	PaymentRequest,
	RawCallback,
	RefundRequest,
	StatusOutcome
} from '#lib/server/billing/operators/operator.ts';
import { type HttpClient, createHttpClient } from '#lib/server/platform/http-client.ts';
import { type Protocol, type Simulator, startSimulator } from '../../simulators/simulator.ts';
import type { Script } from '../../simulators/script.ts';
import { startReceiver, type Receiver } from '../api/receiver.ts';

type Env = Record<string, string>;

export interface Operator {
	protocol: () => Protocol;
	/** Settings other than those that the simulator gives. */
	env?: Env;
	order: Pick<PaymentRequest, 'amountMinor' | 'currency' | 'payerPhone' | 'paymentMethod'>;
}

export let simulator: Simulator;
/** Takes the callbacks in. */
export let receiver: Receiver;
export let adapter: OperatorAdapter;
let http: HttpClient;
let operator: Operator;
const log = createLog('silent');

/** A new simulator and a new receiver for each test of the file, or of a `describe`. */
export function useOperator(tested: Operator): void {
	beforeAll(() => {
		http = createHttpClient({ timeoutMs: 20_000 });
	});
	afterAll(() => http.stop());
	beforeEach(async () => {
		operator = tested;
		receiver = await startReceiver();
		await start();
	});
	afterEach(() => Promise.all([simulator.stop(), receiver.stop()]));
}

/** Starts another simulator; the one before must be stopped. */
export async function start(
	protocol = operator.protocol(),
	changes: Partial<Installation> = {}
): Promise<void> {
	simulator = await startSimulator(protocol);
	configure({}, changes);
}

export const installation = (changes: Partial<Installation> = {}): Installation => ({
	mode: 'sandbox',
	currency: operator.order.currency,
	callbackUrl: 'http://127.0.0.1:3000',
	...changes
});

/** Configures operators with the simulator's settings and the given changes. */
export const configured = (env: Env = {}, changes: Partial<Installation> = {}) =>
	configureOperators({ ...simulator.environment, ...operator.env, ...env }, installation(changes));

/** A client that takes each answer to a POST at a path for one that came too late. */
export const impatientAt = (path: string): HttpClient => ({
	...http,
	async send(request) {
		const answer = await http.send(request);
		const isLate = request.method === 'POST' && new URL(request.url).pathname === path;
		return isLate ? { kind: 'failure', cause: 'timeout', sent: true } : answer;
	}
});

export const problemsOf = (env: Env, changes: Partial<Installation> = {}): string[] =>
	configured(env, changes).problems;

export function adapterWith(
	env: Env = {},
	changes: Partial<Installation> = {},
	client = http
): OperatorAdapter {
	const { operators, problems } = configured(env, changes);
	expect(problems).toEqual([]);
	const [made] = operators;
	if (!made) throw new Error('The operator is not configured');
	return made.create({ ...installation(changes), clock: simulator.books, log, http: client, tokens: null });
}

export function configure(...settings: Parameters<typeof adapterWith>): void {
	adapter = adapterWith(...settings);
}

export function request(changes: Partial<PaymentRequest> = {}): PaymentRequest {
	const reference = changes.reference ?? randomUUID();
	return {
		reference,
		...operator.order,
		description: 'Wi-Fi 1 hour',
		callbackUrl: `${receiver.url}/callbacks/operator/${reference}/token`,
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
	claim: null,
	...changes
});

/** Sends a payment under a script. */
export async function pay(script: Partial<Script> = {}) {
	simulator.script({}, script);
	const asked = request();
	return { asked, reference: asked.reference, outcome: await adapter.submit(asked) };
}

/** Reads the state of a payment by our reference. */
export const read = (reference: string, operatorReference: string | null = null): Promise<StatusOutcome> =>
	adapter.readStatus(attempt(request({ reference }), { operatorReference }));

/** Pays, and reads the state after a while. */
export async function settled(script: Partial<Script> = {}) {
	const { reference, outcome } = await pay(script);
	simulator.advance(30_000);
	return { reference, submitted: outcome, status: await read(reference) };
}

/** A payment that was accepted, and the reference to ask about it. */
export async function pushed(script: Partial<Script> = {}) {
	const { asked, outcome } = await pay(script);
	if (outcome.kind !== 'accepted') throw new Error(`It was ${outcome.kind}: ${outcome.raw}`);
	return { asked, reference: attempt(asked, { operatorReference: outcome.operatorReference }) };
}

export function refundOf(
	{ reference, amountMinor, currency }: PaymentRequest,
	payment: Partial<RefundRequest['payment']> = {}
): RefundRequest {
	const refund = randomUUID();
	return {
		reference: refund,
		payment: { reference, operatorReference: null, providerReference: null, ...payment },
		...{ amountMinor, currency },
		...{ operatorReference: null, submittedAt: simulator.books.now(), claim: null },
		callbackUrl: `${receiver.url}/callbacks/operator/refunds/${refund}`
	};
}

/** Asks about a refund. */
export const readingOf = (refund: RefundRequest, operatorReference: string | null = null): RefundRequest => ({
	...refund,
	operatorReference,
	submittedAt: simulator.books.now()
});

export const requestsTo = (path: string) => simulator.requests.filter((one) => one.path === path);

export const sentTo = (path: string): unknown[] =>
	requestsTo(path).map(({ body }) => JSON.parse(body) as unknown);

export const lastSent = (): Record<string, unknown> =>
	JSON.parse(simulator.requests.at(-1)?.body ?? '{}') as Record<string, unknown>;

export const callbackOf = (url: string, body: string): RawCallback => ({
	method: 'POST',
	path: new URL(url).pathname + new URL(url).search,
	authority: 'airtill.example',
	headers: { 'content-type': 'application/json' },
	bytes: Buffer.from(body),
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
