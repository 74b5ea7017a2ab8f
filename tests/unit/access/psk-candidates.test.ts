import { describe, expect, it } from 'vitest';
import { createPskCandidates } from '../../../src/lib/server/access/radius-login.ts';

describe('the offers of per-client passwords', () => {
	it('reach every password, however many other devices are answered meanwhile', () => {
		const offers = createPskCandidates();
		const device = { mac: '02:00:00:00:00:01', routerId: 3 };
		const passes = Array.from({ length: 40 }, (_, index) => index + 1);
		const fits = 16;
		const offered = new Set<number>();
		for (let request = 0; request < 3; request += 1) {
			const part = offers.ordered(device, [], passes, request).slice(0, fits);
			for (const pass of part) offered.add(pass);
			offers.offered(device, part, true, request);
			for (let other = 0; other < 2_500; other += 1) {
				offers.offered({ mac: `02:00:00:00:01:${other}`, routerId: 3 }, [1], false, request);
			}
		}
		expect(offered.size).toBe(passes.length);
	});

	it('always hold the password of the device’s own pass, while the others take turns', () => {
		const offers = createPskCandidates();
		const device = { mac: '02:00:00:00:00:01', routerId: 3 };
		const others = Array.from({ length: 19 }, (_, index) => index + 2);
		const fits = 16;
		const offered = new Set<number>();
		for (let request = 0; request < 20; request += 1) {
			const part = offers.ordered(device, [1], others, request).slice(0, fits);
			expect(part, `request ${request}`).toContain(1);
			for (const pass of part) offered.add(pass);
			offers.offered(device, part, true, request);
		}
		expect(offered.size).toBe(20);
	});
});
