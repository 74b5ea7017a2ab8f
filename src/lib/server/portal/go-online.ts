import { redirect } from '@sveltejs/kit';
import {
	type Credential,
	type GoOnline,
	type SignInInstructions,
	formatGatewayProblem
} from '#lib/purchase/sign-in.ts';
import * as m from '#lib/i18n/messages.js';
import { SLOW_SECONDS, SOON_SECONDS } from '#lib/purchase/state.ts';
import { type PageEvent, captiveSessionIn, isOnKiosk, pagePath } from './pages.ts';
import { link } from '#lib/i18n/current.ts';
import { apart } from '#lib/i18n/intl.ts';
import type { SessionBody } from '#lib/server/contract/session.ts';
import { qrSvg } from './qr-svg.ts';
import type { SignInMethod } from '../gateways/gateways.ts';
import {
	type PurchaseDevice,
	bindPurchase,
	findPurchaseDevice,
	giveSlotsToReader,
	startSignIn
} from '#lib/server/gateways/captive-sessions.ts';

/**
 * How the buyer gets online: the sign-in at the gateway for the device that reads the page, and the instructions for
 * any other.
 */

/** A browser that the gateway leaves without an answer shows its own error page, and goes back to this one. */
const AUTOMATIC_SECONDS = 2;

/** Leads out of the window in which a phone shows the captive portal: the device looks for the internet again. */
const BROWSE = 'https://www.google.com/';

interface GoOnlinePage {
	page: string;
	ssid: string;
	signIn: SignIn;
	isApiBuyer?: boolean;
}

/** Binds the purchase to the captive session in the address: the buyer found it by its code at a gateway. */
export async function adoptCaptiveSession(event: PageEvent, routerId: number): Promise<void> {
	const captiveSession = event.request.method === 'GET' ? captiveSessionIn(event.url) : null;
	if (captiveSession === null) return;
	const { token } = event.params;
	const { captiveSessions } = event.locals.app;
	const bound = await bindPurchase(captiveSessions, captiveSession, token, routerId);
	const path = pagePath('s', token, bound.device ?? event.params.device);
	redirect(303, bound.isElsewhere ? `${path}?elsewhere` : path);
}

const nameReader = ({ params }: PageEvent, routerId: number) => ({
	token: params.token,
	routerId,
	device: params.device ?? null
});

/** The reader is behind a gateway of another router, which cannot connect a device here. */
export const isElsewhere = ({ url }: Pick<PageEvent, 'url'>): boolean => url.searchParams.has('elsewhere');

/** Finds the device that reads the page. */
export const findReadingDevice = async (
	event: PageEvent,
	routerId: number
): Promise<PurchaseDevice | null> =>
	isElsewhere(event) || isOnKiosk(event)
		? null
		: findPurchaseDevice(event.locals.app.captiveSessions, nameReader(event, routerId));

/** Gives the device slots of a pass to the device that reads the page. @param page its path */
export async function moveSlots(event: PageEvent, routerId: number, page: string): Promise<never> {
	const isMoved = await giveSlotsToReader(event.locals.app.captiveSessions, nameReader(event, routerId));
	redirect(303, page + (isMoved ? '?moved' : '?later'));
}

/** It was online when the buyer opened the purchase, so this captive session has no sign-in data. */
export const mayHaveLeft = ({ entry, isRecent, deviceState }: PurchaseDevice): boolean =>
	entry.state === 'online' && !isRecent && deviceState === null;

export const isLetIn = (device: PurchaseDevice | null): boolean =>
	device?.how === 'waits' && device.deviceState !== null;

/** Changes whenever the page has something new to show, including changes at the gateway. @param sms its state */
export const formatWatch = (watch: string, device: PurchaseDevice | null, sms = ''): string =>
	[watch, device?.deviceState ?? '', sms].filter((part) => part !== '').join(' ');

interface Login {
	routerId: number;
	user: string;
	password: string;
}

/** Returns the gateway's sign-in address, which returns to the page; or the page if there is no sign-in. */
export async function findSignInAddress(
	event: PageEvent,
	page: string,
	{ routerId, user, password }: Login
): Promise<string> {
	const { app, origin } = event.locals;
	const device = await findReadingDevice(event, routerId);
	// Without a free slot the buyer must move the pass first.
	if (device === null || device.deviceState === 'no-free-slot') return page;
	const landing = `${origin}${page}?online`;
	return (await startSignIn(app.captiveSessions, device, { user, password, landing })) ?? page;
}

