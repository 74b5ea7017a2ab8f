import { formatDuration } from '#lib/domain/time.ts';
import { type RequestEvent, fail, redirect } from '@sveltejs/kit';
import { makePhoneHint, formatMobile, parseMobile } from '#lib/domain/phone.ts';
import { isEmail } from '#lib/domain/email.ts';
import { formatMoney, toMajor } from '#lib/domain/money.ts';
import { plainText } from '#lib/domain/text.ts';
import { money } from '#lib/format/text.ts';
import { currentLocale } from '#lib/i18n/current.ts';
import { apart, dateFormat, numberText } from '#lib/i18n/intl.ts';
import { LANGUAGE_NAMES, type Locale } from '#lib/i18n/locales.ts';
import * as m from '#lib/i18n/messages.js';
import {
	type Alert,
	type AlertEvent,
	type Channel,
	EARNINGS_HOUR,
	EVENTS,
	MAX_PER_DAY,
	OUTAGE_MINUTES,
	REVIEW_HOURS,
	type WriteAlert,
	listAlertChannels,
	setAlertAddress,
	confirmAlertChannel,
	setAlertEvents,
	removeAlertChannel
} from '../../alerts.ts';
import { readFields } from '../form.ts';
import type { OwnerVisitor } from './owner.ts';
import { sumSmsOfMonth } from '../../notifications.ts';

/** Alerts on the owner's settings page, and their texts. */

const eventWords = (): Record<AlertEvent, { title: string; text: string }> => ({
	gateway: {
		title: m.alerts_event_gateway(),
		text: m.alerts_gateway_text({ time: formatDuration(`${OUTAGE_MINUTES}m`) })
	},
	earnings: {
		title: m.alerts_event_earnings(),
		text: m.alerts_earnings_text({ time: apart(`${EARNINGS_HOUR}:00`) })
	},
	reviews: {
		title: m.alerts_event_reviews(),
		text: m.alerts_reviews_text({ time: formatDuration(`${REVIEW_HOURS}h`) })
	}
});

/** Reviews are for administrators. */
const eventsOf = (role: string) => EVENTS.filter((name) => name !== 'reviews' || role === 'admin');

export async function alertPage({ locals: { app }, url }: RequestEvent, { owner }: OwnerVisitor) {
	const { id: accountId, role } = owner;
	const { config, alerts, notifications } = app;
	const words = eventWords();
	const channels = await listAlertChannels(alerts, accountId);
	const priceMinor = config.sms?.priceMinor ?? 0;
	const { count, price } = await sumSmsOfMonth(notifications, accountId);
	return {
		done: url.searchParams.get('done') === 'alerts',
		most: String(MAX_PER_DAY),
		language: LANGUAGE_NAMES[currentLocale()],
		example: apart(makePhoneHint(config.defaultRegion).example),
		events: eventsOf(role).map((name) => ({
			name,
			...words[name]
		})),
		channels: channels
			// The page of an installation without SMS does not mention them.
			.filter(({ channel, canSend }) => channel === 'email' || canSend)
			.map(({ channel, canSend, address, ...rest }) => ({
				...rest,
				channel,
				isOff: !canSend,
				address: address && (channel === 'sms' ? apart(formatMobile(address)) : address)
			})),
		/** null without a price. */
		costs:
			priceMinor === 0
				? null
				: {
						price: money(toMajor(priceMinor, config.currency), config.currency),
						count: numberText(count),
						sum: money(price, config.currency)
					}
	};
}

/** Runs a form of the page: `do` names the action, `channel` the channel. */
export async function changeAlerts(event: RequestEvent, { actor, owner }: OwnerVisitor) {
	const { config, alerts } = event.locals.app;
	const { field, all } = await readFields(event.request);
	const channel: Channel = field('channel') === 'sms' ? 'sms' : 'email';
	const own = { accountId: actor.accountId, channel };
	const typed = field('address').trim();
	const refused = (problem: string) => fail(400, { channel, typed, problem });
	switch (field('do')) {
		case 'address': {
			const isMail = channel === 'email';
			const address = isMail ? (isEmail(typed) ? typed : null) : parseMobile(typed, config.defaultRegion);
			if (address === null) return refused(isMail ? m.owner_email_incomplete() : m.alerts_bad_number());
			const write = (code: string) => ({
				subject: m.alerts_code_subject(),
				text: m.alerts_code_message({ code })
			});
			const to = { address, locale: currentLocale(), write };
			if (!(await setAlertAddress(alerts, own, to))) return refused(m.alerts_limited());
			// The page asks for the code.
			return redirect(303, `${event.url.pathname}?show=alerts#alerts`);
		}
		case 'confirm': {
			// The message may be pasted whole.
			const code = /\d{6}/.exec(plainText(field('code')).replaceAll(' ', ''))?.[0] ?? '';
			const isRight = await confirmAlertChannel(alerts, own, { code, events: eventsOf(owner.role) });
			if (!isRight) return refused(m.alerts_code_wrong());
			break;
		}
		case 'events': {
			const events = EVENTS.filter((name) => all('event').includes(name));
			await setAlertEvents(alerts, own, { events, locale: currentLocale() });
			break;
		}
		case 'remove':
			await removeAlertChannel(alerts, own);
			break;
		default:
			return refused(m.owner_problem());
	}
	redirect(303, `${event.url.pathname}?done=alerts#alerts`);
}

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
			return m.alerts_reviews(
				{ count: `${alert.count}`, time: formatDuration(`${REVIEW_HOURS}h`, locale) },
				said
			);
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
