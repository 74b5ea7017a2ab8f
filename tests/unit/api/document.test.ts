/** Tests that the contract assertions reject wrong responses. */
import { describe, expect, it } from 'vitest';
import { ordered } from '#lib/server/contract/examples.ts';
import { buildProblemExample } from '#lib/server/api/endpoint.ts';
import type { ProblemCode } from '#lib/server/contract/problems.ts';
import { startPayment } from '#lib/server/api/payments.ts';
import { getRouter } from '#lib/server/api/routers.ts';
import { createSession } from '#lib/server/api/sessions.ts';
import { apiDocument, asJson, type Documented } from '../../support/api/document.ts';

const HEADERS = { 'content-type': 'application/json; charset=utf-8' };

type Change = Readonly<Record<string, unknown>>;

function created(body: Change = {}, headers: Readonly<Record<string, string>> = {}): Documented {
	return {
		operation: createSession,
		status: 201,
		headers: new Headers({ ...HEADERS, location: '/v1/sessions/9001', ...headers }),
		body: { ...ordered, ...body }
	};
}

function refused(
	code: ProblemCode,
	body: Change = {},
	operation: Documented['operation'] = startPayment
): Documented {
	const value = buildProblemExample(code);
	const headers = new Headers({ ...HEADERS, 'content-type': 'application/problem+json' });
	return { operation, status: 400, headers, body: { ...asJson(value), ...body } };
}

const faults = (answer: Documented) => apiDocument().faults(answer);

it('an answer as it is documented has no fault', () => {
	expect(faults(created())).toEqual([]);
	expect(faults(refused('amount_mismatch'))).toEqual([]);
	expect(faults(refused('validation_failed'))).toEqual([]);
	expect(faults(refused('validation_failed', {}, null))).toEqual([]);
});

describe('a fault is found:', () => {
	it.each<[string, Documented]>([
		['a status that the operation does not have', { ...created(), status: 200 }],
		['another content type', created({}, { 'content-type': 'text/html' })],
		['a field of another type', created({ amount: '1000' })],
		['a value outside of its list', created({ status: 'paid' })],
		['a time without milliseconds', created({ created_at: '2026-11-21T09:15:00Z' })],
		['a field that is missing', created({ ssid: undefined })],
		['a field that nobody documented', created({ owner: 'x' })],
		['a code of another operation', refused('invalid_cursor')],
		['a code of another status', refused('session_not_found', { status: 400 })],
		['a member of another type', refused('amount_mismatch', { expected_amount: '1000' })],
		['no errors where some belong', refused('validation_failed', { errors: [] })],
		['an unknown member on an unknown path', refused('validation_failed', { more: 1 }, null)]
	])('%s', (_what, answer) => {
		// JSON knows no undefined: such a field is left out.
		const body: unknown = JSON.parse(JSON.stringify(answer.body));
		expect(faults({ ...answer, body })).not.toEqual([]);
	});

	it('but not in an empty answer to HEAD', () => {
		const headers = new Headers(HEADERS);
		expect(faults({ operation: getRouter, status: 200, headers, body: '' })).toEqual([]);
	});
});