export function isOnline({ url }: Pick<PageEvent, 'url'>, device: PurchaseDevice | null): boolean {
	if (device === null) return false;
	const { entry, how, tried, isRecent, deviceState } = device;
	// After a refusal the gateway redirects the browser with a new, untried captive session.
	const hasSignedIn = how === 'navigate' && url.searchParams.has('online') && tried === 'here';
	// Later the device may have left.
	return deviceState === 'online' || (isRecent && (entry.state === 'online' || hasSignedIn));
}

/** Makes the result of the sign-in the heading of the page. */
export const formatOnlineHeading = (status: { title: string }) => ({
	tone: 'good' as const,
	title: m.splash_is_online(),
	text: `${status.title} ${m.purchase_may_close()}`
});

/**
 * Returns the next step of a device, or null if it is unknown.
 * @param page path of the page; `/online` under it leads to the gateway
 * @param isApiBuyer the buyer already knows username and password
 */
export function describeGoOnline(
	event: Pick<PageEvent, 'url' | 'request'>,
	device: PurchaseDevice | null,
	{ page, ssid, signIn, isApiBuyer = false }: GoOnlinePage
): GoOnline | null {
	if (device === null) return null;
	if (isOnline(event, device)) return { address: BROWSE, texts: [], link: { text: m.splash_browse() } };
	const { entry, how, tried, isReader, deviceState } = device;
	const asked = event.url.searchParams;
	const address = `${page}/online`;
	const isFull = entry.problem === 'too-many-devices';
	if (deviceState === 'no-free-slot') {
		const elsewhere = { address: page, title: m.splash_elsewhere_title() };
		if (asked.has('later')) return { ...elsewhere, texts: [m.splash_elsewhere_later()] };
		return { ...elsewhere, texts: isReader ? [m.splash_elsewhere_text()] : [], moves: isReader };
	}
	if (how === 'waits') return { address: page, ...describeWaiting(deviceState, { ssid, signIn }) };
	if (asked.has('moved')) return { address, ...offerSignIn(AUTOMATIC_SECONDS) };
	if (entry.problem !== null && tried !== 'here') {
		const next = signIn === 'typed' ? m.splash_go_refused() : m.splash_go_refused_code();
		return {
			address,
			isBad: true,
			title: m.splash_refused_title({ ssid }),
			texts: [formatGatewayProblem(entry.problem), next],
			link: { text: m.splash_go_again(), quiet: isFull },
			moves: isReader && isFull
		};
	}
	if (tried !== null) {
		return { address, texts: [m.splash_go_tried()], link: { text: m.splash_go_again(), quiet: true } };
	}
	const stays = isApiBuyer || event.request.method === 'POST';
	return { address, ...offerSignIn(stays ? null : AUTOMATIC_SECONDS) };
}

function describeWaiting(
	deviceState: PurchaseDevice['deviceState'],
	{ ssid, signIn }: Pick<GoOnlinePage, 'ssid' | 'signIn'>
): Omit<GoOnline, 'address'> {
	if (deviceState === 'connecting') {
		const texts = [m.splash_letting_text()];
		return { title: m.splash_letting_title(), texts, refreshSeconds: SOON_SECONDS };
	}
	const link = { text: m.splash_waits_again(), quiet: true };
	if (deviceState === 'absent') {
		const texts = [m.splash_begin_text({ ssid })];
		return { title: m.splash_begin_title(), texts, link, refreshSeconds: SLOW_SECONDS };
	}
	if (deviceState === 'delayed') {
		const texts = [m.splash_unanswered_text()];
		return { title: m.splash_unanswered_title(), texts, link, refreshSeconds: SLOW_SECONDS };
	}
	const text = signIn === 'device' ? m.splash_waits_only() : m.splash_waits_text();
	return { title: m.splash_waits_title(), texts: [text], link };
}

const offerSignIn = (seconds: number | null) => ({
	title: m.splash_go_title(),
	texts: [seconds === null ? m.splash_go_manual() : m.splash_go_automatic()],
	link: { text: m.splash_go_link() },
	...(seconds !== null && { automaticSeconds: seconds })
});

