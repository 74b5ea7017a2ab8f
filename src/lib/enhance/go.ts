import { all } from './dom.ts';

/** Spreads retries, so that waiting pages do not all return at once. */
const SPREAD_MS = 3_000;

/**
 * `data-go-after`: opens `data-go-to` after this many seconds. `data-spread` adds up to three seconds. app.html does the
 * same, without the spread, in browsers that run scripts but did not load this one.
 */
export function goLater(): void {
	for (const { dataset } of all('[data-go-after]')) {
		const spread = 'spread' in dataset ? Math.random() * SPREAD_MS : 0;
		const go = () => location.assign(dataset['goTo'] ?? location.href);
		setTimeout(go, Number(dataset['goAfter']) * 1000 + spread);
	}
}

/** `data-address`: replaces the address that a gateway opened, so that a reload repeats nothing. */
export function keepAddress(): void {
	for (const { dataset } of all('[data-address]')) {
		if (location.pathname !== dataset['address']) history.replaceState(null, '', dataset['address']);
	}
}
