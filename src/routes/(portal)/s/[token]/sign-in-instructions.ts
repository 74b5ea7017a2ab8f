import { apart } from '#lib/i18n/intl.ts';
import * as m from '#lib/i18n/messages.js';
import type { QrCode } from '#lib/format/qr.ts';
import type { SessionBody } from '#lib/server/api/contract/schemas.ts';
import { qrCode } from '#lib/server/portal/wifi-qr-svg.ts';

export type SignIn = Awaited<ReturnType<App.Locals['app']['gateways']['signInMethodAt']>>;

/** Something to type, to be copied. */
export interface Copied {
	label: string;
	text: string;
	/** On its button. */
	copy: string;
}

/** What lets a buyer in, in the words that fit the kind of access: made here, so that they weigh on no browser. */
export interface WayIn {
	/** The purchase's code, where it is typed instead of user name and password. */
	code: Copied | null;
	/** null where none is asked for. */
	user: Copied | null;
	/** null where it is of no use. */
	password: Copied | null;
	/** User name and password are folded away under this title, as they are seldom asked for; null where they are not. */
	folded: string | null;
	/** The password of the network itself, where another one is signed in with. */
	network: Copied | null;
	/** What to do, in this order. */
	steps: string[];
	/** null where no code helps. `hint` says what it does. */
	qr: { code: QrCode; label: string; hint: string } | null;
	/** What has to be known about the end; null where it comes by itself. */
	note: string | null;
}

/** `gateway`: the page, on a device that a gateway sent: it has joined the network already. */
type Place = 'page' | 'gateway' | 'kiosk';

/** Who signs in how, and the code of the purchase. */
interface Coming {
	place: Place;
	signIn: SignIn;
	code: string;
}

/** @param session an active one of the account that asks: it has a password */
export function wayIn(session: SessionBody, { place, signIn, code }: Coming): WayIn {
	const { access, password, ssid: name } = session;
	if (password === null) throw new Error('There is no password to show');
	const ssid = apart(name);
	const { kind, username, network_password, qr } = access;
	const asksCode = takesCode(session, signIn);
	const isOfUse = kind !== 'portal_login' || signIn !== 'device';
	const typed = username !== null && isOfUse;
	return {
		code: asksCode ? copied(m.resume_label(), code, m.purchase_code_copy()) : null,
		user: typed ? copied(m.purchase_user_label(), username, m.purchase_user_copy()) : null,
		password: isOfUse ? copied(passwordLabel(access, ssid), password, m.purchase_password_copy()) : null,
		folded: asksCode && isOfUse ? m.purchase_more_login() : null,
		network:
			network_password === null
				? null
				: copied(m.purchase_network_label(), network_password, m.purchase_network_copy()),
		steps: asksCode ? codeSteps(access, ssid, place) : stepsOf(access, ssid, place),
		qr:
			qr === null
				? null
				: { code: qrCode(qr), label: m.purchase_qr_label({ ssid }), hint: hintOf(access, ssid, asksCode) },
		note: kind === 'shared_password' ? m.purchase_shared_end() : null
	};
}

/** Whether the page that comes up at the hotspot takes the code of the purchase. */
export const takesCode = ({ access }: SessionBody, signIn: SignIn): boolean =>
	access.kind === 'portal_login' && signIn !== 'typed';

const copied = (label: string, text: string, copy: string): Copied => ({ label, text, copy });

function passwordLabel({ kind }: SessionBody['access'], ssid: string): string {
	switch (kind) {
		case 'wpa_personal_per_client':
			return m.purchase_password_of({ ssid });
		case 'shared_password':
			return m.purchase_shared_label({ ssid });
		default:
			return m.purchase_password_for({ ssid });
	}
}

function hintOf({ qr_joins }: SessionBody['access'], ssid: string, asksCode: boolean): string {
	if (qr_joins !== 'network') return m.purchase_qr_scan();
	return asksCode ? m.purchase_qr_joins({ ssid }) : m.purchase_qr_network({ ssid });
}

/** The page that comes up is ours: there the code is enough. */
function codeSteps({ qr, network_password }: SessionBody['access'], ssid: string, place: Place): string[] {
	if (place === 'gateway') return [];
	const there = m.purchase_code_there({ choose: m.common_paid_already() });
	if (qr === null) return [m.purchase_join_ask({ ssid }), there];
	if (place === 'kiosk') return [m.kiosk_scan_joins({ ssid }), there];
	const join = network_password === null ? m.purchase_join_open({ ssid }) : m.purchase_join_shared({ ssid });
	return [join, there];
}

function stepsOf(
	{ kind, qr, network_password }: SessionBody['access'],
	ssid: string,
	place: Place
): string[] {
	switch (kind) {
		case 'wpa_enterprise':
			return [
				// The name of the network stands above; there is less room than on a page.
				...(place === 'kiosk' ? [] : [m.purchase_enterprise_choose({ ssid })]),
				m.purchase_enterprise_methods(),
				m.purchase_enterprise_certificate()
			];
		case 'portal_login':
			if (place === 'gateway') return [];
			// Neither open, nor with a password that is known.
			if (qr === null) return [m.purchase_network_ask({ ssid })];
			if (place === 'kiosk') return [m.kiosk_password_sign_in({ ssid })];
			return [
				network_password === null ? m.purchase_network_open({ ssid }) : m.purchase_network_shared({ ssid })
			];
		default:
			// The page says so above, with what to do on this phone.
			return place === 'kiosk' ? [m.kiosk_password_join({ ssid })] : [];
	}
}
