import { describe, expect, test } from 'vitest';
import {
	boundsText,
	chargingMethods,
	ownDuration,
	payablePrice,
	quote,
	timeChoices,
	usualChoice
} from '#lib/purchase/quote.ts';
import { type PayEntry, readPayEntry, timeValue, wantedTime } from '#lib/purchase/pay-form.ts';

const ROUTER = { price: 500, currency: 'UGX', min_duration: '15m', max_duration: '30d' };

const entry = (fields: Partial<PayEntry>): PayEntry => ({
	time: '1h 500',
	count: '',
	unit: 'h',
	asked: '',
	quoted: '',
	pays: '',
	paymentMethod: 'mobile_money',
	phone: '0772123456',
	purchase: '',
	another: '',
	...fields
});

describe('quotes', () => {
	test('a time costs its share of the hourly price, rounded half up', () => {
		expect(quote(ROUTER, '90m')).toEqual({
			duration: '90m',
			words: '1 hour 30 minutes',
			terms: '',
			amount: 750,
			money: 'UGX\u00a0750'
		});
		expect(quote({ ...ROUTER, price: 333 }, '30m')?.amount).toBe(167);
		expect(quote({ ...ROUTER, price: 0.5, currency: 'KES' }, '1w')?.money).toBe('KES\u00a084');
	});

	test('outside the router’s bounds there is no price', () => {
		expect(quote(ROUTER, '14m')).toBeNull();
		expect(quote(ROUTER, '31d')).toBeNull();
		expect(quote(ROUTER, 'abc')).toBeNull();
		expect(boundsText(ROUTER)).toBe('15 minutes to 30 days');
	});

	test('only times that the router sells are offered, and never none', () => {
		const durations = (min_duration: string, max_duration: string) =>
			timeChoices({ ...ROUTER, min_duration, max_duration }).map(({ duration }) => duration);
		expect(durations('15m', '30d')).toEqual(['30m', '1h', '3h', '6h', '1d', '1w']);
		expect(durations('2h', '1d')).toEqual(['3h', '6h', '1d']);
		expect(durations('45m', '45m')).toEqual(['45m']);
	});

	test('one hour is chosen at first, else the shortest', () => {
		expect(usualChoice(timeChoices(ROUTER))?.duration).toBe('1h');
		expect(usualChoice(timeChoices({ ...ROUTER, min_duration: '2h' }))?.duration).toBe('3h');
		expect(usualChoice([])).toBeNull();
	});
});

describe('amounts that a payment method cannot charge', () => {
	const whole = { payment_method: 'mpesa', step: 1, min: 1, max: 250_000 };
	const KENYAN = { ...ROUTER, price: 5, currency: 'KES', payment_limits: [whole] };
	const mpesa = { ...KENYAN, payment_methods: ['mpesa', 'sandbox'] };
	const mixed = { ...KENYAN, payment_methods: ['mpesa', 'airtel_money'] };
	const marks = (router: typeof mpesa) =>
		timeChoices(router).map(({ duration, partly }) => (partly ? `${duration}*` : duration));

	test('are not offered, and are marked if another method can charge them', () => {
		expect(marks(mpesa)).toEqual(['1h', '3h', '6h', '1d', '1w']);
		expect(marks(mixed)).toEqual(['30m*', '1h', '3h', '6h', '1d', '1w']);
		expect(payablePrice(mpesa, '90m')).toBeNull();
		expect(payablePrice(mixed, '90m')).toBe(7.5);
		expect(chargingMethods(mixed, 7.5)).toEqual(['airtel_money']);
	});

	test('typed times say why', () => {
		const typed = (router: typeof mpesa) =>
			wantedTime(router, entry({ time: 'own', count: '90', unit: 'm' }));
		expect(typed(mpesa)).toEqual({
			error: 'KES\u00a07.50 cannot be paid with M-Pesa: whole amounts only. Choose another time.'
		});
		expect(typed(mixed)).toMatchObject({ choice: { amount: 7.5 } });
		const dear = { ...mpesa, price: 250_000 };
		expect(wantedTime(dear, entry({ time: '1d 6000000' }))).toEqual({
			error: 'M-Pesa: KES\u00a0250,000 at most. Choose a shorter time.'
		});
		const cheap = { ...mpesa, price: 50, payment_limits: [{ ...whole, min: 40 }] };
		expect(wantedTime(cheap, entry({ time: '30m 25' }))).toEqual({
			error: 'M-Pesa: KES\u00a040 or more. Choose a longer time.'
		});
	});
});

