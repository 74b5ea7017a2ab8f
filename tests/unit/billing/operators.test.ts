/** Rules that the adapter of every operator follows; each runs against its simulator. */
import { describe, expect, it } from 'vitest';
import { configureOperators } from '#lib/server/billing/operators/registry.ts';
import type { Script } from '../../simulators/script.ts';
import {
	adapter,
	attempt,
	configure,
	impatientAt,
	problemsOf,
	pushed,
	refundOf,
	request,
	requestsTo,
	simulator,
	useOperator,
	type Operator
} from '../../support/billing/adapter.ts';
import { AIRTEL, MPESA, MTN, MTN_PATH, PAWAPAY } from '../../support/billing/tested-operators.ts';

interface Facts {
	name: string;
	operator: Operator;
	/** Path of the request that starts a payment. */
	path: string;
	baseUrl: string;
	/** A secret of ours; with another one the operator refuses everything. */
	secret: string;
	/** Path of the request for a token; null if the secret itself is the token. */
	tokenPath: string | null;
	required: string[];
	/** Whether the operator knows a request by our reference. */
	knowsReference: boolean;
}

const OPERATORS: Facts[] = [
	{
		...{ name: 'MTN MoMo', operator: MTN, path: MTN_PATH, knowsReference: true },
		...{ baseUrl: 'MTN_BASE_URL', secret: 'MTN_API_KEY', tokenPath: '/collection/token/' },
		required: ['MTN_TARGET_ENVIRONMENT', 'MTN_API_USER', 'MTN_API_KEY', 'MTN_SUBSCRIPTION_KEY']
	},
	{
		...{ name: 'Airtel Money', operator: AIRTEL, path: '/merchant/v1/payments/', knowsReference: true },
		...{ baseUrl: 'AIRTEL_BASE_URL', secret: 'AIRTEL_CLIENT_SECRET', tokenPath: '/auth/oauth2/token' },
		required: ['AIRTEL_COUNTRY', 'AIRTEL_CURRENCY', 'AIRTEL_CLIENT_ID', 'AIRTEL_CLIENT_SECRET']
	},
	{
		...{ name: 'M-Pesa Express (Daraja)', operator: MPESA, knowsReference: false },
		path: '/mpesa/stkpush/v1/processrequest',
		...{ baseUrl: 'MPESA_BASE_URL', secret: 'MPESA_CONSUMER_SECRET', tokenPath: '/oauth/v1/generate' },
		required: ['MPESA_CONSUMER_KEY', 'MPESA_CONSUMER_SECRET', 'MPESA_SHORTCODE', 'MPESA_PASSKEY']
	},
	{
		...{ name: 'pawaPay', operator: PAWAPAY, path: '/v2/deposits', knowsReference: true },
		...{ baseUrl: 'PAWAPAY_BASE_URL', secret: 'PAWAPAY_API_TOKEN', tokenPath: null },
		required: ['PAWAPAY_API_TOKEN', 'PAWAPAY_PROVIDERS']
	}
];

const BUSY = { kind: 'refused', reason: 'provider_unavailable', retryable: true };

const ANSWERS: [what: string, script: Partial<Script> | 'late', outcome: object, queued: number][] = [
	['lost before it was queued', { submit: 'drop_before' }, { kind: 'uncertain' }, 0],
	['lost after it was queued', { submit: 'drop_after' }, { kind: 'uncertain' }, 1],
	['too late', 'late', { kind: 'uncertain' }, 1],
	['an error before it was queued', { submit: 'error_before' }, { kind: 'uncertain' }, 0],
	['an error after it was queued', { submit: 'error_after' }, { kind: 'uncertain' }, 1],
	['no JSON', { submit: 'not_json' }, { kind: 'uncertain' }, 1],
	['a limit', { submit: 'rate_limited' }, BUSY, 0]
];

