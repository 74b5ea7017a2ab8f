import { DAY_MS, HOUR_MS, MINUTE_MS } from '#lib/domain/time/time.ts';
import { dateFormat } from '../i18n/intl.ts';
import { moment } from './text.ts';

const UNITS = [
	[DAY_MS, 'day'],
	[HOUR_MS, 'hour'],
	[MINUTE_MS, 'minute']
] as const;

/** Formats a past moment in English: "5 minutes ago"; after 31 days "12 Mar 2026". */
export function agoText(at: number, now: number, timeZone: string): string {
	const passed = now - at;
	if (passed >= 31 * DAY_MS) return dayText(at, timeZone);
	const unit = UNITS.find(([ms]) => passed >= ms);
	if (!unit) return 'just now';
	return new Intl.RelativeTimeFormat('en').format(-Math.floor(passed / unit[0]), unit[1]);
}

/** Formats a day: "12 Mar 2026". */
export const dayText = (at: number, timeZone: string): string =>
	dateFormat({
		timeZone,
		day: 'numeric',
		month: 'short',
		year: 'numeric'
	}).format(at);

/** Formats a moment with seconds: "12 Mar, 16:40:05". */
export const secondText = (at: number, timeZone: string): string =>
	moment(at, timeZone, { second: '2-digit' });
