/** What a protocol is: it says how its operator speaks, and never knows who is asking. */
import type { IncomingHttpHeaders } from 'node:http';
import type { Books, SimulatedPayment } from '../books.ts';
import type { CallbackScript, RefundScript, Script } from '../script.ts';

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
	/** Statuses before the answer that nobody asked for. */
	interim?: readonly (100 | 102 | 103)[];
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
export interface Steps<Queued> {
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
	read(payment: SimulatedPayment): 'not_found' | 'server_error' | null;
	/** Sends something that belongs to no payment's callbacks, such as the result of a refund; made when it is due. */
	later(afterMs: number, make: MakeCallback): void;
}

export type MakeCallback = () => OutgoingCallback | null | Promise<OutgoingCallback | null>;
