import type { RequestEvent } from '@sveltejs/kit';
import { link } from '#lib/i18n/current.ts';
import * as m from '#lib/i18n/messages.js';
import { agreedWords } from '#lib/checkout/offer-words.ts';
import type { EarlierNotice } from '#lib/checkout/pay-form.ts';
import { formatMoney } from '#lib/domain/money.ts';
import { networkOf } from '#lib/server/http/client-address.ts';
import type { EarlierOrder, Orderer } from '#lib/server/portal/earlier-orders.ts';
import { ownPath, pagePath } from './purchase/page-path.ts';
import { withCaptiveSession } from './splash/captive-session-address.ts';

export const ordererOf = (
	event: RequestEvent,
	another: string,
	captiveSession: string | null = null
): Orderer => ({ network: networkOf(event.locals.clientAddress()), another, captiveSession });

interface Asked {
	/** The form, without its `another`. */
	fields: Readonly<Record<string, string>>;
	/** Price of another order. */
	money: string;
	/** The device that opens the purchase, if the form is on a splash page. */
	captiveSession?: string | null;
}

/** Describes an earlier order: what it is to its proven buyer; to others only that there is one. */
export function earlierNotice(event: RequestEvent, { mark, own }: EarlierOrder, asked: Asked): EarlierNotice {
	const { fields, money, captiveSession = null } = asked;
	return {
		title: earlierTitle(own),
		texts: [m.router_earlier_not_again(), ...(own ? [] : [m.router_earlier_other_text()])],
		href: withCaptiveSession(pathTo(event, own), captiveSession),
		link: own ? m.router_earlier_show() : m.splash_paid_code(),
		button: m.router_earlier_another({ money }),
		fields: { ...fields, another: mark }
	};
}

function pathTo(event: RequestEvent, own: EarlierOrder['own']): string {
	if (own === null) return link('/resume');
	const { token, device } = event.params;
	// Its own page keeps the name of the device.
	return own.token === token ? ownPath({ params: { token, device } }) : pagePath('s', own.token);
}

function earlierTitle(own: EarlierOrder['own']): string {
	if (own === null) return m.router_earlier_other();
	const money = formatMoney(own.amount, own.currency);
	if (own.state === 'open') return m.router_earlier_open({ money });
	if (own.state === 'unknown') return m.router_earlier_unknown({ money });
	const time = agreedWords(own.session.duration, own.session.offer);
	const { minutesAgo: minutes } = own;
	return minutes === 0 ? m.router_earlier_just_paid({ time }) : m.router_earlier_paid({ time, minutes });
}
