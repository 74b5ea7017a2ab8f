import { redirect } from '@sveltejs/kit';
import { gatewayProblem } from '#lib/checkout/gateway-problem.ts';
import * as m from '#lib/i18n/messages.js';
import type { GoOnline } from '#lib/checkout/sign-in-instructions.ts';
import { SLOW_SECONDS, SOON_SECONDS } from '#lib/checkout/purchase/seconds.ts';
import { captiveSessionIn } from '../splash/captive-session-address.ts';
import { pagePath, type PageEvent } from './page-path.ts';
import type { SignIn } from './sign-in-instructions.ts';

/** Time to copy the password before a mini-browser goes online, and maybe closes. */
const AUTOMATIC_SECONDS = 12;
/** Shorter after a move: the buyer has seen the password. */
const MOVED_SECONDS = 2;

interface GoOnlinePage {
	page: string;
	ssid: string;
	signIn: SignIn;
	isApiBuyer?: boolean;
}

type CaptiveSessions = PageEvent['locals']['app']['captiveSessions'];
type PurchaseDevice = NonNullable<Awaited<ReturnType<CaptiveSessions['ofPurchase']>>>;

/** Binds the purchase to the captive session in the address: the buyer found it by its code at a gateway. */
export async function adoptCaptiveSession(event: PageEvent, routerId: number): Promise<void> {
	const captiveSession = event.request.method === 'GET' ? captiveSessionIn(event.url) : null;
	if (captiveSession === null) return;
	const { token } = event.params;
	const { captiveSessions } = event.locals.app;
	const bound = await captiveSessions.bindPurchase(captiveSession, token, routerId);
	const path = pagePath('s', token, bound.device ?? event.params.device);
	redirect(303, bound.isElsewhere ? `${path}?elsewhere` : path);
}

const readerOf = ({ params }: PageEvent, routerId: number) => ({
	token: params.token,
	routerId,
	device: params.device ?? null
});

/** The reader is behind a gateway of another router, which cannot connect a device here. */
export const isElsewhere = ({ url }: Pick<PageEvent, 'url'>): boolean => url.searchParams.has('elsewhere');

/** Finds the device that reads the page. */
export const readingDevice = async (event: PageEvent, routerId: number): Promise<PurchaseDevice | null> =>
	isElsewhere(event) ? null : event.locals.app.captiveSessions.ofPurchase(readerOf(event, routerId));

/** Gives the device slots of a pass to the device that reads the page. @param page its path */
export async function moveSlots(event: PageEvent, routerId: number, page: string): Promise<never> {
	const isMoved = await event.locals.app.captiveSessions.moveSlots(readerOf(event, routerId));
	redirect(303, page + (isMoved ? '?moved' : '?later'));
}

/** It was online when the buyer opened the purchase, so this captive session has no sign-in data. */
export const mayHaveLeft = ({ entry, isRecent, deviceState }: PurchaseDevice): boolean =>
	entry.state === 'online' && !isRecent && deviceState === null;

export const isLetIn = (device: PurchaseDevice | null): boolean =>
	device?.how === 'waits' && device.deviceState !== null;

/** Changes whenever the page has something new to show, including changes at the gateway. @param sms its state */
export const watchText = (watch: string, device: PurchaseDevice | null, sms = ''): string =>
	[watch, device?.deviceState ?? '', sms].filter((part) => part !== '').join(' ');

interface Login {
	routerId: number;
	user: string;
	password: string;
}

/** Returns the gateway's sign-in address, which returns to the page; or the page if there is no sign-in. */
export async function signInAddress(
	event: PageEvent,
	page: string,
	{ routerId, user, password }: Login
): Promise<string> {
	const { app, origin } = event.locals;
	const device = await readingDevice(event, routerId);
	// Without a free slot the buyer must move the pass first.
	if (device === null || device.deviceState === 'no-free-slot') return page;
	const landing = `${origin}${page}?online`;
	return (await app.captiveSessions.signInUrl(device, { user, password, landing })) ?? page;
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
export const onlineHeading = (status: { title: string }) => ({
	tone: 'good' as const,
	title: m.splash_is_online(),
	text: `${status.title} ${m.purchase_may_close()}`
});

/**
 * Returns the next step of a device, or null if it is online or unknown.
 * @param page path of the page; `/online` under it leads to the gateway
 * @param isApiBuyer the buyer already knows username and password
 */
export function goOnline(
	event: Pick<PageEvent, 'url' | 'request'>,
	device: PurchaseDevice | null,
	{ page, ssid, signIn, isApiBuyer = false }: GoOnlinePage
): GoOnline | null {
	if (device === null || isOnline(event, device)) return null;
	const { entry, how, tried, isReader, deviceState } = device;
	const asked = event.url.searchParams;
	const address = `${page}/online`;
	const isFull = entry.problem === 'too-many-devices';
	if (deviceState === 'no-free-slot') {
		const elsewhere = { address: page, title: m.splash_elsewhere_title() };
		if (asked.has('later')) return { ...elsewhere, texts: [m.splash_elsewhere_later()] };
		return { ...elsewhere, texts: isReader ? [m.splash_elsewhere_text()] : [], moves: isReader };
	}
	if (how === 'waits') return { address: page, ...waiting(deviceState, signIn) };
	if (asked.has('moved')) return { address, ...offer(MOVED_SECONDS, signIn) };
	if (entry.problem !== null && tried !== 'here') {
		const next = signIn === 'typed' ? m.splash_go_refused() : m.splash_go_refused_code();
		return {
			address,
			isBad: true,
			title: m.splash_refused_title({ ssid }),
			texts: [gatewayProblem(entry.problem), next],
			link: { text: m.splash_go_again(), quiet: isFull },
			moves: isReader && isFull
		};
	}
	if (tried !== null) {
		return { address, texts: [m.splash_go_tried()], link: { text: m.splash_go_again(), quiet: true } };
	}
	const stays = isApiBuyer || asked.has('stay') || event.request.method === 'POST';
	return { address, ...offer(stays ? null : AUTOMATIC_SECONDS, signIn) };
}

function waiting(deviceState: PurchaseDevice['deviceState'], signIn: SignIn): Omit<GoOnline, 'address'> {
	if (deviceState === 'connecting') {
		const texts = [m.splash_letting_text()];
		return { title: m.splash_letting_title(), texts, refreshSeconds: SOON_SECONDS };
	}
	const link = { text: m.splash_waits_again(), quiet: true };
	if (deviceState === 'delayed') {
		const texts = [m.splash_unanswered_text()];
		return { title: m.splash_unanswered_title(), texts, link, refreshSeconds: SLOW_SECONDS };
	}
	const text = signIn === 'device' ? m.splash_waits_only() : m.splash_waits_text();
	return { title: m.splash_waits_title(), texts: [text], link };
}

const offer = (seconds: number | null, signIn: SignIn) => ({
	title: m.splash_go_title(),
	texts: [seconds === null ? m.splash_go_manual() : automaticText(String(seconds), signIn)],
	link: { text: m.splash_go_link() },
	...(seconds !== null && { automaticSeconds: seconds })
});

const automaticText = (seconds: string, signIn: SignIn) =>
	signIn === 'typed' ? m.splash_go_automatic({ seconds }) : m.splash_go_automatic_code({ seconds });
