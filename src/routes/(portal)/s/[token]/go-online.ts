import { redirect, type RequestEvent } from '@sveltejs/kit';
import { gatewayProblem } from '#lib/checkout/gateway-problem.ts';
import { link } from '#lib/i18n/current.ts';
import * as m from '#lib/i18n/messages.js';
import { SLOW_SECONDS, SOON_SECONDS } from '#lib/checkout/purchase/seconds.ts';
import type { SignIn } from './sign-in-instructions.ts';

/** Time to read or copy the password before a mini-browser goes online, and maybe closes. */
const AUTOMATIC_SECONDS = 12;
/** After a move the password has been seen. */
const MOVED_SECONDS = 2;

/** The instructions to go online on this device. */
export interface GoOnline {
	tone: 'good' | 'plain' | 'bad';
	title: string | null;
	texts: string[];
	/** Target of the link and of the automatic navigation. */
	address: string;
	link: { text: string; quiet: boolean } | null;
	/** Seconds until it goes there by itself; null when it does not. */
	automaticSeconds: number | null;
	/** The way not to go by itself. */
	stay: string | null;
	/** The button by which this device takes the place of the others. */
	move: string | null;
	/** Seconds until a page without script reloads, while the gateway lets the device in. */
	refreshSeconds: number | null;
}

interface GoOnlinePage {
	page: string;
	ssid: string;
	signIn: SignIn;
	isGuest?: boolean;
}

type Event = RequestEvent<{ token: string }>;
type CaptiveSessions = Event['locals']['app']['captiveSessions'];
type PurchaseDevice = NonNullable<Awaited<ReturnType<CaptiveSessions['ofPurchase']>>>;

/** `?visit=` of who found this purchase by its code at a gateway: from now on it lets that visit's device online. */
export async function adoptVisit(event: Event): Promise<void> {
	const visit = event.request.method === 'GET' ? event.url.searchParams.get('visit') : null;
	if (visit === null) return;
	const { token } = event.params;
	await event.locals.app.captiveSessions.bind(visit, token);
	redirect(303, link(`/s/${token}`));
}

/** The device on which a purchase was last opened, for one whose time runs. @returns null when it came through no gateway */
export const deviceOf = (event: Event, routerId: number): Promise<PurchaseDevice | null> =>
	event.locals.app.captiveSessions.ofPurchase({ token: event.params.token, routerId });

/** Whether the gateway lets the device in by itself: then the buyer does not sign in. */
export const isLetIn = (visit: PurchaseDevice | null): boolean =>
	visit?.how === 'waits' && visit.deviceState !== null;

/** Changes whenever the page has something new to show, what its gateway has done included. */
export const watchText = (watch: string, visit: PurchaseDevice | null): string =>
	`${watch} ${visit?.deviceState ?? ''}`.trim();

const NOTHING = { link: null, automaticSeconds: null, stay: null, move: null, refreshSeconds: null };

/** A purchase that runs, and what its gateway asks for. */
interface Login {
	token: string;
	routerId: number;
	user: string;
	password: string;
}

/** The address that lets a device online: its gateway, which returns to the page; or the page, where it cannot. */
export async function wayOnline(
	{ locals }: Pick<RequestEvent, 'locals'>,
	page: string,
	{ token, routerId, user, password }: Login
): Promise<string> {
	const { captiveSessions } = locals.app;
	// The sign-in would let more devices in than the pass has room for: first it has to be moved.
	if ((await captiveSessions.ofPurchase({ token, routerId }))?.deviceState === 'no-free-slot') return page;
	const landing = `${locals.origin}${page}?online`;
	const finish = await captiveSessions.finish({ token, routerId }, { user, password, landing });
	return finish?.kind === 'navigate' ? finish.url : page;
}

/**
 * What is said of a device whose purchase runs, at its router.
 * @param page the path of the page that says it; the way to the gateway is at `/online` under it
 * @param isGuest has user name and password at hand, and nothing to note before the device goes online
 */
export function goOnline(
	event: Pick<RequestEvent, 'url' | 'request'>,
	{ entry, how, tried, deviceState }: PurchaseDevice,
	{ page, ssid, signIn: way, isGuest = false }: GoOnlinePage
): GoOnline {
	const asked = event.url.searchParams;
	const here = { ...NOTHING, tone: 'plain', address: page } as const;
	const signIn = { ...NOTHING, tone: 'plain', address: `${page}/online` } as const;
	// A gateway that refuses sends the browser to us with a new visit, which has not been tried.
	const isBack = how === 'navigate' && asked.has('online') && tried === 'here';
	if (deviceState === 'online' || entry.state === 'online' || isBack) {
		return { ...here, tone: 'good', title: m.splash_is_online(), texts: [m.splash_is_online_text()] };
	}
	if (deviceState === 'no-free-slot') {
		const title = m.splash_elsewhere_title();
		if (asked.has('later')) return { ...here, title, texts: [m.splash_elsewhere_later()] };
		return { ...here, title, texts: [m.splash_elsewhere_text()], move: m.splash_elsewhere_move() };
	}
	if (how === 'waits') return { ...here, ...waiting(deviceState, way) };
	if (asked.has('moved')) return { ...signIn, ...offer(MOVED_SECONDS, way) };
	if (entry.problem !== null && tried !== 'here') {
		return {
			...signIn,
			tone: 'bad',
			title: m.splash_refused_title({ ssid }),
			texts: [
				gatewayProblem(entry.problem),
				way !== 'typed' ? m.splash_go_refused_code() : m.splash_go_refused()
			],
			link: { text: m.splash_go_again(), quiet: entry.problem === 'too-many-devices' },
			move: entry.problem === 'too-many-devices' ? m.splash_elsewhere_move() : null
		};
	}
	if (tried !== null) {
		const again = { text: m.splash_go_again(), quiet: true };
		return { ...signIn, title: null, texts: [m.splash_go_tried()], link: again };
	}
	const stays = isGuest || asked.has('stay') || event.request.method === 'POST';
	return { ...signIn, ...offer(stays ? null : AUTOMATIC_SECONDS, way) };
}

/** The gateway lets the device in by itself. */
function waiting(deviceState: PurchaseDevice['deviceState'], signIn: SignIn) {
	const again = { text: m.splash_waits_again(), quiet: true };
	switch (deviceState) {
		case 'connecting':
			return {
				title: m.splash_letting_title(),
				texts: [m.splash_letting_text()],
				refreshSeconds: SOON_SECONDS
			};
		case 'delayed': {
			const texts = [m.splash_unanswered_text()];
			return { title: m.splash_unanswered_title(), texts, link: again, refreshSeconds: SLOW_SECONDS };
		}
		default:
			return {
				title: m.splash_waits_title(),
				texts: [signIn === 'device' ? m.splash_waits_only() : m.splash_waits_text()],
				link: again
			};
	}
}

const offer = (seconds: number | null, signIn: SignIn) => ({
	title: m.splash_go_title(),
	texts: [seconds === null ? m.splash_go_manual() : automaticText(String(seconds), signIn)],
	link: { text: m.splash_go_link(), quiet: false },
	automaticSeconds: seconds,
	stay: seconds === null ? null : m.splash_go_stay()
});

const automaticText = (seconds: string, signIn: SignIn) =>
	signIn === 'typed' ? m.splash_go_automatic({ seconds }) : m.splash_go_automatic_code({ seconds });
