import { all } from './dom.ts';

/** Pages that wait for the service do not all come back at the same moment. */
const SPREAD_MS = 3_000;

/** `data-go-after`: opens the address in `data-go-to` after so many seconds. `data-spread` adds up to three seconds. */
export function goLater(): void {
	for (const { dataset } of all('[data-go-after]')) {
		const spread = 'spread' in dataset ? Math.random() * SPREAD_MS : 0;
		const go = () => location.assign(dataset['goTo'] ?? location.href);
		setTimeout(go, Number(dataset['goAfter']) * 1000 + spread);
	}
}

/** `data-address`: shows this address instead of the one that a gateway asked for, so that a reload repeats nothing. */
export function keepAddress(): void {
	for (const { dataset } of all('[data-address]')) {
		if (location.pathname !== dataset['address']) history.replaceState(null, '', dataset['address']);
	}
}
