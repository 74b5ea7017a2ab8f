import { afterEach, expect, test } from 'vitest';
import { setLocaleSource } from '#lib/i18n/current.ts';
import { readSearch } from '#lib/server/portal/search.ts';

const CENTRE = { lat: 0.3476, lon: 32.5825 };
const search = (query: string, currency = 'KES') =>
	readSearch(new URLSearchParams(query), { centre: CENTRE, currency });

afterEach(() => setLocaleSource({ locale: () => 'en', pathname: () => '/' }));

test('without a place the list is that of the centre', () => {
	expect(search('')).toMatchObject({ position: CENTRE, given: false, problem: null, text: '', radius: null });
});

test('a place is typed, or comes from the map or the phone', () => {
	const position = { lat: 40.7476, lon: -73.8181 };
	expect(search('place=40.7476,-73.8181')).toMatchObject({ position, given: true, text: '40.7476,-73.8181' });
	expect(search('lat=40.7476&lon=-73.8181')).toMatchObject({
		position,
		given: true,
		text: '40.7476, -73.8181'
	});
});

test.each(['place=Kampala', 'lat=91&lon=0', 'lat=abc&lon=1', 'lat=1', 'lat=&lon=', 'lat=1e1&lon=2'])(
	'%s is answered with the list of the centre and a sentence',
	(query) => {
		expect(search(query)).toMatchObject({
			position: CENTRE,
			given: false,
			problem: expect.stringMatching(/\w/)
		});
	}
);

test('what is not a position may be the name of a place', () => {
	expect(search('place=Makerere hill').name).toBe('Makerere hill');
	expect(search('place=0.3,32.5').name).toBeNull();
});

test.each(['show=-12', 'show=x', 'show=13', 'show=108', 'show=1e9', ''])('%s shows one page', (query) => {
	expect(search(query).show).toBe(12);
});

test('filters are read from the address; others are none', () => {
	expect(search('open=1&max=500&show=24')).toMatchObject({ filters: { open: true, max: 500 }, show: 24 });
	expect(search('max=1.5').filters.max).toBe(1.5);
	expect(search('open=yes&max=').filters).toMatchObject({ open: false, max: null, maxProblem: null });
});

test.each(['1,500', '1500', 'KSh 1,500', '1500.00'])(
	'the highest price is read as people write it: %s',
	(max) => {
		expect(search(new URLSearchParams({ max }).toString()).filters).toMatchObject({
			max: 1500,
			typedMax: max
		});
	}
);

test.each([
	['en', '1,500'],
	['fr', '1\u00a0500'],
	['pt', '1 500']
] as const)('the highest price is read as a page in %s shows it', (locale, max) => {
	setLocaleSource({ locale: () => locale, pathname: () => '/' });
	expect(search(new URLSearchParams({ max }).toString()).filters.max).toBe(1500);
	expect(search('max=0,50').filters.max).toBe(0.5);
});

test.each(['-1', 'cheap', '1e3', 'UGX 500', '1.500'])(
	'%s is no price: the page says why and keeps it',
	(max) => {
		expect(search(new URLSearchParams({ max }).toString()).filters).toMatchObject({
			...{ max: null, typedMax: max, maxProblem: expect.stringMatching(/\w/) }
		});
	}
);
