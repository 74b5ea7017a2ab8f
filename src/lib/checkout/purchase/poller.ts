/**
 * Polls the state of one purchase until it changes.
 * `{url}?wait=20` answers at a change, so the page shows the password within 0.5 s. Proxies and mini-browsers
 * may cut held requests. Then, and for slow states, it polls with growing pauses. It waits while the page is
 * hidden.
 */

export interface Watch {
	url: string;
	/** Sent with each request if the address does not name the purchase. */
	body?: () => FormData;
	state: string;
	/** The state cannot change without the buyer: poll only when the page becomes visible again. */
	rests?: boolean;
	/** The server may hold the request until the state changes. */
	holds: boolean;
	onNews: () => void;
	onLink: (works: boolean) => void;
	/** Called when the service refuses requests for this many seconds. */
	onBusy: (seconds: number) => void;
}

const HOLD_SECONDS = 20;
/** A held request without an answer after this time has a dead connection. */
const GIVE_UP_MS = (HOLD_SECONDS + 8) * 1000;
const PLAIN_GIVE_UP_MS = 15_000;
/** A faster answer was not held. */
const HELD_MS = 5_000;
/** Polling stops if the page was hidden for this long. */
const MAX_WATCH_MS = 60 * 60 * 1000;
/** Polls without holding after this many cut requests. */
const MAX_CUTS = 2;
/** Spreads retries, so that waiting pages do not all return at once. */
const SPREAD_MS = 3_000;
export const BACKOFF_SECONDS: readonly number[] = [2, 3, 5, 8, 13, 21, 30];

export const backoffMs = (attempt: number): number =>
	1000 * (BACKOFF_SECONDS[Math.min(attempt, BACKOFF_SECONDS.length - 1)] ?? 30);

/** Starts polling. Returns the function that stops it. */
export function watchPurchase(watch: Watch): () => void {
	let stopped = false;
	let attempt = 0;
	let cuts = 0;
	/** The next request is not held: after a failure, or for a fast answer when the page becomes visible. */
	let plainOnce = false;
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

	/** A held request would not notice. Keep polling, because the phone may be wrong about its connection. */
	function linkGone() {
		if (watch.rests) return;
		pause();
		watch.onLink(false);
		plainOnce = true;
		later(backoffMs(attempt++));
	}

	/** Going back may restore the page from the browser's memory with an old state. */
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
				// The connection works: hold the next request.
				attempt = 0;
				later(0);
			} else {
				later(backoffMs(attempt++));
			}
		} catch {
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
