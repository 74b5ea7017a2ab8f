/** The sentences of a purchase in every language: each state, failure and refund has its own. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { overwriteGetLocale } from '#lib/i18n/generated/runtime.js';
import { LOCALES, type Locale } from '#lib/i18n/locales.ts';
import { type PurchaseState, describeAdded, describeState } from '#lib/purchase/state.ts';
import { failureCode } from '#lib/server/contract/payment.ts';
import { NOW, payment, PAYMENTS, REFUND_REASONS, session, SESSIONS, WORDS } from './purchase-values.ts';

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

/** Removes suffixes that do not change the sentences. */
const base = (kind: string) => kind.replace(/-(closed|payable)$/, '');
const saidIn = ({ title, text, next, note }: PurchaseState) => [title, text, next, note ?? ''].join(' | ');

describe.each(LOCALES)('in %s', (locale) => {
	beforeAll(() => overwriteGetLocale(() => locale));
	afterAll(() => overwriteGetLocale(() => 'en'));

	const states = () =>
		SESSIONS.flatMap((aSession) =>
			PAYMENTS.flatMap((aPayment) => {
				const added = describeAdded(aSession, aPayment, WORDS, NOW);
				return [describeState(aSession, aPayment, WORDS, NOW), ...(added ? [added] : [])];
			})
		);

	test('every state says the result, the money and the next step', () => {
		for (const state of states()) {
			for (const text of [state.title, state.text, state.next]) {
				expect(text, state.kind).toMatch(/\p{L}.*\P{L}$/su);
				expect(text, state.kind).not.toMatch(/[{}]|undefined|purchase_/);
				if (locale === 'en') expect(text, state.kind).not.toMatch(/null|session|transaction|payload/);
			}
		}
	});

	test('different states have different sentences', () => {
		const kinds = new Map<string, Set<string>>();
		for (const aSession of SESSIONS) {
			for (const aPayment of PAYMENTS) {
				const state = describeState(aSession, aPayment, WORDS, NOW);
				const said = saidIn(state);
				kinds.set(said, (kinds.get(said) ?? new Set()).add(base(state.kind)));
			}
		}
		for (const [said, same] of kinds) expect([...same], said).toHaveLength(1);
	});

	test('each failure and each refund reason has its own sentence', () => {
		const unpaid = session('pending_payment');
		const failures = [...failureCode.options, null].map((failure_code) =>
			saidIn(describeState(unpaid, payment('failed', { failure_code }), WORDS, NOW))
		);
		expect(new Set(failures).size).toBe(failures.length);
		for (const status of ['success', 'refund_pending', 'refunded', 'refund_failed']) {
			const refunds = REFUND_REASONS.map((refund_reason) =>
				saidIn(describeState(unpaid, payment(status, { refund_reason }), WORDS, NOW))
			);
			expect(new Set(refunds).size).toBe(refunds.length);
		}
	});
});
