/** Settings of pawaPay: signed requests, health, and what is refused. */
import { generateKeyPairSync } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import type { OperatorAdapter } from '../../../../src/lib/server/billing/operators/operator.ts';
import {
	problemsOf,
	receiver,
	refundOf,
	request,
	simulator,
	useOperator
} from '../../../support/billing/adapter.ts';
import { adapterFor, CALLBACKS } from '../../../support/billing/pawapay.ts';
import { PAWAPAY } from '../../../support/billing/tested-operators.ts';

useOperator(PAWAPAY);

const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
const PRIVATE_PEM = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
const PUBLIC_PEM = publicKey.export({ type: 'spki', format: 'pem' }).toString();

beforeEach(() => simulator.portal({ callback_url: receiver.url + CALLBACKS }));

describe('a signed request', () => {
	const keys = () => ({ PAWAPAY_SIGNING_KEY: PRIVATE_PEM, PAWAPAY_SIGNING_KEY_ID: 'AIRTILL:1' });

	beforeEach(() => {
		simulator.portal({
			signed_requests: 'on',
			merchant_key_id: 'AIRTILL:1',
			merchant_key: PUBLIC_PEM
		});
	});

	it('is accepted by an account that requires signatures', async () => {
		const adapter = adapterFor(keys());
		const payment = request();
		expect(await adapter.submit(payment)).toMatchObject({ kind: 'accepted' });
		simulator.advance(60_000);
		expect(await adapter.refund?.(refundOf(payment))).toMatchObject({ kind: 'accepted' });
	});

	it('with line breaks written out is taken as well', async () => {
		const written = { ...keys(), PAWAPAY_SIGNING_KEY: PRIVATE_PEM.replaceAll('\n', '\\n') };
		expect(await adapterFor(written).submit(request())).toMatchObject({ kind: 'accepted' });
	});

	it('is refused when it is not there or of another key', async () => {
		const refused = { kind: 'refused', reason: 'merchant_error', retryable: false };
		expect(await adapterFor().submit(request())).toMatchObject(refused);
		expect(
			await adapterFor({ ...keys(), PAWAPAY_SIGNING_KEY_ID: 'AIRTILL:2' }).submit(request())
		).toMatchObject(refused);
		simulator.portal({ merchant_key: otherPublicKey() });
		expect(await adapterFor(keys()).submit(request())).toMatchObject(refused);
		expect(simulator.books.payments).toEqual([]);
	});

	const otherPublicKey = () =>
		generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
			.publicKey.export({ type: 'spki', format: 'pem' })
			.toString();
});

describe('health', () => {
	it.each<[string, () => OperatorAdapter, RegExp]>([
		['the token', () => adapterFor({ PAWAPAY_API_TOKEN: 'wrong' }), /refuses the API token.*AUTHENTICATION/],
		['the address', () => adapterFor({ PAWAPAY_BASE_URL: 'http://127.0.0.1:9' }), /cannot be reached/],
		[
			'a provider',
			() => adapterFor({ PAWAPAY_PROVIDERS: 'orange_money=ORANGE_RWA' }),
			/ORANGE_RWA does not take deposits in RWF/
		],
		[
			'a provider that cannot prompt',
			() => adapterFor({ PAWAPAY_PROVIDERS: 'orange_money=ORANGE_BFA' }, { currency: 'XOF' }),
			/ORANGE_BFA does not ask the payer on the phone \(PREAUTH\)/
		],
		[
			'callbacks that are not signed',
			() => adapterFor({ PAWAPAY_VERIFY_CALLBACKS: 'on' }),
			/does not sign callbacks/
		],
		[
			'requests that have to be signed',
			() => {
				simulator.portal({ signed_requests: 'on' });
				return adapterFor();
			},
			/signed requests only: set PAWAPAY_SIGNING_KEY/
		],
		[
			'a network that is down',
			() => {
				simulator.portal({ closed: 'AIRTEL_RWA' });
				return adapterFor();
			},
			/^AIRTEL_RWA is CLOSED$/
		],
		[
			'callbacks to another address',
			() => adapterFor({}, { callbackUrl: 'https://airtill.example' }),
			/callbacks of MTN_MOMO_RWA go elsewhere/
		],
		[
			'an outage',
			() => {
				simulator.outage('error');
				return adapterFor();
			},
			/HTTP 500, UNKNOWN_ERROR/
		]
	])('names the problem with %s', async (_name, make, reason) => {
		expect(await make().health()).toMatch(reason);
	});
});

describe('settings', () => {
	it.each([
		['PAWAPAY_BASE_URL', 'api.pawapay.io'],
		['PAWAPAY_API_TOKEN', ' token'],
		['PAWAPAY_PROVIDERS', 'MTN_MOMO_RWA'],
		['PAWAPAY_PROVIDERS', 'mtn=MTN_MOMO_RWA'],
		['PAWAPAY_PROVIDERS', 'mobile_money=MTN_MOMO_RWA'],
		['PAWAPAY_PROVIDERS', 'mtn_momo=mtn_momo_rwa'],
		['PAWAPAY_PROVIDERS', 'mtn_momo=MTN_MOMO_RWA,mtn_momo=AIRTEL_RWA'],
		['PAWAPAY_PROVIDERS', 'mtn_momo=MTN_MOMO_RWA,'],
		['PAWAPAY_PROVIDERS', 'mtn_momo=MTN_MOMO_UGA'],
		['PAWAPAY_VERIFY_CALLBACKS', 'yes'],
		['PAWAPAY_SIGNING_KEY', 'secret-that-is-no-key']
	])('refuse %s=%j and name the variable', (name, value) => {
		const problems = problemsOf({ [name]: value });
		expect(problems).toHaveLength(1);
		expect(problems[0]).toMatch(new RegExp(`^PAWAPAY_\\w+: \\S`));
		expect(problems[0]).toContain(name);
		expect(problems[0]).not.toContain('secret-that');
	});

	it('want a signing key and its name together', () => {
		expect(problemsOf({ PAWAPAY_SIGNING_KEY: PRIVATE_PEM })).toEqual([
			'PAWAPAY_SIGNING_KEY_ID: is required when PAWAPAY_SIGNING_KEY is set.'
		]);
		expect(problemsOf({ PAWAPAY_SIGNING_KEY_ID: 'AIRTILL:1' })).toEqual([
			'PAWAPAY_SIGNING_KEY: is required when PAWAPAY_SIGNING_KEY_ID is set.'
		]);
	});

	it('keep sandbox and live apart', () => {
		const live = { mode: 'live', callbackUrl: 'https://airtill.example' } as const;
		const production = { PAWAPAY_BASE_URL: 'https://api.pawapay.io/' };
		expect(problemsOf(production, live)).toEqual([]);
		expect(problemsOf(production)).toHaveLength(1);
		expect(problemsOf({ PAWAPAY_BASE_URL: 'https://api.sandbox.pawapay.io' }, live)).toHaveLength(1);
		expect(problemsOf({ PAWAPAY_BASE_URL: 'http://gateway.example' }, live)).toHaveLength(1);
		expect(problemsOf(production, { ...live, callbackUrl: 'http://airtill.example' })).toHaveLength(1);
		expect(problemsOf({ PAWAPAY_BASE_URL: 'https://api.sandbox.pawapay.io' })).toEqual([]);
	});
});
