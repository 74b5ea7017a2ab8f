/** The delivery log holds no secret and no full phone number, whatever was sent and answered. */
import { expect, it } from 'vitest';
import {
	createWebhookSecret,
	redactBody,
	redactResponse
} from '../../../src/lib/server/developer/webhook-delivery.ts';

it('an answer that repeats numbers and secrets is kept without them', () => {
	const secret = createWebhookSecret();
	const kept = redactResponse(`phone +256772123456 or 0772123456, ${secret} and atl_test_abcDEF123\0`);
	expect(kept).toBe('phone … or …, whsec_… and atl_test_…\uFFFD');
});

it('what signed the request is not kept, though nothing says that it is a secret, and though it is cut off', () => {
	const secret = 'whsec_DIpK/QVMTAj3ms0Q+POOuxmzPc2z/NnC7eR3m2uV3E4=';
	const bare = secret.slice('whsec_'.length);
	expect(redactResponse(`signed by ${bare}!`, [secret])).toBe('signed by …!');
	for (const written of [bare.replaceAll('/', '\\/'), encodeURIComponent(bare)]) {
		expect(redactResponse(`signed by ${written}!`, [secret])).toBe('signed by …!');
	}
	const filler = '.'.repeat(1_000);
	expect(redactResponse(filler + bare.slice(0, 24), [createWebhookSecret(), secret])).toBe(`${filler}…`);
	expect(redactResponse(`${'.'.repeat(1_012)} k7mq-x2vd-9`)).toBe(`${'.'.repeat(1_012)} …`);
});

it('an ordinary answer is kept as it is', () => {
	for (const text of [
		'',
		'ok',
		'{"received":true,"at":"2026-11-21T09:15:00.000Z","id":1234567}',
		'<html>€'
	]) {
		expect(redactResponse(text)).toBe(text);
	}
});

it('a body of ours is shown with the number masked and nothing else changed', () => {
	const body = '{"data":{"id":7,"phone":"+256772123456","provider_reference":"1029384756"}}';
	expect(redactBody(body)).toBe(
		'{"data":{"id":7,"phone":"+256*****3456","provider_reference":"1029384756"}}'
	);
});
