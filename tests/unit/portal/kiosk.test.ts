import { describe, expect, it } from 'vitest';
import { allowedSeconds, idleCount } from '../../../src/lib/kiosk/idle.ts';
import { inKioskLanguage, kioskHome, kioskOptions, kioskSearch } from '../../../src/lib/kiosk/options.ts';

const optionsOf = (search: string) => kioskOptions(new URLSearchParams(search));

describe('the start address of a kiosk', () => {
	it.each([
		['', 60],
		['idle=90', 90],
		['idle=1', 30],
		['idle=0', 30],
		['idle=99999', 600],
		['idle=-5', 60],
		['idle=1e3', 60],
		['idle=', 60],
		['idle=9999999', 60]
	])('"%s" wipes a screen after %d seconds', (search, seconds) => {
		expect(optionsOf(search).idleSeconds).toBe(seconds);
	});

	it('is the same when it is written again', () => {
		for (const search of ['?idle=60', '?idle=45&home=sw', '?idle=60&home=auto']) {
			expect(kioskSearch(optionsOf(search))).toBe(search);
		}
		expect(optionsOf('home=//evil.example').home).toBeNull();
	});
});

describe('another language', () => {
	it('remembers the one that the kiosk goes back to, and forgets it there', () => {
		const options = optionsOf('idle=60');
		expect(inKioskLanguage('sw', '/kiosk/3', options)).toBe('/sw/kiosk/3?idle=60&home=auto');
		expect(inKioskLanguage('sw', '/en/kiosk/3', options)).toBe('/sw/kiosk/3?idle=60&home=en');
		const away = optionsOf('idle=60&home=en');
		expect(inKioskLanguage('am', '/sw/kiosk/3', away)).toBe('/am/kiosk/3?idle=60&home=en');
		expect(inKioskLanguage('en', '/sw/kiosk/3', away)).toBe('/en/kiosk/3?idle=60');
	});

	it('leads home when its buyer is gone', () => {
		expect(kioskHome('/kiosk/3', optionsOf(''))).toBeNull();
		expect(kioskHome('/en/kiosk/3', optionsOf('home=en'))).toBeNull();
		expect(kioskHome('/sw/kiosk/3', optionsOf('home=en&idle=45'))).toBe('/en/kiosk/3?idle=45');
		expect(kioskHome('/sw/kiosk/3', optionsOf('home=auto'))).toBe('/kiosk/3?idle=60');
		expect(kioskHome('/sw/kiosk/3', optionsOf('home=xx'))).toBe('/kiosk/3?idle=60');
	});
});

describe('the idle time', () => {
	it('is counted by the clock, so that a tablet that slept wipes at once', () => {
		let now = 1_000_000;
		const count = idleCount(() => now);
		expect(count.left(60)).toBe(60);
		now += 20_500;
		expect(count.left(60)).toBe(40);
		now += 8 * 60 * 60 * 1000;
		expect(count.left(60)).toBe(0);
		count.here();
		expect(count.left(60)).toBe(60);
	});

	it('is not stretched by a clock that is set back', () => {
		let now = 10_000_000;
		const count = idleCount(() => now);
		now -= 60 * 60 * 1000;
		expect(count.left(60)).toBe(60);
		now += 60_000;
		expect(count.left(60)).toBe(0);
	});

	it('is longer while somebody approves on a phone, and while a password is read', () => {
		expect(allowedSeconds(60, 'choosing')).toBe(60);
		expect(allowedSeconds(60, 'waiting')).toBe(180);
		expect(allowedSeconds(60, 'reading')).toBe(120);
	});
});
