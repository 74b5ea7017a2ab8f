import { TIME_OVER } from '../enhance/countdown.ts';
import { all, fill, settingsOf } from '../enhance/dom.ts';

/**
 * Polls the state of one purchase until it changes.
 * `{url}?wait=20` answers when the payment is decided, so the page shows the password within 0.5 s. Proxies and mini-browsers
 * may cut held requests. Then, and for slow states, it polls with growing pauses. It waits while the page is
 * hidden.
 */

interface Watch {
	url: string;
	state: string;
	/** The answer may be the page itself, which then needs no request of its own. */
	takesPage: boolean;
	/** The state cannot change without the buyer: poll only when the page becomes visible again. */
	rests?: boolean;
	/** For so long the server may hold the request until the state changes; 0: not at all. */
	holdSeconds: number;
	onNews: (html: string | null) => void;
	onLink: (works: boolean) => void;
	/** Called when the service refuses requests for this many seconds. */
	onBusy: (seconds: number) => void;
}

/** A held request without an answer this long after its end has a dead connection. */
const LATE_MS = 8_000;
const PLAIN_GIVE_UP_MS = 15_000;
/** A faster answer was not held. */
const HELD_MS = 5_000;
/** Polling stops if the page was hidden for this long. */
const MAX_WATCH_MS = 60 * 60 * 1000;
/** Polls without holding after this many cut requests. */
const MAX_CUTS = 2;
/** Spreads retries, so that waiting pages do not all return at once. */
const SPREAD_MS = 3_000;
const BACKOFF_SECONDS: readonly number[] = [2, 3, 5, 8, 13, 21, 30];

export const backoffMs = (attempt: number): number =>
	1000 * (BACKOFF_SECONDS[Math.min(attempt, BACKOFF_SECONDS.length - 1)] ?? 30);

type PollResult =
	| { as: 'gone' }
	| { as: 'busy'; seconds: number }
	| { as: 'state'; state: unknown }
	| { as: 'page'; html: string };

/** Asks once. @throws if the service does not answer, or `signal` aborts */
async function askState(watch: Watch, waitSeconds: number, signal: AbortSignal): Promise<PollResult> {
	const { url, state, takesPage } = watch;
	const shown = takesPage ? `&shown=${encodeURIComponent(state)}` : '';
	const response = await fetch(`${url}${url.includes('?') ? '&' : '?'}wait=${waitSeconds}${shown}`, {
		signal,
		cache: 'no-store'
	});
	if (response.status === 404) return { as: 'gone' };
	const seconds = Number(response.headers.get('retry-after') ?? 0);
	if (response.status === 503 && seconds > 0) return { as: 'busy', seconds };
	if (!response.ok) throw new Error(`Status ${response.status}`);
	if (/html/.test(response.headers.get('content-type') ?? ''))
		return { as: 'page', html: await response.text() };
	return { as: 'state', state: ((await response.json()) as { state: unknown }).state };
}

interface Polling {
	readonly watch: Watch;
	attempt: number;
	cuts: number;
	/** The next request is not held: after a failure, or for a fast answer when the page becomes visible. */
	plainOnce: boolean;
	seenAt: number;
	timer: ReturnType<typeof setTimeout> | undefined;
	/** null after `pause`: the answer to an aborted request is dropped. */
	running: AbortController | null;
	stop: () => void;
}

/** Starts polling. Returns the function that stops it. */
function watchPurchase(watch: Watch): () => void {
	const polling: Polling = {
		...{ watch, attempt: 0, cuts: 0, plainOnce: false, seenAt: Date.now(), timer: undefined, running: null },
		stop() {
			pause(polling);
			for (const [target, name, react] of events) target.removeEventListener(name, react as EventListener);
		}
	};
	const events: [EventTarget, string, (event: PageTransitionEvent) => void][] = [
		[document, 'visibilitychange', () => (document.hidden ? pause(polling) : askNow(polling))],
		// Going back may restore the page from the browser's memory with an old state.
		[window, 'pageshow', ({ persisted }) => persisted && askNow(polling)],
		[window, 'online', () => askNow(polling)],
		[window, 'offline', () => linkGone(polling)]
	];
	for (const [target, name, react] of events) target.addEventListener(name, react as EventListener);
	if (!watch.rests) void ask(polling);
	return polling.stop;
}

const mayHold = ({ watch, cuts }: Polling) => watch.holdSeconds > 0 && cuts < MAX_CUTS;

function askLater(polling: Polling, milliseconds = backoffMs(polling.attempt++)) {
	clearTimeout(polling.timer);
	if (polling.watch.rests || Date.now() - polling.seenAt > MAX_WATCH_MS) return;
	polling.timer = setTimeout(() => void ask(polling), milliseconds);
}

function pause(polling: Polling) {
	clearTimeout(polling.timer);
	polling.running?.abort();
	polling.running = null;
}

function askNow(polling: Polling) {
	if (document.hidden) return;
	pause(polling);
	Object.assign(polling, { attempt: 0, plainOnce: true, seenAt: Date.now() });
	void ask(polling);
}

