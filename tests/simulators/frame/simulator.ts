/**
 * A simulated operator or SMS provider: a server on the loopback that speaks its protocol, with books of payments,
 * scripts for what happens to them, faults and callbacks. Tests direct it by `Simulator`, or with HTTP (control.ts).
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Books, type Ledger, type Match, type SimulatedPayment } from '../books.ts';
import type { CallbackScript, Script } from '../script.ts';
import { createCallbacks, LOOK_MS } from './callbacks.ts';
import { control } from './control.ts';
import { createDesk } from './desk.ts';
import type { Protocol, SimulatorAnswer, SimulatorRequest } from './protocol.ts';
import { DROP, serve } from './server.ts';

/** `refuse`: connections are closed at once; `error`: the operator's 5xx; `hang`: requests wait; null: works again. */
export type Outage = 'refuse' | 'error' | 'hang' | null;

export interface Simulator {
	/** `http://127.0.0.1:<port>` */
	readonly url: string;
	readonly credentials: Readonly<Record<string, string>>;
	/** Settings that point Airtill at it. */
	readonly environment: Record<string, string>;
	readonly books: Books;
	script(match: Match, script: Partial<Script>): void;
	ledger(): Ledger;
	advance(ms: number): void;
	outage(kind: Outage): void;
	/** Sends these statuses before each answer from now on. */
	interim(statuses: NonNullable<SimulatorAnswer['interim']>): void;
	expireTokens(): void;
	/** Sets something in the operator's portal. @throws Error when it has no such setting */
	portal(settings: Readonly<Record<string, string>>): void;
	/** The payer decides now, and the callbacks of the script follow. */
	settle(payment: SimulatedPayment, outcome: string): Promise<boolean>;
	/** Sends a callback now. @returns its HTTP status; null when nobody answered */
	callBack(payment: SimulatedPayment, how?: Partial<CallbackScript>): Promise<number | null>;
	/** Requests so far, without the simulator's own. */
	readonly requests: readonly SimulatorRequest[];
	stop(): Promise<void>;
}

const MAX_KEPT_REQUESTS = 20_000;
const ONE_CALLBACK: CallbackScript = { when: 'at_outcome', afterMs: 0, times: 1 };

export async function startSimulator(
	protocol: Protocol,
	options: { port?: number; host?: string } = {}
): Promise<Simulator> {
	const books = new Books((phone) => protocol.defaults(phone));
	const requests: SimulatorRequest[] = [];
	const stopped = new AbortController();
	const callbacks = createCallbacks(protocol, books);
	const desk = createDesk(books, callbacks, stopped.signal);
	let outage: Outage = null;
	let interim: SimulatorAnswer['interim'];

	async function answerTo(request: SimulatorRequest): Promise<SimulatorAnswer> {
		if (request.path.startsWith('/_simulator/')) return control(simulator, request);
		if (requests.length < MAX_KEPT_REQUESTS) requests.push(request);
		if (outage === 'refuse') return DROP;
		if (outage === 'error') return protocol.down();
		while (outage === 'hang' && !stopped.signal.aborted) await sleep(LOOK_MS);
		const answer = (await protocol.handle(request, desk)) ?? protocol.notFound(request);
		return { ...answer, ...(interim && { interim }) };
	}

	const server = await serve(answerTo, options).catch((error: unknown) => {
		callbacks.stop();
		throw error;
	});
	const simulator: Simulator = {
		url: server.url,
		credentials: protocol.credentials,
		get environment() {
			return protocol.environment(server.url);
		},
		books,
		requests,
		script: (match, script) => books.script(match, script),
		ledger: () => books.ledger(),
		advance: (ms) => books.advance(ms),
		outage(kind) {
			outage = kind;
		},
		interim(statuses) {
			interim = statuses;
		},
		expireTokens: () => protocol.expireTokens(),
		portal(settings) {
			if (!protocol.portal) throw new Error(`${protocol.name} has no portal`);
			protocol.portal(settings);
		},
		async settle(payment, outcome) {
			const isOpen = books.settle(payment, outcome);
			if (isOpen) callbacks.decided(payment);
			return isOpen;
		},
		callBack: (payment, how) => callbacks.send(payment, { ...ONE_CALLBACK, ...how }),
		async stop() {
			callbacks.stop();
			stopped.abort();
			await server.stop();
		}
	};
	return simulator;
}
