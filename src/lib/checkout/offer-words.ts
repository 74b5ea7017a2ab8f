import { formatDuration } from '../domain/duration.ts';
import type { Limits } from '../domain/offers/offer-limits.ts';
import { currentLocale } from '../i18n/current.ts';
import { apart, numberText } from '../i18n/intl.ts';
import type { Locale } from '../i18n/locales.ts';
import * as m from '../i18n/messages.js';
import type { PricedOffer } from './price.ts';

/** Returns what an offer contains beside its name: "1 day, 3 devices, 5 Mbit/s". */
export function offerTerms(offer: NamedTime): string {
	const words = formatDuration(offer.duration);
	return joined([...(tells(offer.name, words) ? [] : [words]), ...limitWords(offer)]);
}

type NamedTime = Pick<PricedOffer, 'name' | 'duration'> & Limits;

/** Names what an order bought: "Day, 3 devices", or "2 hours" without an offer. */
export const agreedWords = (duration: string, offer: Omit<NamedTime, 'duration'> | null): string =>
	offer ? joined([apart(offer.name), offerTerms({ ...offer, duration })]) : formatDuration(duration);

const COMMAS: Partial<Record<Locale, string>> = { ar: '، ', am: '፣ ' };

/** Joins the parts that are not empty: "1 day, 3 devices". */
export const joined = (parts: readonly (string | undefined)[]): string =>
	parts.filter((part) => part).join(COMMAS[currentLocale()] ?? ', ');

/** Whether a name such as "30 min" or "Day" already tells the duration. */
function tells(name: string, duration: string): boolean {
	const [short, long] = [name.toLowerCase(), duration.toLowerCase()];
	return long === `1 ${short}` || (long.startsWith(short) && /\p{L}/u.test(short));
}

/** Lists the limits of an offer: "3 devices", "5 Mbit/s", "20 GB". Units are the international symbols. */
function limitWords(limits: Limits): string[] {
	const { max_devices: devices, speed_down_kbps: down, speed_up_kbps: up, data_limit_mb: data } = limits;
	const speed = (kbps: number) => apart(`${numberText(kbps / 1000)}\u00a0Mbit/s`);
	const found: string[] = [];
	if (devices != null)
		found.push(devices === 1 ? m.router_one_device() : m.router_devices({ count: devices }));
	if (down != null) found.push(speed(down));
	if (up != null && up !== down) found.push(m.router_upload({ speed: speed(up) }));
	if (data != null) found.push(dataText(data));
	return found;
}

/** Formats an amount of data: "850 MB", "12.4 GB". @param megabytes whole MB (10^6 bytes) */
export const dataText = (megabytes: number): string =>
	apart(megabytes < 1000 ? `${numberText(megabytes)}\u00a0MB` : `${numberText(megabytes / 1000)}\u00a0GB`);
