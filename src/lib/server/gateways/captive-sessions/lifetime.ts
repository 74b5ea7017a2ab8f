import { DAY_MS, HOUR_MS } from '#lib/domain/time/time.ts';

/** How long a captive session lasts. The privacy page names both. */

/** Time to choose, pay and return. */
export const UNPAID_HOURS = 2;
export const UNPAID_MS = UNPAID_HOURS * HOUR_MS;

/** After a purchase: covers the longest pass and the time to pay for it. */
export const PAID_DAYS = 32;
export const PAID_MS = PAID_DAYS * DAY_MS;