/** A held request would not notice. Keep polling, because the phone may be wrong about its connection. */
function linkGone(polling: Polling) {
	if (polling.watch.rests) return;
	pause(polling);
	failed(polling);
}

async function ask(polling: Polling): Promise<void> {
	if (document.hidden) return;
	const holds = mayHold(polling) && !polling.plainOnce;
	polling.plainOnce = false;
	const request = new AbortController();
	polling.running = request;
	const { holdSeconds } = polling.watch;
	const limit = setTimeout(() => request.abort(), holds ? holdSeconds * 1000 + LATE_MS : PLAIN_GIVE_UP_MS);
	const started = Date.now();
	try {
		const answer = await askState(polling.watch, holds ? holdSeconds : 0, request.signal);
		if (polling.running === request) take(polling, answer, holds, Date.now() - started >= HELD_MS);
	} catch {
		if (polling.running !== request) return;
		if (holds) polling.cuts++;
		failed(polling);
	} finally {
		clearTimeout(limit);
	}
}

function failed(polling: Polling) {
	polling.plainOnce = true;
	polling.watch.onLink(false);
	askLater(polling);
}

function take(polling: Polling, answer: PollResult, holds: boolean, wasLong: boolean) {
	const { watch } = polling;
	if (answer.as === 'gone') return polling.stop();
	watch.onLink(true);
	if (answer.as === 'busy') {
		watch.onBusy(answer.seconds);
		askLater(polling, answer.seconds * 1000 + Math.random() * SPREAD_MS);
	} else if (answer.as === 'page' || answer.state !== watch.state) {
		polling.stop();
		watch.onNews(answer.as === 'page' ? answer.html : null);
	} else {
		if (holds && wasLong) polling.cuts = 0;
		// The connection works: hold the next request.
		const holdsNext = holds ? wasLong : mayHold(polling);
		if (holdsNext) polling.attempt = 0;
		askLater(polling, holdsNext ? 0 : undefined);
	}
}

export interface PollSettings {
	state: string;
	holdSeconds: number;
	rests: boolean;
}

/**
 * Shows the page of a purchase again when its state changes.
 * @param enhance called with a new page in this document
 */
export function pollPage(enhance: () => void): void {
	/** The browser came back from a sign-in, or is behind a gateway of another router: only the address says so. */
	const kept = /[?&](online|elsewhere)\b/.exec(location.search)?.[1];
	const query = kept ? `?${kept}` : '';
	const end = followPurchase(...([location.pathname, query, !kept] as const), (to, html) => {
		end();
		if (html !== null && putPage(html)) enhance();
		// A full navigation: mini-browsers check for internet access only after one.
		else location.replace(to);
	});
}

/** Puts a page in the place of this one. Returns false if it is another kind of page, such as a proxy's. */
function putPage(html: string): boolean {
	const page = new DOMParser().parseFromString(html, 'text/html');
	const main = page.querySelector('main');
	if (!page.querySelector('[data-poll]') || !main) return false;
	document.title = page.title;
	document.querySelector('main')?.replaceWith(main);
	scrollTo(0, 0);
	// Screen readers read on from here, as after a navigation.
	main.focus();
	return true;
}

/**
 * `data-poll`: follows the purchase of the page. Shows `data-poll-busy` and `data-poll-offline` while the service is busy or
 * unavailable, and `data-hint-after` after its seconds.
 * @param takesPage the answer may be the page itself
 * @param onNews called when the state has changed, with the address to open and the page, if it came
 * @returns the function that ends it
 */
export function followPurchase(
	path: string,
	query: string,
	takesPage: boolean,
	onNews: (address: string, html: string | null) => void
): () => void {
	const [element] = all('[data-poll]');
	if (!element) return () => {};
	const { state, holdSeconds, rests } = settingsOf<PollSettings>(element, 'poll');
	const busy = element.querySelector<HTMLElement>('[data-poll-busy]');
	const offline = element.querySelector<HTMLElement>('[data-poll-offline]');
	const busyText = busy?.textContent ?? '';
	const showBusy = (seconds: number | null) => {
		if (!busy) return;
		busy.hidden = seconds === null;
		busy.textContent = fill(busyText, String(seconds));
	};
	const watch = (options: Pick<Watch, 'state' | 'holdSeconds' | 'rests'>) =>
		watchPurchase({
			...options,
			url: `${path}/status${query}`,
			takesPage,
			onNews: (html) => onNews(path + query, html),
			onLink: (works) => {
				if (offline) offline.hidden = works;
				showBusy(null);
			},
			onBusy: showBusy
		});
	let stop = watch({ state, holdSeconds, rests });
	const isOver = () => {
		stop();
		// Any answer is news: the phone's clock may have been set, and the time goes on.
		stop = watch({ state: '', holdSeconds: 0, rests: false });
	};
	addEventListener(TIME_OVER, isOver);
	for (const hint of all('[data-hint-after]')) {
		setTimeout(() => (hint.hidden = false), Number(hint.dataset['hintAfter']) * 1000);
	}
	return () => {
		removeEventListener(TIME_OVER, isOver);
		stop();
	};
}
