/** Standard Webhooks 1.0.0: what we sign, the reference library verifies. */
import { Webhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import { createWebhookSecret, signWebhook } from '../../../src/lib/server/developer/webhook-delivery.ts';

const headersOf = (id: string, timestamp: number, signature: string) => ({
	'webhook-id': id,
	'webhook-timestamp': String(timestamp),
	'webhook-signature': signature
});
const now = () => Math.floor(Date.now() / 1000);

describe('a signature', () => {
	it('is the one that the reference library makes', () => {
		const secret = createWebhookSecret();
		for (const body of ['{}', '{"a":"ü€😀"}', '', ' {"a" : 1}\n']) {
			const timestamp = now();
			const expected = new Webhook(secret).sign('evt_1', new Date(timestamp * 1000), body);
			expect(signWebhook({ id: 'evt_1', timestamp, body }, [secret])).toBe(expected);
		}
	});

	it('is the one of the specification’s example', () => {
		// https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
		const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
		const signed = {
			id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
			timestamp: 1614265330,
			body: '{"test": 2432232314}'
		};
		expect(signWebhook(signed, [secret])).toBe('v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=');
	});

	it('of two secrets verifies with each, the first one’s first', () => {
		const [fresh, old] = [createWebhookSecret(), createWebhookSecret()];
		const signed = { id: 'evt_2', timestamp: now(), body: '{"x":1}' };
		const both = signWebhook(signed, [fresh, old]);
		expect(both.split(' ')).toEqual([signWebhook(signed, [fresh]), signWebhook(signed, [old])]);
		for (const secret of [fresh, old]) {
			expect(new Webhook(secret).verify(signed.body, headersOf(signed.id, signed.timestamp, both))).toEqual({
				x: 1
			});
		}
	});

	it('of another secret, body, id or time does not verify', () => {
		const secret = createWebhookSecret();
		const signed = { id: 'evt_3', timestamp: now(), body: '{"x":1}' };
		const good = signWebhook(signed, [secret]);
		const verify = (key: string, body: string, id: string, timestamp: number) => () =>
			new Webhook(key).verify(body, headersOf(id, timestamp, good));
		expect(verify(secret, signed.body, signed.id, signed.timestamp)).not.toThrow();
		expect(verify(createWebhookSecret(), signed.body, signed.id, signed.timestamp)).toThrow();
		expect(verify(secret, '{"x":2}', signed.id, signed.timestamp)).toThrow();
		expect(verify(secret, signed.body, 'evt_4', signed.timestamp)).toThrow();
		expect(verify(secret, signed.body, signed.id, signed.timestamp - 1)).toThrow();
	});
});

it('a secret is whsec_ and 32 random bytes', () => {
	const secrets = Array.from({ length: 100 }, createWebhookSecret);
	for (const secret of secrets) {
		expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
		expect(Buffer.from(secret.slice(6), 'base64')).toHaveLength(32);
	}
	expect(new Set(secrets).size).toBe(100);
});
