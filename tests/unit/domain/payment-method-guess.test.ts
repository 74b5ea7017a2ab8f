/** A number's prefix preselects its payment method, and routes `mobile_money`. */
import { expect, it } from 'vitest';
import { parseMobile } from '#lib/domain/phone.ts';
import { approvalMenu } from '#lib/purchase/state.ts';
import { PREFIXES, guessPaymentMethod, roughE164 } from '#lib/domain/payment-methods.ts';

it.each([
	['+256772123456', 'mtn_momo'],
	['+256701123456', 'airtel_money'],
	['+254712345678', 'mpesa'],
	// A longer prefix wins over a shorter one.
	['+254759345678', 'mpesa'],
	['+237655456789', 'orange_money']
])('%s is probably of %s', (phone, network) => {
	expect(guessPaymentMethod(phone)).toBe(network);
});

it.each(['+491701234567', '+2569', '+', '', '+256', '+254000'])('nothing is guessed for "%s"', (phone) => {
	expect(guessPaymentMethod(phone)).toBe(null);
});

it.each([
	['0772 123 456', '+256772123456'],
	['256 772 123456', '+256772123456'],
	['+254 712 345678', '+254712345678'],
	['00254712345678', '+254712345678'],
	['(+00254) 712345678', '+254712345678'],
	['tel:+256 (0) 772-123-456', '+256772123456'],
	['\u202a0772\u202f123\u202f456\u202c', '+256772123456']
])('%s is about %s', (typed, e164) => {
	expect(roughE164(typed, '+256')).toBe(e164);
});

it.each([
	['+256772123456', 'mtn_momo', '*165#'],
	['+256772123456', 'mobile_money', '*165#'],
	['+233244123456', 'sandbox', '*170#'],
	// Moved from another network: the method that was chosen counts.
	['+256701123456', 'mtn_momo', '*165#'],
	['+256772123456', 'airtel_money', null],
	['+254712345678', 'mpesa', null],
	['+224662123456', 'mtn_momo', null]
])('%s that pays with %s approves under %s', (phone, method, code) => {
	expect(approvalMenu(phone, method)).toBe(code);
});

const LISTED = Object.entries(PREFIXES).flatMap(([country, methods]) =>
	Object.entries(methods).flatMap(([method, prefixes]) =>
		prefixes.split(' ').map((prefix) => [`+${country}${prefix}`, method] as const)
	)
);

it.each(LISTED)('%s, which is guessed to be %s, begins mobile numbers that can pay', (start, method) => {
	const lengths = [7, 8, 9, 10].map((length) => length - start.length + 4);
	const numbers = lengths
		.filter((length) => length > 0)
		.flatMap((length) => Array.from({ length: 10 }, (_, digit) => start + `${digit}`.padEnd(length, '1')));
	const valid = numbers.filter((number) => parseMobile(number, 'UG') === number);
	expect(valid.length).toBeGreaterThan(0);
	expect(valid.map((number) => guessPaymentMethod(number))).toContain(method);
});
