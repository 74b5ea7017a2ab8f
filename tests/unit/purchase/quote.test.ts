import { afterEach, describe, expect, test } from 'vitest';
import { setLocaleSource } from '#lib/i18n/current.ts';
import {
	EMPTY_ENTRY,
	type PayEntry,
	type TimeChoice,
	boundsText,
	chargingMethods,
	formatAgreed,
	ownDuration,
	payablePrice,
	priceText,
	quote,
	timeChoices,
	timeValue,
	usefulOffers,
	usualChoice,
	wantedTime
} from '#lib/purchase/quote.ts';

const ROUTER = { price: 500, currency: 'UGX', min_duration: '15m', max_duration: '30d' };

const entry = (fields: Partial<PayEntry>): PayEntry => ({
	...EMPTY_ENTRY,
	time: '1h 500',
	unit: 'h',
	...fields
});

afterEach(() => setLocaleSource({ locale: () => 'en', pathname: () => '/' }));

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
		[{ time: '' }, 'Choose how long.'],
		[{ time: 'own', count: '1.5' }, /^Use a whole number/],
		[{ time: 'own', count: '0' }, /^Use a whole number/],
		[{ time: 'own', count: '2', unit: 'y' }, /^Use a whole number/],
		[{ time: 'own', count: '5', unit: 'm' }, 'Choose from 15 minutes to 30 days.'],
		[{ time: '<b> 500' }, 'Choose from 15 minutes to 30 days.']
	])('%o is answered with a sentence', (fields, sentence) => {
		expect(wantedTime(ROUTER, entry(fields))).toEqual({ error: expect.stringMatching(sentence) });
	});

	test('leading zeros do not matter', () => {
		expect(ownDuration('090', 'm')).toBe('90m');
		expect(ownDuration('00', 'm')).toBeNull();
	});
});

const offer = (id: number, name: string, duration: string, price: number, more: object = {}) => ({
	...{ id, name, duration, price, available: true },
	...{ max_devices: null, speed_down_kbps: null, speed_up_kbps: null, data_limit_mb: null },
	...more
});
const HOUR = offer(1, '1 hour', '1h', 500);
const DAY = offer(2, 'Day', '1d', 1000, { max_devices: 3 });
const MONTH = offer(3, 'Month', '30d', 18_000, { speed_down_kbps: 5000, data_limit_mb: 20_000 });
const WITH_OFFERS = { ...ROUTER, hourly: true, offers: [HOUR, DAY, MONTH] };

const ordered = (router: typeof WITH_OFFERS, fields: Partial<PayEntry>) =>
	wantedTime(router, entry({ time: '', ...fields }));

describe('a typed time', () => {
	test('never buys an offer with fewer devices than the router allows', () => {
		expect(quote({ ...WITH_OFFERS, max_devices: 3 }, '1d')?.offer?.id).toBe(DAY.id);
		expect(quote({ ...WITH_OFFERS, max_devices: 4 }, '1d')).toMatchObject({ amount: 12_000 });
		expect(quote({ ...WITH_OFFERS, max_devices: 4 }, '1d')?.offer).toBeUndefined();
	});
});

