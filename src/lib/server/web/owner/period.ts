import { error } from '@sveltejs/kit';
import { FIRST_DATE, isDate, LAST_DATE, type Period } from '#lib/format/calendar.ts';
import * as m from '#lib/i18n/messages.js';

const PERIODS: readonly Period[] = ['daily', 'weekly', 'monthly'];

export const periodOf = (parameters: URLSearchParams): Period =>
	PERIODS.find((period) => period === parameters.get('period')) ?? 'daily';

/** Throws 404 for an invalid day. */
export function dayOf(parameters: URLSearchParams, today: string): string {
	const day = parameters.get('day') ?? today;
	if (!isDate(day) || day < FIRST_DATE || day > LAST_DATE) error(404, m.owner_no_such_period());
	return day;
}
