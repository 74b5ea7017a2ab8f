import { expect } from 'vitest';
import type { z } from 'zod';
import { payment } from '#lib/server/contract/payment.ts';
import { problem } from '#lib/server/contract/problems.ts';
import { router, routerList } from '#lib/server/contract/router.ts';
import { session } from '#lib/server/contract/session.ts';
import { assertContract } from './contract-assertions.ts';

export type Problem = z.output<typeof problem> & Readonly<Record<string, unknown>>;
export type Session = z.output<typeof session>;
export type Payment = z.output<typeof payment>;

export interface Answer {
	status: number;
	headers: Headers;
	/** Parsed JSON; an empty string for HEAD. */
	body: unknown;
	/** The raw body. */
	text: string;
	/** Date.now() when the answer was complete. */
	at: number;
}

export interface Request {
	/** Sent as JSON, unless it is text or bytes: those are sent as they are. */
	body?: unknown;
	headers?: Record<string, string>;
	/** A body of unknown length. */
	stream?: ReadableStream<Uint8Array>;
}

/** A caller of /v1 with one key. Every answer is held against the contract (contract-assertions.ts). */
export interface Api {
	send(method: string, path: string, request?: Request): Promise<Answer>;
	/** An answer that must be this refusal; returns its body. */
	refused(expected: `${number} ${string}`, method: string, path: string, request?: Request): Promise<Problem>;
	listRouters(query: string): Promise<z.output<typeof routerList>>;
	getRouter(id: number): Promise<z.output<typeof router>>;
	createSession(order?: Partial<Order>): Promise<Session>;
	getSession(id: number): Promise<Session>;
	endSession(id: number, ifStatus?: Session['status']): Promise<Session>;
	/** Starts a payment for the session's amount. */
	pay(of: Pick<Session, 'id' | 'amount' | 'phone'>, phone?: string): Promise<Payment>;
	/** @param wait seconds */
	getPayment(id: number, wait?: number): Promise<Payment>;
}

export interface Order {
	router_id: number;
	duration: string;
	payment_method: string;
	phone: string;
	extends_session_id?: number;
	offer_id?: number;
}

/** @param key null sends none */
export function createApi(url: string, key: string | null): Api {
	async function send(method: string, path: string, request: Request = {}): Promise<Answer> {
		const { body, stream } = request;
		const isRaw = typeof body === 'string' || body instanceof Uint8Array;
		const response = await fetch(url + path, {
			method,
			redirect: 'manual',
			headers: {
				...(key === null ? {} : { authorization: `Bearer ${key}` }),
				...(body === undefined && !stream ? {} : { 'content-type': 'application/json' }),
				...request.headers
			},
			...(body === undefined ? {} : { body: isRaw ? Buffer.from(body) : JSON.stringify(body) }),
			...(stream ? { body: stream, duplex: 'half' } : {})
		});
		const text = await response.text();
		const answer = {
			status: response.status,
			headers: response.headers,
			body: parsed(text),
			text,
			at: Date.now()
		};
		if (/^\/+v1(\/|$)/.test(path)) assertContract({ method, path, ...answer });
		return answer;
	}

	async function success<S extends z.ZodType>(
		schema: S,
		method: string,
		path: string,
		body?: object
	): Promise<z.output<S>> {
		const answer = await send(method, path, body ? { body } : {});
		expect(answer.status, `${method} ${path} -> ${JSON.stringify(answer.body)}`).toBeLessThan(300);
		return schema.parse(answer.body);
	}

	return {
		send,
		async refused(expected, method, path, request) {
			const { status, body } = await send(method, path, request);
			const { code } = Object(body) as { code?: unknown };
			expect(`${status} ${String(code)}`, JSON.stringify(body)).toBe(expected);
			return { ...Object(body), ...problem.parse(body) };
		},
		listRouters: (query) => success(routerList, 'GET', `/v1/routers?${query}`),
		getRouter: (id) => success(router, 'GET', `/v1/routers/${id}`),
		createSession: (order = {}) => success(session, 'POST', '/v1/sessions', orderOf(order)),
		getSession: (id) => success(session, 'GET', `/v1/sessions/${id}`),
		endSession: (id, ifStatus) =>
			success(session, 'DELETE', `/v1/sessions/${id}${ifStatus ? `?if_status=${ifStatus}` : ''}`),
		pay: (of, phone = of.phone) =>
			success(payment, 'POST', '/v1/payments/mobile-money', { amount: of.amount, phone, session_id: of.id }),
		getPayment: (id, wait) =>
			success(payment, 'GET', `/v1/payments/${id}/status${wait === undefined ? '' : `?wait=${wait}`}`)
	};
}

/** An order that is valid in the demo data, but for what is given. */
export const orderOf = (order: Partial<Order> = {}): Order => ({
	router_id: 3,
	duration: '1h',
	payment_method: 'mobile_money',
	phone: order.phone ?? numberEnding('123'),
	...order
});

function parsed(text: string): unknown {
	try {
		return text === '' ? '' : JSON.parse(text);
	} catch {
		return text;
	}
}

let used = 0;

/**
 * A valid Ugandan mobile number that no test of this file has used, because a number may be prompted five times
 * in 15 minutes. Its last three digits decide what the sandbox operator does.
 */
export function numberEnding(digits: string): string {
	used += 1;
	return `+25677${String(used).padStart(4, '0')}${digits}`;
}