describe('the list of offers', () => {
	test('replaces the common durations, in the order of sale, with the limits in words', () => {
		expect(
			timeChoices(WITH_OFFERS).map(({ offer, money, terms }) => [
				offer?.name,
				money,
				terms,
				offer?.isCheapest
			])
		).toEqual([
			['1 hour', 'UGX\u00a0500', '1 device', false],
			['Day', 'UGX\u00a01,000', '3 devices', false],
			['Month', 'UGX\u00a018,000', '30 days, 1 device, 5\u00a0Mbit/s, 20\u00a0GB', true]
		]);
		expect(priceText(WITH_OFFERS)).toBe('from UGX\u00a0500');
	});

	test.each([
		['ar', ['ساعة', 'يوم', '30 يومًا']],
		['sw', ['saa 1', 'siku 1', 'siku 30']],
		['en', ['1 hour', 'Day', 'Month']]
	] as const)('has in %s the durations that English names only repeat', (locale, names) => {
		setLocaleSource({ locale: () => locale, pathname: () => '/' });
		expect(timeChoices(WITH_OFFERS).map((choice) => choice.offer?.name)).toEqual(names);
		expect(formatAgreed('1d', { ...DAY, max_devices: null })).toContain(names[1]);
		expect(timeChoices(WITH_OFFERS).map((choice) => choice.terms.includes(choice.words))).toEqual([
			// A month does not say how many days it has.
			...[false, false, locale === 'en']
		]);
	});

	test('names the devices of each choice if any of them is for more than one', () => {
		const terms = (router: object) =>
			timeChoices({ ...WITH_OFFERS, ...router }).map((choice) => choice.terms);
		expect(terms({ offers: [HOUR] })).toEqual(['']);
		expect(new Set(terms({ offers: [] }))).toEqual(new Set(['']));
		expect(terms({ offers: [HOUR, DAY], max_devices: 2 })).toEqual(['2 devices', '3 devices']);
		expect(terms({ offers: [], max_devices: 2 })[0]).toBe('2 devices');
	});

	test('marks no single offer as the cheapest', () => {
		expect(timeChoices({ ...WITH_OFFERS, offers: [DAY] })[0]?.offer?.isCheapest).toBe(false);
	});

	test('leaves out offers that are not on sale now or that no payment method can charge', () => {
		const closed = { ...WITH_OFFERS, offers: [{ ...DAY, available: false }, HOUR] };
		expect(timeChoices(closed).map(({ duration }) => duration)).toEqual(['1h']);
		const limits = [{ payment_method: 'mpesa', step: 1, min: 1, max: 10_000 }];
		const capped = { ...WITH_OFFERS, payment_methods: ['mpesa'], payment_limits: limits };
		expect(timeChoices(capped).map(({ duration }) => duration)).toEqual(['1h', '1d']);
	});

	test.each([
		['6h', true, 3000],
		['7h', true, null],
		['1d', true, 1000],
		['2d', true, null],
		['30d', true, null],
		['6h', false, null],
		['1d', false, 1000]
	])('alone sells times above the hourly limit: %s, by the hour: %s', (duration, hourly, amount) => {
		const router = {
			...WITH_OFFERS,
			max_duration: '6h',
			hourly,
			offers: [offer(2, 'Day', '1d', 1000), MONTH]
		};
		expect(quote(router, duration)?.amount ?? null).toBe(amount);
		expect(timeChoices(router).map(({ duration }) => duration)).toEqual(['1d', '30d']);
		const bare = timeChoices({ ...router, hourly: true, offers: [] });
		expect(bare.map(({ duration }) => duration)).toEqual(['30m', '1h', '3h', '6h']);
	});

	test('is replaced by the hourly price when no offer is on sale, if that is sold', () => {
		const none = { ...WITH_OFFERS, offers: [{ ...DAY, available: false }] };
		expect(timeChoices(none)[0]).toMatchObject({ duration: '30m', amount: 250 });
		expect(priceText(none)).toBe('UGX\u00a0500 an hour');
		expect(timeChoices({ ...none, hourly: false })).toEqual([]);
	});
});

test('a poster has the cheapest offer, the cheapest per hour and a day, in the order of sale', () => {
	const more = [offer(4, 'Half an hour', '30m', 200), offer(5, 'Week', '1w', 7000)];
	const offers = [...more, { ...DAY, available: false }, HOUR, MONTH];
	expect(usefulOffers({ ...WITH_OFFERS, offers }).map(({ name }) => name)).toEqual([
		'Half an hour',
		'Day',
		'Month'
	]);
});

describe('an order', () => {
	test('of an offer buys exactly it', () => {
		const time = timeValue(timeChoices(WITH_OFFERS)[1] as TimeChoice);
		expect(time).toBe('1d 1000 2');
		expect(ordered(WITH_OFFERS, { time })).toMatchObject({
			...{ seen: true, own: false },
			choice: { duration: '1d', amount: 1000, offer: { id: 2 } }
		});
	});

	test('of an offer that has changed buys nothing and says so', () => {
		const gone = { error: expect.stringContaining('have just changed') as string, gone: true };
		const changed = { ...WITH_OFFERS, offers: [offer(4, 'Day', '1d', 1000), HOUR] };
		expect(ordered(changed, { time: '1d 1000 2' })).toEqual(gone);
		expect(ordered({ ...WITH_OFFERS, hourly: false }, { time: '3h 1500' })).toEqual(gone);
		expect(ordered({ ...WITH_OFFERS, hourly: false }, { time: 'own', count: '3' })).toEqual(gone);
	});

	test('of a time at an hourly price that an offer has replaced shows the price of the offer first', () => {
		expect(ordered(WITH_OFFERS, { time: '1d 12000' })).toMatchObject({
			seen: false,
			choice: { amount: 1000, offer: { id: 2 } }
		});
	});

	test('of a typed time gets the offer of that time, unless it limits speed or data', () => {
		expect(quote(WITH_OFFERS, '24h')).toMatchObject({ amount: 1000, duration: '24h', offer: { id: 2 } });
		expect(quote(WITH_OFFERS, '30d')).toMatchObject({ amount: 360_000 });
		expect(quote(WITH_OFFERS, '30d')?.offer).toBeUndefined();
		expect(payablePrice(WITH_OFFERS, '90m')).toBe(750);
		expect(payablePrice({ ...WITH_OFFERS, hourly: false }, '90m')).toBeNull();
	});
});
