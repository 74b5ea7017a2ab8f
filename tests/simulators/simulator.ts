import { type IncomingHttpHeaders, type IncomingMessage, type ServerResponse, createServer } from 'node:http';
import { Books, type Ledger, type Match, type SimulatedPayment, type SimulatedPayout } from './books.ts';
import { type CallbackScript, type RefundScript, type Script, WRITTEN } from './script.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';

/** The object of a JSON text, or null if it is something else. */
export function objectIn(text: string): Record<string, unknown> | null {
	try {
		const value: unknown = JSON.parse(text);
		return typeof value === 'object' && value !== null && !Array.isArray(value)
			? (value as Record<string, unknown>)
			: null;
	} catch {
		return null;
	}
}

/** `--name value` of the command line beside `--port`. */
export type ProtocolOptions = Readonly<Record<string, string>>;

/** @throws Error that names an option that the protocol does not have */
export function checkOptions(options: ProtocolOptions, known: readonly string[]): void {
	const strange = Object.keys(options).find((name) => !known.includes(name));
	if (strange !== undefined) throw new Error(`There is no --${strange} here.`);
}

/** What a protocol is: it says how its operator speaks, and never knows who is asking. */

export interface SimulatorRequest {
	method: string;
	/** Without the query. */
	path: string;
	query: URLSearchParams;
	headers: IncomingHttpHeaders;
	/** The bytes as text. */
	body: string;
}

export interface SimulatorAnswer {
	status: number;
	/** An object is sent as JSON, a string unchanged; null is an empty body. */
	body: unknown;
	headers?: Record<string, string>;
}

export interface OutgoingCallback {
	url: string;
	method: 'POST' | 'PUT';
	headers: Record<string, string>;
	body: string;
}

/** One operator's protocol. */
export interface Protocol {
	readonly name: string;
	/** Accepted credentials, printed at the start. */
	readonly credentials: Readonly<Record<string, string>>;
	/** The operator's test numbers: what happens to a number (digits with country code) that no rule is for. */
	defaults(phone: string): Partial<Script>;
	/** The settings with which Airtill talks to it. @param url where it listens */
	environment(url: string): Record<string, string>;
	/** Answers a request; `null` is a path that the operator does not have. */
	handle(request: SimulatorRequest, desk: Desk): Promise<SimulatorAnswer | null>;
	/** The answer to what is not there. */
	notFound(request: SimulatorRequest): SimulatorAnswer;
	/** The operator's answer when all of it is down (`outage`). */
	down(): SimulatorAnswer;
	/** A callback as the operator sends it; null when it has no address to send it to. */
	callback(
		payment: SimulatedPayment,
		outcome: string,
		how: CallbackScript,
		books: Books
	): OutgoingCallback | null | Promise<OutgoingCallback | null>;
	/** Delays after which an operator repeats a callback that was not answered with 200; without it, it does not. */
	readonly callbackRetriesMs?: readonly number[];
	/** Makes every token that was given out invalid. */
	expireTokens(): void;
	/** Applies settings of the operator's merchant portal, such as the callback address. */
	portal?(settings: Readonly<Record<string, string>>): void;
}

/** The request of a payment or refund, step by step; the operator's own form of each answer. */
interface Steps<Queued> {
	/** Puts it into the books. */
	queue: () => Queued | Promise<Queued>;
	/** What is said when all is well. */
	answer: (queued: Queued) => SimulatorAnswer;
	refuse: (code: string) => SimulatorAnswer;
	rateLimited: () => SimulatorAnswer;
	serverError: () => SimulatorAnswer;
}

/** Passed to each protocol: plays the faults of scripts, so that protocols only say how their operator speaks. */
export interface Desk {
	books: Books;
	/** Carries out the request of a payment, with the faults and callbacks of its script. */
	submit(script: Script, steps: Steps<SimulatedPayment>): Promise<SimulatorAnswer>;
	/** Carries out the request of a refund, or anything else that an operator does at once; without callbacks. */
	refund<Queued>(script: RefundScript, steps: Steps<Queued>): Promise<SimulatorAnswer>;
	/** Counts a status read; says which fault it meets. */
	read(payment: SimulatedPayment | SimulatedPayout): 'not_found' | 'server_error' | null;
	/** Sends something that belongs to no payment's callbacks, such as the result of a refund; made when it is due. */
	later(afterMs: number, make: MakeCallback): void;
}

type MakeCallback = () => OutgoingCallback | null | Promise<OutgoingCallback | null>;