export type SignIn = SignInMethod;

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
export function writeInstructions(
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
	// On the only device of a pass it helps to move the pass.
	const hasQr = qr !== null && (shownOn === 'kiosk' || !isForOne(session));
	return {
		code: asksCode ? copied(m.resume_label(), code, m.purchase_code_copy()) : null,
		user: typed ? copied(m.purchase_user_label(), username, m.purchase_user_copy()) : null,
		password: isOfUse
			? copied(formatPasswordLabel(access, ssid), password, m.purchase_password_copy())
			: null,
		folded: asksCode && isOfUse ? m.purchase_more_login() : null,
		wifiPassword:
			network_password === null
				? null
				: copied(m.purchase_network_label(), network_password, m.purchase_network_copy()),
		steps: listSteps(
			access,
			{ ssid, hidden, shownOn },
			asksCode ? formatCodeStep(startAddress) : m.purchase_then_login()
		),
		wifiQr: hasQr
			? {
					svg: qrSvg(qr),
					label: m.purchase_qr_label({ ssid }),
					hint: formatQrHint(access, ssid, shownOn)
				}
			: null,
		note: kind === 'shared_password' ? m.router_shared() : null
	};
}

/** A device that is still online keeps its slot, so another would be refused. */
const isForOne = ({ access: { kind, max_devices } }: SessionBody): boolean =>
	kind !== 'shared_password' && max_devices === 1;

/** Returns the number of devices if it is a limit and more than one; else "". */
export const formatDevices = ({ kind, max_devices: count }: SessionBody['access']): string =>
	kind === 'shared_password' || count === 1 ? '' : m.router_devices({ count });

/** A kiosk says it beside the password. */
function formatQrHint(access: SessionBody['access'], ssid: string, shownOn: ShownOn): string {
	if (shownOn === 'kiosk') return '';
	const devices = formatDevices(access);
	const how = access.qr_joins === 'network' ? m.purchase_qr_joins({ ssid }) : m.purchase_qr_scan();
	return devices ? `${devices}. ${how}` : how;
}

/** Returns true if the captive portal accepts the code of the purchase. */
export const takesCode = ({ access }: SessionBody, signIn: SignIn): boolean =>
	access.kind === 'portal_login' && signIn !== 'typed';

const copied = (label: string, text: string, copy: string): Credential => ({ label, text, copy });

function formatPasswordLabel({ kind }: SessionBody['access'], ssid: string): string {
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
function formatCodeStep(startAddress: string | null): string {
	const appears = m.purchase_code_there({ choose: m.common_paid_already() });
	return startAddress === null
		? appears
		: `${appears} ${m.purchase_no_page({ address: apart(startAddress) })}`;
}

/** @param login what to enter on the sign-in page of a captive portal */
function listSteps(
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
	if (access.kind === 'portal_login') return [...search, formatJoinStep(access, ssid, shownOn), login];
	if (shownOn === 'kiosk') return [...search, m.kiosk_password_join({ ssid })];
	return [
		m.purchase_connect_settings(),
		...(hidden ? search : [m.purchase_connect_choose({ ssid })]),
		m.purchase_connect_paste()
	];
}

function formatJoinStep(
	{ qr, network_password }: SessionBody['access'],
	ssid: string,
	shownOn: ShownOn
): string {
	// The Wi-Fi has a password that is unknown here.
	if (qr === null) return m.purchase_join_ask({ ssid });
	if (shownOn === 'kiosk') return m.kiosk_scan_joins({ ssid });
	return network_password === null ? m.purchase_join_open({ ssid }) : m.purchase_join_shared({ ssid });
}

/** Describes how to use the pass on another device. Its QR code connects it, or opens the page there; null if only the Wi-Fi's sign-in page helps. */
export function describeMove(
	session: SessionBody,
	{ address, code, signIn }: { address: string; code: string; signIn: SignIn }
) {
	const { kind, qr, qr_joins } = session.access;
	const ssid = apart(session.ssid);
	if (takesCode(session, signIn)) {
		const text = m.purchase_move_code({ ssid, code: apart(code), choose: m.common_paid_already() });
		return { texts: [text], address, qr: null };
	}
	const words = { address: apart(`${new URL(address).host}${link('/resume')}`), code: apart(code), ssid };
	const signsIn = kind === 'portal_login' || kind === 'wpa_enterprise';
	const connects = isForOne(session) && qr !== null && qr_joins === 'access';
	return {
		texts: [
			...(isForOne(session) ? [m.purchase_move_one({ ssid })] : []),
			signsIn ? m.purchase_move_user(words) : m.purchase_move_text(words)
		],
		address,
		qr: connects
			? { svg: qrSvg(qr), label: m.purchase_qr_label({ ssid }) }
			: { svg: qrSvg(address), label: m.purchase_move_qr() }
	};
}
