import { formatDuration } from '../domain/duration.ts';
import { numberText } from '../i18n/intl.ts';
import * as m from '../i18n/messages.js';
import type { OfferLimits, PricedOffer } from './price.ts';

/** Returns what an offer contains beside its name: "1 day, 3 devices, 5 Mbit/s". */
export function offerTerms(offer: PricedOffer): string {
	const words = formatDuration(offer.duration);
	return [...(tells(offer.name, words) ? [] : [words]), ...limitWords(offer)].join(m.router_comma());
}

/** Whether a name such as "30 min" or "Day" already tells the duration. */
function tells(name: string, duration: string): boolean {
	const [short, long] = [name.toLowerCase(), duration.toLowerCase()];
	return long === `1 ${short}` || (long.startsWith(short) && /\p{L}/u.test(short));
}

/** Lists the limits of an offer: "3 devices", "5 Mbit/s", "20 GB". */
export function limitWords(limits: Partial<OfferLimits>): string[] {
	const { max_devices: devices, speed_down_kbps: down, speed_up_kbps: up, data_limit_mb: data } = limits;
	const found: string[] = [];
	if (devices != null)
		found.push(devices === 1 ? m.router_one_device() : m.router_devices({ count: devices }));
	if (down != null) found.push(m.router_speed({ speed: numberText(down / 1000) }));
	if (up != null && up !== down) found.push(m.router_speed_up({ speed: numberText(up / 1000) }));
	if (data != null) {
		found.push(
			data < 1000
				? m.router_data_mb({ data: numberText(data) })
				: m.router_data_gb({ data: numberText(data / 1000) })
		);
	}
	return found;
}
