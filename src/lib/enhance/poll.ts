import { watchPurchase } from '../checkout/purchase/poller.ts';
import { TIME_OVER } from './countdown.ts';
import { all, fill, settingsOf } from './dom.ts';

export interface PollSettings {
	state: string;
	holds: boolean;
	rests: boolean;
}

/**
 * `data-poll`: reloads the page of a purchase when its state changes. Shows `data-poll-busy` and
 * `data-poll-offline` while the service is busy or unavailable, and `data-hint-after` after its seconds.
 */
export function poll(): void {
	const [element] = all('[data-poll]');
	if (!element) return;
	const { state, holds, rests } = settingsOf<PollSettings>(element, 'poll');
	const busy = element.querySelector<HTMLElement>('[data-poll-busy]');
	const offline = element.querySelector<HTMLElement>('[data-poll-offline]');
	/** The browser came back from a sign-in, or is behind a gateway of another router: only the address says so. */
	const kept = /[?&](online|elsewhere)\b/.exec(location.search)?.[1];
	const query = kept ? `?${kept}` : '';
	const busyText = busy?.textContent ?? '';
	const showBusy = (seconds: number | null) => {
		if (!busy) return;
		busy.hidden = seconds === null;
		busy.textContent = fill(busyText, String(seconds));
	};
	const watch = (options: { holds: boolean; rests: boolean }) =>
		watchPurchase({
			...options,
			url: `${location.pathname}/status${query}`,
			state,
			// A full navigation: mini-browsers check for internet access only after one.
			onNews: () => location.replace(location.pathname + query),
			onLink: (works) => {
				if (offline) offline.hidden = works;
				showBusy(null);
			},
			onBusy: showBusy
		});
	let stop = watch({ holds, rests });
	addEventListener(TIME_OVER, () => {
		stop();
		stop = watch({ holds: false, rests: false });
	});
	for (const hint of all('[data-hint-after]')) {
		setTimeout(() => (hint.hidden = false), Number(hint.dataset['hintAfter']) * 1000);
	}
}
