/** Offers as pages sell them, with their prices. */
import { afterEach, describe, expect, test } from 'vitest';
import { setLocaleSource } from '#lib/i18n/current.ts';
import { type PayEntry, timeValue, wantedTime } from '#lib/purchase/pay-form.ts';
import {
	formatAgreed,
	payablePrice,
	priceText,
	quote,
	type TimeChoice,
	timeChoices,
	usefulOffers
} from '#lib/purchase/quote.ts';

const offer = (id: number, name: string, duration: string, price: number, more: object = {}) => ({
	...{ id, name, duration, price, available: true },
	...{ max_devices: null, speed_down_kbps: null, speed_up_kbps: null, data_limit_mb: null },
	...more
});
const HOUR = offer(1, '1 hour', '1h', 500);
const DAY = offer(2, 'Day', '1d', 1000, { max_devices: 3 });
const MONTH = offer(3, 'Month', '30d', 18_000, { speed_down_kbps: 5000, data_limit_mb: 20_000 });
const ROUTER = {
	...{ price: 500, currency: 'UGX', min_duration: '15m', max_duration: '30d', hourly: true },
	offers: [HOUR, DAY, MONTH]
};

const ordered = (router: typeof ROUTER, fields: Partial<PayEntry>) => {
	const none = { time: '', count: '', unit: 'h', asked: '', quoted: '', pays: '' };
	const entry = {
		...none,
		paymentMethod: 'mobile_money',
		phone: '0772123456',
		purchase: '',
		another: '',
		...fields
	};
	return wantedTime(router, entry);
};

afterEach(() => setLocaleSource({ locale: () => 'en', pathname: () => '/' }));

describe('a typed time', () => {
	test('never buys an offer with fewer devices than the router allows', () => {
		expect(quote({ ...ROUTER, max_devices: 3 }, '1d')?.offer?.id).toBe(DAY.id);
		expect(quote({ ...ROUTER, max_devices: 4 }, '1d')).toMatchObject({ amount: 12_000 });
		expect(quote({ ...ROUTER, max_devices: 4 }, '1d')?.offer).toBeUndefined();
	});
});

describe('the list of offers', () => {
	test('replaces the common durations, in the order of sale, with the limits in words', () => {
		expect(
			timeChoices(ROUTER).map(({ offer, money, terms }) => [offer?.name, money, terms, offer?.isCheapest])
		).toEqual([
			['1 hour', 'UGX\u00a0500', '1 device', false],
			['Day', 'UGX\u00a01,000', '3 devices', false],
			['Month', 'UGX\u00a018,000', '30 days, 1 device, 5\u00a0Mbit/s, 20\u00a0GB', true]
		]);
		expect(priceText(ROUTER)).toBe('from UGX\u00a0500');
	});

	test.each([
		['ar', ['ساعة', 'يوم', 'Month']],
		['sw', ['saa 1', 'siku 1', 'Month']],
		['en', ['1 hour', 'Day', 'Month']]
	] as const)('has in %s the durations that English names only repeat', (locale, names) => {
		setLocaleSource({ locale: () => locale, pathname: () => '/' });
		expect(timeChoices(ROUTER).map((choice) => choice.offer?.name)).toEqual(names);
		expect(formatAgreed('1d', { ...DAY, max_devices: null })).toContain(names[1]);
		expect(timeChoices(ROUTER).map((choice) => choice.terms.includes(choice.words))).toEqual([
			...[false, false, true]
		]);
	});

	test('names the devices of each choice if any of them is for more than one', () => {
		const terms = (router: object) => timeChoices({ ...ROUTER, ...router }).map((choice) => choice.terms);
		expect(terms({ offers: [HOUR] })).toEqual(['']);
		expect(new Set(terms({ offers: [] }))).toEqual(new Set(['']));
		expect(terms({ offers: [HOUR, DAY], max_devices: 2 })).toEqual(['2 devices', '3 devices']);
		expect(terms({ offers: [], max_devices: 2 })[0]).toBe('2 devices');
	});

	test('marks no single offer as the cheapest', () => {
		expect(timeChoices({ ...ROUTER, offers: [DAY] })[0]?.offer?.isCheapest).toBe(false);
	});

	test('leaves out offers that are not on sale now or that no payment method can charge', () => {
		const closed = { ...ROUTER, offers: [{ ...DAY, available: false }, HOUR] };
		expect(timeChoices(closed).map(({ duration }) => duration)).toEqual(['1h']);
		const limits = [{ payment_method: 'mpesa', step: 1, min: 1, max: 10_000 }];
		const capped = { ...ROUTER, payment_methods: ['mpesa'], payment_limits: limits };
		expect(timeChoices(capped).map(({ duration }) => duration)).toEqual(['1h', '1d']);
	});

	test.each([
		['6h', true, 3000],
		['361m', true, null],
		['7h', true, null],
		['1d', true, 1000],
		['24h', true, 1000],
		['2d', true, null],
		['1w', true, null],
		['30d', true, null],
		['6h', false, null],
		['1d', false, 1000]
	])('alone sells times above the hourly limit: %s, by the hour: %s', (duration, hourly, amount) => {
		const router = { ...ROUTER, max_duration: '6h', hourly, offers: [offer(2, 'Day', '1d', 1000), MONTH] };
		expect(quote(router, duration)?.amount ?? null).toBe(amount);
		expect(timeChoices(router).map(({ duration }) => duration)).toEqual(['1d', '30d']);
		const bare = timeChoices({ ...router, hourly: true, offers: [] });
		expect(bare.map(({ duration }) => duration)).toEqual(['30m', '1h', '3h', '6h']);
	});

	test('is replaced by the hourly price when no offer is on sale, if that is sold', () => {
		const none = { ...ROUTER, offers: [{ ...DAY, available: false }] };
		expect(timeChoices(none)[0]).toMatchObject({ duration: '30m', amount: 250 });
		expect(priceText(none)).toBe('UGX\u00a0500 an hour');
		expect(timeChoices({ ...none, hourly: false })).toEqual([]);
	});
});

