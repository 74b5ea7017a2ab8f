import { link } from '#lib/i18n/current.ts';
import { apart } from '#lib/i18n/intl.ts';
import * as m from '#lib/i18n/messages.js';
import type { Credential, SignInInstructions } from '#lib/checkout/sign-in-instructions.ts';
import type { SessionBody } from '#lib/server/contract/session.ts';
import { qrSvg } from '#lib/server/portal/wifi-qr-svg.ts';

export type SignIn = Awaited<ReturnType<App.Locals['app']['gateways']['signInAt']>>['method'];

/** `gateway`: the page on a device from a gateway, which is already connected to the Wi-Fi. */
type ShownOn = 'page' | 'gateway' | 'kiosk';

interface Context {
	shownOn: ShownOn;
	signIn: SignIn;
	/** The network does not announce its name. */
	hidden: boolean;
	code: string;
	/** Opens the portal page on a device in the Wi-Fi. */
	startAddress?: string | null;
}

/** @param session an active session with its password */
export function signInInstructions(
	session: SessionBody,
	{ shownOn, signIn, hidden, code, startAddress = null }: Context
): SignInInstructions {
	const { access, password, ssid: name } = session;
	if (password === null) throw new Error('The session has no password');
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
		wifiPassword:
			network_password === null
				? null
				: copied(m.purchase_network_label(), network_password, m.purchase_network_copy()),
		steps: stepsOf(
			access,
			{ ssid, hidden, shownOn },
			asksCode ? codeStep(startAddress) : m.purchase_then_login()
		),
		wifiQr:
			qr === null
				? null
				: {
						svg: qrSvg(qr),
						label: m.purchase_qr_label({ ssid }),
						hint: access.qr_joins === 'network' ? m.purchase_qr_joins({ ssid }) : m.purchase_qr_scan()
					},
		note: kind === 'shared_password' ? m.router_shared() : null
	};
}

/** Returns true if the captive portal accepts the code of the purchase. */
export const takesCode = ({ access }: SessionBody, signIn: SignIn): boolean =>
	access.kind === 'portal_login' && signIn !== 'typed';

const copied = (label: string, text: string, copy: string): Credential => ({ label, text, copy });

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

/** The captive portal is ours, so the code is enough. */
function codeStep(startAddress: string | null): string {
	const appears = m.purchase_code_there({ choose: m.common_paid_already() });
	return startAddress === null
		? appears
		: `${appears} ${m.purchase_no_page({ address: apart(startAddress) })}`;
}

/** @param login what to enter on the sign-in page of a captive portal */
function stepsOf(
	access: SessionBody['access'],
	{ ssid, hidden, shownOn }: Pick<Context, 'hidden' | 'shownOn'> & { ssid: string },
	login: string
): string[] {
	// Phones do not list such a network.
	const search = hidden ? [m.purchase_hidden({ ssid })] : [];
	if (access.kind === 'wpa_enterprise') {
		return [
			// The kiosk shows the Wi-Fi's name above.
			...search,
			...(hidden || shownOn === 'kiosk' ? [] : [m.purchase_enterprise_choose({ ssid })]),
			m.purchase_enterprise_methods(),
			m.purchase_enterprise_certificate()
		];
	}
	if (shownOn === 'gateway') return [];
	if (access.kind === 'portal_login') return [...search, joinStep(access, ssid, shownOn), login];
	if (shownOn === 'kiosk') return [...search, m.kiosk_password_join({ ssid })];
	return [
		m.purchase_connect_settings(),
		...(hidden ? search : [m.purchase_connect_choose({ ssid })]),
		m.purchase_connect_paste()
	];
}

function joinStep({ qr, network_password }: SessionBody['access'], ssid: string, shownOn: ShownOn): string {
	// The Wi-Fi has a password that is unknown here.
	if (qr === null) return m.purchase_join_ask({ ssid });
	if (shownOn === 'kiosk') return m.kiosk_scan_joins({ ssid });
	return network_password === null ? m.purchase_join_open({ ssid }) : m.purchase_join_shared({ ssid });
}

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
		qr: qrSvg(address)
	};
}
