import { afterEach, beforeEach } from 'vitest';
import type { Protocol } from '../../simulators/frame/protocol.ts';
import { startSimulator, type Simulator } from '../../simulators/frame/simulator.ts';

export type Json = Record<string, unknown>;
export type Headers = Record<string, string>;
export interface Answer {
	status: number;
	text: string;
	/** {} if the text is no JSON. */
	body: Json;
	headers: globalThis.Headers;
}

export const basic = (user = '', key = '') => `Basic ${Buffer.from(`${user}:${key}`).toString('base64')}`;

/** A simulated operator for each test, asked as any client asks the operator: by plain HTTP. */
export function useSimulator(make: () => Protocol) {
	let simulator: Simulator;
	beforeEach(async () => {
		simulator = await startSimulator(make());
	});
	afterEach(() => simulator.stop());
	/** @param body sent as JSON, unless it is a text */
	async function ask(method: string, path: string, headers: Headers = {}, body?: unknown): Promise<Answer> {
		const response = await fetch(simulator.url + path, {
			method,
			headers,
			...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) })
		});
		const text = await response.text();
		const parsed = /^[[{]/.test(text) ? (JSON.parse(text) as Json) : {};
		return { status: response.status, text, body: parsed, headers: response.headers };
	}
	return {
		simulator: () => simulator,
		/** Another one for this test. */
		async restart(protocol: Protocol): Promise<void> {
			await simulator.stop();
			simulator = await startSimulator(protocol);
		},
		ask,
		/** As `ask`, for what an answer has in it. */
		async call(...request: Parameters<typeof ask>): Promise<Pick<Answer, 'status' | 'body'>> {
			const { status, body } = await ask(...request);
			return { status, body };
		}
	};
}
