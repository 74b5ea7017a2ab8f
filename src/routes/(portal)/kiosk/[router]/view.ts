import type { RequestEvent } from '@sveltejs/kit';
import type { KioskPurchase } from '#lib/kiosk-till.ts';
import { link } from '#lib/language/current.ts';
import { formatMoney } from '#lib/money.ts';
import { formatMobile } from '#lib/phone.ts';
import { hideMiddle } from '#lib/phone-hint.ts';
import { qrSvg } from '#lib/server/wifi-qr-svg.ts';
import { wifiQrText } from '#lib/wifi-qr.ts';
import { canPayAgain, priceAgain } from '../../s/[token]/again.ts';
import { otherNotes, receiptLines, stateOf, type Purchase } from '../../s/[token]/view.ts';

/** A purchase as the kiosk shows it. The password goes only where it is shown: to the screen that paid for it. */
export function kioskPurchase(event: RequestEvent, token: string, purchase: Purchase): KioskPurchase {
	const { clock, config } = event.locals.app;
	const { router, session, payment } = purchase;
	const now = new Date(clock.now());
	const { kind, tone, title, text, next, note, action, polls } = stateOf(
		purchase,
		now,
		config.reportTimezone
	);
	const amount = priceAgain(purchase);
	const { password } = session;
	const address = event.locals.origin + link(`/s/${token}`);
	return {
		token,
		kind,
		tone,
		title,
		text,
		next,
		action,
		polls,
		notes: [...(note === null ? [] : [note]), ...otherNotes(purchase)],
		code: 'code' in purchase && typeof purchase.code === 'string' ? purchase.code : null,
		money: formatMoney(session.amount, session.currency),
		ssid: session.ssid,
		open: router.security === 'nopass',
		ageSeconds: payment ? Math.max(0, (now.getTime() - Date.parse(payment.created_at)) / 1000) : 0,
		lines: receiptLines(purchase, now, config.reportTimezone),
		phone: { qr: qrSvg(address), address },
		pass:
			password === null
				? null
				: { password, qr: qrSvg(wifiQrText({ ssid: session.ssid, security: router.security, password })) },
		again:
			(action === 'retry' || action === 'wait-or-retry' || action === 'renew') &&
			canPayAgain(purchase, amount)
				? {
						amount,
						money: formatMoney(amount, session.currency),
						duration: session.duration,
						network: session.payment_method,
						number: hideMiddle(formatMobile(payment?.phone ?? session.phone))
					}
				: null
	};
}
