import { expect, it } from 'vitest';
import { formatDistance } from '#lib/domain/geo.ts';

it('reads as people say it', () => {
	expect([0, 3.4, 184, 994, 995, 1_449, 9_949, 9_950, 27_300].map(formatDistance)).toEqual([
		...['0 m', '3 m', '180 m', '990 m', '1.0 km', '1.4 km', '9.9 km', '10 km', '27 km']
	]);
});
