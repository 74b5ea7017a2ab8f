import { formatMoney } from '#lib/domain/money.ts';
import { dateFormat } from '#lib/i18n/intl.ts';
import type { Locale } from '#lib/i18n/locales.ts';
import * as m from '#lib/i18n/messages.js';
import { type Alert, REVIEW_HOURS, type WriteAlert } from '../../../alerts.ts';

/** Gateways that an alert names. */
const MOST_NAMES = 3;

const SUBJECTS = {
	unresponsive: m.alerts_event_gateway,
	responding: m.alerts_event_gateway,
	earnings: m.alerts_event_earnings,
	reviews: m.alerts_event_reviews
};

/** Jobs have no request, so every text gets its language here. */
export const createAlertWriter =
	(timeZone: string): WriteAlert =>
	(alert, locale) => ({
		subject: `Airtill: ${SUBJECTS[alert.kind]({}, { locale })}`,
		text: `Airtill: ${textOf(alert, { locale, timeZone })}`
	});

function textOf(alert: Alert, { locale, timeZone }: { locale: Locale; timeZone: string }): string {
	const said = { locale };
	switch (alert.kind) {
		case 'unresponsive': {
			const since = alert.gateways[0]?.since ?? 0;
			return m.alerts_unresponsive(
				{ names: names(alert, locale), time: timeOf(since, locale, timeZone) },
				said
			);
		}
		case 'responding':
			return m.alerts_responding({ names: names(alert, locale) }, said);
		case 'earnings': {
			const money = formatMoney(alert.net, alert.currency, locale);
			return m.alerts_earnings({ day: dayOf(alert.day, locale), money, count: `${alert.payments}` }, said);
		}
		case 'reviews':
			return m.alerts_reviews({ count: `${alert.count}`, hours: `${REVIEW_HOURS}` }, said);
	}
}

function names({ gateways }: Extract<Alert, { gateways: unknown }>, locale: Locale): string {
	const shown = gateways.slice(0, MOST_NAMES).map(({ router, gateway }) => `${router} (${gateway})`);
	const rest = gateways.length - shown.length;
	const list = shown.join(', ');
	return rest === 0 ? list : m.alerts_more({ names: list, count: `${rest}` }, { locale });
}

const timeOf = (at: number, locale: Locale, timeZone: string) =>
	dateFormat(
		{
			...{ timeZone, day: 'numeric', month: 'short' },
			...{ hour: '2-digit', minute: '2-digit', hourCycle: 'h23' }
		},
		locale
	).format(at);

const dayOf = (date: string, locale: Locale) =>
	dateFormat({ timeZone: 'UTC', day: 'numeric', month: 'long' }, locale).format(Date.parse(date));
