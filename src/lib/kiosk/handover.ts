/**
 * Passes a buyer's entries to the page in another language in `window.name`: in memory only, not in an
 * address, the history or a storage. Reading clears them.
 */
export interface Handover extends Entries {
	screen: Screen;
	/** Token of a purchase; empty if there is none. */
	token: string;
}

export type Screen = 'start' | 'time' | 'method' | 'number' | 'confirm' | 'purchase';

export interface Entries {
	/** Of the chosen time, as `timeValue` (checkout/pay-form.ts) writes it. */
	duration: string;
	paymentMethod: string;
	phone: string;
	/** Token of an order that is not sent yet, or whose result is unknown. */
	order: string;
}

const MARK = 'airtill-kiosk ';
/** After this time the page may belong to the next buyer. */
const FRESH_MS = 20_000;

export function handOver(entries: Handover): void {
	window.name = MARK + JSON.stringify({ ...entries, at: Date.now() });
}

/** Reads and clears the entries. Returns null if there are no recent ones. */
export function takeOver(): Handover | null {
	const { name } = window;
	window.name = '';
	if (!name.startsWith(MARK)) return null;
	try {
		const { at, ...entries } = JSON.parse(name.slice(MARK.length)) as Handover & { at: number };
		return Math.abs(Date.now() - at) < FRESH_MS ? entries : null;
	} catch {
		return null;
	}
}
