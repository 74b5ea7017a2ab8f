/** Requests with an Idempotency-Key, which are repeated. */
import { expect } from 'vitest';
import { type Answer, type Api, type Session } from './api.ts';

export const atOnce = 10;
export const SESSIONS = '/v1/sessions';
export const PAYMENTS = '/v1/payments/mobile-money';

let keys = 0;
/** A key that no test has used. */
export function newKey(): string {
	keys += 1;
	return `key-${keys}`;
}

export const keyed = (key: string, body: unknown) => ({ body, headers: { 'idempotency-key': key } });

export const post = (api: Api, key: string, path: string, body: unknown): Promise<Answer> =>
	api.send('POST', path, keyed(key, body));

export const paymentFor = ({ amount, phone, id }: Session) => ({ amount, phone, session_id: id });

/** The part that is the same in every answer to the same request. */
export const essence = ({ status, headers, text }: Answer) => ({
	status,
	text,
	location: headers.get('location'),
	type: headers.get('content-type')
});

export const isReplayed = ({ headers }: Answer) => headers.get('idempotent-replayed') === 'true';
export const codeOf = ({ body }: Answer) => (Object(body) as { code?: string }).code;
export const idOf = ({ body }: Answer) => (body as { id: number }).id;

/** Sends the same request `atOnce` times in parallel; the answers must be those to one request. */
export async function race(apis: Api[], path: string, key: string, body: unknown): Promise<Answer[]> {
	const answers = await Promise.all(
		Array.from({ length: atOnce }, async (_, index) => {
			const api = apis[index % apis.length];
			if (!api) throw new Error('no callers');
			return post(api, key, path, body);
		})
	);
	const done = answers.filter(({ status }) => status === 201);
	expect(done.length).toBeGreaterThan(0);
	for (const answer of done) expect(essence(answer)).toEqual(done[0] && essence(done[0]));
	expect(done.filter((answer) => !isReplayed(answer)).length).toBe(1);
	for (const answer of answers.filter(({ status }) => status !== 201)) {
		expect([answer.status, codeOf(answer), answer.headers.get('retry-after')]).toEqual([
			400,
			'idempotency_key_in_use',
			'1'
		]);
	}
	return answers;
}
