import { link } from '#lib/i18n/current.ts';
import { apart } from '#lib/i18n/intl.ts';
import * as m from '#lib/i18n/messages.js';
import type { SessionBody } from '#lib/server/api/contract/schemas.ts';
import { qrCode } from '#lib/server/portal/wifi-qr-svg.ts';
import { takesCode, type SignIn } from './sign-in-instructions.ts';

/** Describes how to use the pass on another device. Its QR code opens the page there; null if only the Wi-Fi's sign-in page helps. */
export function moveTo(
	session: SessionBody,
	{ address, code, signIn }: { address: string; code: string; signIn: SignIn }
) {
	const { kind, max_devices } = session.access;
	const ssid = apart(session.ssid);
	if (takesCode(session, signIn)) {
		const text = m.purchase_move_code({ ssid, code: apart(code), choose: m.common_paid_already() });
		return { texts: [text], address, qr: null };
	}
	const words = { address: apart(`${new URL(address).host}${link('/resume')}`), code: apart(code), ssid };
	const signsIn = kind === 'portal_login' || kind === 'wpa_enterprise';
	// A device that is still online keeps its slot, so another would be refused.
	const isOne = kind !== 'shared_password' && max_devices === 1;
	return {
		texts: [
			...(isOne ? [m.purchase_move_one({ ssid })] : []),
			signsIn ? m.purchase_move_user(words) : m.purchase_move_text(words)
		],
		address,
		qr: qrCode(address)
	};
}