describe.each(OPERATORS)('$name', (facts) => {
	const { name, operator, path, baseUrl, secret, tokenPath, required, knowsReference } = facts;
	useOperator(operator);

	it.each(ANSWERS)('an answer that is %s is %j, and nothing is sent again', async (...row) => {
		const [, script, outcome, queued] = row;
		if (script === 'late') configure({}, {}, impatientAt(path));
		else simulator.script({}, script);
		const asked = request();
		expect(await adapter.submit(asked)).toMatchObject(outcome);
		expect(requestsTo(path)).toHaveLength(1);
		expect(simulator.books.payments).toHaveLength(queued);
		if (!knowsReference) return;
		const { kind } = await adapter.readStatus(attempt(asked));
		expect(kind).toBe(queued === 1 ? 'pending' : 'not_found');
	});

	it.each([400, 404, 405, 415])('HTTP %i as HTML refuses neither a payment nor a refund', async (status) => {
		const answer = (at: number, text: string) =>
			({ kind: 'response', status: at, headers: {}, text }) as const;
		const send = async ({ url }: { url: string }) =>
			/token|oauth/.test(url)
				? answer(200, '{"access_token":"t","expires_in":"3600"}')
				: answer(status, '<html>');
		configure({}, {}, { send, stop: async () => {} });
		const outcome = await adapter.submit(request());
		expect(outcome).toMatchObject({ kind: 'uncertain' });
		const refund = await adapter.refund?.(refundOf(request(), { providerReference: 'X' }));
		expect(refund).not.toMatchObject({ kind: 'refused', retryable: false });
	});

	it('without a connection nothing was queued, and a retry is allowed', async () => {
		configure({ [baseUrl]: 'http://127.0.0.1:9' });
		expect(await adapter.submit(request())).toMatchObject(BUSY);
		const read = await adapter.readStatus(attempt(request(), { operatorReference: 'unknown' }));
		expect(read).toMatchObject({ kind: 'unavailable' });
	});

	it('with a wrong secret nothing is queued or known, for good, and the secret is not kept', async () => {
		configure({ [secret]: 'wrong-secret' });
		const before = simulator.requests.length;
		const outcome = await adapter.submit(request());
		const sent = simulator.requests.slice(before).map(({ path }) => path);
		if (tokenPath !== null) expect(sent.filter((path) => !path.startsWith(tokenPath))).toEqual([]);
		expect(outcome).toMatchObject({ kind: 'refused', reason: 'merchant_error', retryable: false });
		const read = await adapter.readStatus(attempt(request(), { operatorReference: 'unknown' }));
		expect(read).toMatchObject({ kind: 'unavailable' });
		expect(JSON.stringify([outcome, read])).not.toContain('wrong-secret');
		expect(simulator.books.payments).toHaveLength(0);
	});

	it('a status read that fails decides nothing about the payment', async () => {
		const { reference } = await pushed({ outcome: 'pending', failedReads: 1 });
		const read = async () => (await adapter.readStatus(reference)).kind;
		expect([await read(), await read()]).toEqual(['unavailable', 'pending']);
		for (const kind of ['error', 'refuse'] as const) {
			simulator.outage(kind);
			expect(await read(), kind).toBe('unavailable');
		}
		simulator.outage(null);
		expect(await read()).toBe('pending');
	});

	it('tokens and keys are in no outcome', async () => {
		const asked = request();
		const outcome = await adapter.submit(asked);
		const operatorReference = outcome.kind === 'accepted' ? outcome.operatorReference : null;
		const kept = JSON.stringify([outcome, await adapter.readStatus(attempt(asked, { operatorReference }))]);
		expect(kept).not.toMatch(/Bearer|Basic|Password/);
		for (const { headers } of simulator.requests) {
			expect(kept).not.toContain(headers.authorization?.split(' ')[1]);
		}
	});

	if (tokenPath !== null) {
		it('without a token nothing was sent, and a retry is allowed', async () => {
			for (const kind of ['error', 'refuse'] as const) {
				simulator.outage(kind);
				expect(await adapter.submit(request()), kind).toMatchObject(BUSY);
			}
			expect(requestsTo(path)).toEqual([]);
		});

		it('a token that ends early is replaced, and the request is sent once more', async () => {
			const { reference } = await pushed({ outcome: 'pending', guards: false });
			simulator.expireTokens();
			expect((await adapter.readStatus(reference)).kind).toBe('pending');
			simulator.expireTokens();
			expect((await adapter.submit(request())).kind).toBe('accepted');
			expect(requestsTo(path)).toHaveLength(3);
			expect(simulator.books.payments).toHaveLength(2);
			expect(simulator.requests.filter((one) => one.path.startsWith(tokenPath))).toHaveLength(3);
		});

		it('one token is requested by twenty payments at the same time', async () => {
			const payers = Array.from(
				{ length: 20 },
				(_, index) => operator.order.payerPhone.slice(0, -2) + (index + 10)
			);
			const outcomes = await Promise.all(payers.map((payerPhone) => adapter.submit(request({ payerPhone }))));
			expect(new Set(outcomes.map(({ kind }) => kind))).toEqual(new Set(['accepted']));
			expect(simulator.requests.filter((one) => one.path.startsWith(tokenPath))).toHaveLength(1);
		});
	}

	if (knowsReference) {
		it('a reference that the operator has is not refused, and charged once', async () => {
			const asked = request();
			expect(await adapter.submit(asked)).toMatchObject({ kind: 'accepted' });
			expect((await adapter.submit(asked)).kind).not.toBe('refused');
			expect((await adapter.readStatus(attempt(asked))).kind).toBe('pending');
			expect(simulator.books.payments).toHaveLength(1);
		});
	}

	it.each([baseUrl, ...required])('%s is required', (setting) => {
		expect(problemsOf({ [setting]: '' })).toEqual([`${setting}: is required for ${name}.`]);
	});
});

it('one problem names each operator that calls back https addresses only', () => {
	const env = { MTN_API_USER: 'user', AIRTEL_CLIENT_ID: 'id', PAWAPAY_API_TOKEN: 'token' };
	const problems = (callbackUrl: string, mode: 'sandbox' | 'live' = 'live') =>
		configureOperators(env, { mode, currency: 'UGX', callbackUrl }).problems.filter((problem) =>
			problem.startsWith('CALLBACK_URL: ')
		);
	expect(problems('http://till.example')).toEqual([
		'CALLBACK_URL: must be a public https address in live mode for Airtel Money and pawaPay.'
	]);
	expect(problems('https://till.example')).toEqual([]);
	expect(problems('http://till.example', 'sandbox')).toEqual([]);
});
