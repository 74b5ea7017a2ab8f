import { watchPurchase } from '../checkout/purchase/poller.ts';
import { TIME_OVER } from './countdown.ts';
import { all, fill, settingsOf } from './dom.ts';

export interface PollSettings {
	/** The state that the page shows. */
	state: string;
	/** The answer may be held back until there is news. */
	holds: boolean;
	/** Nothing changes by itself: asks only when the page is seen again. */
	rests: boolean;
}

/**
 * `data-poll`: loads the page of a purchase again as soon as there is news. `data-poll-busy` and `data-poll-offline` are
 * shown while the service is busy or away, `data-hint-after` after so many seconds.
 */
export function poll(): void {
	const [element] = all('[data-poll]');
	if (!element) return;
	const { state, holds, rests } = settingsOf<PollSettings>(element, 'poll');
	const busy = element.querySelector<HTMLElement>('[data-poll-busy]');
	const offline = element.querySelector<HTMLElement>('[data-poll-offline]');
	const busyText = busy?.textContent ?? '';
	const showBusy = (seconds: number | null) => {
		if (!busy) return;
		busy.hidden = seconds === null;
		busy.textContent = fill(busyText, String(seconds));
	};
	const watch = (options: { holds: boolean; rests: boolean }) =>
		watchPurchase({
			...options,
			url: `${location.pathname}/status`,
			state,
			// A real navigation: mini-browsers look for the internet only after one.
			onNews: () => location.replace(location.pathname),
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
