import { describe, expect, it } from 'vitest';
import { durationSeconds, formatDuration, parseDuration } from '../../../src/lib/domain/time.ts';

describe('a duration', () => {
	it.each([
		['15m', 900],
		['90m', 5_400],
		['2h', 7_200],
		['1d', 86_400],
		['1w', 604_800],
		['30d', 2_592_000],
		['99999m', 5_999_940]
	])('%s is %i seconds', (text, seconds) => {
		expect(parseDuration(text)).toMatchObject({ seconds });
		expect(durationSeconds(text)).toBe(seconds);
	});

	it.each([
		...[
			'',
			'h',
			'2',
			'0h',
			'02h',
			'2H',
			'2 h',
			' 2h',
			'2h ',
			'2h\n',
			'-2h',
			'+2h',
			'2.5h',
			'1e1h',
			'100000m'
		],
		...['PT2H', '1M', '1y', '2s', '2h30m', '٢h']
	])('is not %j', (text) => {
		expect(parseDuration(text)).toBeNull();
		expect(() => durationSeconds(text)).toThrow();
	});

	it('reads as people say it', () => {
		expect(['15m', '1h', '2h', '1d', '30d', '1w', 'soon'].map((text) => formatDuration(text))).toEqual([
			...['15 minutes', '1 hour', '2 hours', '1 day', '30 days', '1 week', 'soon']
		]);
	});
});