test('a poster has the cheapest offer, the cheapest per hour and a day, in the order of sale', () => {
	const more = [offer(4, 'Half an hour', '30m', 200), offer(5, 'Week', '1w', 7000)];
	const offers = [...more, { ...DAY, available: false }, HOUR, MONTH];
	expect(usefulOffers({ ...ROUTER, offers }).map(({ name }) => name)).toEqual([
		'Half an hour',
		'Day',
		'Month'
	]);
});

describe('an order', () => {
	test('of an offer buys exactly it', () => {
		const time = timeValue(timeChoices(ROUTER)[1] as TimeChoice);
		expect(time).toBe('1d 1000 2');
		expect(ordered(ROUTER, { time })).toMatchObject({
			...{ seen: true, own: false },
			choice: { duration: '1d', amount: 1000, offer: { id: 2 } }
		});
	});

	test('of an offer that has changed buys nothing and says so', () => {
		const gone = { error: expect.stringContaining('have just changed') as string, gone: true };
		const changed = { ...ROUTER, offers: [offer(4, 'Day', '1d', 1000), HOUR] };
		expect(ordered(changed, { time: '1d 1000 2' })).toEqual(gone);
		expect(ordered({ ...ROUTER, hourly: false }, { time: '3h 1500' })).toEqual(gone);
		expect(ordered({ ...ROUTER, hourly: false }, { time: 'own', count: '3' })).toEqual(gone);
	});

	test('of a time at an hourly price that an offer has replaced shows the price of the offer first', () => {
		expect(ordered(ROUTER, { time: '1d 12000' })).toMatchObject({
			seen: false,
			choice: { amount: 1000, offer: { id: 2 } }
		});
	});

	test('of a typed time gets the offer of that time, unless it limits speed or data', () => {
		expect(quote(ROUTER, '24h')).toMatchObject({ amount: 1000, duration: '24h', offer: { id: 2 } });
		expect(quote(ROUTER, '30d')).toMatchObject({ amount: 360_000 });
		expect(quote(ROUTER, '30d')?.offer).toBeUndefined();
		expect(payablePrice(ROUTER, '90m')).toBe(750);
		expect(payablePrice({ ...ROUTER, hourly: false }, '90m')).toBeNull();
	});
});
