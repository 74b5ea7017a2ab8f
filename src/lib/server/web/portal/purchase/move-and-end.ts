import { redirect } from '@sveltejs/kit';
import { link } from '#lib/i18n/current.ts';
import { apart } from '#lib/i18n/intl.ts';
import * as m from '#lib/i18n/messages.js';
import type { SessionBody } from '#lib/server/api/contract/schemas.ts';
import { apiClient, ApiProblem } from '#lib/server/portal/api-client.ts';
import { qrCode } from '#lib/server/portal/wifi-qr-svg.ts';
import { orUnavailable } from '../api-errors.ts';
import { findPurchase } from './find-purchase.ts';
import { ownPath, type PageEvent } from './page-path.ts';
import { takesCode, type SignIn } from './sign-in-instructions.ts';

/** Moving a pass to another device and ending it. The texts of both depend on the kind of access. */

/** Its QR code opens the page on another device; null if only the Wi-Fi's sign-in page helps. */
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

export function endText(session: SessionBody, signIn: SignIn): string {
	if (session.access.kind === 'shared_password') return m.purchase_end_text_shared();
	return takesCode(session, signIn) ? m.purchase_end_text_login() : m.purchase_end_text();
}

/** Ends the running time, including added time. Repeating it changes nothing. */
export async function endTime(event: PageEvent): Promise<never> {
	const { session, added } = await findPurchase(event);
	const active = [session, ...added.map((part) => part.session)].filter(
		({ status, isExtra }) => status === 'active' && !isExtra
	);
	active.sort((a, b) => Date.parse(a.starts_at ?? '') - Date.parse(b.starts_at ?? ''));
	const [first] = active;
	try {
		if (first) await orUnavailable(apiClient(event).endSession(first.id), m.purchase_unreachable());
	} catch (problem) {
		if (!(problem instanceof ApiProblem && problem.code === 'session_not_active')) throw problem;
	}
	redirect(303, ownPath(event));
}
