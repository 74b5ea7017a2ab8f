/** Webhooks: when they are tried again, how they are signed, and what is kept of them. */
import { describe, expect, it } from 'vitest';
import {
	type FailedAttempt,
	computeNextAttempt,
	createWebhookSecret,
	signWebhook,
	redactResponse
} from '#lib/server/developer/webhook-delivery.ts';
import { formatNotice } from '#lib/server/developer/webhook-upkeep.ts';

const second = 1_000;
const hour = 3_600 * second;
const start = Date.parse('2026-11-21T09:00:00.000Z');

const failed: FailedAttempt = { tries: 1, now: start, statusCode: 500, retryAfter: null };
/** Seconds from a failed attempt to the next, without jitter. */
const waits = (attempt: Partial<FailedAttempt>) => {
	const next = computeNextAttempt({ ...failed, ...attempt }, 0.5);
	return next === null ? null : (next - start) / second;
};

describe('after a failed attempt', () => {
	it('the next one comes by the table, and after the tenth there is none', () => {
		const table = Array.from({ length: 11 }, (_, index) => waits({ tries: index + 1 }));
		expect(table).toEqual([5, 300, 1800, 7200, 18000, 36000, 50400, 72000, 86400, null, null]);
		const hours = table.reduce<number>((sum, wait) => sum + (wait ?? 0), 0) / 3600;
		expect(hours.toFixed(1)).toBe('75.6');
	});

	it('a tenth more or less, so that many do not come back at once', () => {
		for (const [random, share] of [
			[0, 0.9],
			[0.25, 0.95],
			[0.999_999_9, 1.1]
		] as const) {
			const next = computeNextAttempt({ ...failed, tries: 4 }, random);
			expect(next).toBeCloseTo(start + 2 * hour * share, -1);
		}
	});

	it.each([429, 503])('with status %i Retry-After puts it off, for an hour at most', (statusCode) => {
		const after = (retryAfter: string) => waits({ statusCode, retryAfter });
		expect(after('60')).toBe(60);
		expect(after(' 60 ')).toBe(60);
		expect(after('3600')).toBe(3600);
		expect(after('3601')).toBe(3600);
		expect(after('999999999')).toBe(3600);
		expect(after('Sat, 21 Nov 2026 09:02:00 GMT')).toBe(120);
		expect(after('Sun, 21 Nov 2027 09:02:00 GMT')).toBe(3600);
	});

	it('Retry-After never brings it forward, and nonsense is not heeded', () => {
		for (const retryAfter of ['0', '4', '-60', '1e9', 'soon', '', 'Sat, 21 Nov 2020 09:02:00 GMT']) {
			expect(waits({ statusCode: 503, retryAfter }), retryAfter).toBe(5);
		}
		expect(waits({ statusCode: 503, retryAfter: '60', tries: 2 })).toBe(300);
	});

	it('with any other status Retry-After says nothing', () => {
		for (const statusCode of [200, 301, 400, 500, 502])
			expect(waits({ statusCode, retryAfter: '60' })).toBe(5);
	});

	it('Retry-After adds no attempt after the last one', () => {
		expect(waits({ statusCode: 503, retryAfter: '60', tries: 10 })).toBeNull();
	});
});

describe('a signature', () => {
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
});

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

const endpoint = {
	id: 7,
	url: 'https://app.example.com/hooks/a-secret-of-the-receiver',
	failing_since: Date.parse('2026-11-21T09:00:00.000Z')
};
const to = { email: 'dev@shop.invalid', origin: 'https://airtill.example' };

it('on the third day the account learns what fails, since when, and where to look', () => {
	const mail = formatNotice({ ...endpoint, notice: 'failing', disabled_reason: null }, to);
	expect(mail).toMatchObject({
		to: 'dev@shop.invalid',
		subject: 'Webhook to app.example.com has failed for three days'
	});
	expect(mail.text).toContain('No attempt has succeeded since 2026-11-21T09:00:00.000Z.');
	expect(mail.text).toContain('https://airtill.example/developer');
	expect(mail.text).not.toContain('a-secret-of-the-receiver');
});

it('when it is disabled the account learns why, and what becomes of its events', () => {
	const failing = formatNotice({ ...endpoint, notice: 'disabled', disabled_reason: 'failing' }, to);
	expect(failing.subject).toBe('Webhook to app.example.com is disabled');
	expect(failing.text).toContain('kept for 30 days');
	const gone = formatNotice(
		{ ...endpoint, notice: 'disabled', disabled_reason: 'gone' },
		{ ...to, origin: null }
	);
	expect(gone.text).toContain('410 Gone');
	expect(gone.text).toContain('the developer area');
});
