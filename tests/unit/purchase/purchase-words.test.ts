/** The sentences of a purchase in every language: each state, failure and refund has its own. */
import { sessionStatus } from '#lib/server/contract/session.ts';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { overwriteGetLocale } from '#lib/i18n/generated/runtime.js';
import { LOCALES, type Locale } from '#lib/i18n/locales.ts';
import {
	type PaymentState,
	type PurchaseState,
	type SessionState,
	describeAdded,
	describeState
} from '#lib/purchase/state.ts';
import { failureCode, paymentStatus } from '#lib/server/contract/payment.ts';
import { NOW, payment, WORDS } from './purchase-values.ts';

const folder = fileURLToPath(new URL('../../../src/lib/i18n/messages', import.meta.url));
const sentencesOf = (locale: Locale): Record<string, string> =>
	JSON.parse(readFileSync(`${folder}/${locale}.json`, 'utf8')) as Record<string, string>;
const english = sentencesOf('en');
const keys = Object.keys(english).filter((key) => /^(purchase|receipt|resume)_/.test(key));

test.each(LOCALES)('%s distinguishes what English distinguishes', (locale) => {
	expect(keys.length).toBeGreaterThan(50);
	const translated = sentencesOf(locale);
	const sources = new Map<string, string>();
	for (const key of keys) {
		// Two areas may say the same in other words.
		const text = `${key.split('_')[0]}: ${translated[key]}`;
		expect(sources.get(text) ?? english[key], key).toBe(english[key]);
		sources.set(text, english[key] ?? '');
	}
});

const REASONS = {
	ended: ['client_ended', 'admin_ended', 'refunded', null],
	cancelled: ['client_cancelled', 'payment_timeout', 'provisioning_failed', null]
};
const REFUNDS = [
	'duplicate_payment',
	'session_cancelled',
	'late_payment',
	'provisioning_failed',
	'amount_mismatch',
	'admin',
	null
];

const SESSIONS: SessionState[] = sessionStatus.options.flatMap((status) =>
	(status === 'ended' || status === 'cancelled' ? REASONS[status] : [null]).map((status_reason) => ({
		status,
		status_reason,
		expires_at: null
	}))
);

const PAYMENTS: (PaymentState | null)[] = [
	null,
	payment('success', { applied: true }),
	...paymentStatus.options.flatMap((status) => [
		...[...failureCode.options, null].map((failure_code) => payment(status, { failure_code })),
		...REFUNDS.map((refund_reason) => payment(status, { refund_reason }))
	])
];

/** Removes suffixes that do not change the sentences. */
const base = (kind: string) => kind.replace(/-(closed|payable)$/, '');
const saidIn = ({ title, text, next, note }: PurchaseState) => [title, text, next, note ?? ''].join(' | ');

describe.each(LOCALES)('in %s', (locale) => {
	beforeAll(() => overwriteGetLocale(() => locale));
	afterAll(() => overwriteGetLocale(() => 'en'));

	const states = () =>
		SESSIONS.flatMap((session) =>
			PAYMENTS.flatMap((one) => {
				const added = describeAdded(session, one, WORDS, NOW);
				return [describeState(session, one, WORDS, NOW), ...(added ? [added] : [])];
			})
		);

	test('every state says the result, the money and the next step', () => {
		for (const state of states()) {
			for (const text of [state.title, state.text, state.next]) {
				expect(text, state.kind).toMatch(/\p{L}.*\P{L}$/su);
				expect(text, state.kind).not.toMatch(/[{}]|undefined|purchase_/);
			}
		}
	});

	test('different states have different sentences', () => {
		const kinds = new Map<string, Set<string>>();
		for (const session of SESSIONS) {
			for (const one of PAYMENTS) {
				const state = describeState(session, one, WORDS, NOW);
				const said = saidIn(state);
				kinds.set(said, (kinds.get(said) ?? new Set()).add(base(state.kind)));
			}
		}
		for (const [said, same] of kinds) expect([...same], said).toHaveLength(1);
	});

	test('each failure and each refund reason has its own sentence', () => {
		const unpaid = { status: 'pending_payment', status_reason: null, expires_at: null };
		const failures = [...failureCode.options, null].map((failure_code) =>
			saidIn(describeState(unpaid, payment('failed', { failure_code }), WORDS, NOW))
		);
		expect(new Set(failures).size).toBe(failures.length);
		for (const status of ['success', 'refund_pending', 'refunded', 'refund_failed']) {
			const refunds = REFUNDS.map((refund_reason) =>
				saidIn(describeState(unpaid, payment(status, { refund_reason }), WORDS, NOW))
			);
			expect(new Set(refunds).size).toBe(refunds.length);
		}
	});
});
