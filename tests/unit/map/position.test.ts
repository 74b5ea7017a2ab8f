import { expect, test } from 'vitest';
import { parsePosition } from '#lib/map/position.ts';

const KAMPALA = { lat: 0.3476, lon: 32.5825 };

test.each([
	...['0.3476, 32.5825', '0.3476,32.5825', '  0.3476   32.5825 ', '0.3476; 32.5825'],
	...['+0.3476 , +32.5825', '0.3476°, 32.5825°', '0.3476° 32.5825°', '0,3476 32,5825'],
	...['0,3476; 32,5825', '0,3476, 32,5825']
])('%s is a position', (text) => {
	expect(parsePosition(text)).toEqual(KAMPALA);
});

test('south and west are below zero', () => {
	expect(parsePosition('-33.9, -70.5')).toEqual({ lat: -33.9, lon: -70.5 });
	expect(parsePosition('\u221233.9 \u221270.5')).toEqual({ lat: -33.9, lon: -70.5 });
});

test('more than a metre of precision is not kept', () => {
	expect(parsePosition('0.347612345678, 32.582512345678')).toEqual({ lat: 0.34761, lon: 32.58251 });
});

test.each([
	'',
	'Kampala',
	'0.3476',
	'0.3476,',
	'91, 0',
	'0, 181',
	'1e1, 2',
	'0x10, 2',
	'1 2 3',
	"10°75'N 20°E",
	'N 10 N 20',
	'<script>',
	`${'1'.repeat(200)}, 2`
])('%s is not', (text) => {
	expect(parsePosition(text)).toBeNull();
});
