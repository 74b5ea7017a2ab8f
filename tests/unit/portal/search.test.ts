import { expect, test } from 'vitest';
import { readSearch } from '../../../src/routes/(portal)/search.ts';

const CENTRE = { lat: 0.3476, lon: 32.5825 };
const search = (query: string) => readSearch(new URLSearchParams(query), CENTRE);

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

test('a page of the list is only taken up where it was left', () => {
	expect(search('lat=1&lon=2&radius=5000&cursor=abc&first=13')).toMatchObject({
		radius: 5000,
		cursor: 'abc',
		first: 13
	});
	expect(search('lat=1&lon=2&cursor=abc').cursor).toBeNull();
	expect(search('lat=1&lon=2&radius=7&cursor=abc')).toMatchObject({ radius: null, cursor: null });
	expect(search('lat=99&lon=2&radius=5000&cursor=abc').cursor).toBeNull();
	expect(search(`radius=5000&cursor=${'a'.repeat(600)}`).cursor).toBeNull();
});

test.each(['first=-1', 'first=x', 'first=1e9', 'first=1.5'])('%s counts from one', (query) => {
	expect(search(query).first).toBe(1);
});