/**
 * A simulated operator or SMS provider: a server on the loopback that speaks its protocol, with books of payments,
 * scripts for what happens to them, faults and callbacks. Tests direct it by `Simulator`, or with HTTP.
 */

/** `refuse`: connections are closed at once; `error`: the operator's 5xx; `hang`: requests wait; null: works again. */
type Outage = 'refuse' | 'error' | 'hang' | null;

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

	async function answerTo(request: SimulatorRequest): Promise<SimulatorAnswer> {
		if (request.path.startsWith('/_simulator/')) return control(simulator, request);
		if (requests.length < MAX_KEPT_REQUESTS) requests.push(request);
		if (outage === 'refuse') return DROP;
		if (outage === 'error') return protocol.down();
		while (outage === 'hang' && !stopped.signal.aborted) await sleep(LOOK_MS);
		return (await protocol.handle(request, desk)) ?? protocol.notFound(request);
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

/** @param stopped ends slow answers */
function createDesk(books: Books, callbacks: Callbacks, stopped: AbortSignal): Desk {
	async function play<Queued>(
		script: RefundScript,
		{ queue, answer, refuse, rateLimited, serverError }: Steps<Queued>,
		afterQueueing: (queued: Queued) => Promise<void> = async () => {}
	): Promise<SimulatorAnswer> {
		if (script.submit === 'drop_before') return DROP;
		if (script.submit === 'error_before') return serverError();
		if (script.submit === 'rate_limited') return rateLimited();
		if (script.submit === 'refuse') return refuse(script.submitCode);
		const queued = await queue();
		await afterQueueing(queued);
		if (script.submit === 'drop_after') return DROP;
		if (script.submit === 'error_after') return serverError();
		if (script.submit === 'not_json') return { status: 200, body: '<html><body>Gateway</body></html>' };
		if (script.submit === 'slow') await sleep(script.slowMs, undefined, { signal: stopped }).catch(() => {});
		return answer(queued);
	}
	return {
		books,
		submit: (script, steps) => play(script, steps, (payment: SimulatedPayment) => callbacks.plan(payment)),
		refund: (script, steps) => play(script, steps),
		read(payment) {
			payment.reads += 1;
			const { notFoundReads, failedReads } = payment.script;
			if (payment.reads <= notFoundReads) return 'not_found';
			return payment.reads <= notFoundReads + failedReads ? 'server_error' : null;
		},
		later: callbacks.later
	};
}

/** Callbacks: sent when they are due by the operator's clock, and repeated by an operator that does so. */

const CALLBACK_TIMEOUT_MS = 5_000;
/** Interval at which due callbacks are looked for, because tests move the clock. */
const LOOK_MS = 20;

interface Due {
	at: number;
	/** @returns whether the operator does not repeat it */
	send: () => Promise<boolean>;
	tries: number;
	/** The payment whose outcome it waits for. */
	waitsFor: SimulatedPayment | null;
}

type Callbacks = ReturnType<typeof createCallbacks>;

function createCallbacks(protocol: Protocol, books: Books) {
	const stopped = new AbortController();
	let due: Due[] = [];

	/** @returns the status of the answer; null when nobody answered */
	async function deliver(
		{ url, method, headers, body: text }: OutgoingCallback,
		as?: CallbackScript['as']
	): Promise<number | null> {
		try {
			const body = as === undefined ? text : WRITTEN[as](text);
			const signal = AbortSignal.any([stopped.signal, AbortSignal.timeout(CALLBACK_TIMEOUT_MS)]);
			const response = await fetch(url, { method, headers, body, redirect: 'error', signal });
			await response.arrayBuffer();
			return response.status;
		} catch {
			return null;
		}
	}

	async function send(payment: SimulatedPayment, how: CallbackScript): Promise<number | null> {
		let status: number | null = null;
		for (let count = 0; count < how.times; count += 1) {
			const outcome = how.alter === 'forged_success' ? 'success' : books.outcomeOf(payment);
			const outgoing = await protocol.callback(payment, outcome, how, books);
			if (!outgoing) return null;
			status = await deliver(how.alter === 'garbage' ? { ...outgoing, body: '<oops' } : outgoing, how.as);
		}
		return status;
	}

	function add(payment: SimulatedPayment, how: CallbackScript, from: number): void {
		due.push({
			at: from + how.afterMs,
			send: async () => (await send(payment, how)) === 200 || how.alter !== undefined,
			tries: 0,
			waitsFor: how.when === 'at_outcome' ? payment : null
		});
	}

	const looking = setInterval(() => {
		const now = books.now();
		const ready = due.filter(({ at }) => at <= now);
		due = due.filter(({ at }) => at > now);
		for (const one of ready) {
			void one.send().then((isDone) => {
				const delay = isDone ? undefined : protocol.callbackRetriesMs?.[one.tries];
				if (delay !== undefined) due.push({ ...one, at: books.now() + delay, tries: one.tries + 1 });
			});
		}
	}, LOOK_MS);

	return {
		send,
		/** Plans the callbacks of a new payment; those before the answer are sent here. */
		async plan(payment: SimulatedPayment): Promise<void> {
			const outcomeAt = books.outcomeAt(payment);
			for (const how of payment.script.callbacks) {
				if (how.when === 'before_answer' && how.afterMs === 0) await send(payment, how);
				else if (how.when === 'before_answer') add(payment, how, payment.queuedAt);
				else if (outcomeAt !== null) add(payment, how, outcomeAt);
			}
		},
		/** Plans the callbacks of a payment whose payer decides now. */
		decided(payment: SimulatedPayment): void {
			due = due.filter(({ waitsFor }) => waitsFor !== payment);
			for (const how of payment.script.callbacks) {
				if (how.when === 'at_outcome') add(payment, how, books.now());
			}
		},
		later(afterMs: number, make: MakeCallback): void {
			const sendMade = async () => {
				const outgoing = await make();
				return outgoing === null || (await deliver(outgoing)) === 200;
			};
			due.push({ at: books.now() + afterMs, send: sendMade, tries: 0, waitsFor: null });
		},
		stop(): void {
			clearInterval(looking);
			stopped.abort();
		}
	};
}

/** Answers `/_simulator/…`: commands of tests, or of a person with curl. */
async function control(
	simulator: Simulator,
	{ method, path, body }: SimulatorRequest
): Promise<SimulatorAnswer> {
	const { books } = simulator;
	const command = body === '' ? {} : (JSON.parse(body) as Record<string, unknown>);
	switch (`${method} ${path.slice('/_simulator'.length)}`) {
		case 'GET /ledger':
			return { status: 200, body: simulator.ledger() };
		case 'POST /scripts':
			simulator.script((command['match'] ?? {}) as Match, (command['script'] ?? {}) as Partial<Script>);
			return { status: 200, body: { ok: true } };
		case 'POST /advance':
			simulator.advance(Number(command['ms'] ?? 0));
			return { status: 200, body: { now: books.now() } };
		case 'POST /outage': {
			const outage = (command['kind'] ?? null) as Outage;
			simulator.outage(outage);
			return { status: 200, body: { outage } };
		}
		case 'POST /portal':
			simulator.portal(command as Record<string, string>);
			return { status: 200, body: { ok: true } };
		default:
			return { status: 404, body: { error: `the simulator has no ${method} ${path}` } };
	}
}

/** The answer that closes the connection instead. */
const DROP: SimulatorAnswer = { status: 0, body: null };

async function serve(
	answerTo: (request: SimulatorRequest) => Promise<SimulatorAnswer>,
	{ port = 0, host = '127.0.0.1' }: { port?: number; host?: string }
): Promise<{ url: string; stop(): Promise<void> }> {
	const server = createServer((incoming, outgoing) => {
		void receive(incoming)
			.then(answerTo)
			.then((answer) => write(incoming, outgoing, answer))
			.catch((error: unknown) => {
				console.error(error);
				incoming.socket.destroy();
			});
	});
	server.listen(port, host);
	await once(server, 'listening');
	return {
		url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
		async stop() {
			server.close();
			server.closeAllConnections();
			await once(server, 'close');
		}
	};
}

async function receive(incoming: IncomingMessage): Promise<SimulatorRequest> {
	const chunks: Buffer[] = [];
	for await (const chunk of incoming) chunks.push(chunk as Buffer);
	const { pathname, searchParams } = new URL(incoming.url ?? '/', 'http://simulator');
	return {
		method: incoming.method ?? 'GET',
		path: pathname,
		query: searchParams,
		headers: incoming.headers,
		body: Buffer.concat(chunks).toString('utf8')
	};
}

function write(incoming: IncomingMessage, outgoing: ServerResponse, answer: SimulatorAnswer): void {
	if (answer.status === 0) {
		incoming.socket.destroy();
		return;
	}
	const isText = typeof answer.body === 'string';
	const body = answer.body === null ? '' : isText ? String(answer.body) : JSON.stringify(answer.body);
	const type = answer.body === null ? {} : { 'content-type': isText ? 'text/html' : 'application/json' };
	outgoing.writeHead(answer.status, { ...type, ...answer.headers });
	outgoing.end(body);
}
