/**
 * Watches one purchase from its page: asks `{url}?wait=20`, which answers as soon as there is news, so that the
 * password is there within half a second without hammering. Where held requests are cut (proxies, mini-browsers)
 * or nothing is to be held, it asks plainly and ever more slowly. It rests while the page is hidden, asks at once
 * when the page is seen or the link is back, and stops when it found something new.
 */

export interface Watch {
	url: string;
	/** Sent with each question where the address does not name the purchase. */
	body?: () => FormData;
	/** The state that the page shows. */
	state: string;
	/** Nothing changes by itself: asks only when the page is seen again. */
	rests?: boolean;
	/** Whether the answer may be held back until there is news. */
	holds: boolean;
	onNews: () => void;
	/** Told whenever asking begins to fail or works again. */
	onLink: (works: boolean) => void;
	/** Told when the service wants to be asked again only after so many seconds. */
	onBusy: (seconds: number) => void;
}

const HOLD_SECONDS = 20;
/** After this time a held request is given up: the link is dead without saying so. */
const GIVE_UP_MS = (HOLD_SECONDS + 8) * 1000;
const PLAIN_GIVE_UP_MS = 15_000;
/** An answer that comes sooner was not held. */
const HELD_MS = 5_000;
/** A page that nobody comes back to is left alone after this time. */
const MAX_WATCH_MS = 60 * 60 * 1000;
/** Held requests that were cut before plain asking takes over for good. */
const MAX_CUTS = 2;
/** Pages that were told to wait do not all come back at the same moment. */
const SPREAD_MS = 3_000;
export const BACKOFF_SECONDS: readonly number[] = [2, 3, 5, 8, 13, 21, 30];

export const backoffMs = (attempt: number): number =>
	1000 * (BACKOFF_SECONDS[Math.min(attempt, BACKOFF_SECONDS.length - 1)] ?? 30);

/** @returns the function that stops watching */
export function watchPurchase(watch: Watch): () => void {
	let stopped = false;
	let attempt = 0;
	let cuts = 0;
	/** The next question is asked plainly: after a failure, and to be quick when the page is seen again. */
	let plainOnce = false;
	/** When somebody last came to the page. */
	let seenAt = Date.now();
	let timer: ReturnType<typeof setTimeout> | undefined;
	let running: AbortController | null = null;

	const mayHold = () => watch.holds && cuts < MAX_CUTS;

	function later(milliseconds: number) {
		clearTimeout(timer);
		if (watch.rests || Date.now() - seenAt > MAX_WATCH_MS) return;
		timer = setTimeout(ask, milliseconds);
	}

	function pause() {
		clearTimeout(timer);
		running?.abort();
		running = null;
	}

	function stop() {
		stopped = true;
		pause();
		document.removeEventListener('visibilitychange', seenOrHidden);
		removeEventListener('pageshow', shownAgain);
		removeEventListener('online', askNow);
		removeEventListener('offline', linkGone);
	}

	function askNow() {
		if (stopped || document.hidden) return;
		pause();
		attempt = 0;
		plainOnce = true;
		seenAt = Date.now();
		void ask();
	}

	function seenOrHidden() {
		if (document.hidden) pause();
		else askNow();
	}

	/** A held request would not notice. Asking goes on all the same: the phone may be wrong about its link. */
	function linkGone() {
		if (watch.rests) return;
		pause();
		watch.onLink(false);
		plainOnce = true;
		later(backoffMs(attempt++));
	}

	/** Going back brings a page from the browser's memory, with an old state on it. */
	function shownAgain(event: PageTransitionEvent) {
		if (event.persisted) askNow();
	}

	async function ask(): Promise<void> {
		if (stopped || document.hidden) return;
		const holds = mayHold() && !plainOnce;
		plainOnce = false;
		const request = new AbortController();
		running = request;
		let givenUp = false;
		const limit = setTimeout(
			() => {
				givenUp = true;
				request.abort();
			},
			holds ? GIVE_UP_MS : PLAIN_GIVE_UP_MS
		);
		const started = Date.now();
		try {
			const response = await fetch(`${watch.url}?wait=${holds ? HOLD_SECONDS : 0}`, {
				signal: request.signal,
				cache: 'no-store',
				...(watch.body ? { method: 'POST', body: watch.body() } : {})
			});
			if (response.status === 404) return stop();
			const waitSeconds = Number(response.headers.get('retry-after') ?? 0);
			if (response.status === 503 && waitSeconds > 0) {
				if (running !== request) return;
				watch.onLink(true);
				watch.onBusy(waitSeconds);
				return later(waitSeconds * 1000 + Math.random() * SPREAD_MS);
			}
			if (!response.ok) throw new Error(`Status ${response.status}`);
			const { state } = (await response.json()) as { state: unknown };
			if (running !== request) return;
			watch.onLink(true);
			if (state !== watch.state) {
				stop();
				watch.onNews();
				return;
			}
			const wasHeld = holds && Date.now() - started >= HELD_MS;
			if (wasHeld) cuts = 0;
			if (wasHeld || (!holds && mayHold())) {
				// The link works: the next question is held, and what comes in between is not missed.
				attempt = 0;
				later(0);
			} else {
				later(backoffMs(attempt++));
			}
		} catch {
			// Paused or replaced by another question: that one goes on.
			if (stopped || running !== request || (request.signal.aborted && !givenUp)) return;
			if (holds) cuts++;
			plainOnce = true;
			watch.onLink(false);
			later(backoffMs(attempt++));
		} finally {
			clearTimeout(limit);
		}
	}

	document.addEventListener('visibilitychange', seenOrHidden);
	addEventListener('pageshow', shownAgain);
	addEventListener('online', askNow);
	addEventListener('offline', linkGone);
	if (!watch.rests) void ask();
	return stop;
}
