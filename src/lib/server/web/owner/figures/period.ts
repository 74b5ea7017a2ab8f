import { error } from '@sveltejs/kit';
import { FIRST_DATE, isDate, LAST_DATE, type Period } from '#lib/domain/time/calendar.ts';
import * as m from '#lib/i18n/messages.js';
import type { Filter } from '#lib/server/billing/earnings.ts';
import { idOf } from '../../page-links.ts';

const PERIODS: readonly Period[] = ['daily', 'weekly', 'monthly'];

export const periodOf = (parameters: URLSearchParams): Period =>
	PERIODS.find((period) => period === parameters.get('period')) ?? 'daily';

/** Throws 404 for an invalid day. */
export function dayOf(parameters: URLSearchParams, today: string): string {
	const day = parameters.get('day') ?? today;
	if (!isDate(day) || day < FIRST_DATE || day > LAST_DATE) error(404, m.owner_no_such_period());
	return day;
}

const KINDS = ['payment', 'refund'] as const;

/** Reads router, offer, method, kind and hour of an address. Throws 404 for an invalid value. */
export function filterOf(parameters: URLSearchParams): Filter {
	const read = <Value>(name: string, valueOf: (text: string) => Value | undefined): Value | null => {
		const text = parameters.get(name);
		return text === null ? null : (valueOf(text) ?? error(404, m.common_error_not_found()));
	};
	return {
		router: read('router', (text) => idOf(text) || undefined),
		// PostgreSQL cannot compare with NUL.
		offer: read('offer', (text) => (text.includes('\0') ? undefined : text)),
		method: read('method', (text) => (/^\w{1,40}$/.test(text) ? text : undefined)),
		kind: read('kind', (text) => KINDS.find((kind) => kind === text)),
		hour: read('hour', (text) => (/^(1?\d|2[0-3])$/.test(text) ? Number(text) : undefined))
	};
}

export const filterFields = (filter: Filter): Record<string, string> =>
	Object.fromEntries(
		Object.entries(filter).flatMap(([name, value]) => (value == null ? [] : [[name, `${value}`]]))
	);
