/**
 * Shared by all simulated operators: a server on the loopback, faults, timed callbacks, books, and a way to
 * direct it from outside (`/_simulator/…`). A protocol says how its operator speaks; it never knows who is asking.
 */
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Books, type Ledger, type Match, type SimulatedPayment } from './books.ts';
import type { CallbackScript, RefundScript, Script } from './script.ts';

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

interface Steps<Queued> {
	queue: () => Queued;
	answer: (queued: Queued) => SimulatorAnswer;
	refuse: (code: string) => SimulatorAnswer;
	rateLimited: () => SimulatorAnswer;
	serverError: () => SimulatorAnswer;
}

/** Passed to each protocol. */
export interface Desk {
	books: Books;
	/**
	 * Plays the script's faults around a submit. `queue` puts the payment into the books, `answer` is what is said
	 * when all is well; `refusals` are the operator's own forms of the faults that have one.
	 */
	submit(script: Script, steps: Steps<SimulatedPayment>): Promise<SimulatorAnswer>;
	/** Plays the faults around the request of a refund; without callbacks. */
	refund<Queued>(script: RefundScript, steps: Steps<Queued>): Promise<SimulatorAnswer>;
	/** The same around anything else that an operator does at once. */
	faults<Done>(
		script: RefundScript,
		steps: Omit<Steps<Done>, 'queue'> & { act: () => Done | Promise<Done> }
	): Promise<SimulatorAnswer>;
	/** Counts a status read; says which fault it meets. */
	read(payment: SimulatedPayment): 'not_found' | 'server_error' | null;
	/** Sends something that belongs to no payment's callbacks, such as the result of a refund; made when it is due. */
	later(afterMs: number, make: () => OutgoingCallback | null | Promise<OutgoingCallback | null>): void;
}

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
	/** `refuse`: connections are closed at once; `error`: the operator's 5xx; `hang`: requests wait; null: works again. */
	outage(kind: 'refuse' | 'error' | 'hang' | null): void;
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

/** The answer that closes the connection instead. */
const DROP: SimulatorAnswer = { status: 0, body: null };
const CALLBACK_TIMEOUT_MS = 5_000;
/** Interval at which due callbacks are looked for, because tests move the clock. */
const LOOK_MS = 20;
const MAX_KEPT_REQUESTS = 20_000;

