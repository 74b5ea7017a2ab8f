import { stopwatch, timeLeft, type TimeLeftWords } from '../format/time-left.ts';
import { all, fill, settingsOf } from './dom.ts';

/** Event on the page when the countdown ends. */
export const TIME_OVER = 'airtill:time-over';

export interface CountdownSettings {
	remainingSeconds: number;
	/** The warning appears when this much time is left. */
	warnSeconds: number;
	/** "{} left" */
	text: string;
	words: TimeLeftWords;
}

export interface WaitSettings {
	seconds: number;
	limitSeconds: number;
	/** "Waiting {} of 10:00" */
	text: string;
}

const TICK_MS = 500;

/**
 * `data-countdown`: counts down the time left and shows the warning before the end. `data-wait`: counts up to
 * the end of a payment.
 */
export function countDown(): void {
	for (const element of all('[data-countdown]')) run(element);
	for (const element of all('[data-wait]')) countUp(element);
}

function countUp(element: HTMLElement): void {
	const { seconds, limitSeconds, text } = settingsOf<WaitSettings>(element, 'wait');
	const [clock, bar] = [element.querySelector('p'), element.querySelector('progress')];
	const start = Date.now();
	const timer = setInterval(() => {
		// A kiosk has replaced the page.
		if (!element.isConnected) return clearInterval(timer);
		const waited = Math.min(limitSeconds, seconds + secondsSince(start));
		if (clock) clock.textContent = fill(text, stopwatch(waited));
		if (bar) bar.value = waited;
	}, TICK_MS);
}

function run(element: HTMLElement): void {
	const { remainingSeconds, warnSeconds, text, words } = settingsOf<CountdownSettings>(element, 'countdown');
	const label = element.querySelector('b');
	const bar = element.querySelector('progress');
	const warning = element.querySelector<HTMLElement>('.box');
	const start = Date.now();
	const show = () => {
		if (!element.isConnected) return clearInterval(timer);
		const left = Math.max(0, remainingSeconds - secondsSince(start));
		const time = timeLeft(left, words);
		const sentence = fill(text, time);
		if (label && label.textContent !== sentence) label.textContent = sentence;
		if (bar) bar.value = left;
		if (warning && left <= warnSeconds) warning.hidden = false;
		if (left > 0) return;
		clearInterval(timer);
		dispatchEvent(new Event(TIME_OVER));
		// Nothing follows the page of a pass that an app has sold. Without a connection it stays.
		if (all('[data-poll]').length === 0)
			fetch(location.href)
				.then(() => location.reload())
				.catch(() => {});
	};
	const timer = setInterval(show, TICK_MS);
	show();
}

/** Measures elapsed time with the phone's clock, which includes sleep; its time of day may be wrong, and be set back. */
const secondsSince = (start: number): number => Math.max(0, (Date.now() - start) / 1000);