describe('the form of a purchase', () => {
	test('a button carries the price that stood beside it', () => {
		const hour = quote(ROUTER, '1h');
		expect(hour && timeValue(hour)).toBe('1h 500');
		expect(wantedTime(ROUTER, entry({}))).toMatchObject({ seen: true, own: false, choice: { amount: 500 } });
	});

	test('a price that changed since must be seen first', () => {
		expect(wantedTime({ ...ROUTER, price: 600 }, entry({}))).toMatchObject({
			seen: false,
			choice: { amount: 600 }
		});
		const own = entry({ time: 'own', count: '90', unit: 'm', asked: '90m', quoted: '750' });
		expect(wantedTime(ROUTER, own)).toMatchObject({ seen: true });
		expect(wantedTime({ ...ROUTER, price: 600 }, own)).toMatchObject({
			seen: false,
			choice: { amount: 900 }
		});
	});

	test('an own time comes back with its price before it is charged', () => {
		expect(wantedTime(ROUTER, entry({ time: 'own', count: '150', unit: 'm' }))).toMatchObject({
			own: true,
			seen: false,
			choice: { duration: '150m', amount: 1250 }
		});
	});

	test('a quote for one own time is no quote for another of the same price', () => {
		const changed = entry({ time: 'own', count: '2', unit: 'h', asked: '90m', quoted: '1000' });
		expect(wantedTime(ROUTER, changed)).toMatchObject({ seen: false, choice: { duration: '2h' } });
	});

	test('a time that is typed without choosing its button is meant, until its price was shown', () => {
		const typed = entry({ count: '90', unit: 'm' });
		expect(wantedTime(ROUTER, typed)).toMatchObject({ own: true, seen: false });
		expect(wantedTime(ROUTER, { ...typed, asked: '90m', quoted: '750' })).toMatchObject({
			own: false,
			seen: true,
			choice: { duration: '1h' }
		});
	});

	test.each([
		[{ time: 'own' }, /^Use a whole number/],
		[{ time: '' }, 'Choose how long.'],
		[{ time: 'own', count: '1.5' }, /^Use a whole number/],
		[{ time: 'own', count: '-2' }, /^Use a whole number/],
		[{ time: 'own', count: '0' }, /^Use a whole number/],
		[{ time: 'own', count: '2', unit: 'y' }, /^Use a whole number/],
		[{ time: 'own', count: '5', unit: 'm' }, 'Choose from 15 minutes to 30 days.'],
		[{ time: '99999w 1' }, 'Choose from 15 minutes to 30 days.'],
		[{ time: '<b> 500' }, 'Choose from 15 minutes to 30 days.']
	])('%o is answered with a sentence', (fields, sentence) => {
		expect(wantedTime(ROUTER, entry(fields))).toEqual({ error: expect.stringMatching(sentence) });
	});

	test('leading zeros do not matter', () => {
		expect(ownDuration('090', 'm')).toBe('90m');
		expect(ownDuration('00', 'm')).toBeNull();
	});

	test('fields that are missing, doubled, files or endless do no harm', () => {
		const data = new FormData();
		data.append('time', ' 1h 500 ');
		data.append('time', 'own');
		data.append('phone', new File(['x'], 'x.txt'));
		data.append('paymentMethod', 'm'.repeat(10_000));
		const read = readPayEntry(data);
		expect(read.time).toBe('1h 500');
		expect(read.phone).toBe('');
		expect(read.paymentMethod.length).toBe(1_000);
		expect(read.purchase).toBe('');
	});
});