export async function startSimulator(
	protocol: Protocol,
	options: { port?: number; host?: string } = {}
): Promise<Simulator> {
	const books = new Books((phone) => protocol.defaults(phone));
	const requests: SimulatorRequest[] = [];
	const stopped = new AbortController();
	let outage: Parameters<Simulator['outage']>[0] = null;
	let due: { payment: SimulatedPayment; at: number; how: CallbackScript; tries?: number }[] = [];
	let others: { at: number; make: Parameters<Desk['later']>[1]; tries?: number }[] = [];

	const desk: Desk = {
		books,
		submit: (script, steps) => play(script, steps, plan),
		refund: (script, steps) => play(script, steps, async () => {}),
		faults: (script, { act, ...steps }) => play(script, { queue: act, ...steps }, async () => {}),
		read(payment) {
			payment.reads += 1;
			const { notFoundReads, failedReads } = payment.script;
			if (payment.reads <= notFoundReads) return 'not_found';
			return payment.reads <= notFoundReads + failedReads ? 'server_error' : null;
		},
		later(afterMs, make) {
			others.push({ at: books.now() + afterMs, make });
		}
	};

	async function play<Queued>(
		script: RefundScript,
		{
			queue,
			answer,
			refuse,
			rateLimited,
			serverError
		}: Omit<Steps<Queued>, 'queue'> & {
			queue: () => Queued | Promise<Queued>;
		},
		afterQueueing: (queued: Queued) => Promise<void>
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
		if (script.submit === 'slow')
			await sleep(script.slowMs, undefined, { signal: stopped.signal }).catch(() => {});
		return answer(queued);
	}

	/** Puts the callbacks of a new payment on the list; those before the answer are sent here. */
	async function plan(payment: SimulatedPayment): Promise<void> {
		const outcomeAt = books.outcomeAt(payment);
		for (const how of payment.script.callbacks) {
			if (how.when === 'before_answer' && how.afterMs === 0) await send(payment, how);
			else if (how.when === 'before_answer') due.push({ payment, at: payment.queuedAt + how.afterMs, how });
			else if (outcomeAt !== null) due.push({ payment, at: outcomeAt + how.afterMs, how });
		}
	}

	async function send(payment: SimulatedPayment, how: CallbackScript): Promise<number | null> {
		let status: number | null = null;
		for (let count = 0; count < how.times; count += 1) {
			const outcome = how.alter === 'forged_success' ? 'success' : books.outcomeOf(payment);
			const outgoing = await protocol.callback(payment, outcome, how, books);
			if (!outgoing) return null;
			status = await deliver(how.alter === 'garbage' ? { ...outgoing, body: '<oops' } : outgoing);
		}
		return status;
	}

	async function deliver({ url, method, headers, body }: OutgoingCallback): Promise<number | null> {
		try {
			const response = await fetch(url, {
				method,
				headers,
				body,
				redirect: 'error',
				signal: AbortSignal.any([stopped.signal, AbortSignal.timeout(CALLBACK_TIMEOUT_MS)])
			});
			await response.arrayBuffer();
			return response.status;
		} catch {
			return null;
		}
	}

	/** When to repeat a callback that was answered in this way; null when not. */
	function repeatAt(status: number | null, tries: number): number | null {
		const delay = status === 200 ? undefined : protocol.callbackRetriesMs?.[tries];
		return delay === undefined ? null : books.now() + delay;
	}

	const looking = setInterval(() => {
		const now = books.now();
		const ready = due.filter(({ at }) => at <= now);
		due = due.filter(({ at }) => at > now);
		for (const one of ready) {
			void send(one.payment, one.how).then((status) => {
				const at = one.how.alter === undefined ? repeatAt(status, one.tries ?? 0) : null;
				if (at !== null) due.push({ ...one, at, tries: (one.tries ?? 0) + 1 });
			});
		}
		const otherReady = others.filter(({ at }) => at <= now);
		others = others.filter(({ at }) => at > now);
		for (const one of otherReady) {
			void Promise.resolve(one.make()).then(async (outgoing) => {
				if (!outgoing) return;
				const at = repeatAt(await deliver(outgoing), one.tries ?? 0);
				if (at !== null) others.push({ ...one, at, tries: (one.tries ?? 0) + 1 });
			});
		}
	}, LOOK_MS);

	async function settle(payment: SimulatedPayment, outcome: string): Promise<boolean> {
		if (!books.settle(payment, outcome)) return false;
		due = due.filter((one) => one.payment !== payment || one.how.when === 'before_answer');
		for (const how of payment.script.callbacks) {
			if (how.when === 'at_outcome') due.push({ payment, at: books.now() + how.afterMs, how });
		}
		return true;
	}

	async function answerTo(request: SimulatorRequest): Promise<SimulatorAnswer> {
		if (request.path.startsWith('/_simulator/')) return direct(request);
		if (requests.length < MAX_KEPT_REQUESTS) requests.push(request);
		if (outage === 'refuse') return DROP;
		if (outage === 'error') return protocol.down();
		while (outage === 'hang' && !stopped.signal.aborted) await sleep(LOOK_MS);
		return (await protocol.handle(request, desk)) ?? protocol.notFound(request);
	}

	function portal(settings: Readonly<Record<string, string>>): void {
		if (!protocol.portal) throw new Error(`${protocol.name} has no portal`);
		protocol.portal(settings);
	}

	/** Control requests of tests, or of a person with curl. */
	async function direct({ method, path, body }: SimulatorRequest): Promise<SimulatorAnswer> {
		const command = body === '' ? {} : (JSON.parse(body) as Record<string, unknown>);
		const found = () =>
			books.payments.find(
				({ reference, operatorReference }) =>
					command['reference'] === reference || command['reference'] === operatorReference
			);
		switch (`${method} ${path.slice('/_simulator'.length)}`) {
			case 'GET /ledger':
				return { status: 200, body: books.ledger() };
			case 'GET /payments':
				return {
					status: 200,
					body: books.payments.map((payment) => ({
						reference: payment.reference,
						operator_reference: payment.operatorReference,
						phone: payment.phone,
						amount: payment.amount,
						currency: payment.currency,
						callback_url: payment.callbackUrl,
						outcome: books.outcomeOf(payment),
						taken: books.takenOf(payment)
					}))
				};
			case 'GET /refunds':
				return {
					status: 200,
					body: books.refunds.map((refund) => ({ ...refund, outcome: books.refundOutcome(refund) }))
				};
			case 'POST /scripts':
				books.script((command['match'] ?? {}) as Match, (command['script'] ?? {}) as Partial<Script>);
				return { status: 200, body: { ok: true } };
			case 'POST /advance':
				books.advance(Number(command['ms'] ?? 0));
				return { status: 200, body: { now: books.now() } };
			case 'POST /outage':
				outage = (command['kind'] ?? null) as typeof outage;
				return { status: 200, body: { outage } };
			case 'POST /tokens/expire':
				protocol.expireTokens();
				return { status: 200, body: { ok: true } };
			case 'POST /portal':
				portal(command as Record<string, string>);
				return { status: 200, body: { ok: true } };
			case 'POST /settle': {
				const payment = found();
				const settled = payment !== undefined && (await settle(payment, String(command['outcome'])));
				return { status: payment ? 200 : 404, body: { settled } };
			}
			case 'POST /callbacks': {
				const payment = found();
				if (!payment) return { status: 404, body: { error: 'no such payment' } };
				const how = { ...ONE_CALLBACK, ...(command['how'] as Partial<CallbackScript> | undefined) };
				return { status: 200, body: { status: await send(payment, how) } };
			}
			default:
				return { status: 404, body: { error: `the simulator has no ${method} ${path}` } };
		}
	}

	const server = createServer((incoming, outgoing) => {
		void receive(incoming)
			.then(answerTo)
			.then((answer) => write(incoming, outgoing, answer))
			.catch((error: unknown) => {
				console.error(error);
				incoming.socket.destroy();
			});
	});
	server.listen(options.port ?? 0, options.host ?? '127.0.0.1');
	await once(server, 'listening');
	const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

	return {
		url,
		credentials: protocol.credentials,
		get environment() {
			return protocol.environment(url);
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
		portal,
		settle,
		callBack: (payment, how) => send(payment, { ...ONE_CALLBACK, ...how }),
		async stop() {
			clearInterval(looking);
			stopped.abort();
			server.close();
			server.closeAllConnections();
			await once(server, 'close');
		}
	};
}

const ONE_CALLBACK: CallbackScript = { when: 'at_outcome', afterMs: 0, times: 1 };

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
